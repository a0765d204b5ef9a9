// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/allocation.h"

#include <chrono>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/reasons/explain.h"

namespace tessera::api::parts {
namespace {

using problem::Bytes;

constexpr int64_t kDecisionBudget = 20'000'000;
constexpr int64_t kReasonBudget = 100'000;

search::allocate::AllocateOptions OptionsOf(const problem::Problem& problem,
                                            const AllocationCall& call, const base::Stop& stop) {
  search::allocate::AllocateOptions options;
  options.capacity = call.capacity;
  const Bytes stated = problem.memories[0].capacity;
  if (!call.capacity && stated < base::kMaxTotal) options.capacity = stated;
  options.minimize = call.minimize || !options.capacity;
  options.gap_ppm = call.gap_ppm;
  options.budget = base::Budget{call.budget.value_or(kDecisionBudget)};
  options.threads = call.threads;
  options.stop = &stop;
  options.progress = call.progress;
  return options;
}

base::Expected<problem::Result> Solve(const problem::Problem& problem, const EngineSet& engines,
                                      const search::allocate::AllocateOptions& options) {
  base::Expected<problem::Result> result =
      search::allocate::Allocate(problem, nullptr, 0, engines.Pointers(), options);
  if (!result || !result->peak) return result;
  // If the least peak was requested, costs come second.
  const Bytes capacity = options.minimize ? *result->peak : *options.capacity;
  return search::allocate::FindCheapest(problem, *std::move(result), capacity, engines.Pointers(),
                                        options.budget, *options.stop);
}

// Minimises the peaks of several memories.
base::Expected<problem::Result> SolveMemories(const problem::Problem& problem,
                                              const EngineSet& engines,
                                              const search::allocate::AllocateOptions& options,
                                              const search::allocate::PeakObjective& objective,
                                              AllocationAnswer& answer) {
  problem::Problem within = problem;
  if (options.capacity) within.memories.front().capacity = *options.capacity;
  const search::allocate::SolveMemory solve = [&](const problem::Problem& part, bool minimize,
                                                  const base::Stop& part_stop) {
    search::allocate::AllocateOptions of_part = options;
    of_part.capacity.reset();
    const Bytes stated = part.memories.front().capacity;
    if (stated < base::kMaxTotal) of_part.capacity = stated;
    of_part.minimize = minimize || !of_part.capacity;
    of_part.stop = &part_stop;
    return Solve(part, engines, of_part);
  };
  auto found = search::allocate::AllocateMemories(within, objective, solve, *options.stop);
  if (!found) return base::Unexpected(found.error());
  answer.peaks = std::move(found->peaks);
  answer.score = found->score;
  answer.score_bound = found->bound;
  return std::move(found->result);
}

}  // namespace

problem::files::AllocationDocument AsDocument(const AllocationAnswer& answer, uint64_t seed) {
  problem::files::AllocationDocument document;
  document.result = answer.result;
  document.capacity = answer.capacity;
  document.seed = static_cast<int64_t>(seed);
  document.peaks = answer.peaks;
  document.score = answer.score;
  document.score_bound = answer.score_bound;
  return document;
}

base::Expected<AllocationAnswer> FindAllocation(const problem::Problem& problem,
                                                const EngineSet& engines,
                                                const AllocationCall& call,
                                                const base::Stop& stop) {
  const auto start = std::chrono::steady_clock::now();
  const search::allocate::AllocateOptions options = OptionsOf(problem, call, stop);
  AllocationAnswer answer;
  answer.capacity = options.capacity;
  const bool has_several = problem.memories.size() > 1 && call.objective;
  base::Expected<problem::Result> result =
      has_several ? SolveMemories(problem, engines, options, *call.objective, answer)
                  : Solve(problem, engines, options);
  if (!result) return base::Unexpected(result.error());
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  answer.result = *std::move(result);
  answer.search_ms = elapsed.count();
  if (answer.result.status == problem::Status::kInfeasible && call.explains) {
    const Bytes capacity = options.capacity.value_or(problem.memories[0].capacity);
    answer.result.explanation = ExplainInfeasible(problem, capacity, engines, call.budget, stop,
                                                  call.ladder, call.candidate);
    answer.result.reason = problem::Summarize(problem, *answer.result.explanation, capacity);
  }
  return answer;
}

problem::Explanation ExplainInfeasible(const problem::Problem& problem, Bytes capacity,
                                       const EngineSet& engines, std::optional<int64_t> budget,
                                       const base::Stop& stop, const problem::Ladder* ladder,
                                       size_t candidate) {
  search::reasons::ExplainOptions options;
  options.budget = ReasonBudget(budget);
  options.stop = &stop;
  options.ladder = ladder;
  options.candidate = candidate;
  return search::reasons::Explain(problem, capacity,
                                  search::allocate::MakeDecider(engines.Pointers(), stop), options);
}

base::Budget ReasonBudget(std::optional<int64_t> given) {
  return base::Budget{given.value_or(kReasonBudget)};
}

}  // namespace tessera::api::parts
