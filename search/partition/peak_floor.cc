#include "tessera/search/partition/peak_floor.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "tessera/encoder/adapt/depth.h"
#include "tessera/graph/reorder.h"
#include "tessera/graph/tiling.h"
#include "tessera/search/simulate/saturating.h"
#include "tessera/search/simulate/traffic.h"

// What an operator holds in a tile follows from the operators after it in its subgraph alone: they ask for regions of its result,
// and so for regions of its operands. So for each operator and each end of a subgraph that asks something of it, one tile of a single row,
// column, ... (whatever may be cut), taken from the middle, gives operands that no larger tile has smaller; other operators of
// the subgraph can only add readers.
//
//     order 1    a  b [c  e] d  f       c --> e --> f        whatever the order, a subgraph with c and f has what lies on a way
//     order 2    a [c  d  e  f] b       '---> d ----'        from c to f: these ask, and no order matters
//
// Whether further readers are in the subgraph is left open; a result that they read is the smaller of what it is then and else. Where the
// subgraph ends elsewhere, some result that hangs on the operator leaves it, and a tile asks no less of that than its own smallest tile does.
// Where rows may be kept from tile to tile, later operators ask for less, but at some tile the operator still makes a row: then
// only its own result counts. An operator is done with as soon as it is seen to need no more than another one does.
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
      : graph_(graph),
        profile_(profile),
        usages_(graph::UsagesOf(graph)),
        dependencies_(graph::DependenciesOf(graph)) {}

  PeakFloor Find() const {
    const auto operators = static_cast<int>(graph_.operators.size());
    PeakFloor floor{.bytes = 0, .op = 0};
    for (int op = 0; op < operators; ++op) {
      Bytes least = OperandBytes({op});
      const std::vector<bool> follows = least > floor.bytes ? FollowersOf(op) : std::vector<bool>();
      for (int last = op + 1; last < operators && least > floor.bytes; ++last) {
        if (follows[static_cast<size_t>(last)]) least = std::min(least, OperandBytes(Between(follows, last)));
      }
      if (least > floor.bytes) floor = {.bytes = least, .op = op};
    }
    floor.bytes = std::max<Bytes>(1, SaturatingAdd(floor.bytes, ConstantsAtHome()));
    return floor;
  }

 private:
  // Which operators hang on this one, itself included.
  std::vector<bool> FollowersOf(int op) const {
    std::vector<bool> follows(graph_.operators.size());
    follows[static_cast<size_t>(op)] = true;
    for (size_t i = static_cast<size_t>(op) + 1; i < follows.size(); ++i) {
      const std::vector<int>& before = dependencies_[i];
      follows[i] = std::any_of(before.begin(), before.end(),
                               [&follows](int other) { return follows[static_cast<size_t>(other)]; });
    }
    return follows;
  }

  // Those of them on which the last one hangs, itself included, ascending.
  std::vector<int> Between(const std::vector<bool>& follows, int last) const {
    std::vector<bool> needed(follows.size());
    needed[static_cast<size_t>(last)] = true;
    std::vector<int> between;
    for (int i = last; i >= 0; --i) {
      const auto at = static_cast<size_t>(i);
      if (!needed[at] || !follows[at]) continue;
      between.push_back(i);
      for (const int other : dependencies_[at]) needed[static_cast<size_t>(other)] = true;
    }
    std::reverse(between.begin(), between.end());
    return between;
  }

  // Of the first of these operators in a subgraph that has them all and ends with the last. A result may take the place of an operand;
  // then only the larger of the two is certain.
  Bytes OperandBytes(const std::vector<int>& operators) const {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(operators.front())];
    const std::vector<int> asking = KeepsRows() ? std::vector<int>{operators.front()} : operators;
    const std::vector<graph::Box> regions = RegionsOf(asking);
    const std::vector<int> tensors = TensorsOf(asking);
    const auto extents_of = [&](int tensor) {
      const auto at = std::lower_bound(tensors.begin(), tensors.end(), tensor) - tensors.begin();
      graph::Extents extents;
      for (const graph::Extent& extent : regions[static_cast<size_t>(at)]) extents.push_back(extent.Length());
      return extents;
    };
    const std::optional<encoder::DepthCut> cut = DepthCutOf(operators);
    Bytes read = 0;
    Bytes made = 0;
    for (const int tensor : std::set<int>(op.inputs.begin(), op.inputs.end())) {
      if (cut && cut->Takes(tensor)) continue;
      Bytes least = BytesAs(RoleAlone(operators.front(), tensor), tensor, extents_of(tensor), false);
      const bool may_be_inside =
          UsageOf(tensor).producer >= 0 && !graph_.tensors[static_cast<size_t>(tensor)].network_output;
      if (may_be_inside)
        least = std::min(least, BytesAs(TensorRole::kFeature, tensor, extents_of(tensor), false));
      Accumulate(read, least);
    }
    for (const int tensor : op.outputs) {
      if (graph_.tensors[static_cast<size_t>(tensor)].next_of >= 0)
        continue;  // it may lie in the place of its state
      const bool may_leave = operators.size() == 1 || !AreAllAmong(UsageOf(tensor).consumers, operators);
      const bool may_stay =
          operators.size() > 1 && !graph_.tensors[static_cast<size_t>(tensor)].network_output;
      Bytes least = std::numeric_limits<Bytes>::max();
      if (may_leave || !may_stay)
        least = BytesAs(RoleAlone(operators.front(), tensor), tensor, extents_of(tensor), true);
      if (may_stay) least = std::min(least, BytesAs(TensorRole::kFeature, tensor, extents_of(tensor), true));
      Accumulate(made, least);
    }
    const std::vector<OperatorKind>& in_place = profile_.tiling.in_place;
    const bool shares =
        !op.in_place.empty() || std::find(in_place.begin(), in_place.end(), op.kind) != in_place.end();
    return shares ? std::max(read, made) : SaturatingAdd(read, made);
  }

  // What may come in slices of the depth, and is then nowhere as a whole.
  std::optional<encoder::DepthCut> DepthCutOf(const std::vector<int>& operators) const {
    const std::vector<hw_profiles::WeightPolicy>& weights = profile_.tiling.weights;
    const bool offered =
        std::find(weights.begin(), weights.end(), hw_profiles::WeightPolicy::kByDepth) != weights.end();
    if (!offered || operators.size() > 1) return std::nullopt;
    return encoder::FindDepthCut(graph_, profile_, {operators.front(), operators.front()});
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

  TensorRole RoleAlone(int op, int tensor) const {
    return graph::RoleIn(graph_, UsageOf(tensor), tensor, {op, op});
  }

  static bool AreAllAmong(const std::vector<int>& some, const std::vector<int>& all) {
    return std::includes(all.begin(), all.end(), some.begin(), some.end());
  }

  // In the middle one of the smallest tiles of a network that has these operators alone; parallel to TensorsOf.
  std::vector<graph::Box> RegionsOf(const std::vector<int>& operators) const {
    const auto count = static_cast<int>(operators.size());
    const Graph part = count == 1 ? Graph() : graph::Reordered(graph_, operators);
    const Graph& all = count == 1 ? graph_ : part;
    const Interval interval =
        count == 1 ? Interval{operators.front(), operators.front()} : Interval{0, count - 1};
    return graph::RegionsOfTile(all, interval, SmallestTile(all, profile_, interval));
  }

  // As in TiledSubgraph::tensors.
  std::vector<int> TensorsOf(const std::vector<int>& operators) const {
    std::set<int> tensors;
    for (const int i : operators) {
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
  std::vector<std::vector<int>> dependencies_;
};

}  // namespace

PeakFloor FindPeakFloor(const Graph& graph, const Profile& profile) { return Floor(graph, profile).Find(); }

}  // namespace tessera::search
