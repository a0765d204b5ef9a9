#include <algorithm>
#include <optional>

#include "tessera/graph/onnx/links.h"
#include "tessera/graph/onnx/passes.h"

// Before operator set 17 a layer normalisation is spelled out:
//
//     x --> mean --> x - m --> square --> mean --> + eps --> sqrt --> (x - m) / s --> * scale --> + bias
//
// Any region behind x that reads x alone, has means over the same axes, a root, and leaves one tensor in x's shape is one. It grows
// as the region of an activation does (fuse.cc).
namespace tessera::graph::onnx {
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
    std::vector<int> tensors;  // what they may read, x first
    bool has_root = false;
  };

  static bool IsMean(const Operator& op) { return op.kind == OperatorKind::kReduce && op.function == "mean"; }

  static bool IsRoot(const Operator& op) { return op.function == "sqrt" || op.function == "pow"; }

  bool Joins(const Operator& op, const Operator& first, const Region& region) const {
    const bool reads_inside = std::all_of(op.inputs.begin(), op.inputs.end(), [&](int tensor) {
      return std::find(region.tensors.begin(), region.tensors.end(), tensor) != region.tensors.end();
    });
    if (!reads_inside) return false;
    if (IsMean(op)) return op.axes == first.axes;
    return op.kind == OperatorKind::kElementwise && op.weights.empty();
  }

  // x itself may be read outside, by the skip connection around.
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
    const auto means =
        std::count_if(region.ops.begin(), region.ops.end(), [&](int op) { return IsMean(links_.At(op)); });
    const Shape& result = links_.TensorAt(region.tensors.back()).shape;
    return region.has_root && means >= 1 && result == links_.TensorAt(region.tensors.front()).shape &&
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
        const bool reads_x_alone =
            std::find_first_of(reader.inputs.begin(), reader.inputs.end(), region.tensors.begin() + 1,
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
      draft_.report.Join(Report::Event::kFused, links_.At(region->ops[i]).id, op.id, "layer normalisation");
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

}  // namespace tessera::graph::onnx
