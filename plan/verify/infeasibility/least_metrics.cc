// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <optional>
#include <set>
#include <vector>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/late_constants.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/tiles.h"
#include "tessera/plan/verify/work_count.h"

// The least work, traffic and time of all plans. Every plan makes the box of each tensor that
// surely reaches an output (FindNeeded). So an operator takes at least the time of its arithmetic
// for that box. It takes at least the time in which the port of the tile memory moves that box and
// what it reads for it, except operands and results that engines may access in their home.
namespace tessera::plan::verify::infeasibility {

namespace {

using base::TensorRole;

// Whether each element of the result is copied from an element of the operand, and no element is
// copied twice.
bool CopiesEachOnce(const graph::Graph& network, const graph::Operator& op) {
  const auto volume = [&network](const std::vector<int>& tensors) {
    return VolumeOf(WholeOf(network.tensors[static_cast<size_t>(tensors.front())].shape));
  };
  if (base::TraitsOf(op.kind).rearranges) return volume(op.inputs) == volume(op.outputs);
  if (op.kind == base::OperatorKind::kSlice) return true;
  if (op.kind != base::OperatorKind::kGather) return false;
  const std::vector<int64_t>& indices = op.Own<base::GatherAttributes>().indices;
  return std::set<int64_t>(indices.begin(), indices.end()).size() == indices.size();
}

// Whether adjacent results lie at most one element of the operand apart, along each axis, so that
// no element between them is left out.
bool Upsamples(const graph::Graph& network, const graph::Operator& op) {
  if (op.kind != base::OperatorKind::kResize) return false;
  const graph::Shape& from = network.tensors[static_cast<size_t>(op.inputs.front())].shape;
  const graph::Shape& to = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  const auto& scales = op.Own<base::ResizeAttributes>().scales;
  return std::equal(from.begin(), from.end(), to.begin(), to.end(), std::less_equal()) &&
         std::all_of(scales.begin(), scales.end(),
                     [](const base::Ratio& scale) { return scale.numerator >= scale.denominator; });
}

// Whether windows at adjacent results, or one tap at adjacent results and the next tap, leave no
// element between them out.
bool TapsMeet(const graph::ops::Window& window, const Box& made) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const bool is_dense = window.dilation[axis] == 1 && window.stride[axis] <= window.kernel[axis];
    const bool interleave =
        window.stride[axis] == 1 && made[axis + 2].Length() >= window.dilation[axis];
    if (!is_dense && !interleave) return false;
  }
  return true;
}

// Definitions of reads visit the indices of an axis one by one. Longer axes are left out.
constexpr int64_t kLongestAxis = int64_t{1} << 22;

// The box of the operand that is read without gaps for that box of the result; nullopt if gaps are
// possible, if nothing is read, or if an axis is too long to visit.
std::optional<Box> ReadWithoutGaps(const graph::Graph& network, const graph::Operator& op,
                                   size_t operand, const Box& made) {
  const bool is_long = std::any_of(made.begin(), made.end(), [](const graph::ops::Extent& extent) {
    return extent.Length() > kLongestAxis;
  });
  if (is_long) return std::nullopt;
  const base::OperatorTraits& traits = base::TraitsOf(op.kind);
  const bool gapless =
      traits.reads_boxes || Upsamples(network, op) || (traits.slides && TapsMeet(op.window, made));
  Box read = NeedOf(network, op, operand, made);
  if (IsEmpty(read)) return std::nullopt;
  if (gapless || (CopiesEachOnce(network, op) && VolumeOf(read) == VolumeOf(made))) return read;
  return std::nullopt;
}

// The hull of two boxes if it holds no element besides theirs; otherwise the larger one.
Box Joined(const Box& a, const Box& b) {
  Box hull = a;
  Box common = a;
  for (size_t axis = 0; axis < a.size(); ++axis) {
    hull[axis] = {std::min(a[axis].begin, b[axis].begin), std::max(a[axis].end, b[axis].end)};
    const int64_t begin = std::max(a[axis].begin, b[axis].begin);
    common[axis] = {begin, std::max(begin, std::min(a[axis].end, b[axis].end))};
  }
  if (VolumeOf(hull) == VolumeOf(a) + VolumeOf(b) - VolumeOf(common)) return hull;
  return VolumeOf(a) < VolumeOf(b) ? b : a;
}

