// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/cost_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/engines.h"
#include "tessera/plan/verify/work_count.h"

// The layout of a region in memory is found from strides. The walk begins with one element. Each
// level, from the innermost to the outermost, repeats the current region at a stride. If the stride
// equals the length of the region, and there are no gaps yet, the run becomes longer. Otherwise the
// level is a loop.
//
//     [rows][columns][channels], 2 of 3 columns, all 4 channels of one byte
//     columns   stride 4 bits*8, run 4 bytes   -> run 8 bytes
//     rows      stride 12 bytes, run 8 bytes   -> a loop
namespace tessera::plan::verify {

namespace {

using base::CeilDiv;
using Extents = std::vector<int64_t>;

class AddressWalk {
 public:
  explicit AddressWalk(int64_t bits) : bits_(bits) {}

  void Repeat(int64_t times, int64_t stride_bits) {
    if (times == 1) return;
    if (loops_.empty() && stride_bits == bits_) {
      bits_ = Times(bits_, times);
    } else {
      loops_.push_back(times);
    }
  }

  // A whole row ends at a byte boundary.
  void EndRow(int64_t row_bits) {
    if (loops_.empty() && bits_ == row_bits) bits_ = base::RoundUp(bits_, 8);
  }

  Pieces Take(int64_t request) { return {CeilDiv(bits_, 8), std::move(loops_), request}; }

 private:
  int64_t bits_;
  std::vector<int64_t> loops_;
};

bool HasNoElement(const Extents& extents) {
  return std::any_of(extents.begin(), extents.end(), [](int64_t extent) { return extent <= 0; });
}

int64_t WholeCycles(double cycles) {
  const auto most = static_cast<double>(base::kMaxTotal);
  return cycles >= most ? base::kMaxTotal : static_cast<int64_t>(std::ceil(cycles));
}

// Rounds a lower bound to whole cycles. The sum of parts that are each rounded up may be less than
// the ceiling of the computed sum, because the latter has a relative rounding error of 2^-53 for
// each operation. Reduced by 2^-44 of itself, it is below the true sum, so its ceiling is a lower
// bound.
int64_t LeastWholeCycles(double cycles) { return WholeCycles(cycles - std::ldexp(cycles, -44)); }

const hw_profiles::Port& PortAt(const hw_profiles::Profile& profile, int memory) {
  return profile.memories[static_cast<size_t>(memory)].port;
}

// Cycles to move the bytes of the port's bursts, at the given bytes per cycle.
int64_t StreamCycles(const hw_profiles::Port& port, const Pieces& pieces, double bytes_per_cycle) {
  const int64_t request = pieces.request == 0 ? pieces.bytes : pieces.request;
  int64_t bytes = base::RoundUp(std::min(request, pieces.bytes), port.burst_bytes);
  if (request < pieces.bytes) bytes = Times(bytes, CeilDiv(pieces.bytes, request));
  for (const int64_t times : pieces.loops) bytes = Times(bytes, times);
  return WholeCycles(static_cast<double>(bytes) / bytes_per_cycle);
}

// The number of descriptors of a transfer. One descriptor covers the run and the innermost loops.
int64_t DescriptorsOf(const hw_profiles::Link& link, const Pieces& pieces) {
  int64_t descriptors = 1;
  for (size_t loop = 0; loop < pieces.loops.size(); ++loop) {
    const bool walked = static_cast<int64_t>(loop) + 1 < link.dims;
    if (!walked) descriptors = Times(descriptors, pieces.loops[loop]);
  }
  return descriptors;
}

}  // namespace

Pieces PiecesOf(const graph::Tensor& tensor, const Extents& extents,
                const hw_profiles::RoleLayout& layout) {
  if (HasNoElement(extents)) return {};
  const NamedExtents part = NameExtents(extents);
  const NamedExtents whole = NameExtents(tensor.shape);
  const int64_t bits = base::BitsOf(tensor.type);
  const int64_t block = layout.channel_block;
  const NamedExtents one_row = {1, whole.channels, 1, whole.columns};
  const int64_t row = Times(8, StoredBytes(one_row, tensor.type, block, layout.row_pitch_bytes));
  AddressWalk walk(bits);
  if (block == 1) {
    walk.Repeat(part.channels, bits);
    walk.Repeat(part.columns, whole.channels * bits);
  } else {
    walk.Repeat(block, bits);
    walk.Repeat(part.columns, block * bits);
    walk.Repeat(CeilDiv(part.channels, block), whole.columns * block * bits);
  }
  walk.EndRow(whole.columns * base::RoundUp(whole.channels, block) * bits);
  walk.Repeat(part.rows, row);
  int64_t apart = Times(whole.rows, row);
  for (size_t axis = extents.size(); axis-- > 0;) {
    const std::optional<base::Axis> meaning = MeaningOf(extents.size(), axis);
    if (meaning && meaning != base::Axis::kBatch) continue;
    walk.Repeat(extents[axis], apart);
    apart = Times(apart, tensor.shape[axis]);
  }
  return walk.Take(layout.request_bytes);
}

Pieces PiecesOfK(const Plan& plan, const KSlices& slices, int64_t k_extent, int64_t channels) {
  const graph::Tensor& constant = plan.network.tensors[static_cast<size_t>(slices.constant)];
  int64_t stride = base::BitsOf(constant.type);
  AddressWalk walk(stride);
  for (size_t axis = constant.shape.size(); axis-- > 0;) {
    const int64_t all = constant.shape[axis];
    const bool is_k = axis == slices.along.at(slices.constant);
    walk.Repeat(is_k ? k_extent : axis == slices.channels ? channels : all, stride);
    stride = Times(stride, all);
  }
  return walk.Take(0);
}

int64_t PayloadOf(const graph::Tensor& tensor, const Extents& extents,
                  const hw_profiles::RoleLayout& layout) {
  return HasNoElement(extents)
             ? 0
             : StoredBytes(NameExtents(extents), tensor.type, layout.channel_block, 1);
}

int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                       const Pieces& pieces) {
  if (pieces.bytes == 0) return 0;
  const hw_profiles::Port& there = PortAt(profile, home);
  const hw_profiles::Port& here = PortAt(profile, profile.tile_memory);
  const bool from = direction == Direction::kFromHome;
  const double pace = from ? std::min(there.read_bytes_per_cycle, here.write_bytes_per_cycle)
                           : std::min(there.write_bytes_per_cycle, here.read_bytes_per_cycle);
  int64_t cycles = Plus(from ? there.read_latency_cycles : there.write_latency_cycles,
                        StreamCycles(there, pieces, pace));
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  if (link != nullptr)
    cycles = Plus(cycles, Times(link->setup_cycles, DescriptorsOf(*link, pieces)));
  return cycles;
}

