// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <optional>
#include <variant>

#include "tessera/base/arithmetic.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/row_structure.h"
#include "tessera/graph/tiling/tiling.h"

// The axes that may be cut, and the extents of their parts.
namespace tessera::graph::tiling {
namespace {

// The axes that a subgraph with the interval's operators among others may cut. `cut`: tensors cut
// by these operators themselves or, for a tensor that others may also read, by those others unless
// some of these operators need it whole.
class Possible {
 public:
  // `open`: by slot, whether others may request the tensor.
  Possible(const Propagation& propagation, std::span<const char> open, size_t output_axis)
      : propagation_(propagation),
        dependences_(propagation.Dependences(Propagation::AxisSet{1} << output_axis)),
        open_(open.begin(), open.end()) {
    for (const Propagation::Ask& ask : propagation.Asks())
      open_[ask.input] = static_cast<char>(open_[ask.input] != 0 || open_[ask.output] != 0);
  }

  bool IsCut(size_t slot) const {
    for (size_t axis = 0; axis < propagation_.ShapeOf(slot).size(); ++axis) {
      if (IsCut(slot, axis)) return true;
    }
    return false;
  }

  // Whether the operator at that position requests a cut part of some operand.
  bool CutsAnOperand(size_t position) const {
    const std::vector<Propagation::Ask>& asks = propagation_.Asks();
    return std::any_of(asks.begin(), asks.end(), [&](const Propagation::Ask& ask) {
      return ask.op == position &&
             std::any_of(ask.maps.begin(), ask.maps.end(),
                         [&](const ops::AxisMap& map) { return Cuts(ask, map); });
    });
  }

 private:
  bool IsCut(size_t slot, size_t axis) const {
    const Propagation::Dependence& dependence = dependences_[propagation_.Begin(slot) + axis];
    return dependence.axes != 0 || (open_[slot] != 0 && !dependence.whole);
  }

  bool Cuts(const Propagation::Ask& ask, const ops::AxisMap& map) const {
    for (size_t k = 0; k < map.sources; ++k) {
      if (IsCut(ask.output, map.source + k * map.source_step)) return true;
    }
    return false;
  }

  const Propagation& propagation_;
  std::vector<Propagation::Dependence> dependences_;
  std::vector<char> open_;
};

bool HasBarrier(const Graph& graph, std::span<const int> operators) {
  return std::any_of(operators.begin(), operators.end(), [&graph](int op) {
    return IsBarrier(graph.operators[static_cast<size_t>(op)]);
  });
}

struct Cuts {
  std::vector<int64_t> extents;
  bool thinned = false;
};

// The distinct values of ceil(extent / k) rounded up to the granularity, ascending. Each step goes
// to the least k with a smaller value; there are about 2 sqrt(extent) steps.
Cuts EvenCuts(int64_t extent, int64_t granularity) {
  Cuts cuts;
  std::vector<int64_t>& extents = cuts.extents;
  for (int64_t part = extent;;) {
    const int64_t rounded = std::min(base::RoundUp(part, granularity), extent);
    if (extents.empty() || extents.back() != rounded) extents.push_back(rounded);
    if (rounded <= granularity) break;
    const int64_t parts = base::CeilDiv(extent, part - 1);
    if (parts > kMostTiles) {
      cuts.thinned = true;
      break;
    }
    part = base::CeilDiv(extent, parts);
  }
  std::reverse(extents.begin(), extents.end());
  if (extents.size() > kMostExtents) {
    extents = Thin(extents, kMostExtents);
    cuts.thinned = true;
  }
  return cuts;
}

// Whether tiles need the same part of an operand along this axis as of the result.
bool IsSame(const ops::AxisMap& map) {
  if (std::holds_alternative<ops::AxisMap::Same>(map.rule)) return true;
  const auto* slide = std::get_if<ops::AxisMap::Slide>(&map.rule);
  return slide != nullptr && slide->kernel == 1 && slide->stride == 1 && slide->pad == 0;
}

// For each axis of each slot (parallel to the regions of Propagation::Run): whether no tile needs
// more of it than its own extent along that axis of the last output, because it is requested as a
// share, or index by index. Then tiles that differ along that axis share no element of the slot.
std::vector<char> FindOwn(const Propagation& propagation, size_t output_axis) {
  std::vector<char> own(propagation.Size(), 1);
  const int64_t extent = propagation.ShapeOf(propagation.LastSlot())[output_axis];
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    if (!propagation.Leaves(slot)) continue;
    const Shape& shape = propagation.ShapeOf(slot);
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const bool is_share =
          propagation.ShareSource(slot, axis) == output_axis && shape[axis] == extent;
      own[propagation.Begin(slot) + axis] = is_share ? 1 : 0;
    }
  }
  for (const Propagation::Ask& ask : propagation.Asks()) {
    for (size_t axis = 0; axis < ask.maps.size(); ++axis) {
      const ops::AxisMap& map = ask.maps[axis];
      const bool stays = IsSame(map) && own[propagation.Begin(ask.output) + map.source] != 0;
      if (!stays) own[propagation.Begin(ask.input) + axis] = 0;
    }
  }
  return own;
}

