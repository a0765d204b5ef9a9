// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/tile_cost.h"

// What ports carry beyond one read of each operand: windows that output blocks read again, tables
// that they wait for, bursts that a request does not use; and the one port that engines and DMA
// share, that of the tile memory.
namespace tessera::search::cost {

using graph::tiling::Extents;
using graph::tiling::ExtentsView;
using hw_profiles::Port;
using hw_profiles::Profile;
using hw_profiles::RoleLayout;

Touched TileMemoryTraffic(const TileCost* previous, const TileCost& here, const TileCost* next,
                          std::span<const ConstantFlow> constants) {
  Touched bytes = here.at_engines;
  for (const ConstantFlow& flow : constants) {
    const int64_t before = next == nullptr ? flow.first_slice_bytes : 0;
    base::Accumulate(bytes.written, flow.streamed_bytes - before);
  }
  for (size_t memory = 0; memory < here.split_k.memories.size(); ++memory) {
    base::Accumulate(bytes.written, here.split_k.memories[memory].later_bytes);
    if (next != nullptr)
      base::Accumulate(bytes.written, next->split_k.memories[memory].first_bytes);
  }
  for (size_t memory = 0; memory < here.flows.size(); ++memory) {
    if (previous != nullptr) base::Accumulate(bytes.read, previous->flows[memory].store_bytes);
    if (next != nullptr) base::Accumulate(bytes.written, next->flows[memory].load_bytes);
  }
  return bytes;
}

// Returns the bytes of the bursts that engines read beyond `bytes` of a tensor at home in the tile
// memory, which they request in parts.
int64_t TileCosts::UnusedBytes(const Operand& operand, int64_t bytes) const {
  const int64_t request = hw_profiles::LayoutOf(*profile_, operand.route.role).request_bytes;
  if (request == 0 || operand.route.transfer != TransferKind::kWhole) return 0;
  const Port& port = profile_->memories[static_cast<size_t>(profile_->tile_memory)].port;
  const int64_t bursts =
      base::SaturatingMul(base::CeilDiv(bytes, request), base::RoundUp(request, port.burst_bytes));
  return std::max<int64_t>(0, bursts - bytes);
}

std::optional<Blocking> TileCosts::BlockingOf(const graph::tiling::TileClass& tile, size_t index,
                                              ExtentsView moved, BlockChoices& blocks) const {
  const Step& step = steps_[index];
  if (!WorksInBlocks(*step.op, step.worker.engine) || graph::tiling::ElementsOf(moved) == 0)
    return std::nullopt;
  const size_t input = step.inputs.front();
  Blocking blocking = blocks.Find(*step.op, *step.worker.engine, *step.worker.throughput,
                                  operands_[input].tensor->type, moved, tile.needed[input],
                                  FoldsColumns(*graph_, *step.op, *step.worker.throughput));
  blocking.table_cycles = TableCycles(step, blocking.block);
  return blocking;
}

// Returns the cycles for which the output stage waits for the table of a block. It lies with the
// first constant.
double TileCosts::TableCycles(const Step& step, const Block& block) const {
  const int64_t request = step.worker.engine->blocks->table_request_bytes;
  if (request == 0 || step.op->weights.empty()) return 0;
  const int memory = constant_transfer_ == TransferKind::kDirect
                         ? encoder::program::HomeOf(*graph_, *profile_, step.op->weights.front(),
                                                    base::TensorRole::kConstant)
                         : profile_->tile_memory;
  const hw_profiles::Port& port = profile_->memories[static_cast<size_t>(memory)].port;
  const int64_t bytes = base::SaturatingMul(profile_->table_bytes_per_channel, block.channels);
  return static_cast<double>(bytes) / static_cast<double>(request) *
         static_cast<double>(port.read_latency_cycles);
}

// Adds what output blocks fetch of the input beyond one read of the tile's need: block by block,
// where the input lies.
void TileCosts::TouchBlocks(const Operand& operand, ExtentsView needed, const Blocking& blocking,
                            StepTraffic& traffic) const {
  const RoleLayout& layout = hw_profiles::LayoutOf(*profile_, operand.route.role);
  const bool direct = operand.route.transfer == TransferKind::kDirect;
  const auto memory = static_cast<size_t>(direct ? operand.route.home : profile_->tile_memory);
  const Extents block = {1, needed[1], blocking.block.input_rows, blocking.block.input_columns};
  const int64_t fetches = base::SaturatingMul(blocking.areas, blocking.input_reads);
  const auto beyond = [fetches](int64_t each, int64_t once) {
    return std::max<int64_t>(0, base::SaturatingMul(each, fetches) - once);
  };
  const int64_t each = PayloadBytes(*operand.tensor, block, layout);
  const int64_t once = PayloadBytes(*operand.tensor, needed, layout);
  const int64_t bytes = beyond(each, once);
  base::Accumulate(traffic.bytes[memory].read, bytes);
  base::Accumulate(traffic.unused_bytes,
                   beyond(UnusedBytes(operand, each), UnusedBytes(operand, once)));
  if (!direct) return;
  base::Accumulate(traffic.refetched_bytes[memory], bytes);
  const hw_profiles::Port& port = profile_->memories[memory].port;
  const auto stream = [&](ExtentsView extents) {
    return base::WholeCycles(
        StreamCycles(port, RunsOf(*operand.tensor, extents, layout), port.read_bytes_per_cycle));
  };
  base::Accumulate(traffic.direct_cycles[memory].read, beyond(stream(block), stream(needed)));
}

std::vector<Touched> BytesTouched(const Profile& profile,
                                  const graph::tiling::TiledSubgraph& tiling,
                                  std::span<const TileCost> classes,
                                  std::span<const ConstantFlow> constants) {
  const auto here = static_cast<size_t>(profile.tile_memory);
  std::vector<Touched> touched(profile.memories.size());
  for (const ConstantFlow& flow : constants) {
    const int64_t bytes = flow.BytesMoved(tiling.tiles);
    base::Accumulate(touched[static_cast<size_t>(flow.home)].read, bytes);
    base::Accumulate(touched[here].written, bytes);
  }
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t count = tiling.classes[i].count;
    for (size_t memory = 0; memory < touched.size(); ++memory) {
      const Touched& of_tile = classes[i].touched[memory];
      base::Accumulate(touched[memory].read, base::SaturatingMul(count, of_tile.read));
      base::Accumulate(touched[memory].written, base::SaturatingMul(count, of_tile.written));
    }
  }
  return touched;
}

