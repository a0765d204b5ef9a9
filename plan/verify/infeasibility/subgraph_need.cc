// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/subgraph_need.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/needed_boxes.h"
#include "tessera/plan/verify/tiles.h"

// The idea. A tensor at home in the tile memory is whole while it crosses the beginning or the end
// of a subgraph. So the sizes of tensors that enter the subgraph and of those that leave it add up,
// and the remaining bytes must hold the tiles of the tensors between:
//
//     enters     ###############################            whole, until its last reader has run
//     tiles             ###  ###  ##                        at the step of one operator
//     leaves                       ####################     whole, from its maker's first run on
//     passes     ######################################     neither read nor made here
//
// Whatever the order of the operators inside, one of them is the last, none reads its results here,
// and tiles cut its first output. The bound is the least over these operators, and over the ways
// to cut:
//
// - *One tile.* Each operator makes all that is needed of its result in one step.
// - *Two tiles, double-buffered*, which run without a loop. Along the one axis that is cut, the
//   first has half of the output at least. In the pass of the first tile, all tensors that enter
//   are still needed for the second. In the pass of the second tile, all tensors that leave have
//   been begun in the first.
// - *More tiles, or a loop over tiles.* There is a pass in which all tensors that enter and all
//   that leave are present. Tile buffers are as large as the largest tile needs, so they can hold
//   the needs of the tile that contains any chosen element: the one in the middle or, along rows,
//   the first. Along an axis with a granularity tiles consist of its units, so the tile contains
//   the unit around the element. If rows are kept, the first tile of a strip finds none: it makes
//   all rows that it needs, and no buffer for its rows is smaller.
//
// Why this holds in every order. At an operator's step, the buffers of its operands and results
// live, and those of tensors that an operator before it has made and an operator after it reads.
// Here, before and after mean before and after in every order. Needs of a tile follow from readers
// to makers, not from the order.
//
// Reductions of the need. A result may be in the place of one operand: the smaller one of the
// largest such pair does not count. Two whole buffers are no such pair if there are several tiles
// and other operators, because they then share more than the operator's step. A tensor that engines
// access in its home, a factor that arrives in K slices, and states in the tile memory count as 0.
// The host works alone, in one tile, and needs no tile buffers. Constants count with the least over
// all policies. All other buffers of a plan (kept tensors, lines, second buffers, scratch, slices,
// pads) only add to the sum. An operator runs in only one subgraph; recomputation for several tiles
// is inside it.
//
// Cost: operators times tensors of the subgraph, for each tile and each possible last operator.
namespace tessera::plan::verify::infeasibility {
namespace {

using hw_profiles::Tiling;

// How the output may be cut.
enum class Cut : uint8_t { kOneTile, kTwoTiles, kMoreTiles };

bool IsIn(const std::vector<int>& list, int value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

void RaiseTo(Need& most, const Need& other) {
  if (other.bytes > most.bytes) most = other;
}

void LowerTo(Need& least, const Need& other) {
  if (other.bytes < least.bytes) least = other;
}

// The network in an order that has the operators of the subgraph together, one of them last.
struct Sequence {
  std::vector<int> order;  // numbers in the file
  graph::Interval interval;
};

Sequence Arrange(const Done& before, const Done& after, int last) {
  Sequence sequence;
  const auto append = [&](const auto& belongs) {
    for (size_t op = 0; op < before.size(); ++op) {
      if (belongs(op)) sequence.order.push_back(static_cast<int>(op));
    }
  };
  append([&](size_t op) { return before[op]; });
  sequence.interval.first = static_cast<int>(sequence.order.size());
  append([&](size_t op) { return after[op] && !before[op] && op != static_cast<size_t>(last); });
  sequence.interval.last = static_cast<int>(sequence.order.size());
  sequence.order.push_back(last);
  append([&](size_t op) { return !after[op]; });
  return sequence;
}

// The subgraph with one of its operators last.
class OrderedSubgraph {
 public:
  // `plan`: the network in the order of the sequence. `constants`: bytes at home in the tile
  // memory. Operators are visited until one needs more than `enough`, `around` first.
  OrderedSubgraph(const Plan& plan, const std::vector<Users>& users, const Dependences& dependences,
                  const Sequence& sequence, int64_t constants, const Progress& before,
                  const Progress& after, int around, int64_t enough)
      : plan_(plan),
        users_(users),
        dependences_(dependences),
        sequence_(sequence),
        around_(around),
        enough_(enough),
        always_(constants) {
    subgraph_.interval = sequence_.interval;
    tiled_ = plan_.network.operators[static_cast<size_t>(subgraph_.interval.last)].outputs.front();
    for (const int tensor : TensorsOf(plan_.network, subgraph_.interval)) AddPart(tensor);
    std::vector<int> both;
    std::set_union(before.held.begin(), before.held.end(), after.held.begin(), after.held.end(),
                   std::back_inserter(both));
    for (const int tensor : both) {
      const int64_t bytes = WholeBytes(plan_, tensor);
      crossing_.bytes = Plus(crossing_.bytes, bytes);
      if (crossing_.tensor < 0 || bytes > WholeBytes(plan_, crossing_.tensor))
        crossing_.tensor = tensor;
      if (!IsTouched(tensor)) always_ = Plus(always_, bytes);
    }
    crossing_.bytes = Plus(crossing_.bytes, constants);
  }

  Need Find() {
    const Box output = WholeOf(graph::ShapeOf(plan_.network, tiled_));
    Need least = MostFor(output, Cut::kOneTile);
    const LeastTiles tiles(plan_, users_, subgraph_.interval);
    if (!tiles.AreSeveral()) return least;
    const bool is_alone = subgraph_.interval.first == subgraph_.interval.last;
    if (crossing_.bytes > enough_ && !is_alone) {
      LowerTo(least, crossing_);
      return least;
    }
    LowerTo(least, MoreTiles(tiles));
    const Tiling& tiling = plan_.profile.tiling;
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (!tiles.Cuts(axis) || tiling.dma != hw_profiles::DmaSteps::kDoubleBuffered) continue;
      Box half = output;
      half[axis].end = base::CeilDiv(output[axis].end, int64_t{2});
      LowerTo(least, MostFor(half, Cut::kTwoTiles));
    }
    return least;
  }

  int64_t Work() const { return work_; }

 private:
  // A tensor that operators of the subgraph use.
  struct Part {
    int tensor = -1;
    Held held;
    int maker = -1;            // inside
    std::vector<int> readers;  // inside
    bool is_wanted_later = false;
    int64_t whole = 0;  // bytes; 0 if it has a tile buffer or none
  };

  int OfFile(int op) const { return sequence_.order[static_cast<size_t>(op)]; }
  const graph::Operator& At(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  bool IsTouched(int tensor) const {
    return std::any_of(parts_.begin(), parts_.end(),
                       [tensor](const Part& part) { return part.tensor == tensor; });
  }

  // Whether `op` runs before `other` in every order.
  bool Precedes(int op, int other) const {
    return dependences_.Precedes(OfFile(op), OfFile(other));
  }
  bool IsMadeBy(const Part& part, int op) const {
    return part.maker == op || (part.maker >= 0 && Precedes(part.maker, op));
  }
  bool IsReadFrom(const Part& part, int op) const {
    return std::any_of(part.readers.begin(), part.readers.end(),
                       [&](int reader) { return reader == op || Precedes(op, reader); });
  }

  void AddPart(int tensor) {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
    if (facts.constant || IsStateInTileMemory(plan_, tensor)) return;
    Part part;
    part.tensor = tensor;
    part.held = ResidencyOf(plan_, users_, subgraph_, tensor);
    const Users& users = users_[static_cast<size_t>(tensor)];
    for (const int maker : users.makers) {
      if (Contains(subgraph_.interval, maker)) part.maker = maker;
    }
    for (const int reader : users.readers) {
      if (Contains(subgraph_.interval, reader)) part.readers.push_back(reader);
    }
    part.is_wanted_later = facts.network_output || users.AreReadAfter(subgraph_.interval.last);
    if (part.held.residency == Residency::kWhole)
      part.whole = BytesAs(facts, part.held.role, facts.shape);
    parts_.push_back(std::move(part));
  }

  Need MoreTiles(const LeastTiles& tiles) {
    Need need = MostFor(tiles.AroundMiddle(), Cut::kMoreTiles);
    RaiseTo(need, MostFor(tiles.AroundTop(), Cut::kMoreTiles));
    if (tiles.MayKeepRows()) LowerTo(need, MostFor(tiles.TopOfStrip(), Cut::kMoreTiles));
    return need;
  }

  // The maximum need of an operator if some tile contains this part of the output.
  Need MostFor(const Box& box, Cut cut) {
    const Tile tile = SingleTile(plan_.network, users_, subgraph_, box);
    std::vector<int64_t> bytes;  // by part, of its tile buffer
    for (const Part& part : parts_) bytes.push_back(TileBytes(part, tile.needs.at(part.tensor)));
    Need most;
    const auto visit = [&](int op) {
      work_ += static_cast<int64_t>(parts_.size());
      RaiseTo(most, NeedAt(op, bytes, cut));
    };
    for (int op = subgraph_.interval.first; op <= subgraph_.interval.last; ++op) {
      if (OfFile(op) == around_) visit(op);
    }
    for (int op = subgraph_.interval.first; op <= subgraph_.interval.last && most.bytes <= enough_;
         ++op)
      visit(op);
    return most;
  }

  int64_t TileBytes(const Part& part, const Box& need) const {
    const bool has_none = part.held.residency == Residency::kWhole ||
                          part.held.residency == Residency::kDirect ||
                          IsOnHost(plan_, subgraph_.interval) || (!part.held.made && MayBeSplitK());
    if (has_none || IsEmpty(need)) return 0;
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(part.tensor)];
    return BytesAs(facts, part.held.role, ExtentsOf(need));
  }

  // The need at the operator's step, in the pass with most bytes of whole buffers.
  Need NeedAt(int op, const std::vector<int64_t>& tiles, Cut cut) const {
    int64_t here = 0;     // in every pass
    int64_t entered = 0;  // whole, in the first pass
    int64_t left = 0;     // whole, in the last pass
    Need need{0, OfFile(op), -1};
    int64_t largest = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      const Part& part = parts_[i];
      const bool is_there =
          (part.maker < 0 || IsMadeBy(part, op)) && (part.is_wanted_later || IsReadFrom(part, op));
      int64_t bytes = 0;
      if (part.whole > 0) {
        const bool counts = is_there || cut != Cut::kOneTile;
        bytes = counts ? part.whole : 0;
        if (is_there || cut == Cut::kMoreTiles) {
          here = Plus(here, bytes);
        } else {
          int64_t& one_pass = part.maker < 0 ? entered : left;
          one_pass = Plus(one_pass, bytes);
        }
      } else if (IsOperand(part, op) || IsBetween(part, op)) {
        bytes = tiles[i];
        here = Plus(here, bytes);
      }
      if (bytes > largest) need.tensor = part.tensor;
      largest = std::max(largest, bytes);
    }
    need.bytes = Plus(Plus(always_, here), std::max(entered, left)) - InPlace(op, tiles, cut);
    if (!MayBeSplitK()) need.bytes = Plus(need.bytes, Constants(op));
    return need;
  }

