#pragma once

#include <cstdint>
#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/simulate/energy.h"
#include "tessera/search/simulate/traffic.h"

// How long one thing takes that an engine or a link does without pause (FACTS: cost terms).
namespace tessera::search {

// Who runs an operator, and how fast; both null where nobody does.
struct Worker {
  const hw_profiles::Engine* engine = nullptr;
  const hw_profiles::Throughput* throughput = nullptr;
};
Worker WorkerOf(const graph::Graph& graph, const hw_profiles::Profile& profile, const graph::Operator& op);

// What an operator's arithmetic takes of its engine, in cycles.
struct Compute {
  const hw_profiles::Engine* engine = nullptr;  // null where none runs the operator
  int64_t start = 0;                            // before the first result
  int64_t body = 0;
};

// `op` computes `output` of its first output: the product over its loops of ceil(length / unroll) where it multiplies and
// accumulates, cycles per output element where it does not. No cycles when the output is empty. `depth_slice`: what it adds up at
// a time, where its depth is cut.
Compute ComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                  graph::ExtentsView output, std::optional<int64_t> depth_slice = std::nullopt);

// What tiles that cover `output` take together at least. A tile with channels of two groups counts as if they were of one, so groups
// that tiles may divide take no more than all channels in a row do.
Compute LeastComputeOf(const graph::Graph& graph, const Worker& worker, const graph::Operator& op,
                       graph::ExtentsView output, bool divides_channels);

enum class Direction : uint8_t {
  kRead,   // out of the home
  kWrite,  // into the home
};

// What one step reads and writes takes of one port.
int64_t PortCycles(const hw_profiles::Port& port, const Touched& touched);

// Cycles that a port takes for the runs once it answers: whole bursts. 0 for no bytes.
double StreamCycles(const hw_profiles::Port& port, const Runs& runs, double bytes_per_cycle);

// One DMA transfer between the tile memory and `home`: setup of each descriptor, latency of the home, then its bursts at the
// pace of the slower end. 0 for no bytes.
int64_t TransferCycles(const hw_profiles::Profile& profile, int home, Direction direction, const Runs& runs);

// An engine that reads or writes its operand in `home`: no setup.
int64_t DirectCycles(const hw_profiles::Profile& profile, int home, Direction direction, const Runs& runs);

}  // namespace tessera::search
