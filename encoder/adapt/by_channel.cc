#include "tessera/encoder/adapt/by_channel.h"

#include <algorithm>

#include "tessera/encoder/adapt/layout.h"

// A depthwise operator makes channel c of y of channel c of x. Made channel by channel, each through a scratch that holds one
// channel until all of x's is read, y may overwrite x, provided that nothing of channel c ever lands on a later channel.
// In each column the channels stand side by side, so this holds wherever columns of x and y begin at the same places:
//
//     x, 4 columns of channels a b c    | a b c | a b c | a b c | a b c |
//     y, stride 2                       | a b c | a b c |
//
// that is, where a column takes P bytes in both, and rows begin a multiple of P behind the buffer's begin in both, because the
// row pitch divides P. How many rows, columns and batches there are does not matter: y may be smaller than x, or larger. A row
// pitch that leaves a rest of a column is refused, and so are elements that share a byte with the next channel.
//
// Ji Lin et al., "MCUNetV2", 2021, describe it for layers of stride 1 and 2.
//
// Cost: tile classes for each depthwise operator.
namespace tessera::encoder {
namespace {

// How the channels of one tensor lie.
struct Columns {
  const hw_profiles::RoleLayout* layout = nullptr;
  int64_t bytes = 0;              // of one column
  std::vector<int64_t> channels;  // held by tiles of each class
};

class Comparison {
 public:
  Comparison(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const graph::TiledSubgraph& tiling, const SubgraphUses& uses)
      : graph_(graph), profile_(profile), tiling_(tiling), uses_(uses) {}

  // A tile next to this one reads a whole operand again.
  bool IsReadByOtherTiles(int operand) const {
    return tiling_.tiles > 1 && UseOf(uses_, operand).residence == Residence::kWhole;
  }

  bool HaveAlikeColumns(int operand, int result) const {
    const Columns x = ColumnsOf(operand);
    const Columns y = ColumnsOf(result);
    const auto divides = [](const Columns& columns) {
      return columns.bytes % columns.layout->row_pitch_bytes == 0;
    };
    return x.bytes == y.bytes && x.channels == y.channels && divides(x) && divides(y);
  }

 private:
  Columns ColumnsOf(int tensor) const {
    const graph::Tensor& facts = graph_.tensors[static_cast<size_t>(tensor)];
    const TensorUse& use = UseOf(uses_, tensor);
    const size_t axis = *graph::AxisOf(facts.shape, graph::Axis::kChannels);
    const bool whole = use.residence == Residence::kWhole;
    const size_t slot = graph::SlotOf(tiling_, tensor);
    Columns columns;
    columns.layout = &hw_profiles::LayoutOf(profile_, use.role);
    const int64_t most = whole ? facts.shape[axis] : tiling_.largest[slot][axis];
    columns.bytes =
        FeatureBytes({.channel_block = columns.layout->channel_block}, facts.type, {.channels = most}, {});
    for (const graph::TileClass& tiles : tiling_.classes)
      columns.channels.push_back(whole ? facts.shape[axis] : tiles.needed[slot][axis]);
    return columns;
  }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const graph::TiledSubgraph& tiling_;
  const SubgraphUses& uses_;
};

}  // namespace

bool WorksByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const graph::Operator& op) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  if (op.kind != base::OperatorKind::kDepthwise ||
      std::find(kinds.begin(), kinds.end(), op.kind) == kinds.end())
    return false;
  const graph::Tensor& x = graph.tensors[static_cast<size_t>(op.inputs.front())];
  const graph::Tensor& y = graph.tensors[static_cast<size_t>(op.outputs.front())];
  const size_t channels = *graph::AxisOf(x.shape, graph::Axis::kChannels);
  return x.type == y.type && base::BitsOf(x.type) % 8 == 0 && x.shape[channels] == y.shape[channels];
}

void MarkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::TiledSubgraph& tiling, SubgraphUses& uses) {
  const Comparison comparison(graph, profile, tiling, uses);
  uses.by_channel.clear();
  for (int k = 0; k < uses.Operators(); ++k) {
    const graph::Operator& op = uses.OperatorAt(graph, k);
    if (WorksByChannel(graph, profile, op) && !comparison.IsReadByOtherTiles(op.inputs.front()) &&
        comparison.HaveAlikeColumns(op.inputs.front(), op.outputs.front()))
      uses.by_channel.push_back(k);
  }
}

problem::Bytes ChannelBytes(const graph::Graph& graph, const graph::TiledSubgraph& tiling,
                            const graph::Operator& op) {
  const int result = op.outputs.front();
  const graph::Tensor& facts = graph.tensors[static_cast<size_t>(result)];
  NamedExtents one = NameExtents(facts.shape, tiling.largest[graph::SlotOf(tiling, result)]);
  one.channels = 1;
  return FeatureBytes({}, facts.type, one, {});
}

}  // namespace tessera::encoder