  static bool IsOperand(const Part& part, int op) {
    return part.maker == op || IsIn(part.readers, op);
  }

  // Whether in every order a tile of the part lives at the operator's step, because an operator
  // before it makes the part and one after it reads it.
  bool IsBetween(const Part& part, int op) const {
    return part.held.role != base::TensorRole::kState && part.maker >= 0 &&
           Precedes(part.maker, op) &&
           std::any_of(part.readers.begin(), part.readers.end(),
                       [&](int reader) { return Precedes(op, reader); });
  }

  // The maximum bytes that results may share with operands.
  int64_t InPlace(int op, const std::vector<int64_t>& tiles, Cut cut) const {
    if (!MaySharePlace(plan_.profile, At(op))) return 0;
    const bool is_alone = subgraph_.interval.first == subgraph_.interval.last;
    int64_t shared = 0;
    for (size_t result = 0; result < parts_.size(); ++result) {
      if (parts_[result].maker != op) continue;
      int64_t most = 0;
      for (size_t operand = 0; operand < parts_.size(); ++operand) {
        if (!IsIn(parts_[operand].readers, op)) continue;
        const bool overlap = parts_[result].whole > 0 && parts_[operand].whole > 0 && !is_alone &&
                             cut != Cut::kOneTile;
        if (overlap) continue;
        most = std::max(most, std::min(std::max(parts_[result].whole, tiles[result]),
                                       std::max(parts_[operand].whole, tiles[operand])));
      }
      shared = Plus(shared, most);
    }
    return shared;
  }

