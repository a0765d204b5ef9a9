// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/output_blocks.h"
#include "tessera/search/cost/traffic.h"

namespace tessera::search::cost {

// Bytes read from and written to one memory.
struct Touched {
  int64_t read = 0;
  int64_t written = 0;
};

// The parts of plan::Metrics to fill: totals only, or also the parts that add up to them.
enum class Detail : uint8_t { kTotals, kParts };

// Fills energy_pj, and energy_by_part if parts are requested. The inputs are the energy of the
// multiply-accumulates, the bytes touched in each memory (parallel to Profile::memories), and the
// leakage of all memories over metrics.latency_cycles. Parts are summed in the order of the
// profile.
void FillEnergy(const hw_profiles::Profile& profile, double mac_pj,
                std::span<const Touched> touched, Detail detail, plan::Metrics& metrics);

// Energy of `macs` multiply-accumulates of one operator, in pJ, by the model.
double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const graph::Operator& op, int64_t macs);

// Durations of single uninterrupted actions of an engine or a link (FACTS: cost terms).

// The engine that runs an operator, null if none does, and its throughput.
struct Worker {
  // The least that measured tiles take behind their start, as a share measured / modelled <= 1 of
  // what the model says of them. Unmeasured tiles take what the model says, so no set of tiles
  // takes less.
  struct Share {
    int64_t measured = 1;
    int64_t modelled = 1;
  };

  const hw_profiles::Engine* engine = nullptr;
  const hw_profiles::Throughput* throughput = nullptr;  // of an engine that is not the host
  std::optional<Share> least_measured = {};  // of BoundingWorkerOf, where it has measured tiles
};
Worker WorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const graph::Operator& op);

// The same for LeastComputeOf. Cost: the measurements of the operator.
Worker BoundingWorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const graph::Operator& op);

// The measurement of a tile of the worker's operator, if its engine ran it; else null.
const graph::MeasuredTile* MeasuredBy(const Worker& worker, const graph::Operator& op,
                                      graph::tiling::ExtentsView output);

// The cycles of an operator's arithmetic on its engine.
struct Compute {
  const hw_profiles::Engine* engine = nullptr;  // null if no engine runs the operator
  int64_t start = 0;                            // before the first result
  int64_t body = 0;
};

// The cycles of `op` for the part `output` of its first output. For multiply-accumulate operators
// this is the product over its loops of ceil(length / unroll); for others, cycles per output
// element. On the host, cycles per output element and per multiply-accumulate of the whole
// operator. No cycles if the output is empty. `k_slice`: the K extent of one slice, with split-k.
// `blocking`: the output blocks, if the engine works in blocks. A tile that was measured takes what
// was measured, unless it is made in slices of K.
Compute ComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                  graph::tiling::ExtentsView output, std::optional<int64_t> k_slice = std::nullopt,
                  const std::optional<Blocking>& blocking = std::nullopt);

// A lower bound of the cycles of tiles that together cover `output`; the worker is one of
// BoundingWorkerOf. `stepped`: the same, or with the lengths of all tiles rounded up to what one
// step makes. A tile with channels of two groups counts as if they were of one. So groups that
// tiles may divide never take more than all channels in sequence. Output blocks only add to it:
// blocks that cover a result take at least its steps.
Compute LeastComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                       graph::tiling::ExtentsView output, graph::tiling::ExtentsView stepped,
                       bool divides_channels);

// Whether some tile of the interval may have a part of the channels of some tensor: channels may be
// cut, or some operator may convert them to other axes or take a part of them.
bool MayDivideChannels(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       graph::Interval interval);

enum class Direction : uint8_t {
  kRead,   // out of the home
  kWrite,  // into the home
};

// Whether the path between a memory and the tile memory moves one way at a time: through a shared
// port, or over a link that handles one transfer at a time.
bool WorksInTurn(const hw_profiles::Profile& profile, int memory);

// The name of that path: of the link, or of the memory if it has no link.
const std::string& PathName(const hw_profiles::Profile& profile, int memory);

// The cycles of one port for the bytes that one step reads and writes.
int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched);

// A lower bound of the cycles of steps that together read and write at least these bytes.
int64_t LeastPortCycles(const hw_profiles::Port& port, const Touched& touched);

// The cycles of a port for the runs, after its latency, in whole bursts. 0 for no bytes.
double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle);

// The cycles of one DMA transfer between the tile memory and `home`: setup of each descriptor,
// latency of the home, then its bursts at the rate of the slower end. 0 for no bytes.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                       const Runs& runs);

// A lower bound of the cycles of transfers that together move at least these bytes, with the setup
// and the latency of one of them.
int64_t LeastTransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                            int64_t bytes);

// TransferCycles of a slice that follows another one of its operand from `home`: a pipelined link
// hides the latency.
int64_t FollowingTransferCycles(const hw_profiles::Profile& profile, int home, const Runs& runs);

// The cycles of an engine that reads or writes its operand in `home`: no setup.
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                     const Runs& runs);

// Constants that are prefetched while an earlier subgraph runs (docs/program.md, "Ahead").
struct Prefetches {
  // Constants from one home.
  struct Part {
    int home = 0;  // index into Profile::memories
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  // Adds the parts of the constants of a later subgraph that arrive so many subgraphs ahead of it.
  void Carry(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const plan::Subgraph& later, int ahead);

  // when this subgraph's own constants arrive (plan::Subgraph::prefetch); their bytes still count
  // as its own
  std::vector<int> own = {};
  std::vector<Part> carried = {};  // constants of later subgraphs, loaded while this one runs; each
                                   // home once
};

// The prefetches of subgraph number `number` of a program.
Prefetches PrefetchesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        std::span<const plan::Subgraph> subgraphs, size_t number);

}  // namespace tessera::search::cost
