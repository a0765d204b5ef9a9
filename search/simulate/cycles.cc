#include "tessera/search/simulate/cycles.h"

#include <algorithm>

#include "tessera/base/checked.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/search/simulate/saturating.h"

namespace tessera::search {
namespace {

using base::OperatorKind;
using graph::ExtentsView;
using graph::Graph;
using graph::Operator;
using hw_profiles::Profile;
using hw_profiles::Throughput;
using hw_profiles::Unroll;

const graph::Tensor& TensorAt(const Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)];
}

int64_t Steps(int64_t length, int64_t unroll) { return base::CeilDiv(length, std::max<int64_t>(1, unroll)); }

// Steps through the depth, slice by slice where there are slices.
int64_t StepsOfDepth(int64_t depth, int64_t unroll, std::optional<int64_t> slice) {
  if (!slice || *slice >= depth) return Steps(depth, unroll);
  const int64_t full = (depth - 1) / *slice;
  return full * Steps(*slice, unroll) + Steps(depth - full * *slice, unroll);
}

// The taps along an axis that one output adds up: of a transposed convolution those that a stride leaves it, at most.
int64_t TapsOf(const Operator& op, size_t axis) {
  const bool transposed = op.kind == OperatorKind::kTransposedConv;
  return transposed ? base::CeilDiv(op.window.kernel[axis], op.window.stride[axis]) : op.window.kernel[axis];
}

// How the loops of an operator run.
struct Loops {
  std::optional<int64_t> depth_slice;
  bool ignores_groups = false;  // for output channels
};

int64_t StepsOfConvolution(const Graph& graph, const Operator& op, ExtentsView output, const Unroll& unroll,
                           const Loops& loops) {
  const int64_t in_channels = TensorAt(graph, op.inputs.front()).shape[1];
  const bool depthwise = op.kind == OperatorKind::kDepthwise;
  const int64_t groups = depthwise ? 1 : std::max<int64_t>(1, op.groups);
  // Groups run one after another; a depthwise convolution unrolls over its channels as over output channels.
  const int64_t group_channels = std::max<int64_t>(1, TensorAt(graph, op.outputs.front()).shape[1] / groups);
  const int64_t touched_groups = base::CeilDiv(output[1], group_channels);
  int64_t steps =
      loops.ignores_groups
          ? Steps(output[1], unroll.out_channels)
          : SaturatingMul(touched_groups, Steps(std::min(output[1], group_channels), unroll.out_channels));
  steps = SaturatingMul(
      steps, depthwise ? 1 : StepsOfDepth(in_channels / groups, unroll.in_channels, loops.depth_slice));
  steps = SaturatingMul(steps, Steps(output[0], unroll.batch));
  steps = SaturatingMul(steps, Steps(output[2], unroll.out_rows));
  steps = SaturatingMul(steps, Steps(output[3], unroll.out_columns));
  steps = SaturatingMul(steps, Steps(TapsOf(op, 0), unroll.kernel_rows));
  return SaturatingMul(steps, Steps(TapsOf(op, 1), unroll.kernel_columns));
}

// Rows by depth times depth by columns, once for each index of the leading axes.
int64_t StepsOfMatmul(const Graph& graph, const Operator& op, ExtentsView output, const Unroll& unroll,
                      std::optional<int64_t> depth_slice) {
  const size_t rank = output.size();
  const int64_t columns = output[rank - 1];
  const int64_t rows = rank >= 2 ? output[rank - 2] : 1;
  int64_t batch = 1;
  for (size_t axis = 0; axis + 2 < rank; ++axis) batch = SaturatingMul(batch, output[axis]);
  int64_t steps = SaturatingMul(Steps(batch, unroll.batch), Steps(rows, unroll.out_rows));
  steps = SaturatingMul(steps, Steps(columns, unroll.out_channels));
  const graph::Shape& first = TensorAt(graph, op.inputs.front()).shape;
  const int64_t depth = first[first.size() - (op.transpose_first ? 2 : 1)];
  return SaturatingMul(steps, StepsOfDepth(depth, unroll.in_channels, depth_slice));
}

const hw_profiles::Port& PortOf(const Profile& profile, int memory) {
  return profile.memories[static_cast<size_t>(memory)].port;
}

