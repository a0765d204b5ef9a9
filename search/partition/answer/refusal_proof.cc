// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/partition/answer/refusal.h"

namespace tessera::search::partition::answer {

namespace {

using problem::Status;

// Returns a subset of the constraints that suffices to exclude every plan; all of them if only a
// joint program shows that.
std::vector<plan::PlanConstraint> LeastOf(const ConstraintProbe& probe,
                                          std::vector<plan::PlanConstraint> constraints) {
  for (size_t i = 0; i < constraints.size() && !probe.context.stop.Requested();) {
    std::vector<plan::PlanConstraint> rest = constraints;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (probe.Run(rest).status == Status::kInfeasible) {
      constraints = std::move(rest);
    } else {
      ++i;
    }
  }
  return constraints;
}

}  // namespace

PartitionResult ConstraintProbe::Run(const std::vector<plan::PlanConstraint>& wanted,
                                     Telling telling) const {
  const constraints::PlanConstraints constraints(context.graph, wanted);
  const paths::CutStates states(context.graph, context.profile, context.Room(), keeping,
                                constraints);
  const encoder::program::HomeCapacity homes(context.graph, context.profile);
  orders::Order given(context.graph.operators.size());
  std::iota(given.begin(), given.end(), 0);
  const paths::Ordered ordered{&context, &states, &constraints, &homes, std::move(given)};
  paths::PathSearch paths({&ordered, 1}, search_limits, {}, threads, {}, {});
  paths.FormulateSingles(context.stop);
  paths.FindBounds();
  paths::Found found = paths.FindBest();
  while (found.ending == paths::Ending::kMilestone) found = paths.FindBest();
  if (found.ending == paths::Ending::kFound) return {Status::kFeasible, std::nullopt, ""};
  return ExplainAbsence(context, paths, lower_bounds, telling);
}

PartitionResult BlameConstraints(const ConstraintProbe& probe,
                                 std::vector<plan::PlanConstraint> constraints,
                                 PartitionResult result) {
  if (probe.context.stop.Requested()) return result;
  PartitionResult free = probe.Run({}, Telling::kObstacle);
  if (free.status == result.status) return free;
  if (result.status == Status::kInfeasible) constraints = LeastOf(probe, std::move(constraints));
  const graph::Graph& graph = probe.context.graph;
  for (const plan::PlanConstraint& constraint : constraints)
    result.constraints.push_back(Describe(graph, constraint));
  result.obstacle.reset();
  return result;
}

void NameConstraints(PartitionResult& result) {
  if (result.constraints.empty()) return;
  const bool none = result.status == Status::kInfeasible;
  const std::string reason = std::exchange(result.reason, "");
  result.reason =
      fmt::format("{} {}: {}", none ? "no plan keeps" : "no plan was found that keeps",
                  result.constraints.size() == 1 ? "what is required" : "all that is required",
                  fmt::join(result.constraints, "; "));
  if (!reason.empty()) result.reason += fmt::format(" (under all constraints: {})", reason);
}

namespace {

constexpr int64_t kProverBudget = 20'000;  // conflicts, for each Problem and prover
constexpr int64_t kPlacementBudget = 20'000;
// After so many Problems with neither a placement nor a proof, no more are tried.
constexpr int kMostUndecided = 8;

// Whether a placement of the Problem is found, so that no prover is needed.
bool IsPlaced(const problem::Problem& problem, problem::Bytes capacity,
              const PartitionOptions& options, const base::Stop& stop) {
  allocate::AllocateOptions allocate;
  allocate.capacity = capacity;
  allocate.minimize = false;
  allocate.budget.units = kPlacementBudget;
  allocate.stop = &stop;
  const tiling::Engines engines(options.engines.begin(), options.engines.end());
  const base::Expected<problem::Result> result =
      allocate::Allocate(problem, nullptr, 0, engines, allocate);
  return result && result->allocation;
}

std::vector<std::string> AllConstraints(const graph::Graph& graph,
                                        const PartitionOptions& options) {
  std::vector<std::string> constraints;
  for (const plan::PlanConstraint& constraint : options.constraints)
    constraints.push_back(Describe(graph, constraint));
  return constraints;
}

// Checks with the judge that the named constraints, possibly none, exclude every plan without the
// others. If the judge does not confirm that, names all constraints.
void ConfirmConstraints(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const PartitionOptions& options, PartitionResult& result) {
  PartitionOptions fewer = options;
  std::erase_if(fewer.constraints, [&](const plan::PlanConstraint& constraint) {
    return std::find(result.constraints.begin(), result.constraints.end(),
                     Describe(graph, constraint)) == result.constraints.end();
  });
  if (fewer.constraints.size() == options.constraints.size()) return;
  if (JudgeWhetherNone(graph, profile, fewer).refutation) return;
  result.reason = result.refutation->argument;
  result.obstacle.reset();
  result.constraints = AllConstraints(graph, options);
}

}  // namespace

plan::Plan QuestionOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                      const PartitionOptions& options) {
  plan::Plan question;
  question.network = graph;
  question.profile = profile;
  question.objective = options.objective;
  question.constraints = options.constraints;
  question.seed = options.seed;
  question.run.searches_order = options.ordering == Ordering::kSearch;
  question.run.keeps_boundaries = options.keeping == paths::Keeping::kWherePossible;
  question.run.prefetches = options.prefetch;
  question.run.off_chip = options.off_chip;
  return question;
}

