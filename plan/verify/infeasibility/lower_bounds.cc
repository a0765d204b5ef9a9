// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/lower_bounds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/tiles.h"

// Sizes of tile buffers follow from the tiles and the halo alone, and so do the operators between
// which each buffer must live. So one walk over the tiles results in a bound for all policies for
// weights and for in-place results:
//
//     operator     0   1   2   3
//     x  loaded    ####                     read by 0; twice if the next tile arrives then
//     a            ############             made by 0, read by 1 and 2
//     b                ########             made by 1, read by 2
//     rolling buffer of c    ################         a rolling buffer lives throughout
//
// If an operand and a result of an operator may share one place, only the larger counts. Constants
// count with their minimum over the policies (LeastConstants). Scratch and data that is copied
// between tiles are left out.
namespace tessera::plan::verify::infeasibility {

namespace {

using hw_profiles::HaloStorage;

// A buffer that lives at least at the steps of operators [first, last].
struct Stay {
  int tensor = 0;
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

class ShapeLoad {
 public:
  ShapeLoad(const Plan& plan, const std::vector<Users>& users, size_t index)
      : plan_(plan),
        users_(users),
        index_(static_cast<int>(index)),
        subgraph_(plan.subgraphs[index]) {}

  int64_t Run() {
    FindSizes();
    for (const int tensor : TensorsOf(plan_.network, subgraph_.interval)) AddStay(tensor);
    int64_t most = 0;
    for (int op = subgraph_.interval.first; op <= subgraph_.interval.last; ++op)
      most = std::max(most, LoadAt(op));
    return most;
  }

 private:
  void FindSizes() {
    ForEachTile(plan_.network, users_, subgraph_, [&](const Tile& tile) { maxima_.Add(tile); });
  }

  bool Overlaps() const { return IsDoubleBuffered(plan_, subgraph_); }

  // Whether some tile has a tile before it and a tile after it in the program's steps, so that all
  // buffers that live from tile to tile are alive.
  bool HasMiddle() const { return subgraph_.tiles > (Overlaps() ? 2 : 1); }

  int64_t SizeOf(BufferKind kind, int tensor) const {
    const BufferUse use = {kind, kind == BufferKind::kWhole ? -1 : index_, tensor, -1, 0, 0};
    return FootprintOf(plan_, users_, use, maxima_.Extents(), maxima_.Rows()).size;
  }

  void AddStay(int tensor) {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
    if (facts.constant || IsStateInTileMemory(plan_, tensor)) return;
    const Held held = ResidencyOf(plan_, users_, subgraph_, tensor);
    const Users& users = users_[static_cast<size_t>(tensor)];
    const graph::Interval all = subgraph_.interval;
    const graph::Interval touched = TouchedIn(users, all);
    Stay stay{tensor, 0, touched.first, touched.last};
    if (held.residency == Residency::kWhole) {
      const bool is_wanted_later =
          facts.network_output || (!users.readers.empty() && users.readers.back() > all.last);
      if (!held.made) stay.first = all.first;
      if (is_wanted_later) stay.last = all.last;
      // With several tiles, the tensors that are read stay for the last tile.
      if (subgraph_.tiles > 1 && !held.made) stay.last = all.last;
      stay.bytes = SizeOf(BufferKind::kWhole, tensor);
    } else if (held.residency == Residency::kInner || held.residency == Residency::kLoaded ||
               held.residency == Residency::kStored) {
      const bool is_cached =
          subgraph_.halo != HaloStorage::kRecompute && IsCached(held, tensor, maxima_.Rows());
      const bool is_rolling_buffer = is_cached && subgraph_.halo == HaloStorage::kRollingBuffer;
      if (is_rolling_buffer && HasMiddle()) stay = {tensor, 0, all.first, all.last};
      const auto extents = maxima_.Extents().find(tensor);
      if (extents == maxima_.Extents().end() ||
          std::count(extents->second.begin(), extents->second.end(), 0) > 0)
        return;
      stay.bytes =
          SizeOf(is_rolling_buffer ? BufferKind::kRollingBuffer : BufferKind::kTile, tensor);
      const bool crosses = held.residency != Residency::kInner && !is_rolling_buffer;
      if (crosses && Overlaps() && HasMiddle())
        stays_.push_back({tensor, stay.bytes, all.first, all.last});
    }
    if (stay.bytes > 0 && stay.first <= stay.last) stays_.push_back(stay);
  }

  int64_t LoadAt(int op) const {
    const graph::Operator& facts = plan_.network.operators[static_cast<size_t>(op)];
    const auto has = [](const std::vector<int>& list, int tensor) {
      return std::find(list.begin(), list.end(), tensor) != list.end();
    };
    int64_t read = 0;
    int64_t made = 0;
    int64_t others = 0;
    std::set<int> counted;  // an operand's second buffer does not share a place
    for (auto stay = stays_.rbegin(); stay != stays_.rend(); ++stay) {
      if (op < stay->first || stay->last < op) continue;
      const bool is_first = counted.insert(stay->tensor).second;
      int64_t& sum = is_first && has(facts.inputs, stay->tensor)    ? read
                     : is_first && has(facts.outputs, stay->tensor) ? made
                                                                    : others;
      sum = Plus(sum, stay->bytes);
    }
    others = Plus(others, LeastConstants(plan_, users_, op, Overlaps()));
    return Plus(others,
                MaySharePlace(plan_.profile, facts) ? std::max(read, made) : Plus(read, made));
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int index_;
  const Subgraph& subgraph_;
  TileMaxima maxima_;
  std::vector<Stay> stays_;
};

}  // namespace

int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index) {
  return ShapeLoad(plan, users, index).Run();
}

bool IsBeyond(double value, double limit) {
  constexpr double kRounding = 1e-10;  // of either
  return value > limit + kRounding * std::max(std::abs(value), std::abs(limit));
}

bool MaySharePlace(const hw_profiles::Profile& profile, const graph::Operator& op) {
  const std::vector<base::OperatorKind>& kinds = profile.tiling.in_place;
  return !op.in_place.empty() || std::find(kinds.begin(), kinds.end(), op.kind) != kinds.end();
}

// If transfers overlap, the next slice of the weights arrives while the operator uses one slice, so
// two slots count.
int64_t LeastConstants(const Plan& plan, const std::vector<Users>& users, int op, bool overlaps) {
  const graph::Operator& facts = plan.network.operators[static_cast<size_t>(op)];
  std::optional<int64_t> least;
  for (const hw_profiles::WeightPolicy weights : plan.profile.tiling.weights) {
    if (weights == hw_profiles::WeightPolicy::kSplitK) continue;
    Subgraph subgraph;
    subgraph.interval = {op, op};
    subgraph.weights = weights;
    int64_t bytes = 0;
    for (const int constant : std::set<int>(facts.weights.begin(), facts.weights.end())) {
      const Held held = ResidencyOf(plan, users, subgraph, constant);
      if (held.residency == Residency::kResident)
        bytes = Plus(bytes, ConstantBytes(plan, facts, constant));
      if (held.residency != Residency::kStreamed) continue;
      const int64_t slots = overlaps && SlicingOf(plan, facts, constant).slices > 1 ? 2 : 1;
      bytes = Plus(bytes, Times(slots, SliceBytes(plan, facts, constant)));
    }
    least = std::min(least.value_or(bytes), bytes);
  }
  return least.value_or(0);
}

}  // namespace tessera::plan::verify::infeasibility
