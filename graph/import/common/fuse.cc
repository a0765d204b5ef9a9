#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "tessera/graph/import/common/passes.h"

// Before operator set 17 exporters write a layer normalisation as separate operators:
//
//     x --> mean --> x - m --> square --> mean --> + eps --> sqrt
//       --> (x - m) / s --> * scale --> + bias
//
// A region behind x is a layer normalisation if it reads x alone, has means over the same axes and
// a root, and has one result in x's shape. It grows like the region of an activation (below).
namespace tessera::graph::import::common {

namespace {

using base::OperatorKind;

constexpr size_t kMostInNormalization = 12;

class Gatherer {
 public:
  explicit Gatherer(Draft& draft) : draft_(draft), links_(draft.graph) {}

  void Run() {
    for (int op = 0; op < links_.CountOperators(); ++op) {
      if (!links_.IsGone(op) && IsMean(links_.At(op))) Gather(links_.At(op).inputs.front(), op);
    }
    links_.Compact();
  }

 private:
  struct Region {
    std::vector<int> ops;
    std::vector<int> tensors;  // the tensors that they may read, x first
    bool has_root = false;
  };

  static bool IsMean(const Operator& op) {
    return op.kind == OperatorKind::kReduce && op.function == "mean";
  }

  static bool IsRoot(const Operator& op) { return op.function == "sqrt" || op.function == "pow"; }

  bool Joins(const Operator& op, const Operator& first, const Region& region) const {
    const bool reads_inside = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int tensor) {
      return std::find(region.tensors.begin(), region.tensors.end(), tensor) !=
             region.tensors.end();
    });
    if (!reads_inside) return false;
    if (IsMean(op)) return op.axes == first.axes;
    return op.kind == OperatorKind::kElementwise && op.weights.empty();
  }

  // x itself may be read outside, by the surrounding skip connection.
  bool IsClosed(const Region& region) const {
    return std::all_of(region.tensors.begin() + 1, region.tensors.end() - 1, [&](int tensor) {
      const std::set<int>& readers = links_.ReadersOf(tensor);
      return !links_.TensorAt(tensor).network_output &&
             std::all_of(readers.begin(), readers.end(), [&](int reader) {
               return std::find(region.ops.begin(), region.ops.end(), reader) != region.ops.end();
             });
    });
  }

  bool IsNormalization(const Region& region) const {
    const auto means = std::count_if(region.ops.begin(), region.ops.end(),
                                     [&](int op) { return IsMean(links_.At(op)); });
    const Shape& result = links_.TensorAt(region.tensors.back()).shape;
    return region.has_root && means >= 1 &&
           result == links_.TensorAt(region.tensors.front()).shape &&
           links_.At(region.ops.back()).inputs.size() == 2;
  }

  std::optional<Region> FindRegion(int x, int mean) const {
    const Operator& first = links_.At(mean);
    Region region{{}, {x}, false};
    std::set<int> next = links_.ReadersOf(x);
    while (!next.empty() && region.ops.size() < kMostInNormalization) {
      const int op = *next.begin();
      next.erase(next.begin());
      const Operator& reader = links_.At(op);
      if (!Joins(reader, first, region)) {
        const bool reads_x_alone = std::find_first_of(reader.inputs.begin(), reader.inputs.end(),
                                                      region.tensors.begin() + 1,
                                                      region.tensors.end()) == reader.inputs.end();
        if (reads_x_alone) continue;
        return std::nullopt;
      }
      region.ops.push_back(op);
      region.tensors.push_back(reader.outputs.front());
      region.has_root = region.has_root || IsRoot(reader);
      if (IsClosed(region) && IsNormalization(region)) return region;
      const std::set<int>& readers = links_.ReadersOf(reader.outputs.front());
      next.insert(readers.begin(), readers.end());
    }
    return std::nullopt;
  }

  void Gather(int x, int mean) {
    const std::optional<Region> region = FindRegion(x, mean);
    if (!region) return;
    Operator& op = links_.At(region->ops.front());
    for (size_t i = 1; i < region->ops.size(); ++i)
      draft_.report.Join(Report::Event::kFused, links_.At(region->ops[i]).id, op.id,
                         "layer normalisation");
    links_.Absorb(region->ops.front(), {region->ops.begin() + 1, region->ops.end()});
    op.kind = OperatorKind::kLayerNorm;
    op.function.clear();
    op.axes = links_.At(mean).axes;
    op.inputs = {x};
  }

  Draft& draft_;
  Links links_;
};

}  // namespace

void GatherNormalizations(Draft& draft) { Gatherer(draft).Run(); }

// An activation may be several operators: any region of operators that computes element by element
// from one tensor alone:
//
//     conv -> x --> sigmoid --.          x + 3 -> clip -> (.) * x -> / 6
//             '-------------> mul ->     x / 1.41 -> erf -> + 1 -> (.) * x -> * 0.5
//
// From x the region grows by its first reader in program order until a single tensor leaves it. The
// smallest such region is taken, and the search continues behind it. Each operator is examined once
// for each tensor from which a region may start, and a region has at most kMostInRegion operators.
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

  // The only operator that reads the result, behind reshapes without other readers. `made` is the
  // tensor that it reads.
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
    // Sizes of biases follow from the profile. The values of a slope or a normalisation are a table
    // of their own.
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
