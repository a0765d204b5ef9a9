// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/cost_terms.h"

#include <algorithm>

#include "tessera/base/arithmetic.h"
#include "tessera/base/vocabulary.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/regions.h"
#include "tessera/search/cost/traffic.h"

namespace tessera::search::cost {

void FillEnergy(const hw_profiles::Profile& profile, double mac_pj,
                std::span<const Touched> touched, Detail detail, plan::Metrics& metrics) {
  // A milliwatt is 1e9 picojoules per second.
  const double seconds =
      profile.clock_hz > 0 ? static_cast<double>(metrics.latency_cycles) / profile.clock_hz : 0;
  double leakage_pj = 0;
  for (const hw_profiles::Memory& memory : profile.memories)
    leakage_pj += memory.leakage_mw * 1e9 * seconds;
  if (detail == Detail::kParts) metrics.energy_by_part = {{"mac", mac_pj}, {"leakage", leakage_pj}};
  metrics.energy_pj = mac_pj + leakage_pj;
  for (size_t i = 0; i < profile.memories.size(); ++i) {
    const hw_profiles::Memory& memory = profile.memories[i];
    const double access_pj = static_cast<double>(touched[i].read) * memory.read_pj_per_byte +
                             static_cast<double>(touched[i].written) * memory.write_pj_per_byte;
    if (detail == Detail::kParts) metrics.energy_by_part[memory.name] += access_pj;
    metrics.energy_pj += access_pj;
  }
}

double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const graph::Operator& op, int64_t macs) {
  const hw_profiles::Engine* engine = encoder::program::EngineOf(graph, profile, op);
  return engine == nullptr ? 0 : hw_profiles::MacPicojoules(*engine) * static_cast<double>(macs);
}

namespace {

using graph::Graph;
using graph::Operator;
using graph::tiling::ExtentsView;
using hw_profiles::Profile;
using hw_profiles::Throughput;

const hw_profiles::Port& PortOf(const Profile& profile, int memory) {
  return profile.memories[static_cast<size_t>(memory)].port;
}

int64_t LatencyOf(const hw_profiles::Port& port, Direction direction) {
  return direction == Direction::kRead ? port.read_latency_cycles : port.write_latency_cycles;
}

double PaceOf(const hw_profiles::Port& port, Direction direction) {
  return direction == Direction::kRead ? port.read_bytes_per_cycle : port.write_bytes_per_cycle;
}

// Returns the number of descriptors of a transfer. Each covers `dims` loop levels, of which the run
// itself is the innermost.
int64_t Descriptors(const hw_profiles::Link& link, const Runs& runs) {
  const auto levels = static_cast<int64_t>(runs.loops.size()) + 1;
  int64_t descriptors = 1;
  for (int64_t i = 0; i < levels - std::max(1, link.dims); ++i) {
    descriptors = base::SaturatingMul(descriptors, runs.loops[static_cast<size_t>(i)]);
  }
  return descriptors;
}

Compute ComputeOnHost(const Graph& graph, const Worker& worker, const Operator& op,
                      int64_t elements) {
  const hw_profiles::HostSpeed& speed = *worker.engine->host;
  const double cycles = static_cast<double>(elements) * speed.cycles_per_output +
                        static_cast<double>(graph::MacsOf(graph, op)) * speed.cycles_per_mac;
  return {.engine = worker.engine, .start = speed.start_cycles, .body = base::WholeCycles(cycles)};
}

// Returns the cycles of the output stage, which may work on groups of channels.
double OutputCycles(ExtentsView output, const Throughput& throughput) {
  auto elements = static_cast<double>(graph::tiling::ElementsOf(output));
  if (throughput.channel_group > 1) {
    graph::tiling::Extents groups(output.begin(), output.end());
    if (const auto channels = graph::tiling::AxisOf(groups, base::Axis::kChannels))
      groups[*channels] = base::RoundUp(groups[*channels], throughput.channel_group);
    elements = static_cast<double>(graph::tiling::ElementsOf(groups));
  }
  return elements * throughput.cycles_per_output;
}

// WholeCycles, or LeastWholeCycles for lower bounds.
using Rounding = int64_t (*)(double cycles);

// The output stage makes `output`; the steps make `stepped`.
Compute ComputeOf(const Graph& graph, const Worker& worker, const Operator& op, ExtentsView output,
                  ExtentsView stepped, const Slicing& slicing, Rounding whole) {
  const int64_t elements = graph::tiling::ElementsOf(output);
  if (elements == 0 || worker.engine == nullptr) return {.engine = worker.engine};
  if (worker.engine->host) return ComputeOnHost(graph, worker, op, elements);
  const Throughput* throughput = worker.throughput;
  double cycles = OutputCycles(output, *throughput);
  if (base::TraitsOf(op.kind).multiplies) {
    const int64_t steps = StepsOf(graph, op, stepped, *throughput, slicing);
    cycles = std::max(cycles, static_cast<double>(steps) * throughput->cycles_per_step);
  }
  return {.engine = worker.engine, .start = throughput->start_cycles, .body = whole(cycles)};
}

// An engine makes the sums of a block while its output stage works on the previous block, so the
// slower of the two determines the time for each block, and the other one is exposed once.
Compute ComputeInBlocks(const Graph& graph, const Worker& worker, const Operator& op,
                        const Blocking& blocking, const Slicing& slicing) {
  const graph::tiling::Extents block = {1, blocking.block.channels, blocking.block.rows,
                                        blocking.block.columns};
  const Throughput& throughput = *worker.throughput;
  const double sums = static_cast<double>(StepsOfBlock(graph, op, block, throughput, slicing)) *
                      throughput.cycles_per_step;
  const double outputs = std::max(OutputCycles(block, throughput), blocking.table_cycles);
  const int64_t blocks = base::SaturatingMul(blocking.areas, blocking.layers);
  return {.engine = worker.engine,
          .start = throughput.start_cycles,
          .body = base::WholeCycles(static_cast<double>(blocks) * std::max(sums, outputs) +
                                    std::min(sums, outputs))};
}

__extension__ using Wide = __int128;

// Returns whether measured / modelled is less than the share.
bool IsLess(int64_t measured, int64_t modelled, const Worker::Share& share) {
  return Wide{measured} * share.modelled < Wide{share.measured} * modelled;
}

int64_t ShareOf(int64_t cycles, const Worker::Share& share) {
  return static_cast<int64_t>(Wide{cycles} * share.measured / share.modelled);
}

// As many of the measured cycles as in the model count as the start, so that other operators hide
// it as they would without the measurement.
Compute MeasuredCompute(const Worker& worker, const graph::MeasuredTile& tile) {
  const int64_t modelled =
      worker.engine->host ? worker.engine->host->start_cycles : worker.throughput->start_cycles;
  const int64_t start = std::min(modelled, tile.cycles);
  return {.engine = worker.engine, .start = start, .body = tile.cycles - start};
}

}  // namespace

