// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/engines.h"

#include <fmt/core.h>

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/cost_terms.h"

namespace tessera::plan::verify {
namespace {

// Whether the engine has a speed for the operator: an entry of its kind, or of a reshape if it only
// moves data, for this data type or for all.
bool Lists(const hw_profiles::Engine& engine, const graph::Operator& op, base::DataType type) {
  const auto& entries = engine.throughputs;
  return std::any_of(entries.begin(), entries.end(), [&](const hw_profiles::Throughput& entry) {
    const bool same = entry.kind == op.kind || (entry.kind == base::OperatorKind::kReshape &&
                                                base::TraitsOf(op.kind).moves_data);
    return same && entry.type.value_or(type) == type;
  });
}

// Each operator is a list of loops. A loop has a number of iterations, and a number of iterations
// that one step does. Iterations that use the same weights are one loop over all lanes that can do
// them.

using base::CeilDiv;
using base::OperatorKind;
using Extents = std::vector<int64_t>;

struct Loop {
  int64_t iterations = 1;
  int64_t at_once = 1;

  // One loop that replaces two. Its lanes are the product of their lanes.
  Loop And(const Loop& other) const {
    return {Times(iterations, other.iterations), Times(at_once, other.at_once)};
  }
};

int64_t StepsOf(const std::vector<Loop>& loops) {
  int64_t steps = 1;
  for (const Loop& loop : loops) steps = Times(steps, CeilDiv(loop.iterations, loop.at_once));
  return steps;
}

// The steps of a loop over K, of which each index stands for `each` indices, summed over the slices
// if there are any.
int64_t StepsOfK(int64_t length, int64_t each, int64_t unroll,
                 const std::optional<KSlices>& k_extent) {
  if (!k_extent) return CeilDiv(Times(length, each), unroll);
  int64_t steps = 0;
  for (int64_t slice = 0; slice < k_extent->Count(); ++slice)
    steps += CeilDiv(Times(k_extent->DepthOf(slice), each), unroll);
  return steps;
}

// The steps for one output: the loops over its input channels, each of which stands for `each`, and
// over the taps of the kernel, unrolled by `unroll` or by `other_sums`.
int64_t StepsOfSums(const hw_profiles::Throughput& speed, int64_t length, int64_t each,
                    const std::vector<Loop>& taps, const std::optional<KSlices>& k_extent) {
  const auto steps = [&](int64_t channels_at_once, int64_t taps_at_once) {
    return Times(StepsOfK(length, each, channels_at_once, k_extent),
                 CeilDiv(StepsOf(taps), std::max<int64_t>(1, taps_at_once)));
  };
  int64_t least = steps(speed.unroll.in_channels, speed.unroll.kernel_taps);
  if (speed.other_sums)
    least = std::min(least, steps(speed.other_sums->in_channels, speed.other_sums->kernel_taps));
  return least;
}

// The axes of both operands are aligned at their ends. Along a leading axis the second operand
// either has as many matrices as the result, or the same ones for every index.
int64_t StepsOfMatmul(const graph::Graph& network, const graph::Operator& op, const Extents& result,
                      const hw_profiles::Throughput& speed,
                      const std::optional<KSlices>& k_extent) {
  const hw_profiles::Unroll& unroll = speed.unroll;
  const auto& product = op.Own<base::MatmulAttributes>();
  Extents second;
  if (op.inputs.size() > 1) {
    const graph::Shape& stored = ShapeOf(network, op.inputs[1]);
    for (const int axis : OrderOf(product.operand_axes[1], stored.size()))
      second.push_back(stored[static_cast<size_t>(axis)]);
  }
  const std::vector<int> order = OrderOf(product.result_axes, result.size());
  Extents made(result.size());
  for (size_t axis = 0; axis < result.size(); ++axis)
    made[static_cast<size_t>(order[axis])] = result[axis];
  int64_t matrices = 1;
  Loop rows = {1, Times(unroll.out_rows, unroll.out_columns)};
  for (size_t from_end = 1; from_end < made.size(); ++from_end) {
    const bool has_own_matrices =
        from_end > 1 && from_end < second.size() && second[second.size() - 1 - from_end] != 1;
    int64_t& count = has_own_matrices ? matrices : rows.iterations;
    count = Times(count, made[made.size() - 1 - from_end]);
  }
  const int64_t of_a_matrix = std::max(speed.weight_steps, StepsOf({rows}));
  const Loop pieces = {Times(matrices, of_a_matrix), unroll.batch};
  const int64_t length =
      ShapeOf(network, op.inputs.front())[KAxisOfInput(network, op, 0).value_or(0)];
  return Times(StepsOf({pieces, {made.back(), unroll.out_channels}}),
               StepsOfSums(speed, length, 1, {}, k_extent));
}

// The taps of the kernel along one axis. A transposed convolution uses every stride-th tap.
int64_t TapsOf(const graph::Operator& op, size_t axis) {
  const int64_t kernel = op.window.kernel.at(axis);
  return op.kind == OperatorKind::kTransposedConv ? CeilDiv(kernel, op.window.stride.at(axis))
                                                  : kernel;
}

bool IsProductOfPixels(const graph::Operator& op) {
  const bool moves_by_one = op.window.stride[0] * op.window.stride[1] == 1;
  const bool has_one_tap = op.window.kernel[0] * op.window.kernel[1] == 1;
  return op.kind == OperatorKind::kConv && op.groups < 2 && moves_by_one && has_one_tap;
}

// The loops of a convolution over the outputs of one channel, and whether their lanes are one pool.
struct Pixels {
  std::vector<Loop> loops;
  bool is_pool = false;
};

Pixels PixelsOf(const graph::Operator& op, const Extents& made, const hw_profiles::Unroll& unroll) {
  return {{{made[0], unroll.batch}, {made[2], unroll.out_rows}, {made[3], unroll.out_columns}},
          IsProductOfPixels(op)};
}

int64_t StepsOfConvolution(const graph::Graph& network, const graph::Operator& op,
                           const Extents& made, const hw_profiles::Throughput& speed,
                           const std::optional<KSlices>& k_extent, const Pixels& pixels) {
  const hw_profiles::Unroll& unroll = speed.unroll;
  Loop pool;
  for (const Loop& loop : pixels.loops) pool = pool.And(loop);
  const int64_t positions =
      std::max(speed.weight_steps, StepsOf(pixels.is_pool ? std::vector{pool} : pixels.loops));
  const int64_t folded = FoldedColumns(network, op, speed);
  const std::vector<Loop> taps = {{TapsOf(op, 0), unroll.kernel_rows},
                                  {CeilDiv(TapsOf(op, 1), folded), unroll.kernel_columns}};
  const Loop channels = {made[1], unroll.out_channels};
  if (op.kind == OperatorKind::kDepthwise) {
    const int64_t outputs =
        speed.fold_channels ? StepsOf({pool.And(channels)}) : Times(positions, StepsOf({channels}));
    return Times(outputs, StepsOfSums(speed, 1, 1, taps, std::nullopt));
  }
  const int64_t in_channels = ShapeOf(network, op.inputs.front())[1] / op.groups;
  const int64_t of_group =
      std::max<int64_t>(1, ShapeOf(network, op.outputs.front())[1] / op.groups);
  const int64_t one_group = Times(CeilDiv(std::min(made[1], of_group), unroll.out_channels),
                                  StepsOfSums(speed, in_channels, folded, taps, k_extent));
  return Times(positions, Times(CeilDiv(made[1], of_group), one_group));
}

}  // namespace

// Engines are tried in the order of the profile, the host last.
const hw_profiles::Engine* EngineOf(const Plan& plan, const graph::Operator& op) {
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const base::DataType type = plan.network.tensors[static_cast<size_t>(typical)].type;
  const hw_profiles::Engine* first = nullptr;
  const hw_profiles::Engine* host = nullptr;
  for (const hw_profiles::Engine& engine : plan.profile.engines) {
    if (!op.engine.empty() && op.engine != engine.name) continue;
    if (engine.host) {
      host = &engine;
    } else if (first == nullptr && Lists(engine, op, type)) {
      first = &engine;
    }
  }
  return first != nullptr ? first : host;
}

std::vector<graph::Operator> OnEachEngine(const Plan& plan, const graph::Operator& op) {
  std::vector<graph::Operator> each = {op};
  if (!op.engine.empty() && !op.engine_chosen) return each;
  const hw_profiles::Engine* own = EngineOf(plan, op);
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  const base::DataType type = plan.network.tensors[static_cast<size_t>(typical)].type;
  for (const hw_profiles::Engine& engine : plan.profile.engines) {
    if (&engine == own || engine.host || !Lists(engine, op, type)) continue;
    each.push_back(op);
    each.back().engine = engine.name;
  }
  return each;
}

bool HasOtherEngines(const Plan& plan) {
  return plan.profile.engines.size() > 1 &&
         std::any_of(plan.network.operators.begin(), plan.network.operators.end(),
                     [&](const graph::Operator& op) { return OnEachEngine(plan, op).size() > 1; });
}

int64_t SideBySide(const hw_profiles::Profile& profile) {
  int64_t workers = 0;
  for (const hw_profiles::Engine& engine : profile.engines) workers += engine.host ? 0 : 1;
  const bool overlaps = profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  return profile.tiling.concurrent && overlaps ? std::max<int64_t>(workers, 1) : 1;
}

bool IsOnHost(const Plan& plan, const graph::Operator& op) {
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  return engine != nullptr && engine->host;
}

bool IsOnHost(const Plan& plan, graph::Interval interval) {
  return interval.first == interval.last &&
         IsOnHost(plan, plan.network.operators[static_cast<size_t>(interval.first)]);
}

bool JoinsHost(const Plan& plan, graph::Interval interval) {
  if (interval.first == interval.last) return false;
  for (int op = interval.first; op <= interval.last; ++op) {
    if (IsOnHost(plan, plan.network.operators[static_cast<size_t>(op)])) return true;
  }
  return false;
}

std::string HostFault(const Plan& plan, const Subgraph& subgraph) {
  if (JoinsHost(plan, subgraph.interval))
    return "has several operators, of which the host runs one";
  if (!IsOnHost(plan, subgraph.interval)) return "";
  if (subgraph.tiles != 1) return "is on the host, but has several tiles";
  if (subgraph.weights != hw_profiles::WeightPolicy::kDirect)
    return "is on the host, but does not hold weights direct";
  if (subgraph.halo != hw_profiles::HaloStorage::kRecompute)
    return "is on the host, but keeps rows";
  if (subgraph.serialized) return "is on the host, but is serialized";
  return subgraph.in_place ? "is on the host, but puts results in place" : "";
}

int64_t FoldedColumns(const graph::Graph& network, const graph::Operator& op,
                      const hw_profiles::Throughput& speed) {
  const bool convolves = op.kind == OperatorKind::kConv && op.groups < 2;
  if (!convolves || speed.fold_columns < 1) return 1;
  const graph::Tensor& image = network.tensors[static_cast<size_t>(op.inputs.front())];
  const bool is_narrow = image.shape.at(1) <= speed.fold_columns && image.shape.at(3) % 2 == 0;
  const graph::Window& window = op.window;
  const bool moves_by_two =
      window.stride.at(1) == 2 && window.dilation.at(1) == 1 && window.kernel.at(1) > 1;
  // The columns that the windows reach beyond the image, of so many columns.
  const auto beyond = [&](int64_t stride, int64_t kernel, int64_t columns) {
    const int64_t made = ShapeOf(network, op.outputs.front()).at(3);
    return std::max<int64_t>((made - 1) * stride + kernel - columns, 0);
  };
  const bool pads_stay = beyond(2, window.kernel.at(1), image.shape.at(3)) ==
                         beyond(1, CeilDiv(window.kernel.at(1), 2), image.shape.at(3) / 2);
  return image.network_input && is_narrow && moves_by_two && pads_stay ? 2 : 1;
}

int64_t EngineSteps(const graph::Graph& network, const graph::Operator& op, const Extents& made,
                    const hw_profiles::Throughput& speed, const std::optional<KSlices>& k_extent) {
  if (op.kind == OperatorKind::kMatmul) return StepsOfMatmul(network, op, made, speed, k_extent);
  return StepsOfConvolution(network, op, made, speed, k_extent, PixelsOf(op, made, speed.unroll));
}

int64_t BlockSteps(const graph::Graph& network, const graph::Operator& op, const Extents& block,
                   const hw_profiles::Throughput& speed, const std::optional<KSlices>& k_extent) {
  Pixels pixels = PixelsOf(op, block, speed.unroll);
  // A block is of one image, but where channels fold, all lanes are one pool.
  const bool folds = op.kind == OperatorKind::kDepthwise && speed.fold_channels;
  pixels.loops.front() = {1, folds ? speed.unroll.batch : 1};
  pixels.is_pool = pixels.is_pool && block[2] == 1;
  return StepsOfConvolution(network, op, block, speed, k_extent, pixels);
}

}  // namespace tessera::plan::verify