plan::verify::infeasibility::RefutationResult JudgeWhetherNone(const graph::Graph& graph,
                                                               const hw_profiles::Profile& profile,
                                                               const PartitionOptions& options) {
  const base::Stop never;
  const base::Stop& stop = options.stop != nullptr ? *options.stop : never;
  const engines::lazy::LazyProver lazy({.seed = options.seed});
  const encoder::sat::SatProver cadical(options.seed);
  const std::array<const problem::proof::Prover*, 2> provers = {&lazy, &cadical};
  int undecided = 0;
  const auto find_proof = [&](const problem::Problem& problem,
                              problem::Bytes capacity) -> std::optional<std::string> {
    if (undecided >= kMostUndecided || IsPlaced(problem, capacity, options, stop))
      return std::nullopt;
    std::optional<std::string> proof =
        allocate::Certify(problem, capacity, provers, {.units = kProverBudget}, stop, {}).proof;
    undecided += proof ? 0 : 1;
    return proof;
  };
  constexpr int64_t kOfOneUnit = 10;  // of the search's work
  plan::verify::infeasibility::Effort effort;
  if (options.most_work)
    effort.work = std::min(effort.work, base::SaturatingMul(*options.most_work, kOfOneUnit));
  return plan::verify::infeasibility::Judge(QuestionOf(graph, profile, options), find_proof, stop,
                                            effort);
}

void Confirm(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const PartitionOptions& options, PartitionResult& result) {
  const bool infeasible = result.status == problem::Status::kInfeasible;
  if (!infeasible && (result.status != problem::Status::kUnknown || result.plan)) return;
  const bool stopped = options.stop != nullptr && options.stop->Requested();
  if (options.judges_refusals && (infeasible || !stopped)) {
    plan::verify::infeasibility::RefutationResult judged =
        JudgeWhetherNone(graph, profile, options);
    if (judged.refutation) {
      // The reason of the search, which was undecided, is replaced.
      if (!infeasible && !result.of_file_order) result.reason = judged.refutation->argument;
      result.status = problem::Status::kInfeasible;
      result.refutation = std::move(judged.refutation);
      if (infeasible) ConfirmConstraints(graph, profile, options, result);
    } else if (infeasible) {
      result.status = problem::Status::kUnknown;
      result.reason += fmt::format(
          "; the independent check does not confirm that there is no plan: {}", judged.gap);
      if (!result.constraints.empty()) result.constraints = AllConstraints(graph, options);
    }
  }
  if (result.status == problem::Status::kUnknown && !infeasible && result.of_file_order) {
    result.reason = fmt::format(
        "in the order of the file {}; other orders were not all tried, or not to the end",
        result.reason);
  }
  NameConstraints(result);
}

}  // namespace tessera::search::partition::answer
