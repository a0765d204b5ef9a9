// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <numeric>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// *Floor of an interval.* The tiles cover the output. So for every choice of one index along each
// axis that may be cut there is a tile that contains it, and the needs of a tile only grow with the
// tile. Hence each tile buffer is at least as large as the part of its tensor that the tile of that
// one index needs, and the step that runs an operator holds its operands and results together:
//
//     output, cut by rows and columns     . . . . .        the tile of the one index o needs these
//                                         . . o . .        of an operand of a 3x3 convolution:
//                                         . . . . .        3 x 3
//
// If rows are kept, a tile makes only some of the rows that it needs, so no size is certain for the
// tile that contains o. But all rows that a tile needs of a tensor are made, in this tile or a
// previous one, and the operator that makes a row then holds the rows that it needs for it. So the
// bound follows single rows: row o of the output is made; of the rows that it needs of an operand
// the middle one is made; and so on, from reader to maker.
//
// Whole buffers count with their whole size. Buffers of other tensors that live while the operator
// runs count too. If there are several tiles, the tensors that the subgraph reads stay for the last
// tile, and those that it makes exist from the first tile on: all of them live when the last tile
// begins. If there is one tile, a whole buffer lives from its maker to its last reader. The smaller
// of the two sums is used.
//
// Of operands that may share one place, the larger counts. An operand counts as 0 if it may stay in
// its home, if it may arrive in K slices, or if it is a state in the tile memory or the next value
// of one. Constants count with the minimum over all policies.
//
// *Everywhere.* Without an order, only one index of an operator's own result is certain to be
// needed, and that index is unknown. Along each axis the minimum over all indices counts. Where a
// box of the result is known to be needed, the index in its middle is made at some step too.
namespace tessera::plan::verify::infeasibility {
namespace {

using base::TensorRole;
using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;

// indices of a result, over all axes, that are examined one by one
constexpr int64_t kMostIndices = 4'000;

class MemoryLowerBounds {
 public:
  MemoryLowerBounds(const Plan& plan, const std::vector<Users>& users)
      : plan_(plan), users_(users) {}

  int64_t OfInterval(graph::Interval interval) const {
    const Box output = WholeOf(ShapeOf(TiledOf(interval)));
    Box least = output;
    Box strip = output;
    bool keeps_rows = false;
    for (size_t axis = 0; axis < output.size(); ++axis) {
      const auto name = MeaningOf(output.size(), axis);
      const auto& axes = plan_.profile.tiling.axes;
      const bool offered = std::any_of(axes.begin(), axes.end(),
                                       [&](const auto& each) { return each.axis == name; });
      if (!name || !offered || !MayCut(plan_.network, users_, interval, axis)) continue;
      const int64_t middle = output[axis].end / 2;
      least[axis] = {middle, middle + 1};
      if (MayDivideStrips(*name)) strip[axis] = least[axis];
      keeps_rows = keeps_rows || (name == base::Axis::kRows && KeepsRows());
    }
    int64_t bytes = LeastFor(interval, output, Tiles::kOne);
    if (least != output) bytes = std::min(bytes, LeastFor(interval, least, Tiles::kSeveral));
    if (keeps_rows) bytes = std::min(bytes, LeastFor(interval, strip, Tiles::kKeepingRows));
    return Plus(bytes, ConstantsHere());
  }

  // The bound for a tile in the middle of the output.
  int64_t OfTile(graph::Interval interval, const std::vector<int64_t>& tile,
                 bool keeps_rows) const {
    const graph::Shape& output = ShapeOf(TiledOf(interval));
    Box box = WholeOf(output);
    for (size_t axis = 0; axis < box.size(); ++axis) {
      const bool is_rows = MeaningOf(box.size(), axis) == base::Axis::kRows;
      if (keeps_rows && is_rows) continue;
      const int64_t begin = (output[axis] / tile[axis] / 2) * tile[axis];
      box[axis] = {begin, std::min(begin + tile[axis], output[axis])};
    }
    const Tiles tiles = keeps_rows       ? Tiles::kKeepingRows
                        : tile == output ? Tiles::kOne
                                         : Tiles::kSeveral;
    return Plus(LeastFor(interval, box, tiles), ConstantsHere());
  }

