// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "tessera/plan/verify/tiles.h"

// Tiles divide the output along an axis, and the parts that they need of other tensors follow,
// operator by operator, from the last to the first:
//
//     x --conv--> a --softmax over columns--> y
//         tiles of y cut by rows:     rows of a, rows of x: both are divided
//         tiles of y cut by columns:  all of a for each tile: may not be cut
//
// An axis of a tensor is *divided* if the part that a tile needs along it depends on the tile, and
// *whole* if every tile certainly needs all of it. A tensor that the subgraph makes must be divided
// along some axis. So must an operand of each operator, except those whose weights are divided
// instead (conv, depthwise, transposed_conv, matmul). The validator handles states that tiles
// replace.
namespace tessera::plan::verify {
namespace {

using base::AxisRelation;
using graph::Graph;
using graph::Operator;
using graph::Shape;

// The cause that determines the part of an operand's axis that is read: none, because all of it or
// its one index is read; an axis of the result; or any of them.
struct Source {
  enum class Kind : uint8_t { kWhole, kOneIndex, kAxis, kAny };
  Kind kind = Kind::kWhole;
  size_t axis = 0;  // kAxis: of the result
};
constexpr Source kWhole = {};
constexpr Source kOneIndex = {Source::Kind::kOneIndex, 0};
constexpr Source kAny = {Source::Kind::kAny, 0};
constexpr Source Along(size_t axis) { return {Source::Kind::kAxis, axis}; }

std::vector<Source> SameSources(const Shape& in, const Shape& out) {
  std::vector<Source> sources(in.size(), kAny);
  for (size_t axis = 0; axis < in.size() && in.size() == out.size(); ++axis)
    sources[axis] = Along(axis);
  return sources;
}

std::vector<Source> AlignedAtTheRight(const Shape& in, const Shape& out) {
  std::vector<Source> sources(in.size(), kWhole);
  for (size_t axis = 0; axis < in.size() && in.size() <= out.size(); ++axis) {
    const size_t other = axis + out.size() - in.size();
    sources[axis] = in[axis] != 1 || out[other] == 1 ? Along(other) : kOneIndex;
  }
  return sources;
}

std::vector<Source> WindowSources(const Shape& in, const Shape& out, bool all_channels) {
  if (in.size() != 4 || out.size() != 4) return std::vector<Source>(in.size(), kWhole);
  return {Along(0), all_channels ? kWhole : Along(1), Along(2), Along(3)};
}

// First finds the sources as if operands and result had their axes in the order of the product,
// then moves each to the position of its axis.
std::vector<Source> MatmulSources(const Operator& op, size_t operand, const Shape& in,
                                  const Shape& out) {
  if (in.size() < 2 || in.size() > out.size()) return std::vector<Source>(in.size(), kWhole);
  const auto& product = op.Own<base::MatmulAttributes>();
  const std::vector<int> places = OrderOf(product.operand_axes[operand], in.size());
  const std::vector<int> made = OrderOf(product.result_axes, out.size());
  Shape taken;
  for (const int place : places) taken.push_back(in[static_cast<size_t>(place)]);
  Shape result(out.size());
  std::vector<size_t> lies_at(out.size());
  for (size_t axis = 0; axis < out.size(); ++axis) {
    result[static_cast<size_t>(made[axis])] = out[axis];
    lies_at[static_cast<size_t>(made[axis])] = axis;
  }
  std::vector<Source> of_product = AlignedAtTheRight(taken, result);
  const size_t last = in.size() - 1;
  const bool turned = operand == 0 ? product.transpose_first : !product.transpose_second;
  of_product[turned ? last - 1 : last] = kWhole;
  of_product[turned ? last : last - 1] = Along(operand == 0 ? out.size() - 2 : out.size() - 1);
  std::vector<Source> sources(in.size());
  for (size_t axis = 0; axis < in.size(); ++axis) {
    Source& source = sources[static_cast<size_t>(places[axis])];
    source = of_product[axis];
    if (source.kind == Source::Kind::kAxis) source.axis = lies_at[source.axis];
  }
  return sources;
}

std::vector<Source> ReductionSources(const Operator& op, const Shape& in, const Shape& out) {
  std::vector<Source> sources(in.size(), kWhole);
  size_t next = 0;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    const bool reduced = std::count(op.axes.begin(), op.axes.end(), static_cast<int>(axis)) > 0;
    if (!reduced) sources[axis] = Along(next);
    if (!reduced || out.size() == in.size()) ++next;
  }
  return sources;
}

// A reduced axis has extent 1 in the result, or is absent from it.
std::vector<Source> MapSources(const Shape& in, const Shape& out) {
  std::vector<Source> sources(in.size(), kWhole);
  for (size_t axis = 0; axis < std::min(in.size(), out.size()); ++axis) {
    if (in[axis] == out[axis]) sources[axis] = Along(axis);
  }
  return sources;
}

std::vector<Source> StatedSources(const Operator& op, size_t operand, const Shape& in,
                                  const Shape& out) {
  if (operand >= op.accesses.size()) return std::vector<Source>(in.size(), kWhole);
  const graph::OperandAccess& access = op.accesses[operand];
  if (access.kind == graph::ReadPattern::kFull) return std::vector<Source>(in.size(), kWhole);
  if (access.kind == graph::ReadPattern::kElementwise) return AlignedAtTheRight(in, out);
  return WindowSources(in, out, access.every_channel);
}

std::vector<Source> SourcesOf(const Graph& network, const Operator& op, size_t operand) {
  const Shape& in = ShapeOf(network, op.inputs[operand]);
  const Shape& out = ShapeOf(network, op.outputs.front());
  switch (base::TraitsOf(op.kind).axes) {
    case AxisRelation::kAny:
      return std::vector<Source>(in.size(), kAny);
    case AxisRelation::kSame:
      return SameSources(in, out);
    case AxisRelation::kAligned:
      return AlignedAtTheRight(in, out);
    case AxisRelation::kWindow:
      return WindowSources(in, out, false);
    case AxisRelation::kGroup:
      return WindowSources(in, out, op.groups <= 1);
    case AxisRelation::kProduct:
      return MatmulSources(op, operand, in, out);
    case AxisRelation::kReduced:
      return ReductionSources(op, in, out);
    case AxisRelation::kMap:
      return MapSources(in, out);
    case AxisRelation::kStated:
      return StatedSources(op, operand, in, out);
  }
  return std::vector<Source>(in.size(), kAny);
}

// Whether each part of the result certainly needs something of the operand. Windows may lie in the
// padding.
bool SurelyReads(const Operator& op) {
  const base::OperatorTraits& traits = base::TraitsOf(op.kind);
  return traits.always_reads ||
         (traits.slides && op.window.pad_low == std::array<int64_t, 2>{0, 0} &&
          op.window.pad_high == std::array<int64_t, 2>{0, 0});
}

// The known needs of a tensor while the operators after its maker are visited.
struct Asked {
  std::vector<char> divided;  // by axis
  std::vector<char> whole;    // by axis
  bool always = false;        // each tile needs some part of it
  bool by_chance = false;     // whether a tile needs some part depends on the tile