Worker WorkerOf(const Graph& graph, const Profile& profile, const Operator& op) {
  const hw_profiles::Engine* engine = encoder::program::EngineOf(graph, profile, op);
  if (engine == nullptr) return {};
  return {engine,
          hw_profiles::ThroughputFor(*engine, op.kind, encoder::program::WorkingType(graph, op))};
}

Worker BoundingWorkerOf(const Graph& graph, const Profile& profile, const Operator& op) {
  Worker worker = WorkerOf(graph, profile, op);
  for (const graph::MeasuredTile& tile : op.measured) {
    if (worker.engine == nullptr || tile.engine != worker.engine->name) continue;
    if (!worker.least_measured) worker.least_measured = Worker::Share{};
    Worker::Share& least = *worker.least_measured;
    const int64_t modelled =
        ComputeOf(graph, worker, op, tile.tile, tile.tile, Slicing{}, base::WholeCycles).body;
    const int64_t measured = MeasuredCompute(worker, tile).body;
    if (IsLess(measured, modelled, least)) least = {measured, modelled};
  }
  return worker;
}

const graph::MeasuredTile* MeasuredBy(const Worker& worker, const Operator& op,
                                      ExtentsView output) {
  if (op.measured.empty() || worker.engine == nullptr) return nullptr;
  return graph::FindMeasured(op, output, worker.engine->name);
}

Compute ComputeOf(const Graph& graph, const Worker& worker, const Operator& op, ExtentsView output,
                  std::optional<int64_t> k_slice, const std::optional<Blocking>& blocking) {
  if (const graph::MeasuredTile* tile = k_slice ? nullptr : MeasuredBy(worker, op, output))
    return MeasuredCompute(worker, *tile);
  const Slicing slicing{.k_slice = k_slice};
  return blocking ? ComputeInBlocks(graph, worker, op, *blocking, slicing)
                  : ComputeOf(graph, worker, op, output, output, slicing, base::WholeCycles);
}