// The elements that a slice reads for a box of its result, and their number.
struct SliceRead {
  const base::SliceAttributes* slice = nullptr;
  Box hull;
  int64_t volume = 0;
};

// Whether the two have no element in common, because along some axis they end before each other
// begins, or take other elements in equal steps.
bool AreApart(const SliceRead& a, const SliceRead& b) {
  for (size_t axis = 0; axis < a.hull.size(); ++axis) {
    if (a.hull[axis].end <= b.hull[axis].begin || b.hull[axis].end <= a.hull[axis].begin)
      return true;
    const int64_t step = std::abs(a.slice->steps[axis]);
    if (step == std::abs(b.slice->steps[axis]) &&
        (a.hull[axis].begin - b.hull[axis].begin) % step != 0)
      return true;
  }
  return false;
}

// The hull of slices of one tensor if they have no common elements, and as many as the hull.
std::optional<Box> HullOfSlices(const std::vector<SliceRead>& reads) {
  if (reads.empty()) return std::nullopt;
  Box hull = reads.front().hull;
  int64_t volume = 0;
  for (auto read = reads.begin(); read != reads.end(); ++read) {
    for (size_t axis = 0; axis < hull.size(); ++axis) {
      hull[axis] = {std::min(hull[axis].begin, read->hull[axis].begin),
                    std::max(hull[axis].end, read->hull[axis].end)};
    }
    volume = Plus(volume, read->volume);
    const auto is_apart = [read](const SliceRead& other) { return AreApart(*read, other); };
    if (!std::all_of(reads.begin(), read, is_apart)) return std::nullopt;
  }
  return volume == VolumeOf(hull) ? std::optional(hull) : std::nullopt;
}

// A lower bound of the cycles of the operator's arithmetic for all tiles: the cycles of that box of
// its result, because boxes that cover a box have at least as many steps of the unrolled loops,
// those that fold included (docs/program.md 14.2.13), and the start of one tile, if nothing hides
// it. Tiles may split groups, and may run parts of several groups together, so of groups only the
// work counts.
int64_t ModelledCyclesOf(const Plan& plan, const graph::Operator& op, const Box& box,
                         int64_t macs) {
  graph::Shape made;
  for (const graph::ops::Extent& extent : box) made.push_back(extent.Length());
  const bool may_grow_in_place = IsStateInTileMemory(plan, op.outputs.front());
  if (may_grow_in_place) return 0;
  if (IsOnHost(plan, op)) {  // always one tile
    const Arithmetic whole = ArithmeticOf(plan, op, made, std::nullopt);
    return Plus(whole.start, whole.body);
  }
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return 0;
  const Arithmetic whole = LeastArithmeticOf(plan, op, made);
  const int64_t start = engine->outstanding < 2 ? whole.start : 0;
  if (op.groups <= 1) return Plus(start, whole.body);
  const base::DataType type = plan.network.tensors[static_cast<size_t>(op.inputs.front())].type;
  const hw_profiles::Throughput* throughput = hw_profiles::ThroughputFor(*engine, op.kind, type);
  const hw_profiles::Unroll& unroll = throughput->unroll;
  const auto taps = [](int64_t at_once) {
    return static_cast<double>(std::max<int64_t>(1, at_once));
  };
  double of_sums = static_cast<double>(unroll.in_channels) * taps(unroll.kernel_taps);
  if (const auto& other = throughput->other_sums)
    of_sums = std::max(of_sums, static_cast<double>(other->in_channels) * taps(other->kernel_taps));
  const double at_once = static_cast<double>(unroll.batch) * static_cast<double>(unroll.out_rows) *
                         static_cast<double>(unroll.out_columns) *
                         static_cast<double>(unroll.out_channels) *
                         static_cast<double>(unroll.kernel_rows) *
                         static_cast<double>(unroll.kernel_columns) * of_sums;
  return Plus(start, static_cast<int64_t>(static_cast<double>(macs) / at_once *
                                          throughput->cycles_per_step));
}

