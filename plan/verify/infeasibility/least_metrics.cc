// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/least_metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/work_count.h"

namespace tessera::plan::verify::infeasibility {
namespace {

// The least work, traffic and time of all plans. Every plan makes the box of each tensor that
// surely reaches an output (FindNeeded). So an operator takes at least the time of its arithmetic
// for that box. It also takes at least the time in which the port of the tile memory moves that box
// and the operands that it needs, except operands and results that engines may access in their
// home, and the time in which network inputs that engines read in their home cross its port.
//
// Each operator runs in one subgraph, so the same holds for a subgraph and its operators. A
// subgraph also fetches the parts that its operators read of tensors made before it, and stores the
// parts of its results that operators after it read, unless the tensor is kept:
//
//     fetched, if not kept --> [ a --> b --> c ] --> stored, if not kept
//                                constants, each once

using base::TensorRole;

graph::Shape ExtentsOf(const Box& box) {
  graph::Shape extents;
  for (const graph::ops::Extent& extent : box) extents.push_back(extent.Length());
  return extents;
}

// A lower bound of the cycles of the operator's arithmetic for all tiles: the cycles of that box of
// its result, and the start of one tile if nothing hides it. It holds because boxes that cover a
// box have at least as many steps of the unrolled loops, including those that fold (docs/program.md
// 14.2.13). Tiles may split groups, and may run parts of several groups together, so only the work
// of groups counts.
int64_t ModelledCyclesOf(const Plan& plan, const graph::Operator& op, const Box& box,
                         int64_t macs) {
  const graph::Shape made = ExtentsOf(box);
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

// The same for operators with measured tiles. Let r <= 1 be the least ratio of measured to modelled
// cycles over those tiles. Every tile takes at least r times its modelled cycles, so all of them
// together take at least r times the bound.
int64_t LeastCyclesOf(const Plan& plan, const graph::Operator& op, const Box& box, int64_t macs) {
  const int64_t modelled = ModelledCyclesOf(plan, op, box, macs);
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return modelled;
  int64_t least = modelled;
  for (const graph::MeasuredTile& tile : op.measured) {
    if (tile.engine != engine->name) continue;
    const Arithmetic model = ArithmeticOf(plan, op, tile.tile, std::nullopt);
    // The start may be hidden, so the cycles after it count alone and together with it.
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
  return direction == Direction::kFromHome ? hw_profiles::MayReadAtHome(profile, role)
                                           : hw_profiles::MayWriteAtHome(profile, role);
}

// Bytes of the box that surely cross the port of the tile memory. In a subgraph with all its users,
// the tensor has the layout of a feature.
int64_t PortBytesOf(const Plan& plan, int tensor, const Box& box, Direction direction) {
  const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(tensor)];
  const TensorRole role = RoleAtHome(facts);
  if (MayAccessHome(plan.profile, role, direction)) return 0;
  const auto bytes = [&](TensorRole as) {
    return PayloadOf(facts, ExtentsOf(box), hw_profiles::LayoutOf(plan.profile, as));
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

// A lower bound of the time in which the operator reads network inputs that engines read in their
// home, without tiles. A request for a part of a burst moves the burst.
int64_t LeastHomeCyclesOf(const Plan& plan, const graph::Operator& op, const Boxes& reads) {
  const TensorRole role = TensorRole::kNetworkInput;
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, role);
  std::map<int, double> cycles;  // of the port of each home
  for (size_t operand = 0; operand < op.inputs.size() && !IsOnHost(plan, op); ++operand) {
    const graph::Tensor& facts = plan.network.tensors[static_cast<size_t>(op.inputs[operand])];
    const int home = HomeOf(plan, op.inputs[operand]);
    if (RoleAtHome(facts) != role || home == plan.profile.tile_memory || !reads[operand] ||
        !hw_profiles::MayReadAt(plan.profile, role, home))
      continue;
    const hw_profiles::Port& port = plan.profile.memories[static_cast<size_t>(home)].port;
    auto bytes = static_cast<double>(PayloadOf(facts, ExtentsOf(*reads[operand]), layout));
    if (layout.request_bytes > 0) {
      bytes *= std::max(
          1.0, static_cast<double>(port.burst_bytes) / static_cast<double>(layout.request_bytes));
    }
    cycles[home] += bytes / port.read_bytes_per_cycle;
  }
  double most = 0;
  for (const auto& [home, of_port] : cycles) most = std::max(most, of_port);
  constexpr double kRounding = 1e-12;
  return static_cast<int64_t>(std::ceil(most * (1 - kRounding)));
}

double LeastPicojoulesOf(const Plan& plan, const graph::Operator& op, int64_t macs) {
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return 0;
  const bool has_other_energy = std::any_of(
      op.measured.begin(), op.measured.end(),
      [engine](const graph::MeasuredTile& tile) { return tile.pj && tile.engine == engine->name; });
  return has_other_energy ? 0 : hw_profiles::MacPicojoules(*engine) * static_cast<double>(macs);
}

LeastOfOperator FindLeast(const Plan& plan, const graph::Operator& op,
                          const std::optional<Box>& made) {
  LeastOfOperator least;
  least.reads.resize(op.inputs.size());
  if (!made) return least;
  least.macs = MacsFor(plan.network, op, *made);
  for (size_t operand = 0; operand < op.inputs.size(); ++operand)
    least.reads[operand] = ReadWithoutGaps(plan.network, op, operand, *made);
  int64_t cycles = std::numeric_limits<int64_t>::max();
  least.pj = std::numeric_limits<double>::infinity();
  for (const graph::Operator& each : OnEachEngine(plan, op)) {
    cycles = std::min(cycles, LeastCyclesOf(plan, each, *made, least.macs));
    least.pj = std::min(least.pj, LeastPicojoulesOf(plan, each, least.macs));
  }
  least.cycles = std::max({cycles, LeastPortCyclesOf(plan, op, *made, least.reads),
                           LeastHomeCyclesOf(plan, op, least.reads)});
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine != nullptr && OnEachEngine(plan, op).size() == 1) least.engine = engine->name;
  return least;
}

void AddTraffic(const Plan& plan, size_t tensor, Direction direction, int64_t bytes,
                Metrics& metrics) {
  const int home = HomeOf(plan, static_cast<int>(tensor));
  if (home == plan.profile.tile_memory) return;
  const hw_profiles::Memory& memory = plan.profile.memories[static_cast<size_t>(home)];
  const double pj =
      direction == Direction::kFromHome ? memory.read_pj_per_byte : memory.write_pj_per_byte;
  metrics.off_chip_bytes = Plus(metrics.off_chip_bytes, bytes);
  metrics.energy_pj += pj * static_cast<double>(bytes);
}

void AddOutput(const Plan& plan, size_t tensor, Metrics& metrics) {
  const graph::Tensor& facts = plan.network.tensors[tensor];
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(plan.profile, RoleAtHome(facts));
  AddTraffic(plan, tensor, Direction::kToHome,
             StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block, 1), metrics);
}

bool IsOnlyOutput(const graph::Tensor& tensor) {
  return tensor.network_output && !tensor.network_input && !tensor.state;
}

void AddLeakage(const Plan& plan, Metrics& metrics) {
  metrics.clock_hz = plan.profile.clock_hz;
  const double seconds = plan.profile.clock_hz > 0
                             ? static_cast<double>(metrics.latency_cycles) / plan.profile.clock_hz
                             : 0;
  for (const hw_profiles::Memory& memory : plan.profile.memories)
    metrics.energy_pj += memory.leakage_mw * 1e9 * seconds;
}

// The cycles of operators that engines work through one after the other: of all, or if several
// engines may work at the same time, those of one engine alone, for each, and an equal share of
// all.
std::vector<std::vector<int64_t>> CyclesInTurn(const Plan& plan,
                                               std::span<const LeastOfOperator> operators) {
  const int64_t engines = SideBySide(plan.profile);
  std::vector<std::vector<int64_t>> lists;
  const auto add = [&](const std::string* only) {
    std::vector<int64_t>& list = lists.emplace_back();
    for (const LeastOfOperator& op : operators) {
      const bool counts = only == nullptr || op.engine == *only;
      list.push_back(!counts ? 0 : only == nullptr ? op.cycles / engines : op.cycles);
    }
  };
  add(nullptr);
  for (size_t i = 0; i < plan.profile.engines.size() && engines > 1; ++i)
    add(&plan.profile.engines[i].name);
  return lists;
}

int64_t SumOfAll(const std::vector<int64_t>& cycles) {
  int64_t sum = 0;
  for (const int64_t each : cycles) sum = Plus(sum, each);
  return sum;
}

}  // namespace

Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users) {
  const Boxes needed = FindNeeded(plan.network, users);
  Metrics least;
  std::vector<LeastOfOperator> operators;
  std::vector<Boxes> reads;
  for (const graph::Operator& op : plan.network.operators) {
    LeastOfOperator& here = operators.emplace_back(
        FindLeast(plan, op, needed[static_cast<size_t>(op.outputs.front())]));
    least.macs = Plus(least.macs, here.macs);
    least.energy_pj += here.pj;
    reads.push_back(std::move(here.reads));
  }
  for (const std::vector<int64_t>& cycles : CyclesInTurn(plan, operators)) {
    least.latency_cycles = std::max({least.latency_cycles, SumOfAll(cycles),
                                     LatencyWithLateConstants(plan, needed, reads, cycles)});
  }
  const graph::Interval everything{0, static_cast<int>(plan.network.operators.size()) - 1};
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const graph::Tensor& facts = plan.network.tensors[i];
    if (facts.constant && !users[i].readers.empty()) {
      AddTraffic(plan, i, Direction::kFromHome,
                 ConstantBytes(plan, users, static_cast<int>(i), everything), least);
    } else if (IsOnlyOutput(facts)) {
      AddOutput(plan, i, least);
    }
  }
  AddLeakage(plan, least);
  return least;
}