// Whether tiles cut along the axis read parts of a state that other tiles have replaced by its next
// value. This happens if an operator other than the maker of the next value reads the state, or if
// several tiles make the same part of the next value, the later ones from overwritten data.
bool ReadsWhatTilesReplaced(const Graph& graph, const Propagation& propagation,
                            size_t output_axis) {
  const std::vector<int>& operators = propagation.Operators();
  const auto reads = [&graph](int op, int tensor) {
    const std::vector<int>& inputs = graph.operators[static_cast<size_t>(op)].inputs;
    return std::find(inputs.begin(), inputs.end(), tensor) != inputs.end();
  };
  for (const int maker : operators) {
    for (const int output : graph.operators[static_cast<size_t>(maker)].outputs) {
      const int state = graph.tensors[static_cast<size_t>(output)].next_of;
      if (state < 0) continue;
      if (std::any_of(operators.begin(), operators.end(),
                      [&](int op) { return op != maker && reads(op, state); }))
        return true;
      if (!reads(maker, state)) continue;
      const std::vector<char> own = FindOwn(propagation, output_axis);
      const size_t slot = propagation.SlotOf(output);
      const auto begin = own.begin();
      if (std::none_of(begin + static_cast<std::ptrdiff_t>(propagation.Begin(slot)),
                       begin + static_cast<std::ptrdiff_t>(propagation.Begin(slot + 1)),
                       [](char each) { return each != 0; }))
        return true;
    }
  }
  return false;
}

// All strips, in the order in which they are visited.
std::vector<ops::Box> AllStrips(const Shape& output, const TileShape& tile) {
  const std::optional<size_t> batch = AxisOf(output, Axis::kBatch);
  const std::optional<size_t> columns = AxisOf(output, Axis::kColumns);
  std::vector<ops::Box> strips;
  for (const ops::Extent& images : PartsOf(output, tile, batch)) {
    for (const ops::Extent& part : PartsOf(output, tile, columns)) {
      ops::Box& strip = strips.emplace_back(ops::WholeBox(output));
      if (batch) strip[*batch] = images;
      if (columns) strip[*columns] = part;
    }
  }
  return strips;
}

}  // namespace

std::optional<size_t> AxisOf(const Shape& shape, Axis axis) {
  using Axes = std::array<std::optional<size_t>, 4>;  // rows, columns, channels, batch
  static constexpr Axes kVector = {std::nullopt, std::nullopt, 0, std::nullopt};
  static constexpr Axes kMatrix = {0, std::nullopt, 1, std::nullopt};
  static constexpr Axes kSequence = {1, std::nullopt, 2, 0};
  static constexpr Axes kFeatureMap = {2, 3, 1, 0};
  static constexpr std::array<Axes, 4> kByRank = {kVector, kMatrix, kSequence, kFeatureMap};
  if (shape.empty()) return std::nullopt;
  if (shape.size() <= kByRank.size()) return kByRank[shape.size() - 1][static_cast<size_t>(axis)];
  switch (axis) {
    case Axis::kBatch:
      return 0;
    case Axis::kRows:
      return shape.size() - 2;
    case Axis::kChannels:
      return shape.size() - 1;
    case Axis::kColumns:
      break;
  }
  return std::nullopt;
}

std::vector<size_t> OuterAxes(const Shape& shape) {
  if (shape.size() < 3) return {};
  if (shape.size() == 4) return {0};
  std::vector<size_t> axes(shape.size() - 2);
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = axes.size() - 1 - i;
  return axes;
}

bool CanCut(const Graph& graph, Interval interval, size_t output_axis) {
  const Propagation propagation(graph, interval);
  if (propagation.ShapeOf(propagation.LastSlot())[output_axis] == 1) return false;
  const std::vector<char> none(propagation.Tensors().size());
  return MayCutAmongOthers(graph, propagation, none, output_axis);
}

bool MayCutAmongOthers(const Graph& graph, const Propagation& propagation,
                       std::span<const char> open, size_t output_axis) {
  const std::vector<int>& operators = propagation.Operators();
  if (HasBarrier(graph, operators)) return false;
  const Possible possible(propagation, open, output_axis);
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    if (propagation.MadeInside(slot) && !possible.IsCut(slot)) return false;
  }
  for (size_t position = 0; position < operators.size(); ++position) {
    // The weights of these kinds are cut if no feature operand is.
    if (base::TraitsOf(graph.operators[static_cast<size_t>(operators[position])].kind).multiplies)
      continue;
    if (!possible.CutsAnOperand(position)) return false;
  }
  return !ReadsWhatTilesReplaced(graph, propagation, output_axis);
}

ShapeGrid TileShapes(const Graph& graph, Interval interval, const std::vector<CutAxis>& axes) {
  const Operator& last = graph.operators[static_cast<size_t>(interval.last)];
  const Shape& output = graph.tensors[static_cast<size_t>(last.outputs.front())].shape;
  ShapeGrid grid;
  for (const int64_t extent : output) grid.extents.push_back({extent});
  grid.steps = output;
  for (const CutAxis& cut : axes) {
    const std::optional<size_t> axis = AxisOf(output, cut.axis);
    if (!axis || !CanCut(graph, interval, *axis)) continue;
    Cuts cuts = EvenCuts(output[*axis], cut.granularity);
    grid.extents[*axis] = std::move(cuts.extents);
    grid.steps[*axis] = cut.granularity;
    grid.thinned = grid.thinned || cuts.thinned;
  }
  return grid;
}