  // The bound in any order and subgraph, when the element in the middle of this box of the result
  // is made.
  int64_t OfMiddle(int op, Box box) const {
    const graph::Operator& facts = At(op);
    for (graph::ops::Extent& extent : box) {
      const int64_t middle = extent.begin + extent.Length() / 2;
      extent = {middle, middle + 1};
    }
    std::map<int, Box> needs;
    const graph::ops::OperandShapes inputs = graph::OperandShapesOf(plan_.network, facts);
    for (size_t operand = 0; operand < facts.inputs.size(); ++operand) {
      const int input = facts.inputs[operand];
      Enclose(needs.try_emplace(input, EmptyOf(ShapeOf(input))).first->second,
              NeedOf(plan_.network, facts, inputs, operand, box));
    }
    const auto extents_of = [&](int tensor) {
      const auto need = needs.find(tensor);
      return need == needs.end() ? std::vector<int64_t>(ShapeOf(tensor).size(), 1)
                                 : ExtentsOf(need->second);
    };
    return Plus(OperandBytes(op, {op, op}, extents_of, true), ConstantsHere());
  }

  // The bound in any order and subgraph.
  int64_t OfOperator(int op) const {
    const graph::Operator& facts = At(op);
    const graph::Shape& output = ShapeOf(facts.outputs.front());
    std::map<int, std::vector<int64_t>> least;
    for (size_t operand = 0; operand < facts.inputs.size(); ++operand) {
      std::vector<int64_t> extents = LeastExtents(facts, operand, output);
      const auto [known, is_new] = least.try_emplace(facts.inputs[operand], extents);
      for (size_t axis = 0; axis < extents.size() && !is_new; ++axis)
        known->second[axis] = std::max(known->second[axis], extents[axis]);
    }
    for (const int tensor : facts.outputs)
      least[tensor] = std::vector<int64_t>(ShapeOf(tensor).size(), 1);
    const auto extents_of = [&](int tensor) { return least.at(tensor); };
    return Plus(OperandBytes(op, {op, op}, extents_of, true), ConstantsHere());
  }

 private:
  const graph::Operator& At(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  const graph::Shape& ShapeOf(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)].shape;
  }
  int TiledOf(graph::Interval interval) const { return At(interval.last).outputs.front(); }

  bool KeepsRows() const {
    const std::vector<HaloStorage>& halos = plan_.profile.tiling.halo;
    return std::any_of(halos.begin(), halos.end(),
                       [](HaloStorage halo) { return halo != HaloStorage::kRecompute; });
  }

  enum class Tiles : uint8_t { kOne, kSeveral, kKeepingRows };

  bool MayDivideStrips(base::Axis axis) const {
    return axis == base::Axis::kBatch ||
           (axis == base::Axis::kColumns && plan_.profile.tiling.implicit_padding);
  }

  // The maximum of the operators' needs if some tile has this part of the output or, if rows are
  // kept, some strip.
  int64_t LeastFor(graph::Interval interval, const Box& part, Tiles tiles) const {
    Subgraph subgraph;
    subgraph.interval = interval;
    const Tile tile = SingleTile(plan_.network, users_, subgraph, part);
    const std::vector<Other> others = OthersOf(interval, tile, tiles);
    std::map<int, Box> rows;  // of which one is made, by tensor
    int64_t most = 0;
    for (int op = interval.last; op >= interval.first; --op) {
      const std::map<int, Box> needs =
          tiles == Tiles::kKeepingRows ? NeedsOfOneRow(op, tile, rows) : tile.needs;
      const auto extents_of = [&](int tensor) { return ExtentsOf(needs.at(tensor)); };
      most = std::max(most, Plus(OperandBytes(op, interval, extents_of, false),
                                 OthersBytes(op, interval, others, tiles)));
    }
    return most;
  }

  // A tensor of the subgraph that may have a buffer while operators run that neither make nor read
  // it.
  struct Other {
    int tensor;
    Held held;
    int64_t bytes;  // of the whole, or of its tile
  };

  std::vector<Other> OthersOf(graph::Interval interval, const Tile& tile, Tiles tiles) const {
    Subgraph subgraph;
    subgraph.interval = interval;
    std::vector<Other> others;
    for (const int tensor : TensorsOf(plan_.network, interval)) {
      const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
      if (facts.constant || IsStateInTileMemory(plan_, tensor)) continue;
      const Held held = ResidencyOf(plan_, users_, subgraph, tensor);
      if (held.residency == Residency::kWhole) {
        others.push_back({tensor, held, BytesAs(facts, held.role, facts.shape)});
      } else if (tiles != Tiles::kKeepingRows && held.made &&
                 held.residency != Residency::kDirect) {
        others.push_back({tensor, held, TileBytes(facts, held, tile.needs.at(tensor))});
      }
    }
    return others;
  }