  int64_t Constants(int op) const {
    if (IsOnHost(plan_, subgraph_.interval)) return 0;
    const Tiling& tiling = plan_.profile.tiling;
    const bool overlaps =
        tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && !tiling.may_serialize;
    return LeastConstants(plan_, users_, op, overlaps);
  }

  // Whether the only operator of the subgraph may read its operands in K slices.
  bool MayBeSplitK() const {
    return subgraph_.interval.first == subgraph_.interval.last &&
           std::count(plan_.profile.tiling.weights.begin(), plan_.profile.tiling.weights.end(),
                      hw_profiles::WeightPolicy::kSplitK) > 0;
  }

  int64_t BytesAs(const graph::Tensor& facts, base::TensorRole role,
                  const std::vector<int64_t>& extents) const {
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
    return StoredBytes(NameExtents(extents), facts.type, layout.channel_block,
                       layout.row_pitch_bytes);
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const Dependences& dependences_;
  const Sequence& sequence_;
  const int around_;
  const int64_t enough_;
  Subgraph subgraph_;
  int tiled_ = -1;
  int64_t always_;  // there at every step
  Need crossing_;   // whole, of all that enters, leaves or passes, and the constants
  std::vector<Part> parts_;
  int64_t work_ = 0;
};

}  // namespace

SubgraphNeeds::SubgraphNeeds(const Plan& plan, const std::vector<Users>& users,
                             const Dependences& dependences)
    : plan_(plan), dependences_(dependences), users_(users) {
  ordered_.network = plan.network;
  ordered_.profile = plan.profile;
  order_.resize(plan.network.operators.size());
  std::iota(order_.begin(), order_.end(), 0);
  const graph::Interval all{0, static_cast<int>(plan.network.operators.size()) - 1};
  for (int tensor = 0; tensor < static_cast<int>(plan.network.tensors.size()); ++tensor) {
    const bool counts = plan.network.tensors[static_cast<size_t>(tensor)].constant &&
                        HomeOf(plan, tensor) == plan.profile.tile_memory &&
                        !users[static_cast<size_t>(tensor)].readers.empty();
    if (counts) constants_ = Plus(constants_, ConstantBytes(plan, users, tensor, all));
  }
}

void SubgraphNeeds::Reorder(const std::vector<int>& order) {
  if (order == order_) return;
  for (size_t i = 0; i < order.size(); ++i) {
    if (order[i] != order_[i])
      ordered_.network.operators[i] = plan_.network.operators[static_cast<size_t>(order[i])];
  }
  order_ = order;
  users_ = FindUsers(ordered_.network);
}

Need SubgraphNeeds::Of(const Progress& before, const Progress& after, int around, int64_t enough) {
  std::vector<int> inside;
  bool has_host = false;
  for (size_t op = 0; op < before.done.size(); ++op) {
    if (before.done[op] || !after.done[op]) continue;
    inside.push_back(static_cast<int>(op));
    has_host = has_host || IsOnHost(plan_, plan_.network.operators[op]);
  }
  Need least{base::kMaxTotal, inside.front(), -1};
  if (has_host && inside.size() > 1) return least;
  for (const int last : inside) {
    const bool is_read = std::any_of(inside.begin(), inside.end(),
                                     [&](int other) { return dependences_.Precedes(last, other); });
    if (is_read) continue;
    const Sequence sequence = Arrange(before.done, after.done, last);
    Reorder(sequence.order);
    OrderedSubgraph ordered(ordered_, users_, dependences_, sequence, constants_, before, after,
                            around, enough);
    LowerTo(least, ordered.Find());
    work_ += ordered.Work() + 10 * static_cast<int64_t>(before.done.size());
  }
  return least;
}

}  // namespace tessera::plan::verify::infeasibility