void AddOffChipBytes(const graph::tiling::TiledSubgraph& tiling, std::span<const TileCost> classes,
                     std::span<const ConstantFlow> constants, Detail detail,
                     plan::Metrics& metrics) {
  int64_t inputs = 0;
  int64_t outputs = 0;
  int64_t weights = 0;
  const auto add = [](int64_t& sum, int64_t count, int64_t value) {
    base::Accumulate(sum, base::SaturatingMul(count, value));
  };
  for (const ConstantFlow& flow : constants)
    base::Accumulate(weights, flow.BytesMoved(tiling.tiles));
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t count = tiling.classes[i].count;
    add(inputs, count, classes[i].split_k.input_bytes);
    add(weights, count, classes[i].split_k.weight_bytes);
    for (const Flow& flow : classes[i].flows) {
      add(inputs, count, base::SaturatingAdd(flow.load_bytes, flow.direct_read_bytes));
      add(outputs, count, base::SaturatingAdd(flow.store_bytes, flow.direct_write_bytes));
      add(weights, count, flow.direct_constant_bytes);
    }
  }
  if (detail == Detail::kParts)
    metrics.off_chip_by_cause = {{"inputs", inputs}, {"outputs", outputs}, {"weights", weights}};
  metrics.off_chip_bytes = base::SaturatingAdd(base::SaturatingAdd(inputs, outputs), weights);
}

std::string LongestPath(const Profile& profile, const graph::tiling::TiledSubgraph& tiling,
                        std::span<const TileCost> classes, std::span<const ConstantFlow> constants,
                        const Prefetches& prefetches, int64_t tile_port, int64_t side_by_side) {
  int64_t longest = 0;
  std::vector<int64_t> ports(profile.memories.size());
  ports[static_cast<size_t>(profile.tile_memory)] = tile_port;
  const auto add_times = [](int64_t& sum, int64_t count, int64_t value) {
    base::Accumulate(sum, base::SaturatingMul(count, value));
  };
  for (size_t i = 0; i < classes.size(); ++i) {
    const int64_t count = tiling.classes[i].count;
    add_times(longest, count, classes[i].compute);
    for (size_t memory = 0; memory < ports.size(); ++memory) {
      if (static_cast<int>(memory) == profile.tile_memory) continue;
      const Flow& flow = classes[i].flows[memory];
      const int64_t in = base::SaturatingAdd(flow.load_cycles, flow.direct_read_cycles);
      const int64_t out = base::SaturatingAdd(flow.store_cycles, flow.direct_write_cycles);
      const bool in_turn = WorksInTurn(profile, static_cast<int>(memory));
      add_times(ports[memory], count, in_turn ? base::SaturatingAdd(in, out) : std::max(in, out));
    }
    for (size_t memory = 0; memory < classes[i].split_k.memories.size(); ++memory)
      add_times(ports[memory], count, classes[i].split_k.memories[memory].Cycles());
  }
  for (const ConstantFlow& flow : constants)
    base::Accumulate(ports[static_cast<size_t>(flow.home)], flow.CyclesMoved(tiling.tiles));
  for (const Prefetches::Part& part : prefetches.carried)
    base::Accumulate(ports[static_cast<size_t>(part.home)], CarriedCycles(profile, part));
  if (side_by_side > 0) longest = side_by_side;
  std::string name = "compute";
  for (size_t memory = 0; memory < ports.size(); ++memory) {
    if (ports[memory] <= longest) continue;
    longest = ports[memory];
    name = PathName(profile, static_cast<int>(memory));
  }
  return name;
}

}  // namespace tessera::search::cost