int64_t HiddenLatency(const hw_profiles::Profile& profile, int home) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  return link != nullptr && link->pipelined ? PortAt(profile, home).read_latency_cycles : 0;
}

// Each transfer has one of the channels, which take turns. Their data share the port.
int64_t CyclesInQueue(const hw_profiles::Profile& profile, int home,
                      const std::vector<Waiting>& transfers, int64_t most) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  int64_t channels = link == nullptr ? 1 : std::min<int64_t>(link->outstanding, most);
  channels = std::clamp<int64_t>(channels, 1, static_cast<int64_t>(transfers.size()) + 1);
  std::vector<int64_t> free(static_cast<size_t>(channels), 0);
  int64_t port = 0;
  for (size_t i = 0; i < transfers.size(); ++i) {
    int64_t& channel = free[i % free.size()];
    port = Plus(std::max(port, Plus(channel, transfers[i].latency)), transfers[i].cycles);
    channel = port;
  }
  return port;
}

int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                     const Pieces& pieces) {
  if (pieces.bytes == 0) return 0;
  const hw_profiles::Port& port = PortAt(profile, home);
  return direction == Direction::kFromHome
             ? Plus(port.read_latency_cycles, StreamCycles(port, pieces, port.read_bytes_per_cycle))
             : Plus(port.write_latency_cycles,
                    StreamCycles(port, pieces, port.write_bytes_per_cycle));
}

namespace {

double PortTime(const hw_profiles::Port& port, int64_t read, int64_t written) {
  const double in = static_cast<double>(read) / port.read_bytes_per_cycle;
  const double out = static_cast<double>(written) / port.write_bytes_per_cycle;
  return port.shared ? in + out : std::max(in, out);
}

}  // namespace

int64_t PortCycles(const hw_profiles::Port& port, int64_t read, int64_t written) {
  return WholeCycles(PortTime(port, read, written));
}

int64_t LeastPortCycles(const hw_profiles::Port& port, int64_t read, int64_t written) {
  return LeastWholeCycles(PortTime(port, read, written));
}