// The same where tiles were measured. Let r <= 1 be the least ratio of measured to modelled cycles
// over those tiles. Every tile takes at least r times its modelled cycles, so all of them together
// take at least r times the bound.
int64_t LeastCyclesOf(const Plan& plan, const graph::Operator& op, const Box& box, int64_t macs) {
  const int64_t modelled = ModelledCyclesOf(plan, op, box, macs);
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return modelled;
  int64_t least = modelled;
  for (const graph::MeasuredTile& tile : op.measured) {
    if (tile.engine != engine->name) continue;
    const Arithmetic model = ArithmeticOf(plan, op, tile.tile, std::nullopt);
    // The start may be hidden, so what is behind it counts alone and with it.
    const int64_t behind = tile.cycles - std::min(model.start, tile.cycles);
    const auto ratio_of = [](int64_t measured, int64_t whole) {
      return measured >= whole ? 1 : static_cast<double>(measured) / static_cast<double>(whole);
    };
    const double ratio = std::min(ratio_of(behind, model.body),
                                  ratio_of(tile.cycles, Plus(model.start, model.body)));
    if (ratio >= 1) continue;
    // Rounded down by more than the error of the division.
    least =
        std::min(least, static_cast<int64_t>(static_cast<double>(modelled) * ratio * (1 - 1e-12)));
  }
  return least;
}

bool MayAccessHome(const hw_profiles::Profile& profile, TensorRole role, Direction direction) {
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, role);
  for (int i = 0; i < static_cast<int>(profile.memories.size()); ++i) {
    const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(i)];
    const bool may = direction == Direction::kFromHome ? memory.direct_read : memory.direct_write;
    if (may && i != profile.tile_memory && hw_profiles::IsHomeOf(layout, i)) return true;
  }
  return false;
}

// Bytes of the box that surely cross the port of the tile memory. In a subgraph with all its users,
// the tensor has the layout of a feature.
int64_t PortBytesOf(const Plan& plan, int tensor, const Box& box, Direction direction) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  const TensorRole role = RoleAtHome(facts);
  if (MayAccessHome(plan.profile, role, direction)) return 0;
  graph::Shape extents;
  for (const graph::ops::Extent& extent : box) extents.push_back(extent.Length());
  const auto bytes = [&](TensorRole as) {
    return PayloadOf(facts, extents, hw_profiles::LayoutOf(plan.profile, as));
  };
  return std::min(bytes(role), bytes(TensorRole::kFeature));
}

int64_t LeastPortCyclesOf(const Plan& plan, const graph::Operator& op, const Box& made,
                          const Boxes& reads) {
  if (IsOnHost(plan, op) || IsStateInTileMemory(plan, op.outputs.front())) return 0;
  int64_t read = 0;
  std::set<int> seen;
  for (size_t operand = 0; operand < op.inputs.size(); ++operand) {
    const std::optional<Box>& box = reads[operand];
    if (box && seen.insert(op.inputs[operand]).second)
      read = Plus(read, PortBytesOf(plan, op.inputs[operand], *box, Direction::kFromHome));
  }
  if (!MayAccessHome(plan.profile, TensorRole::kConstant, Direction::kFromHome)) {
    for (const int constant : std::set<int>(op.weights.begin(), op.weights.end()))
      read = Plus(read, BytesWithoutTable(plan.network.tensors[static_cast<size_t>(constant)]));
  }
  const int64_t written = PortBytesOf(plan, op.outputs.front(), made, Direction::kToHome);
  const auto here = static_cast<size_t>(plan.profile.tile_memory);
  return LeastPortCycles(plan.profile.memories[here].port, read, written);
}

}  // namespace