Compute LeastComputeOf(const Graph& graph, const Worker& worker, const Operator& op,
                       ExtentsView output, ExtentsView stepped, bool divides_channels) {
  Compute least = ComputeOf(graph, worker, op, output, stepped,
                            Slicing{.k_slice = std::nullopt, .ignores_groups = divides_channels},
                            base::LeastWholeCycles);
  if (worker.least_measured) {
    least.start = 0;
    least.body = ShareOf(least.body, *worker.least_measured);
  }
  return least;
}

LeastWork LeastWorkOf(const Graph& graph, const Profile& profile, const Operator& op,
                      ExtentsView output, int64_t macs, bool divides_channels) {
  const auto on_its_engine = [&](const Operator& each) {
    const Compute compute = LeastComputeOf(graph, BoundingWorkerOf(graph, profile, each), each,
                                           output, output, divides_channels);
    LeastWork work{compute.body, MacEnergy(graph, profile, each, macs)};
    const hw_profiles::Engine* engine = compute.engine;
    if (engine == nullptr) return work;
    if (engine->host || engine->outstanding < 2) base::Accumulate(work.cycles, compute.start);
    const bool states_energy = std::any_of(op.measured.begin(), op.measured.end(),
                                           [engine](const graph::MeasuredTile& tile) {
                                             return tile.pj && tile.engine == engine->name;
                                           });
    if (states_energy) work.pj = 0;
    return work;
  };
  LeastWork least = on_its_engine(op);
  if (profile.engines.size() < 2) return least;
  Operator other = op;
  for (const hw_profiles::Engine* engine : encoder::program::EnginesFor(graph, profile, op)) {
    other.engine = engine->name;
    const LeastWork work = on_its_engine(other);
    least = {std::min(least.cycles, work.cycles), std::min(least.pj, work.pj)};
  }
  return least;
}

bool MayDivideChannels(const graph::Graph& graph, const Profile& profile,
                       graph::Interval interval) {
  constexpr size_t kFeatureMap = 4;  // axes
  const std::vector<hw_profiles::AxisGranularity>& axes = profile.tiling.axes;
  if (std::any_of(axes.begin(), axes.end(),
                  [](const auto& cut) { return cut.axis == base::Axis::kChannels; }))
    return true;
  const auto is_map = [&graph](int tensor) {
    return graph.tensors[static_cast<size_t>(tensor)].shape.size() == kFeatureMap;
  };
  for (int i = interval.first; i <= interval.last; ++i) {
    const graph::Operator& op = graph.operators[static_cast<size_t>(i)];
    const bool keeps = base::TraitsOf(op.kind).keeps_channels &&
                       std::all_of(op.inputs.begin(), op.inputs.end(), is_map) &&
                       std::all_of(op.outputs.begin(), op.outputs.end(), is_map);
    if (!keeps) return true;
  }
  return false;
}

bool WorksInTurn(const Profile& profile, int memory) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, memory, profile.tile_memory);
  return PortOf(profile, memory).shared || (link != nullptr && link->outstanding < 2);
}

const std::string& PathName(const Profile& profile, int memory) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, memory, profile.tile_memory);
  return link == nullptr ? profile.memories[static_cast<size_t>(memory)].name : link->name;
}

namespace {

double PortTime(const hw_profiles::Port& port, const Touched& touched) {
  const double read = static_cast<double>(touched.read) / port.read_bytes_per_cycle;
  const double written = static_cast<double>(touched.written) / port.write_bytes_per_cycle;
  return port.shared ? read + written : std::max(read, written);
}

}  // namespace

int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched) {
  return base::WholeCycles(PortTime(port, touched));
}

int64_t LeastPortCycles(const hw_profiles::Port& port, const Touched& touched) {
  return base::LeastWholeCycles(PortTime(port, touched));
}

double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const int64_t run = base::RoundUp(runs.bytes, std::max<int64_t>(1, port.burst_bytes));
  return static_cast<double>(base::SaturatingMul(run, runs.count)) / bytes_per_cycle;
}