int64_t CountShapes(const ShapeGrid& grid) {
  int64_t count = 1;
  for (const std::vector<int64_t>& extents : grid.extents) {
    count = base::CheckedMul(count, static_cast<int64_t>(extents.size())).value_or(base::kMaxTotal);
  }
  return count;
}

bool MakesTooManyTiles(const ShapeGrid& grid, const TileShape& shape) {
  int64_t tiles = 1;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    // Each factor and each partial product is at most 2^20.
    tiles *= base::CeilDiv(grid.extents[axis].back(), shape[axis]);
    if (tiles > kMostTiles) return true;
  }
  return false;
}

std::vector<TileShape> ShapesOf(const ShapeGrid& grid) {
  std::vector<TileShape> shapes = {{}};
  for (const std::vector<int64_t>& extents : grid.extents) {
    std::vector<TileShape> longer;
    for (const TileShape& shape : shapes) {
      for (const int64_t extent : extents) {
        TileShape& next = longer.emplace_back(shape);
        next.push_back(extent);
        if (MakesTooManyTiles(grid, next)) longer.pop_back();
      }
    }
    shapes = std::move(longer);
  }
  return shapes;
}

ShapeGrid WithEveryExtent(const ShapeGrid& grid) {
  ShapeGrid all{.extents = grid.extents, .thinned = grid.thinned};
  for (size_t axis = 0; axis < grid.steps.size(); ++axis) {
    std::vector<int64_t>& extents = all.extents[axis];
    const int64_t whole = extents.back();
    const int64_t step = grid.steps[axis];
    if (base::CeilDiv(whole, step) > kMostListedExtents) {
      all.thinned = true;
      continue;
    }
    extents.clear();
    for (int64_t extent = step; extent < whole; extent += step) extents.push_back(extent);
    extents.push_back(whole);
  }
  return all;
}

std::vector<int64_t> Thin(const std::vector<int64_t>& values, size_t most) {
  if (values.size() <= most) return values;
  if (most <= 1) return {values.back()};
  std::vector<int64_t> kept;
  for (size_t i = 0; i < most; ++i) kept.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return kept;
}

std::vector<ops::Box> BoxesOfStrips(const Shape& output, const TileShape& tile) {
  const size_t rows = *AxisOf(output, Axis::kRows);
  std::vector<ops::Box> boxes;
  for (const ops::Box& strip : AllStrips(output, tile)) {
    for (const ops::Extent& part : PartsOf(output, tile, rows)) {
      boxes.push_back(strip);
      boxes.back()[rows] = part;
    }
  }
  return boxes;
}

bool ForEachTile(const Graph& graph, Interval interval, const TileShape& tile,
                 const base::Stop* stop, const std::function<void(const TileBoxes&)>& visit) {
  const Propagation propagation(graph, interval);
  const Shape& output = propagation.ShapeOf(propagation.LastSlot());
  base::PolledWork work(stop);
  std::vector<int64_t> along;
  int64_t tiles = 1;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    along.push_back(base::CeilDiv(output[axis], tile[axis]));
    tiles *= along.back();
  }
  std::vector<ops::Extent> regions(propagation.Size());
  const size_t slots = propagation.Tensors().size();
  for (int64_t number = 0; number < tiles; ++number) {
    if (!work.Continues(interval.last - interval.first + 1)) return false;
    ops::Box box(output.size());
    int64_t left = number;
    for (size_t axis = output.size(); axis-- > 0; left /= along[axis]) {
      const int64_t begin = left % along[axis] * tile[axis];
      box[axis] = {begin, std::min(begin + tile[axis], output[axis])};
    }
    propagation.Run(box, regions);
    TileBoxes boxes;
    for (size_t slot = 0; slot < slots; ++slot) {
      boxes.needed.emplace_back(
          regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(slot)),
          regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(slot + 1)));
      boxes.shares.push_back(propagation.Leaves(slot) ? propagation.ShareOf(slot, box)
                                                      : ops::Box(propagation.ShapeOf(slot).size()));
    }
    boxes.made = boxes.needed;
    visit(boxes);
  }
  return true;
}

std::vector<ops::Box> RegionsOfTile(const Graph& graph, Interval interval, const ops::Box& tile) {
  const Propagation propagation(graph, interval);
  std::vector<ops::Extent> regions(propagation.Size());
  propagation.Run(tile, regions);
  std::vector<ops::Box> boxes;
  for (size_t slot = 0; slot < propagation.Tensors().size(); ++slot) {
    const auto at = [&](size_t i) {
      return regions.begin() + static_cast<std::ptrdiff_t>(propagation.Begin(i));
    };
    boxes.emplace_back(at(slot), at(slot + 1));
  }
  return boxes;
}

}  // namespace tessera::graph::tiling