std::vector<std::optional<Box>> FindNeeded(const graph::Graph& network,
                                           const std::vector<Users>& users) {
  std::vector<std::optional<Box>> needed(network.tensors.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_wanted =
        network.tensors[i].network_output || (users[i].readers.empty() && !users[i].makers.empty());
    if (is_wanted) needed[i] = WholeOf(network.tensors[i].shape);
  }
  std::vector<std::vector<SliceRead>> slices(network.tensors.size());
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    std::optional<Box>& made = needed[static_cast<size_t>(op->outputs.front())];
    const std::optional<Box> sliced =
        HullOfSlices(slices[static_cast<size_t>(op->outputs.front())]);
    if (sliced && (!made || VolumeOf(*made) < VolumeOf(*sliced))) made = sliced;
    if (!made) continue;
    if (op->kind == base::OperatorKind::kSlice) {
      slices[static_cast<size_t>(op->inputs.front())].push_back(
          {&op->Own<base::SliceAttributes>(), NeedOf(network, *op, 0, *made), VolumeOf(*made)});
    }
    for (size_t operand = 0; operand < op->inputs.size(); ++operand) {
      const std::optional<Box> read = ReadWithoutGaps(network, *op, operand, *made);
      std::optional<Box>& known = needed[static_cast<size_t>(op->inputs[operand])];
      if (read) known = known ? Joined(*known, *read) : *read;
    }
  }
  return needed;
}

Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users) {
  const graph::Graph& network = plan.network;
  const hw_profiles::Profile& profile = plan.profile;
  const std::vector<std::optional<Box>> needed = FindNeeded(network, users);
  Metrics least;
  least.clock_hz = profile.clock_hz;
  std::vector<int64_t> cycles;
  std::vector<Boxes> reads;
  for (const graph::Operator& op : network.operators) {
    cycles.push_back(0);
    reads.emplace_back(op.inputs.size());
    const std::optional<Box>& made = needed[static_cast<size_t>(op.outputs.front())];
    if (!made) continue;
    const int64_t macs = MacsFor(network, op, *made);
    least.macs = Plus(least.macs, macs);
    for (size_t operand = 0; operand < op.inputs.size(); ++operand)
      reads.back()[operand] = ReadWithoutGaps(network, op, operand, *made);
    cycles.back() = std::max(LeastCyclesOf(plan, op, *made, macs),
                             LeastPortCyclesOf(plan, op, *made, reads.back()));
    least.latency_cycles = Plus(least.latency_cycles, cycles.back());
    const hw_profiles::Engine* engine = EngineOf(plan, op);
    const auto is_of_other_energy = [engine](const graph::MeasuredTile& tile) {
      return tile.pj && tile.engine == engine->name;
    };
    if (engine != nullptr &&
        std::none_of(op.measured.begin(), op.measured.end(), is_of_other_energy))
      least.energy_pj += engine->mac_pj * static_cast<double>(macs);
  }
  least.latency_cycles =
      std::max(least.latency_cycles, LatencyWithLateConstants(plan, needed, reads, cycles));
  const auto count = [&](size_t tensor, TensorRole role, int64_t bytes) {
    const int home = HomeOf(plan, static_cast<int>(tensor));
    if (home == profile.tile_memory) return;
    const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(home)];
    const double pj =
        role == TensorRole::kConstant ? memory.read_pj_per_byte : memory.write_pj_per_byte;
    least.off_chip_bytes = Plus(least.off_chip_bytes, bytes);
    least.energy_pj += pj * static_cast<double>(bytes);
  };
  const graph::Interval everything{0, static_cast<int>(network.operators.size()) - 1};
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const graph::Tensor& facts = network.tensors[i];
    if (facts.constant && !users[i].readers.empty()) {
      count(i, TensorRole::kConstant, ConstantBytes(plan, users, static_cast<int>(i), everything));
    } else if (facts.network_output && !facts.network_input && !facts.state) {
      const TensorRole role = RoleAtHome(facts);
      const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, role);
      count(i, role, StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block, 1));
    }
  }
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(least.latency_cycles) / profile.clock_hz : 0;
  for (const hw_profiles::Memory& memory : profile.memories)
    least.energy_pj += memory.leakage_mw * 1e9 * seconds;
  return least;
}

}  // namespace tessera::plan::verify::infeasibility