  // The bytes of the others that live while the operator runs, for some tile: whole buffers and, if
  // no rows are kept, tiles that a previous operator has made and a later one reads.
  int64_t OthersBytes(int op, graph::Interval interval, const std::vector<Other>& others,
                      Tiles tiles) const {
    int64_t bytes = 0;
    for (const auto& [tensor, held, its_bytes] : others) {
      const Users& users = users_[static_cast<size_t>(tensor)];
      const auto is_operand = [op](const std::vector<int>& list) {
        return std::find(list.begin(), list.end(), op) != list.end();
      };
      if (is_operand(users.makers) || is_operand(users.readers)) continue;
      const bool is_made = !held.made || users.makers.front() < op;
      bool is_there = is_made && IsReadBetween(users, op, interval);
      if (held.residency == Residency::kWhole) {
        const bool leaves = plan_.network.tensors[static_cast<size_t>(tensor)].network_output;
        const bool is_read = !users.readers.empty() && users.readers.back() > op;
        is_there =
            tiles == Tiles::kOne ? is_made && (is_read || leaves) : is_made || op == interval.first;
      }
      if (is_there) bytes = Plus(bytes, its_bytes);
    }
    return bytes;
  }

  static bool IsReadBetween(const Users& users, int op, graph::Interval interval) {
    return std::any_of(users.readers.begin(), users.readers.end(),
                       [&](int reader) { return op < reader && reader <= interval.last; });
  }

  int64_t TileBytes(const graph::Tensor& facts, const Held& held, const Box& need) const {
    return IsEmpty(need) ? 0 : BytesAs(facts, held.role, ExtentsOf(need));
  }

  // The need of the operator to make one row of its first result that is certainly made. Records
  // one such row of each operand.
  std::map<int, Box> NeedsOfOneRow(int op, const Tile& tile, std::map<int, Box>& rows) const {
    const graph::Operator& facts = At(op);
    std::map<int, Box> needs;
    for (const int tensor : facts.outputs) needs[tensor] = EmptyOf(ShapeOf(tensor));
    const int result = facts.outputs.front();
    Box& made = needs[result];
    if (const auto row = rows.find(result); row != rows.end()) {
      made = row->second;
    } else if (const auto share = tile.shares.find(result); share != tile.shares.end()) {
      made = MiddleRow(share->second);
    }
    const graph::ops::OperandShapes inputs = graph::OperandShapesOf(plan_.network, facts);
    for (size_t operand = 0; operand < facts.inputs.size(); ++operand) {
      const int input = facts.inputs[operand];
      const Box need = NeedOf(plan_.network, facts, inputs, operand, made);
      Enclose(needs.try_emplace(input, EmptyOf(ShapeOf(input))).first->second, need);
      if (!IsEmpty(need)) rows.try_emplace(input, MiddleRow(need));
    }
    return needs;
  }

  static Box MiddleRow(Box box) {
    for (size_t axis = 0; axis < box.size() && !IsEmpty(box); ++axis) {
      if (MeaningOf(box.size(), axis) != base::Axis::kRows) continue;
      const int64_t middle = box[axis].begin + (box[axis].end - box[axis].begin) / 2;
      box[axis] = {middle, middle + 1};
    }
    return box;
  }

  // For each axis of an operand the minimum that any one index of the result needs, over the axes
  // of the result that move that index.
  std::vector<int64_t> LeastExtents(const graph::Operator& op, size_t operand,
                                    const graph::Shape& output) const {
    const graph::Shape& in = ShapeOf(op.inputs[operand]);
    std::vector<int64_t> least(in.size(), std::numeric_limits<int64_t>::max());
    if (graph::IsBarrier(op)) return in;
    // Their axes are not independent.
    const bool is_mixing = base::TraitsOf(op.kind).mixes_axes;
    const int64_t indices = std::accumulate(output.begin(), output.end(), int64_t{0});
    if (is_mixing || indices > kMostIndices) return std::vector<int64_t>(in.size(), 1);
    for (size_t axis = 0; axis < output.size(); ++axis) {
      for (int64_t index = 0; index < output[axis]; ++index) {
        Box one(output.size());
        for (size_t other = 0; other < output.size(); ++other) one[other] = {0, output[other]};
        one[axis] = {index, index + 1};
        const std::vector<int64_t> extents = ExtentsOf(NeedOf(plan_.network, op, operand, one));
        for (size_t i = 0; i < in.size(); ++i) least[i] = std::min(least[i], extents[i]);
      }
    }
    for (size_t i = 0; i < in.size(); ++i) least[i] = std::min(least[i], in[i]);
    return least;
  }

