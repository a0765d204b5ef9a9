#include "tessera/search/partition/peak_floor.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "tessera/encoder/adapt/depth.h"
#include "tessera/graph/tiling.h"
#include "tessera/search/simulate/saturating.h"
#include "tessera/search/simulate/traffic.h"

// What an operator holds in a tile follows from the operators after it in its subgraph alone: they ask for regions of its result,
// and so for regions of its operands. So for each operator and each end of a subgraph that it can be in, one tile of a single row,
// column, ... (whatever may be cut), taken from the middle, gives operands that no larger tile has smaller; earlier operators of
// the subgraph can only add readers. Where rows may be kept from tile to tile, later operators ask for less, but at some tile the
// operator still makes a row: then only its own result counts. An operator is done with as soon as it is seen to need no more than another one does.
// Cost: usually little more than one propagation for each operator; at worst operators^2.
namespace tessera::search {
namespace {

using base::OperatorKind;
using base::TensorRole;
using graph::Graph;
using graph::Interval;
using hw_profiles::Profile;
using problem::Bytes;

// The middle one of the smallest tiles.
graph::Box SmallestTile(const Graph& graph, const Profile& profile, Interval interval) {
  const int result = graph.operators[static_cast<size_t>(interval.last)].outputs.front();
  const graph::Shape& shape = graph.tensors[static_cast<size_t>(result)].shape;
  graph::Box tile = graph::WholeBox(shape);
  for (const hw_profiles::AxisGranule& cut : profile.tiling.axes) {
    const std::optional<size_t> axis = graph::AxisOf(shape, cut.axis);
    if (!axis || !graph::CanCut(graph, interval, *axis)) continue;
    const int64_t middle = shape[*axis] / 2;
    tile[*axis] = {middle, middle + 1};
  }
  return tile;
}

class Floor {
 public:
  Floor(const Graph& graph, const Profile& profile)
      : graph_(graph), profile_(profile), usages_(graph::UsagesOf(graph)) {}

  PeakFloor Find() const {
    const auto operators = static_cast<int>(graph_.operators.size());
    PeakFloor floor{.bytes = 0, .op = 0};
    for (int op = 0; op < operators; ++op) {
      Bytes least = std::numeric_limits<Bytes>::max();
      for (int last = op; last < operators && least > floor.bytes; ++last) {
        least = std::min(least, OperandBytes({op, last}));
      }
      if (least > floor.bytes) floor = {.bytes = least, .op = op};
    }
    floor.bytes = std::max<Bytes>(1, SaturatingAdd(floor.bytes, ConstantsAtHome()));
    return floor;
  }

 private:
  // Of the interval's first operator. A result may take the place of an operand; then only the larger of the two is certain.
  Bytes OperandBytes(Interval interval) const {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(interval.first)];
    const Interval asking = KeepsRows() ? Interval{interval.first, interval.first} : interval;
    const std::vector<graph::Box> regions =
        graph::RegionsOfTile(graph_, asking, SmallestTile(graph_, profile_, asking));
    const std::vector<int> tensors = TensorsOf(asking);
    const auto extents_of = [&](int tensor) {
      const auto at = std::lower_bound(tensors.begin(), tensors.end(), tensor) - tensors.begin();
      graph::Extents extents;
      for (const graph::Extent& extent : regions[static_cast<size_t>(at)]) extents.push_back(extent.Length());
      return extents;
    };
    const std::optional<encoder::DepthCut> cut = DepthCutOf(interval);
    Bytes read = 0;
    Bytes made = 0;
    for (const int tensor : std::set<int>(op.inputs.begin(), op.inputs.end())) {
      if (cut && cut->Takes(tensor)) continue;
      Bytes least = BytesAs(graph::RoleIn(graph_, UsageOf(tensor), tensor, interval), tensor,
                            extents_of(tensor), false);
      const bool may_be_inside =
          UsageOf(tensor).producer >= 0 && !graph_.tensors[static_cast<size_t>(tensor)].network_output;
      if (may_be_inside)
        least = std::min(least, BytesAs(TensorRole::kFeature, tensor, extents_of(tensor), false));
      Accumulate(read, least);
    }
    for (const int tensor : op.outputs) {
      const TensorRole role = graph::RoleIn(graph_, UsageOf(tensor), tensor, interval);
      Accumulate(made, BytesAs(role, tensor, extents_of(tensor), true));
    }
    const std::vector<OperatorKind>& in_place = profile_.tiling.in_place;
    const bool shares =
        !op.in_place.empty() || std::find(in_place.begin(), in_place.end(), op.kind) != in_place.end();
    return shares ? std::max(read, made) : SaturatingAdd(read, made);
  }

  // What may come in slices of the depth, and is then nowhere as a whole.
  std::optional<encoder::DepthCut> DepthCutOf(Interval interval) const {
    const std::vector<hw_profiles::WeightPolicy>& weights = profile_.tiling.weights;
    const bool offered =
        std::find(weights.begin(), weights.end(), hw_profiles::WeightPolicy::kByDepth) != weights.end();
    return offered ? encoder::FindDepthCut(graph_, profile_, interval) : std::nullopt;
  }

  bool KeepsRows() const {
    const std::vector<hw_profiles::HaloStorage>& halos = profile_.tiling.halo;
    return std::any_of(halos.begin(), halos.end(), [](hw_profiles::HaloStorage halo) {
      return halo != hw_profiles::HaloStorage::kRecompute;
    });
  }

  // 0 where the role may need no buffer.
  Bytes BytesAs(TensorRole role, int tensor, const graph::Extents& extents, bool made) const {
    const graph::Tensor& t = graph_.tensors[static_cast<size_t>(tensor)];
    if (role == TensorRole::kState) return 0;
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile_, role);
    if (role != TensorRole::kFeature) {
      if (layout.home == profile_.tile_memory) return PayloadBytes(t, t.shape, layout);
      const hw_profiles::Memory& home = profile_.memories[static_cast<size_t>(layout.home)];
      if (made ? home.direct_write : home.direct_read) return 0;
    }
    return PayloadBytes(t, extents, layout);
  }

  const graph::Usage& UsageOf(int tensor) const { return usages_[static_cast<size_t>(tensor)]; }

  // As in TiledSubgraph::tensors.
  std::vector<int> TensorsOf(Interval interval) const {
    std::set<int> tensors;
    for (int i = interval.first; i <= interval.last; ++i) {
      const graph::Operator& op = graph_.operators[static_cast<size_t>(i)];
      tensors.insert(op.inputs.begin(), op.inputs.end());
      tensors.insert(op.outputs.begin(), op.outputs.end());
    }
    return {tensors.begin(), tensors.end()};
  }

  Bytes ConstantsAtHome() const {
    if (hw_profiles::LayoutOf(profile_, TensorRole::kConstant).home != profile_.tile_memory) return 0;
    const Interval all{0, static_cast<int>(graph_.operators.size()) - 1};
    Bytes total = 0;
    for (const int64_t bytes : ResidentBytes(graph_, profile_, all)) Accumulate(total, bytes);
    return total;
  }

  const Graph& graph_;
  const Profile& profile_;
  std::vector<graph::Usage> usages_;
};

}  // namespace

PeakFloor FindPeakFloor(const Graph& graph, const Profile& profile) { return Floor(graph, profile).Find(); }

}  // namespace tessera::search