LeastOfIntervals::LeastOfIntervals(const Plan& plan, const std::vector<Users>& users)
    : plan_(plan), users_(users) {
  const Boxes needed = FindNeeded(plan.network, users);
  for (const graph::Operator& op : plan.network.operators)
    operators_.push_back(FindLeast(plan, op, needed[static_cast<size_t>(op.outputs.front())]));
}

Metrics LeastOfIntervals::Of(graph::Interval interval, std::span<const int> kept) const {
  Metrics least;
  for (int op = interval.first; op <= interval.last; ++op) {
    const LeastOfOperator& here = operators_[static_cast<size_t>(op)];
    least.macs = Plus(least.macs, here.macs);
    least.energy_pj += here.pj;
  }
  const auto first = static_cast<size_t>(interval.first);
  const std::span<const LeastOfOperator> inside =
      std::span(operators_).subspan(first, static_cast<size_t>(interval.last) - first + 1);
  for (const std::vector<int64_t>& cycles : CyclesInTurn(plan_, inside))
    least.latency_cycles = std::max(least.latency_cycles, SumOfAll(cycles));
  for (const int tensor : TensorsOf(plan_.network, interval)) {
    const auto i = static_cast<size_t>(tensor);
    const graph::Tensor& facts = plan_.network.tensors[i];
    const bool made = AnyInside(users_[i].makers, interval);
    if (facts.constant) {
      AddTraffic(plan_, i, Direction::kFromHome, ConstantBytes(plan_, users_, tensor, interval),
                 least);
    } else if (made && IsOnlyOutput(facts)) {
      AddOutput(plan_, i, least);
    } else if (!facts.state && facts.next_of < 0 &&
               !std::binary_search(kept.begin(), kept.end(), tensor)) {
      const graph::Interval others{interval.last + 1,
                                   static_cast<int>(plan_.network.operators.size()) - 1};
      AddTraffic(plan_, i, made ? Direction::kToHome : Direction::kFromHome,
                 BytesReadBy(made ? others : interval, tensor), least);
    }
  }
  AddLeakage(plan_, least);
  return least;
}

// Bytes of the tensor that the operators of the interval surely read, in the densest layout.
int64_t LeastOfIntervals::BytesReadBy(graph::Interval interval, int tensor) const {
  std::optional<Box> read;
  for (const int reader : users_[static_cast<size_t>(tensor)].readers) {
    if (!Contains(interval, reader)) continue;
    const std::vector<int>& inputs = plan_.network.operators[static_cast<size_t>(reader)].inputs;
    for (size_t operand = 0; operand < inputs.size(); ++operand) {
      const std::optional<Box>& here = operators_[static_cast<size_t>(reader)].reads[operand];
      if (inputs[operand] == tensor && here) read = read ? Joined(*read, *here) : *here;
    }
  }
  if (!read) return 0;
  const base::DataType type = plan_.network.tensors[static_cast<size_t>(tensor)].type;
  return Times(VolumeOf(*read), base::BitsOf(type)) / 8;
}

}  // namespace tessera::plan::verify::infeasibility
