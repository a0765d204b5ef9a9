#include "tessera/cli/reasons.h"

#include <CLI/CLI.hpp>

#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/reasons/explain.h"

namespace tessera::cli {

namespace {

constexpr int64_t kReasonBudget = 100'000;

}  // namespace

void Reasons::Declare(CLI::App& app) {
  app.add_flag("--no-reasons", off_,
               "Do not look for the few conditions that collide where nothing fits, nor for what "
               "would help");
}

std::optional<report::Collision> Reasons::Find(const problem::Problem& problem,
                                               problem::Bytes capacity, const SearchOptions& search,
                                               const base::Stop& stop,
                                               const problem::Ladder* ladder,
                                               size_t candidate) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const search::reasons::Decide decide = search::allocate::MakeDecider(engines.Pointers(), stop);
  search::reasons::ExplainOptions options;
  options.budget = search.Limit(kReasonBudget);
  options.stop = &stop;
  options.ladder = ladder;
  options.candidate = candidate;
  return report::Collision{problem, capacity,
                           search::reasons::Explain(problem, capacity, decide, options)};
}

std::optional<report::Collision> Reasons::FindIfProven(const problem::Problem& problem,
                                                       problem::Bytes capacity,
                                                       const SearchOptions& search,
                                                       const base::Stop& stop) const {
  if (off_) return std::nullopt;
  const EngineSet engines(search);
  const search::reasons::Decide decide = search::allocate::MakeDecider(engines.Pointers(), stop);
  const problem::Status status = decide(problem, capacity, search.Limit(kReasonBudget)).status;
  if (status != problem::Status::kInfeasible) return std::nullopt;
  return Find(problem, capacity, search, stop);
}

}  // namespace tessera::cli