int64_t LatencyOf(const hw_profiles::Port& port, Direction direction) {
  return direction == Direction::kRead ? port.read_latency_cycles : port.write_latency_cycles;
}

double PaceOf(const hw_profiles::Port& port, Direction direction) {
  return direction == Direction::kRead ? port.read_bytes_per_cycle : port.write_bytes_per_cycle;
}

// What a descriptor cannot walk becomes several: `dims` loop levels each, the run itself being the innermost.
int64_t Descriptors(const hw_profiles::Link& link, const Runs& runs) {
  const auto levels = static_cast<int64_t>(runs.loops.size()) + 1;
  int64_t descriptors = 1;
  for (int64_t i = 0; i < levels - std::max(1, link.dims); ++i) {
    descriptors = SaturatingMul(descriptors, runs.loops[static_cast<size_t>(i)]);
  }
  return descriptors;
}

Compute ComputeOf(const Graph& graph, const Worker& worker, const Operator& op, ExtentsView output,
                  const Loops& loops) {
  const int64_t elements = graph::ElementsOf(output);
  if (elements == 0 || worker.engine == nullptr) return {.engine = worker.engine};
  const Throughput* throughput = worker.throughput;
  double cycles = static_cast<double>(elements) * throughput->cycles_per_output;
  if (hw_profiles::HasUnroll(op.kind)) {
    const int64_t steps = op.kind == OperatorKind::kMatmul
                              ? StepsOfMatmul(graph, op, output, throughput->unroll, loops.depth_slice)
                              : StepsOfConvolution(graph, op, output, throughput->unroll, loops);
    cycles = std::max(cycles, static_cast<double>(steps) * throughput->cycles_per_step);
  }
  return {.engine = worker.engine, .start = throughput->start_cycles, .body = WholeCycles(cycles)};
}

}  // namespace

Worker WorkerOf(const Graph& graph, const Profile& profile, const Operator& op) {
  const base::DataType type = encoder::WorkingType(graph, op);
  const hw_profiles::Engine* engine = hw_profiles::EngineFor(profile, op.kind, type, op.engine);
  if (engine == nullptr) return {};
  return {engine, hw_profiles::ThroughputFor(*engine, op.kind, type)};
}

Compute ComputeOf(const Graph& graph, const Worker& worker, const Operator& op, ExtentsView output,
                  std::optional<int64_t> depth_slice) {
  return ComputeOf(graph, worker, op, output, Loops{.depth_slice = depth_slice});
}

Compute LeastComputeOf(const Graph& graph, const Worker& worker, const Operator& op, ExtentsView output,
                       bool divides_channels) {
  return ComputeOf(graph, worker, op, output,
                   Loops{.depth_slice = std::nullopt, .ignores_groups = divides_channels});
}

int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched) {
  const double read = static_cast<double>(touched.read) / port.read_bytes_per_cycle;
  const double written = static_cast<double>(touched.written) / port.write_bytes_per_cycle;
  return WholeCycles(port.shared ? read + written : std::max(read, written));
}

double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const int64_t run = base::RoundUp(runs.bytes, std::max<int64_t>(1, port.burst_bytes));
  return static_cast<double>(SaturatingMul(run, runs.count)) / bytes_per_cycle;
}

int64_t TransferCycles(const Profile& profile, int home, Direction direction, const Runs& runs) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const hw_profiles::Port& port = PortOf(profile, home);
  const Direction opposite = direction == Direction::kRead ? Direction::kWrite : Direction::kRead;
  const double pace =
      std::min(PaceOf(port, direction), PaceOf(PortOf(profile, profile.tile_memory), opposite));
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  const int64_t setup = link == nullptr ? 0 : SaturatingMul(link->setup_cycles, Descriptors(*link, runs));
  const double stream = StreamCycles(port, runs, pace);
  return SaturatingAdd(SaturatingAdd(setup, LatencyOf(port, direction)), WholeCycles(stream));
}

int64_t DirectCycles(const Profile& profile, int home, Direction direction, const Runs& runs) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const hw_profiles::Port& port = PortOf(profile, home);
  return SaturatingAdd(LatencyOf(port, direction),
                       WholeCycles(StreamCycles(port, runs, PaceOf(port, direction))));
}

}  // namespace tessera::search
