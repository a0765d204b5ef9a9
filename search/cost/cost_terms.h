// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/output_blocks.h"
#include "tessera/search/cost/traffic.h"

namespace tessera::search::cost {

// The parts in which the loops of an operator run.
struct Slicing {
  std::optional<int64_t> k_slice;  // the K extent of one slice, with split-k
  bool ignores_groups = false;     // output channels run as if they were of one group
};

// Whether the engine reads two columns of the operator's input as one of twice the channels
// (docs/program.md 14.2.18).
bool FoldsColumns(const graph::Graph& graph, const graph::Operator& op,
                  const hw_profiles::Throughput& throughput);

// Returns the steps in which an engine makes `output` of the first result of `op`, a sum of
// products (docs/program.md 14.2). This is the product over its loops of ceil(length / unroll),
// where loops that share lanes count as one.
int64_t StepsOf(const graph::Graph& graph, const graph::Operator& op,
                graph::tiling::ExtentsView output, const hw_profiles::Throughput& throughput,
                const Slicing& slicing);

// Returns the steps for one output block of a convolution without groups or of a depthwise
// convolution (docs/program.md, "Output blocks"). Rows and columns share no lanes, except in blocks
// of one row.
int64_t StepsOfBlock(const graph::Graph& graph, const graph::Operator& op,
                     graph::tiling::ExtentsView block, const hw_profiles::Throughput& throughput,
                     const Slicing& slicing);

// Bytes read from and written to one memory.
struct Touched {
  int64_t read = 0;
  int64_t written = 0;

  void Add(const Touched& more) {
    base::Accumulate(read, more.read);
    base::Accumulate(written, more.written);
  }
};

// The parts of plan::Metrics to fill: totals only, or also the parts that add up to them.
enum class Detail : uint8_t { kTotals, kParts };

// Fills energy_pj, and energy_by_part if parts are requested. The inputs are the energy of the
// multiply-accumulates, the bytes touched in each memory (parallel to Profile::memories), and the
// leakage of all memories over metrics.latency_cycles. Parts are summed in the order of the
// profile.
void FillEnergy(const hw_profiles::Profile& profile, double mac_pj,
                std::span<const Touched> touched, Detail detail, plan::Metrics& metrics);

// Returns the modelled energy of `macs` multiply-accumulates of one operator, in pJ.
double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const graph::Operator& op, int64_t macs);

// The functions below return durations of single uninterrupted actions of an engine or a link
// (docs/program.md, section 14, "Costs").

// The engine that runs an operator, and its throughput.
struct Worker {
  // The least ratio of measured to modelled cycles after the start, over the measured tiles; at
  // most 1. Unmeasured tiles take the modelled cycles, so no set of tiles takes less than this
  // share of the model.
  struct Share {
    int64_t measured = 1;
    int64_t modelled = 1;
  };

  const hw_profiles::Engine* engine = nullptr;          // null if none runs the operator
  const hw_profiles::Throughput* throughput = nullptr;  // of an engine that is not the host
  std::optional<Share> least_measured = {};  // by BoundingWorkerOf, if tiles were measured
};
Worker WorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const graph::Operator& op);

// Returns the worker for LeastComputeOf. Cost: linear in the measurements of the operator.
Worker BoundingWorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const graph::Operator& op);

// Returns the measurement of a tile of the worker's operator if its engine ran the tile, else null.
const graph::MeasuredTile* MeasuredBy(const Worker& worker, const graph::Operator& op,
                                      graph::tiling::ExtentsView output);

// The cycles of an operator's arithmetic on its engine.
struct Compute {
  const hw_profiles::Engine* engine = nullptr;  // null if no engine runs the operator
  int64_t start = 0;                            // before the first result
  int64_t body = 0;
};

// Returns the cycles of `op` for the part `output` of its first output. These are the cycles of the
// output stage or, if that takes longer, of the steps of a multiply-accumulate operator, whose
// number is the product over its loops of ceil(length / unroll). On the host they are cycles per
// output element and per multiply-accumulate of the whole operator. There are no cycles if the
// output is empty. `k_slice` is the K extent of one slice, with split-k. `blocking` contains the
// output blocks, if the engine works in blocks. A measured tile takes its measured cycles, unless
// it is made in slices of K.
Compute ComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                  graph::tiling::ExtentsView output, std::optional<int64_t> k_slice = std::nullopt,
                  const std::optional<Blocking>& blocking = std::nullopt);

// Returns a lower bound of the cycles of tiles that together cover `output`. The worker must come
// from BoundingWorkerOf. `stepped` is `output`, or the sums of the tiles' lengths, each rounded up
// to what one step makes. With `divides_channels`, a tile with channels of two groups counts as if
// they were of one group, so groups that tiles may divide never take more than all channels in
// sequence. Output blocks only add cycles: blocks that cover a result take at least its steps.
Compute LeastComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                       graph::tiling::ExtentsView output, graph::tiling::ExtentsView stepped,
                       bool divides_channels);

// Lower bounds of what tiles that together cover a result take on any engine that may run the
// operator; starts count if none can be hidden.
struct LeastWork {
  int64_t cycles = 0;
  double pj = 0;  // of `macs` multiply-accumulates
};
LeastWork LeastWorkOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const graph::Operator& op, graph::tiling::ExtentsView output, int64_t macs,
                      bool divides_channels);

// Returns whether some tile of the interval may contain only a part of the channels of some tensor:
// channels may be cut, or some operator may convert them to other axes or read a part of them.
bool MayDivideChannels(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       graph::Interval interval);

enum class Direction : uint8_t {
  kRead,   // out of the home
  kWrite,  // into the home
};

