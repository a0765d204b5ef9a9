#include "tessera/plan/refutation/shape_load.h"

#include <algorithm>
#include <map>
#include <set>

#include "tessera/plan/costs_cycles.h"
#include "tessera/plan/refutation/floors.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/tiles.h"

// Sizes of tile buffers follow from the tiles and the halo alone, and so do the operators between
// which each must live. So one walk over the tiles bounds all policies for weights and for results
// in place:
//
//     operator     0   1   2   3
//     x  loaded    ####                     read by 0; twice, where the next tile arrives meanwhile
//     a            ############             made by 0, read by 1 and 2
//     b                ########             made by 1, read by 2
//     ring of c    ################         a ring lives throughout
//
// What an operator reads and what it makes may share one place, so of the two the larger counts
// where that is possible. Constants, scratch and what is copied between tiles are left out.
namespace tessera::plan::refutation {
namespace {

using hw_profiles::HaloStorage;

// A buffer that lives at the steps of operators [first, last], at least.
struct Stay {
  int tensor = 0;
  int64_t bytes = 0;
  int first = 0;
  int last = 0;
};

class ShapeLoad {
 public:
  ShapeLoad(const Plan& plan, const std::vector<Users>& users, size_t index)
      : plan_(plan), users_(users), index_(static_cast<int>(index)), subgraph_(plan.subgraphs[index]) {}

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
    RowCount rows(plan_.network);
    ForEachTile(plan_.network, users_, subgraph_, [&](const Tile& tile) {
      rows.Add(tile);
      for (const auto& [tensor, need] : tile.needs) {
        const std::vector<int64_t> extents = ExtentsOf(need);
        std::vector<int64_t>& most = largest_.try_emplace(tensor, extents).first->second;
        for (size_t axis = 0; axis < extents.size(); ++axis) most[axis] = std::max(most[axis], extents[axis]);
      }
    });
    rows_ = rows.Tallies();
  }

  bool Overlaps() const { return plan_.profile.tiling.dma == hw_profiles::DmaSteps::kOverlapped; }

  // Whether some tile has one before it and one behind it in the program's steps, so that all that
  // lives from tile to tile is there.
  bool HasMiddle() const { return subgraph_.tiles > (Overlaps() ? 2 : 1); }

  int64_t SizeOf(BufferKind kind, int tensor) const {
    const BufferUse use = {kind, kind == BufferKind::kWhole ? -1 : index_, tensor, -1, 0, 0};
    return FootprintOf(plan_, users_, use, largest_, rows_).size;
  }

  void AddStay(int tensor) {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
    if (facts.constant || facts.state || facts.next_of >= 0) return;
    const Held held = HoldingOf(plan_, users_, subgraph_, tensor);
    const Users& users = users_[static_cast<size_t>(tensor)];
    const graph::Interval all = subgraph_.interval;
    Stay stay{tensor, 0, all.last, all.first};
    for (const std::vector<int>* list : {&users.makers, &users.readers}) {
      for (const int op : *list) {
        if (!Contains(all, op)) continue;
        stay.first = std::min(stay.first, op);
        stay.last = std::max(stay.last, op);
      }
    }
    if (held.holding == Holding::kWhole) {
      const bool is_wanted_later =
          facts.network_output || (!users.readers.empty() && users.readers.back() > all.last);
      if (!held.made) stay.first = all.first;
      if (is_wanted_later) stay.last = all.last;
      // With several tiles, what is read stays for the last one.
      if (subgraph_.tiles > 1 && !held.made) stay.last = all.last;
      stay.bytes = SizeOf(BufferKind::kWhole, tensor);
    } else if (held.holding == Holding::kInner || held.holding == Holding::kLoaded ||
               held.holding == Holding::kStored) {
      const bool is_cached = subgraph_.halo != HaloStorage::kRecompute && IsCached(held, tensor, rows_);
      const bool is_ring = is_cached && subgraph_.halo == HaloStorage::kRing;
      if (is_ring && HasMiddle()) stay = {tensor, 0, all.first, all.last};
      const auto extents = largest_.find(tensor);
      if (extents == largest_.end() || std::count(extents->second.begin(), extents->second.end(), 0) > 0)
        return;
      stay.bytes = SizeOf(is_ring ? BufferKind::kRing : BufferKind::kTile, tensor);
      const bool crosses = held.holding != Holding::kInner && !is_ring;
      if (crosses && Overlaps() && HasMiddle()) stays_.push_back({tensor, stay.bytes, all.first, all.last});
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
    std::set<int> counted;  // an operand's second buffer shares nothing
    for (auto stay = stays_.rbegin(); stay != stays_.rend(); ++stay) {
      if (op < stay->first || stay->last < op) continue;
      const bool is_first = counted.insert(stay->tensor).second;
      int64_t& sum = is_first && has(facts.inputs, stay->tensor)    ? read
                     : is_first && has(facts.outputs, stay->tensor) ? made
                                                                    : others;
      sum = Plus(sum, stay->bytes);
    }
    others = Plus(others, LeastConstants(plan_, users_, op));
    return Plus(others, MaySharePlace(plan_.profile, facts) ? std::max(read, made) : Plus(read, made));
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const int index_;
  const Subgraph& subgraph_;
  LargestExtents largest_;
  RowTallies rows_;
  std::vector<Stay> stays_;
};

}  // namespace

int64_t LoadOfShape(const Plan& plan, const std::vector<Users>& users, size_t index) {
  return ShapeLoad(plan, users, index).Run();
}

}  // namespace tessera::plan::refutation