  template <typename Extents>
  int64_t OperandBytes(int op, graph::Interval interval, const Extents& extents_of,
                       bool anywhere) const {
    const graph::Operator& facts = At(op);
    int64_t read = 0;
    int64_t made = 0;
    const bool split_k = MayBeSplitK(interval);
    for (const int tensor : std::set<int>(facts.inputs.begin(), facts.inputs.end())) {
      if (!split_k) read = Plus(read, FeatureBytes(tensor, interval, extents_of(tensor), anywhere));
    }
    for (const int tensor : std::set<int>(facts.outputs.begin(), facts.outputs.end()))
      made = Plus(made, FeatureBytes(tensor, interval, extents_of(tensor), anywhere));
    return Plus(MaySharePlace(plan_.profile, facts) ? std::max(read, made) : Plus(read, made),
                split_k ? 0 : LeastConstants(plan_, users_, op, AlwaysOverlaps()));
  }

  // Whether every subgraph is double-buffered.
  bool AlwaysOverlaps() const {
    const hw_profiles::Tiling& tiling = plan_.profile.tiling;
    return tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered && !tiling.may_serialize;
  }

  bool MayBeSplitK(graph::Interval interval) const {
    const std::vector<WeightPolicy>& weights = plan_.profile.tiling.weights;
    if (interval.first != interval.last ||
        std::find(weights.begin(), weights.end(), WeightPolicy::kSplitK) == weights.end())
      return false;
    Subgraph subgraph;
    subgraph.interval = interval;
    subgraph.weights = WeightPolicy::kSplitK;
    subgraph.k_extent = KStepOf(plan_, subgraph);
    return SplitKFault(plan_, subgraph).empty();
  }

  // `anywhere`: in any subgraph of the operator, hence in any role.
  int64_t FeatureBytes(int tensor, graph::Interval interval, const std::vector<int64_t>& extents,
                       bool anywhere) const {
    const graph::Tensor& facts = plan_.network.tensors[static_cast<size_t>(tensor)];
    if (IsStateInTileMemory(plan_, tensor) || std::count(extents.begin(), extents.end(), 0) > 0)
      return 0;
    Subgraph subgraph;
    subgraph.interval = interval;
    const Held held = ResidencyOf(plan_, users_, subgraph, tensor);
    const bool is_whole = held.residency == Residency::kWhole;
    int64_t bytes = held.residency == Residency::kDirect
                        ? 0
                        : BytesAs(facts, held.role, is_whole ? facts.shape : extents);
    const bool inside = anywhere && held.role == TensorRole::kBoundary;
    if (inside) bytes = std::min(bytes, BytesAs(facts, TensorRole::kFeature, extents));
    return bytes;
  }

  int64_t BytesAs(const graph::Tensor& facts, TensorRole role,
                  const std::vector<int64_t>& extents) const {
    const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan_.profile, role);
    return StoredBytes(NameExtents(extents), facts.type, layout.channel_block,
                       layout.row_pitch_bytes);
  }

  int64_t ConstantsHere() const {
    const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
    int64_t bytes = 0;
    for (size_t tensor = 0; tensor < plan_.network.tensors.size(); ++tensor) {
      const bool is_here = HomeOf(plan_, static_cast<int>(tensor)) == plan_.profile.tile_memory;
      if (plan_.network.tensors[tensor].constant && is_here && !users_[tensor].readers.empty())
        bytes = Plus(bytes, ConstantBytes(plan_, users_, static_cast<int>(tensor), everything));
    }
    return bytes;
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
};

}  // namespace

int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval) {
  if (JoinsHost(plan, interval)) return base::kMaxTotal;
  return MemoryLowerBounds(plan, users).OfInterval(interval);
}

int64_t FloorOf(const Plan& plan, const std::vector<Users>& users, graph::Interval interval,
                const std::vector<int64_t>& tile, bool keeps_rows) {
  return MemoryLowerBounds(plan, users).OfTile(interval, tile, keeps_rows);
}

int64_t NeedAnywhere(const Plan& plan, const std::vector<Users>& users, int op,
                     const std::optional<Box>& needed) {
  const MemoryLowerBounds lower_bounds(plan, users);
  return std::max(lower_bounds.OfOperator(op), needed ? lower_bounds.OfMiddle(op, *needed) : 0);
}

}  // namespace tessera::plan::verify::infeasibility
