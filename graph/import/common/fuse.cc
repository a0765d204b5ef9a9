// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "tessera/graph/import/common/passes.h"

// An activation may be several operators: any region of operators that computes element by element
// from one tensor alone:
//
//     conv -> x --> sigmoid --.          x + 3 -> clip -> (.) * x -> / 6
//             '-------------> mul ->     x / 1.41 -> erf -> + 1 -> (.) * x -> * 0.5
//
// From x the region grows by its first reader in program order until a single tensor leaves it. The
// smallest such region is taken, and the search continues after it. Each operator is examined once
// for each tensor from which a region may start, and a region has at most kMostInRegion operators.
namespace tessera::graph::import::common {

namespace {

using base::OperatorKind;

constexpr size_t kMostInRegion = 16;

// Regions by their functions, in order, and their common names.
std::string NameOfRegion(const std::string& functions) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kNames = {
      {{"sigmoid+mul", "silu"},
       {"hard_sigmoid+mul", "hard_swish"},
       {"softplus+tanh+mul", "mish"},
       {"tanh+softplus+mul", "mish"}}};
  for (const auto& [spelled, name] : kNames) {
    if (functions == spelled) return std::string(name);
  }
  const auto has = [&functions](std::string_view word) {
    return functions.find(word) != std::string::npos;
  };
  if (has("erf") && has("mul")) return "gelu";
  if (has("pow") && has("tanh") && has("mul")) return "gelu";
  const bool clips = has("clip") || has("relu6");
  if (clips && has("add") && has("mul") && !has("tanh")) return "hard_swish";
  return functions;
}

class Fuser {
 public:
  explicit Fuser(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (links_.IsGone(op) || links_.At(op).outputs.size() != 1) continue;
      while (FuseTables(op) || FuseRegion(op)) {
      }
      Operator& settled = links_.At(op);
      settled.activation = NameOfRegion(settled.activation);
    }
    links_.Compact();
  }

 private:
  int ResultOf(int op) const { return links_.At(op).outputs.front(); }

  // The only operator that reads the result, possibly after reshapes without other readers. `made`
  // is the tensor that it reads.
  struct Reader {
    int op = -1;
    int last = -1;  // the operator that makes the tensor that it reads: the first one, or a reshape
  };

  // Follows reshapes, because an elementwise operator can also run before them.
  Reader BehindReshapes(int op) const {
    Reader reader{-1, op};
    while (links_.ReadersOf(ResultOf(reader.last)).size() == 1 &&
           !links_.TensorAt(ResultOf(reader.last)).network_output) {
      const int next = *links_.ReadersOf(ResultOf(reader.last)).begin();
      if (links_.At(next).kind != OperatorKind::kReshape) {
        reader.op = next;
        return reader;
      }
      reader.last = next;
    }
    return reader;
  }

  // Whether the constant has one value for each channel of a result of that shape.
  static bool IsByChannel(const Shape& table, const Shape& result, size_t channels) {
    if (table.size() > result.size()) return false;
    const size_t missing = result.size() - table.size();
    for (size_t axis = 0; axis < table.size(); ++axis) {
      if (table[axis] != 1 && axis + missing != channels) return false;
    }
    return true;
  }

  bool FitsTables(const Operator& maker, const Operator& reader) const {
    const Shape& result = links_.TensorAt(reader.outputs.front()).shape;
    // it broadcasts along a constant
    if (links_.TensorAt(reader.inputs.front()).shape != result) return false;
    if (reader.function == "batch_normalization")
      return base::TraitsOf(maker.kind).convolves ||
             (maker.kind == OperatorKind::kMatmul && result.size() == 2);
    static constexpr std::array<std::string_view, 5> kByChannel = {"add", "sub", "mul", "div",
                                                                   "prelu"};
    if (std::find(kByChannel.begin(), kByChannel.end(), reader.function) == kByChannel.end())
      return false;
    const bool convolves = base::TraitsOf(maker.kind).convolves;
    const bool multiplies = maker.kind == OperatorKind::kMatmul && maker.inputs.size() == 1;
    if (!convolves && !multiplies && maker.kind != OperatorKind::kLayerNorm) return false;
    const size_t channels = convolves ? 1 : result.size() - 1;
    return std::all_of(reader.weights.begin(), reader.weights.end(), [&](int table) {
      return IsByChannel(links_.TensorAt(table).shape, result, channels);
    });
  }