  bool IsDivided() const { return std::count(divided.begin(), divided.end(), 1) > 0; }
};

class Division {
 public:
  Division(const Graph& network, const std::vector<Users>& users, graph::Interval interval,
           size_t axis)
      : network_(network), users_(users), interval_(interval), axis_(axis) {
    const Operator& last = network.operators[static_cast<size_t>(interval.last)];
    tiled_ = last.outputs.front();
  }

  bool Allows() {
    const Shape& output = ShapeOf(network_, tiled_);
    if (output[axis_] == 1) return false;
    for (int i = interval_.first; i <= interval_.last; ++i) {
      const Operator& op = At(i);
      if (graph::IsBarrier(op)) return false;
      for (const int tensor : op.outputs) Begin(tensor);
    }
    for (int i = interval_.last; i >= interval_.first; --i) {
      if (!Ask(At(i))) return false;
    }
    return true;
  }

 private:
  const Operator& At(int op) const { return network_.operators[static_cast<size_t>(op)]; }

  Asked& Of(int tensor) {
    Asked& asked = asked_[tensor];
    const size_t rank = ShapeOf(network_, tensor).size();
    asked.divided.resize(rank);
    asked.whole.resize(rank);
    return asked;
  }

  bool Leaves(int tensor) const {
    const graph::Tensor& facts = network_.tensors[static_cast<size_t>(tensor)];
    const std::vector<int>& readers = users_[static_cast<size_t>(tensor)].readers;
    const auto is_later = [this](int reader) { return reader > interval_.last; };
    return tensor == tiled_ || facts.network_output || facts.state || readers.empty() ||
           std::any_of(readers.begin(), readers.end(), is_later);
  }