namespace {

int64_t TransferCycles(const Profile& profile, int home, Direction direction, const Runs& runs,
                       Rounding whole) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const hw_profiles::Port& port = PortOf(profile, home);
  const Direction opposite = direction == Direction::kRead ? Direction::kWrite : Direction::kRead;
  const double pace =
      std::min(PaceOf(port, direction), PaceOf(PortOf(profile, profile.tile_memory), opposite));
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  const int64_t setup =
      link == nullptr ? 0 : base::SaturatingMul(link->setup_cycles, Descriptors(*link, runs));
  const double stream = StreamCycles(port, runs, pace);
  return base::SaturatingAdd(base::SaturatingAdd(setup, LatencyOf(port, direction)), whole(stream));
}

}  // namespace

int64_t TransferCycles(const Profile& profile, int home, Direction direction, const Runs& runs) {
  return TransferCycles(profile, home, direction, runs, base::WholeCycles);
}

int64_t LeastTransferCycles(const Profile& profile, int home, Direction direction, int64_t bytes) {
  return TransferCycles(profile, home, direction, OneRun(bytes), base::LeastWholeCycles);
}

int64_t FollowingTransferCycles(const Profile& profile, int home, const Runs& runs) {
  const int64_t cycles = TransferCycles(profile, home, Direction::kRead, runs);
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, home, profile.tile_memory);
  if (cycles == 0 || link == nullptr || !link->pipelined) return cycles;
  return cycles - LatencyOf(PortOf(profile, home), Direction::kRead);
}

// A transfer is requested once there are few enough before it that have not ended, waits for the
// latency, and then moves its bytes behind those of the transfer before it.
int64_t QueueCycles(const Profile& profile, const ConstantsPart& part, int64_t most) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, part.home, profile.tile_memory);
  const int64_t outstanding = link == nullptr ? 1 : link->outstanding;
  const auto at_once = static_cast<size_t>(std::max<int64_t>(1, std::min(most, outstanding)));
  std::vector<int64_t> ends;
  ends.reserve(part.transfers.size());
  for (const ConstantsPart::Transfer& transfer : part.transfers) {
    const int64_t requested = ends.empty()            ? -part.requested_before
                              : ends.size() < at_once ? 0
                                                      : ends[ends.size() - at_once];
    const int64_t before = ends.empty() ? 0 : ends.back();
    const int64_t begin = std::max(before, base::SaturatingAdd(requested, transfer.latency));
    ends.push_back(base::SaturatingAdd(begin, transfer.cycles));
  }
  return ends.empty() ? 0 : ends.back();
}

int64_t CarriedCycles(const Profile& profile, const Prefetches::Part& part) {
  return QueueCycles(profile, part, static_cast<int64_t>(part.transfers.size()));
}

void PortTimes::Add(const PortTimes& part) {
  base::Accumulate(prologue, part.prologue);
  const auto add = [](std::vector<int64_t>& sums, const std::vector<int64_t>& more) {
    sums.resize(std::max(sums.size(), more.size()));
    for (size_t i = 0; i < more.size(); ++i) base::Accumulate(sums[i], more[i]);
  };
  add(in, part.in);
  add(out, part.out);
  at_tile_memory.Add(part.at_tile_memory);
}

int64_t LatencyWith(const Profile& profile, const PortTimes& times,
                    std::span<const Prefetches::Part> carried) {
  if (carried.empty()) return times.latency;
  Touched at_tile_memory = times.at_tile_memory;
  for (const Prefetches::Part& part : carried) base::Accumulate(at_tile_memory.written, part.bytes);
  const auto here = static_cast<size_t>(profile.tile_memory);
  int64_t latency = std::max(
      times.latency,
      base::SaturatingAdd(times.prologue, PortCycles(profile.memories[here].port, at_tile_memory)));
  for (const Prefetches::Part& part : carried) {
    const auto memory = static_cast<size_t>(part.home);
    const int64_t in = base::SaturatingAdd(times.in[memory], CarriedCycles(profile, part));
    const int64_t busy = WorksInTurn(profile, part.home)
                             ? base::SaturatingAdd(in, times.out[memory])
                             : std::max(in, times.out[memory]);
    latency = std::max(latency, base::SaturatingAdd(times.prologue, busy));
  }
  return latency;
}

int64_t DirectCycles(const Profile& profile, int home, Direction direction, const Runs& runs) {
  if (runs.count == 0 || runs.bytes == 0) return 0;
  const hw_profiles::Port& port = PortOf(profile, home);
  return base::SaturatingAdd(LatencyOf(port, direction),
                             base::WholeCycles(StreamCycles(port, runs, PaceOf(port, direction))));
}

}  // namespace tessera::search::cost