bool TakesTurns(const hw_profiles::Profile& profile, int memory) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, memory, profile.tile_memory);
  return PortAt(profile, memory).shared || (link != nullptr && link->outstanding < 2);
}

namespace {

const hw_profiles::Throughput& SpeedOf(const Plan& plan, const hw_profiles::Engine& engine,
                                       const graph::Operator& op) {
  const int typical = op.inputs.empty() ? op.outputs.front() : op.inputs.front();
  return *hw_profiles::ThroughputFor(engine, op.kind,
                                     plan.network.tensors[static_cast<size_t>(typical)].type);
}

// Cycles for the elements of the box, in groups of channels.
double OutputStage(const Extents& made, const hw_profiles::Throughput& speed) {
  int64_t outputs = 1;
  for (size_t axis = 0; axis < made.size(); ++axis) {
    const bool in_groups = MeaningOf(made.size(), axis) == base::Axis::kChannels;
    const int64_t group = in_groups ? std::max<int64_t>(1, speed.channel_group) : 1;
    outputs = Times(outputs, base::RoundUp(made[axis], group));
  }
  return static_cast<double>(outputs) * speed.cycles_per_output;
}

// Cycles of the slower of the steps and the output stage.
double EngineTime(const Plan& plan, const graph::Operator& op, const Extents& made,
                  const hw_profiles::Throughput& speed, const std::optional<KSlices>& k_extent) {
  const double outputs = OutputStage(made, speed);
  if (!base::TraitsOf(op.kind).multiplies) return outputs;
  const int64_t steps = EngineSteps(plan.network, op, made, speed, k_extent);
  return std::max(outputs, static_cast<double>(steps) * speed.cycles_per_step);
}

}  // namespace

Arithmetic ArithmeticOf(const Plan& plan, const graph::Operator& op, const Extents& made,
                        const std::optional<KSlices>& k_extent) {
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr || HasNoElement(made)) return {};
  if (engine->host) {
    const int64_t outputs = VolumeOf(WholeOf(made));
    const graph::Shape& result =
        plan.network.tensors[static_cast<size_t>(op.outputs.front())].shape;
    const int64_t macs = MacsFor(plan.network, op, WholeOf(result));
    return {engine->host->start_cycles,
            WholeCycles(static_cast<double>(outputs) * engine->host->cycles_per_output +
                        static_cast<double>(macs) * engine->host->cycles_per_mac)};
  }
  const hw_profiles::Throughput& speed = SpeedOf(plan, *engine, op);
  return {speed.start_cycles, WholeCycles(EngineTime(plan, op, made, speed, k_extent))};
}

Arithmetic LeastArithmeticOf(const Plan& plan, const graph::Operator& op, const Extents& made) {
  const hw_profiles::Engine* engine = EngineOf(plan, op);
  if (engine == nullptr || engine->host || HasNoElement(made))
    return ArithmeticOf(plan, op, made, std::nullopt);
  const hw_profiles::Throughput& speed = SpeedOf(plan, *engine, op);
  return {speed.start_cycles, LeastWholeCycles(EngineTime(plan, op, made, speed, std::nullopt))};
}

Arithmetic ArithmeticInBlocks(const Plan& plan, const graph::Operator& op, const BlockGrid& grid,
                              const std::optional<KSlices>& k_extent, int table_memory) {
  const hw_profiles::Engine& engine = *EngineOf(plan, op);
  const hw_profiles::Throughput& speed = SpeedOf(plan, engine, op);
  double outputs = OutputStage(grid.block, speed);
  if (const int64_t request = engine.blocks->table_request_bytes;
      request > 0 && !op.weights.empty()) {
    const auto table =
        static_cast<double>(Times(plan.profile.table_bytes_per_channel, grid.block[1]));
    const auto latency =
        static_cast<double>(PortAt(plan.profile, table_memory).read_latency_cycles);
    outputs = std::max(outputs, table / static_cast<double>(request) * latency);
  }
  const double sums =
      static_cast<double>(BlockSteps(plan.network, op, grid.block, speed, k_extent)) *
      speed.cycles_per_step;
  const auto blocks = static_cast<double>(Times(grid.areas, grid.layers));
  return {speed.start_cycles,
          WholeCycles(blocks * std::max(sums, outputs) + std::min(sums, outputs))};
}

}  // namespace tessera::plan::verify
