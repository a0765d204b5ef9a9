#include "tessera/plan/refutation/least_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "tessera/plan/costs_cycles.h"
#include "tessera/plan/needs.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/traffic.h"

namespace tessera::plan::refutation {
namespace {

using base::TensorRole;

// Whether a reader that needs all of its result needs all of the operand, without gaps.
bool ReadsAll(const graph::Graph& network, const graph::Operator& op, size_t operand) {
  using base::OperatorKind;
  static constexpr std::array kWithoutGaps = {
      OperatorKind::kElementwise, OperatorKind::kMatmul,     OperatorKind::kReduce, OperatorKind::kSoftmax,
      OperatorKind::kLayerNorm,   OperatorKind::kGlobalPool, OperatorKind::kConcat, OperatorKind::kTranspose};
  static constexpr std::array kWindows = {OperatorKind::kConv, OperatorKind::kDepthwise, OperatorKind::kPool};
  const bool is_window = std::find(kWindows.begin(), kWindows.end(), op.kind) != kWindows.end();
  const bool gapless =
      std::find(kWithoutGaps.begin(), kWithoutGaps.end(), op.kind) != kWithoutGaps.end() ||
      (is_window && op.window.dilation == std::array<int64_t, 2>{1, 1} &&
       op.window.stride[0] <= op.window.kernel[0] && op.window.stride[1] <= op.window.kernel[1]);
  const graph::Shape& in = network.tensors[static_cast<size_t>(op.inputs[operand])].shape;
  const graph::Shape& out = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  return gapless && NeedOf(network, op, operand, WholeOf(out)) == WholeOf(in);
}

// Cycles that the operator's arithmetic takes at least, whatever its tiles: those of its whole
// result, since boxes that cover a box have at least as many steps of the unrolled loops. Tiles may
// cut groups apart, and run a part of several as one, so of groups only the work counts.
int64_t LeastCyclesOf(const Plan& plan, const graph::Operator& op, int64_t macs) {
  const graph::Shape& made = plan.network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  const bool may_grow_in_place = plan.network.tensors[static_cast<size_t>(op.outputs.front())].next_of >= 0;
  if (may_grow_in_place) return 0;
  if (op.groups <= 1) return ArithmeticOf(plan, op, made, std::nullopt).body;
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr) return 0;
  const base::DataType type = plan.network.tensors[static_cast<size_t>(op.inputs.front())].type;
  const hw_profiles::Throughput* throughput = hw_profiles::ThroughputFor(*engine, op.kind, type);
  const hw_profiles::Unroll& unroll = throughput->unroll;
  const double at_once = static_cast<double>(unroll.batch) * static_cast<double>(unroll.out_rows) *
                         static_cast<double>(unroll.out_columns) * static_cast<double>(unroll.out_channels) *
                         static_cast<double>(unroll.in_channels) * static_cast<double>(unroll.kernel_rows) *
                         static_cast<double>(unroll.kernel_columns);
  return static_cast<int64_t>(static_cast<double>(macs) / at_once * throughput->cycles_per_step);
}

}  // namespace

std::vector<char> FindNeededWhole(const graph::Graph& network, const std::vector<Users>& users) {
  std::vector<char> needed(network.tensors.size());
  for (size_t i = 0; i < needed.size(); ++i) {
    const bool is_wanted =
        network.tensors[i].network_output || (users[i].readers.empty() && !users[i].makers.empty());
    needed[i] = static_cast<char>(is_wanted);
  }
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    if (needed[static_cast<size_t>(op->outputs.front())] == 0) continue;
    for (size_t operand = 0; operand < op->inputs.size(); ++operand) {
      if (ReadsAll(network, *op, operand)) needed[static_cast<size_t>(op->inputs[operand])] = 1;
    }
  }
  return needed;
}

Metrics LeastMetrics(const Plan& plan, const std::vector<Users>& users) {
  const graph::Graph& network = plan.network;
  const hw_profiles::Profile& profile = plan.profile;
  const std::vector<char> needed = FindNeededWhole(network, users);
  Metrics least;
  for (auto op = network.operators.rbegin(); op != network.operators.rend(); ++op) {
    if (needed[static_cast<size_t>(op->outputs.front())] == 0) continue;
    const Box all = WholeOf(network.tensors[static_cast<size_t>(op->outputs.front())].shape);
    const int64_t macs = MacsFor(network, *op, all);
    least.macs = Plus(least.macs, macs);
    least.latency_cycles = Plus(least.latency_cycles, LeastCyclesOf(plan, *op, macs));
    if (const hw_profiles::Engine* engine = EngineOf(plan, *op))
      least.energy_pj += engine->mac_pj * static_cast<double>(macs);
  }
  const auto count = [&](size_t tensor, TensorRole role, int64_t bytes) {
    const int home = HomeOf(plan, static_cast<int>(tensor));
    if (home == profile.tile_memory) return;
    const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(home)];
    const double pj = role == TensorRole::kConstant ? memory.read_pj_per_byte : memory.write_pj_per_byte;
    least.off_chip_bytes = Plus(least.off_chip_bytes, bytes);
    least.energy_pj += pj * static_cast<double>(bytes);
  };
  const graph::Interval everything{0, static_cast<int>(network.operators.size()) - 1};
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const graph::Tensor& facts = network.tensors[i];
    if (facts.constant && !users[i].readers.empty()) {
      count(i, TensorRole::kConstant, ConstantBytes(plan, users, static_cast<int>(i), everything));
    } else if (facts.network_output && facts.next_of < 0 && !facts.network_input && !facts.state) {
      const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, TensorRole::kNetworkOutput);
      count(i, TensorRole::kNetworkOutput,
            StoredBytes(NameExtents(facts.shape), facts.type, layout.channel_block, 1));
    }
  }
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(least.latency_cycles) / profile.clock_hz : 0;
  for (const hw_profiles::Memory& memory : profile.memories)
    least.energy_pj += memory.leakage_mw * 1e9 * seconds;
  return least;
}

bool IsBeyond(double value, double limit) {
  constexpr double kTolerance = 1e-6;
  return value > limit + kTolerance * std::max({1.0, std::abs(value), std::abs(limit)});
}

}  // namespace tessera::plan::refutation
