#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/traffic.h"

namespace tessera::search::cost {

// Bytes read from and written to one memory.
struct Touched {
  int64_t read = 0;
  int64_t written = 0;
};

// What of plan::Metrics is filled: all but the parts that add up to sums, or those too.
enum class Detail : uint8_t { kTotals, kParts };

// Fills energy_pj, and energy_by_part if parts are asked for, from the multiply-accumulates'
// energy, what was touched in each memory (parallel to Profile::memories), and the leakage of all
// memories over metrics.latency_cycles. Parts are summed in the order of the profile.
void FillEnergy(const hw_profiles::Profile& profile, double mac_pj,
                std::span<const Touched> touched, Detail detail, plan::Metrics& metrics);

// Energy of that many multiply-accumulates of one operator.
double MacEnergy(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 const graph::Operator& op, int64_t macs);

// How long one thing takes that an engine or a link does without pause (FACTS: cost terms).

// Who runs an operator, and how fast; both null where nobody does.
struct Worker {
  const hw_profiles::Engine* engine = nullptr;
  const hw_profiles::Throughput* throughput = nullptr;
};
Worker WorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const graph::Operator& op);

// What an operator's arithmetic takes of its engine, in cycles.
struct Compute {
  const hw_profiles::Engine* engine = nullptr;  // null where none runs the operator
  int64_t start = 0;                            // before the first result
  int64_t body = 0;
};

// `op` computes `output` of its first output: the product over its loops of ceil(length / unroll)
// where it multiplies and accumulates, cycles per output element where it does not. No cycles when
// the output is empty. `k_slice`: what it adds up at a time, where its depth is cut.
Compute ComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                  graph::tiling::ExtentsView output, std::optional<int64_t> k_slice = std::nullopt);

// What tiles that cover `output` take together at least. A tile with channels of two groups counts
// as if they were of one, so groups that tiles may divide take no more than all channels in a row
// do.
Compute LeastComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                       graph::tiling::ExtentsView output, bool divides_channels);

enum class Direction : uint8_t {
  kRead,   // out of the home
  kWrite,  // into the home
};

// What one step reads and writes takes of one port.
int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched);

// Cycles that a port takes for the runs once it answers: whole bursts. 0 for no bytes.
double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle);

// One DMA transfer between the tile memory and `home`: setup of each descriptor, latency of the
// home, then its bursts at the pace of the slower end. 0 for no bytes.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                       const Runs& runs);

// An engine that reads or writes its operand in `home`: no setup.
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction,
                     const Runs& runs);

// Constants that arrive beside the subgraph before the one that uses them (docs/program.md,
// "Ahead").
struct Ahead {
  // From one of their homes.
  struct Part {
    int home = 0;  // index into Profile::memories
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  bool own = false;  // this subgraph's were there when it began; their bytes still count as its own
  std::vector<Part>
      next;  // the next subgraph's, on their way to it while this one runs; each home once
};

// As the subgraph of that number finds it among the subgraphs of a program.
Ahead AheadOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
              std::span<const plan::Subgraph> subgraphs, size_t number);

// Slices of one tile that one memory sends. The first must be there before the operator begins.
struct SliceFlow {
  int64_t first_cycles = 0;
  int64_t first_bytes = 0;
  int64_t later_cycles = 0;
  int64_t later_bytes = 0;
};

// What a tile of a subgraph that adds up in K slices (encoder/program/residence.h) takes beyond
// what other tiles do.
struct SplitKCost {
  std::vector<SliceFlow> memories;  // parallel to Profile::memories
  int64_t input_bytes = 0;          // that are moved
  int64_t weight_bytes = 0;
  int64_t constant_bytes = 0;  // that the engine reads of the constant
  int64_t sums_bytes = 0;      // that it writes of sums before the last slice, and reads again
};

// A factor whose slices are moved.
struct SlicedFeature {
  const graph::Tensor* tensor = nullptr;
  encoder::program::KOperand along;
  Route route;
  graph::tiling::ExtentsView needed;  // by the tile
};

SplitKCost SplitKCostOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const encoder::program::KCut& cut, Passage constants,
                        const std::vector<SlicedFeature>& features,
                        graph::tiling::ExtentsView result);

}  // namespace tessera::search::cost