  bool FuseTables(int op) {
    const Reader found = BehindReshapes(op);
    if (found.op < 0) return false;
    Operator& maker = links_.At(op);
    const Operator reader = links_.At(found.op);
    const bool once = reader.kind == OperatorKind::kElementwise && reader.inputs.size() == 1;
    if (!once || reader.weights.empty() || !maker.activation.empty() || !FitsTables(maker, reader))
      return false;
    // Sizes of biases follow from the profile. The values of a slope or a normalisation are a
    // separate table.
    if (reader.function == "prelu" || maker.kind == OperatorKind::kLayerNorm)
      maker.weights.insert(maker.weights.end(), reader.weights.begin(), reader.weights.end());
    if (reader.function == "prelu") maker.activation = reader.function;
    Note(reader, reader.function, maker);
    links_.Absorb(found.last, {found.op});
    return true;
  }

  bool IsPointwise(int op, const std::vector<int>& inside) const {
    const Operator& reader = links_.At(op);
    if (reader.kind != OperatorKind::kElementwise || !reader.weights.empty()) return false;
    return std::all_of(reader.inputs.begin(), reader.inputs.end(), [&inside](int tensor) {
      return std::find(inside.begin(), inside.end(), tensor) != inside.end();
    });
  }

  // Whether only the last tensor of `inside` is read outside of the region.
  bool IsClosed(const std::vector<int>& inside, const std::vector<int>& region) const {
    return std::all_of(inside.begin(), inside.end() - 1, [&](int tensor) {
      const std::set<int>& readers = links_.ReadersOf(tensor);
      return !links_.TensorAt(tensor).network_output &&
             std::all_of(readers.begin(), readers.end(), [&](int reader) {
               return std::find(region.begin(), region.end(), reader) != region.end();
             });
    });
  }

  std::vector<int> FindRegion(int start) const {
    std::vector<int> inside = {start};
    std::vector<int> region;
    std::set<int> next = links_.ReadersOf(start);
    while (!next.empty() && region.size() < kMostInRegion) {
      const int op = *next.begin();
      next.erase(next.begin());
      if (!IsPointwise(op, inside)) return {};
      region.push_back(op);
      inside.push_back(links_.At(op).outputs.front());
      if (IsClosed(inside, region)) return region;
      const std::set<int>& readers = links_.ReadersOf(inside.back());
      next.insert(readers.begin(), readers.end());
    }
    return {};
  }

  bool FuseRegion(int op) {
    Operator& maker = links_.At(op);
    if (!base::TraitsOf(maker.kind).fuses_activation) return false;
    const int last = BehindReshapes(op).last;
    const std::vector<int> region = FindRegion(ResultOf(last));
    if (region.empty()) return false;
    for (const int each : region) {
      const Operator& reader = links_.At(each);
      for (const std::string& function : {reader.function, reader.activation}) {
        if (!function.empty()) maker.activation += (maker.activation.empty() ? "" : "+") + function;
      }
      Note(reader, reader.function, maker);
    }
    links_.Absorb(last, region);
    return true;
  }

  void Note(const Operator& reader, const std::string& what, const Operator& maker) {
    draft_.report.Join(Report::Event::kFused, reader.id, maker.id, what);
  }

  Draft& draft_;
  Links links_;
};

}  // namespace

void Fuse(Draft& draft) { Fuser(draft).Run(); }

}  // namespace tessera::graph::import::common