// Returns whether the path between a memory and the tile memory moves data in one direction at a
// time, because of a shared port or a link that handles one transfer at a time.
bool WorksInTurn(const hw_profiles::Profile& profile, int memory);

// Returns the name of that path: the name of the link, or of the memory if it has no link.
const std::string& PathName(const hw_profiles::Profile& profile, int memory);

// Returns the cycles of one port for the bytes that one step reads and writes.
int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched);

// Returns a lower bound of the cycles of steps that together read and write at least these bytes.
int64_t LeastPortCycles(const hw_profiles::Port& port, const Touched& touched);

// Returns the cycles of a port for the runs, in whole bursts and without its latency. 0 for no
// bytes.
double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle);

// Returns the cycles of one DMA transfer between the tile memory and `home`: setup of each
// descriptor, latency of the home, then its bursts at the rate of the slower end. 0 for no bytes.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                       const Runs& runs);

// Returns a lower bound of the cycles of transfers that together move at least these bytes, with
// the setup and the latency of one of them.
int64_t LeastTransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                            int64_t bytes);

// Returns the TransferCycles of a slice that follows another slice of its operand from `home`: a
// pipelined link hides the latency.
int64_t FollowingTransferCycles(const hw_profiles::Profile& profile, int home, const Runs& runs);

// Returns the cycles of an engine that reads or writes its operand in `home`, which needs no setup.
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                     const Runs& runs);

// Transfers of constants from one home, in their order.
struct ConstantsPart {
  struct Transfer {
    int64_t latency = 0;
    int64_t cycles = 0;  // after it
    friend bool operator==(const Transfer&, const Transfer&) = default;
  };

  int home = 0;  // index into Profile::memories
  int64_t bytes = 0;
  std::vector<Transfer> transfers = {};
  // Whether earlier parts of the first transfer's constant arrive one subgraph earlier. Then it is
  // requested so many cycles before the queue begins (docs/program.md, 8.1.14).
  bool continues = false;
  int64_t requested_before = 0;
  friend bool operator==(const ConstantsPart&, const ConstantsPart&) = default;
};

// Returns the cycles of the part if up to `most` of its transfers, and as many as the link permits,
// are under way at the same time (docs/program.md, 14.4.11).
int64_t QueueCycles(const hw_profiles::Profile& profile, const ConstantsPart& part, int64_t most);

// A constant that an operator of a subgraph uses slice by slice.
struct Stream {
  int home = 0;     // index into Profile::memories
  size_t step = 0;  // the operator, counted from the first of the subgraph
  int64_t slices = 1;
  int64_t bytes = 0;        // of all slices
  int64_t full_bytes = 0;   // of a slice, as far as there are so many left
  int64_t full_extent = 1;  // of each slice but the last, along the first axis of the constant
  int64_t last_extent = 1;

  int64_t BytesOf(int64_t slice) const {
    return std::clamp<int64_t>(bytes - slice * full_bytes, 0, full_bytes);
  }
};
std::vector<Stream> StreamsOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                              graph::Interval interval);

// CostOfSlices returns the cost of slices that are moved one right after another; CostAhead that of
// the slices, or parts of slices, that arrive `ahead` subgraphs before the one that uses them.
ConstantsPart CostOfSlices(const hw_profiles::Profile& profile, const Stream& stream,
                           encoder::program::SliceRange slices);
ConstantsPart CostAhead(const hw_profiles::Profile& profile, const Stream& stream,
                        std::span<const int> prefetch, int ahead);

// The constants of an interval that links move under a weight policy.
struct MovedConstants {
  std::vector<LoadedOnce> once;
  std::vector<Stream> slices;  // with kStreamed
};
MovedConstants MovedConstantsOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                graph::Interval interval, hw_profiles::WeightPolicy weights);

// Constants that are prefetched while an earlier subgraph runs (docs/program.md, "Ahead").
struct Prefetches {
  using Part = ConstantsPart;

  // Adds the constants of a later subgraph of so many tiles that arrive `ahead` subgraphs before
  // it. `prefetch` is that of the later subgraph.
  void Carry(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const MovedConstants& constants, int64_t tiles, std::span<const int> prefetch,
             int ahead);

  // Finds how early the queues that continue those of the subgraph before are requested.
  void Continue(const hw_profiles::Profile& profile, const Prefetches& before);

  // When this subgraph's constants arrive (plan::Subgraph::prefetch). It still pays for their
  // bytes.
  std::vector<int> own = {};
  // Constants of later subgraphs that are loaded while this one runs; one part for each home.
  std::vector<Part> carried = {};
  friend bool operator==(const Prefetches&, const Prefetches&) = default;
};

// Returns the cycles of what a subgraph carries from one home.
int64_t CarriedCycles(const hw_profiles::Profile& profile, const Prefetches::Part& part);

// The time of a subgraph without the constants that it carries for later ones.
struct PortTimes {
  int64_t latency = 0;
  int64_t prologue = 0;  // of this
  // By memory: the cycles in which its port moves data in and out after the prologue.
  std::vector<int64_t> in = {};
  std::vector<int64_t> out = {};
  Touched at_tile_memory = {};  // after the prologue

  void Add(const PortTimes& part);  // all but the latency
};

// Returns the latency with these constants.
int64_t LatencyWith(const hw_profiles::Profile& profile, const PortTimes& times,
                    std::span<const Prefetches::Part> carried);

// Returns the prefetches of subgraph number `number` of a program.
Prefetches PrefetchesOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        std::span<const plan::Subgraph> subgraphs, size_t number);

}  // namespace tessera::search::cost
