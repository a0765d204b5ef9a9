// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/api/parts/engine_set.h"
#include "tessera/base/diagnostic.h"
#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/search/allocate/several_memories.h"

// Addresses for the buffers of a Problem: the common part of `tessera alloc` and tessera::Allocate.
namespace tessera::api::parts {

struct AllocationCall {
  std::optional<problem::Bytes> capacity;  // of the first memory; nullopt: that of the Problem
  bool minimize = false;                   // without a capacity the least peak is sought anyway
  // The peaks to minimise if the Problem has several memories. Otherwise only that of the first one
  // is.
  std::optional<search::allocate::PeakObjective> objective = std::nullopt;
  int64_t gap_ppm = 0;            // search::allocate::AllocateOptions
  std::optional<int64_t> budget;  // of each query to an engine
  base::Threads threads = {};
  bool explains = true;  // infeasible answers
  // The Problem has the sizes of its candidate `candidate`.
  const problem::Ladder* ladder = nullptr;
  size_t candidate = 0;
  base::ProgressFunction progress;
};

struct AllocationAnswer {
  problem::Result result;
  std::optional<problem::Bytes> capacity;  // within which the answer was sought; nullopt: none
  double search_ms = 0;                    // without the explanation
  // if there is an objective and an allocation: of each memory, and of the objective
  std::vector<problem::MemoryPeak> peaks = {};
  double score = 0;
  double score_bound = 0;
};

// Returns the answer as a file states it, without its time.
problem::files::AllocationDocument AsDocument(const AllocationAnswer& answer, uint64_t seed);

// Returns the best allocation that the engines find, first by peak if that is minimised, then by
// costs; or the reason why there is none. Every allocation was checked
// (search/allocate/portfolio.h). A diagnostic reports an error of the program.
base::Expected<AllocationAnswer> FindAllocation(const problem::Problem& problem,
                                                const EngineSet& engines,
                                                const AllocationCall& call, const base::Stop& stop);

// Explains why `problem`, which is proven infeasible, does not fit into `capacity` bytes of its
// first memory. If `ladder` is not null, the Problem has the sizes of its candidate `candidate`.
problem::Explanation ExplainInfeasible(const problem::Problem& problem, problem::Bytes capacity,
                                       const EngineSet& engines, std::optional<int64_t> budget,
                                       const base::Stop& stop,
                                       const problem::Ladder* ladder = nullptr,
                                       size_t candidate = 0);

// The time for reasons after a deadline that is over.
inline constexpr std::chrono::milliseconds kLateReasons{25};

// Returns the budget of an explanation.
base::Budget ReasonBudget(std::optional<int64_t> given);

}  // namespace tessera::api::parts
