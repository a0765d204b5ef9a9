// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// Peaks of a Problem with several memories (several_memories.cc).
namespace tessera::search::allocate {

// The value to minimise: the weighted sum of the peaks or, if `is_relative`, of each peak divided
// by its lower bound.
struct PeakObjective {
  std::vector<double> weights;  // by memory; 0: any placement within the capacity is good
  bool is_relative = false;

  friend bool operator==(const PeakObjective&, const PeakObjective&) = default;
};

struct MemoriesResult {
  problem::Result result;                  // `peak` and `lower_bound` are those of memories[0]
  std::vector<problem::MemoryPeak> peaks;  // by memory, if there is an allocation
  double score = 0;                        // of the objective, if there is an allocation
  double bound = 0;                        // no allocation has a lower score
};

// Solves a Problem of one memory, usually by the portfolio.
using SolveMemory = std::function<base::Expected<problem::Result>(
    const problem::Problem& problem, bool minimize, const base::Stop& stop)>;

// Calls `solve` for one memory after another, each within its capacity, and joins the answers.
// Returns kOptimal if all peaks with a weight are proven least, and kUnsupported if a rule relates
// buffers of several memories. If there is a deadline, each memory gets a share of the time.
base::Expected<MemoriesResult> AllocateMemories(const problem::Problem& problem,
                                                const PeakObjective& objective,
                                                const SolveMemory& solve, const base::Stop& stop);

// Returns the Problem of one memory: its buffers and the constraints on them.
problem::Problem ProblemOf(const problem::Problem& problem, int memory);

}  // namespace tessera::search::allocate