  // Adds the tile's share of a tensor that leaves.
  void Begin(int tensor) {
    Asked& asked = Of(tensor);
    if (!Leaves(tensor)) return;
    asked.always = true;
    const size_t rank = asked.divided.size();
    const size_t tiled = ShapeOf(network_, tiled_).size();
    for (size_t axis = 0; axis < rank; ++axis) {
      const bool same_name =
          MeaningOf(rank, axis) && MeaningOf(rank, axis) == MeaningOf(tiled, axis_);
      const bool stands = rank == tiled ? axis == axis_ : same_name;
      (stands ? asked.divided : asked.whole)[axis] = 1;
    }
  }

  bool Ask(const Operator& op) {
    for (const int output : op.outputs) {
      if (!Of(output).IsDivided()) return false;
    }
    const Asked result = Of(op.outputs.front());
    bool divides = base::TraitsOf(op.kind).multiplies;
    for (size_t operand = 0; operand < op.inputs.size(); ++operand)
      divides = AskFor(op, operand, result) || divides;
    return divides;
  }

  // Whether the operator needs a part of the operand that depends on the tile.
  bool AskFor(const Operator& op, size_t operand, const Asked& result) {
    Asked& input = Of(op.inputs[operand]);
    const std::vector<Source> sources = SourcesOf(network_, op, operand);
    const bool surely = SurelyReads(op);
    const bool by_chance = (!result.always && result.by_chance) || !surely;
    bool divides = false;
    for (size_t axis = 0; axis < sources.size(); ++axis) {
      const Source& source = sources[axis];
      const bool follows = source.kind == Source::Kind::kAny ||
                           (source.kind == Source::Kind::kAxis && result.divided[source.axis] != 0);
      divides = divides || follows;
      if (follows || by_chance) input.divided[axis] = 1;
      if (source.kind == Source::Kind::kWhole && result.always && surely) input.whole[axis] = 1;
      if (input.whole[axis] != 0) input.divided[axis] = 0;
    }
    input.always = input.always || (result.always && surely);
    input.by_chance = input.by_chance || by_chance;
    return divides;
  }

  const Graph& network_;
  const std::vector<Users>& users_;
  const graph::Interval interval_;
  const size_t axis_;
  int tiled_ = 0;
  std::map<int, Asked> asked_;
};

}  // namespace

bool MayCut(const Graph& network, const std::vector<Users>& users, graph::Interval interval,
            size_t axis) {
  return Division(network, users, interval, axis).Allows();
}

bool MayCacheHalo(const hw_profiles::Profile& profile, const Shape& shape,
                  const std::vector<int64_t>& tile) {
  bool rows = false;
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (tile[axis] == shape[axis]) continue;
    const std::optional<base::Axis> name = MeaningOf(shape.size(), axis);
    const bool strips = name == base::Axis::kColumns && profile.tiling.implicit_padding;
    if (name != base::Axis::kRows && name != base::Axis::kBatch && !strips) return false;
    rows = rows || name == base::Axis::kRows;
  }
  return rows;
}

}  // namespace tessera::plan::verify
