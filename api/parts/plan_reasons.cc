// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/plan_reasons.h"

#include <algorithm>
#include <chrono>

#include "tessera/api/parts/allocation.h"
#include "tessera/search/allocate/engine_queries.h"

namespace tessera::api::parts {
namespace {

constexpr std::chrono::milliseconds kReasons{1700};  // the time for all reasons
constexpr double kPartForCollision = 0.4;

base::Stop::Clock::time_point ReasonsEnd(const base::Stop& stop) {
  const auto now = base::Stop::Clock::now();
  const auto deadline = stop.Deadline();
  if (!deadline) return now + kReasons;
  return std::max(now + kLateReasons, std::min(*deadline - kLateReasons, now + kReasons));
}

}  // namespace

PlanReasons FindPlanReasons(const graph::Graph& network, const hw_profiles::Profile& profile,
                            const search::partition::answer::PartitionOptions& options,
                            const search::partition::answer::PartitionResult& result,
                            const EngineSet& engines, std::optional<int64_t> budget,
                            const base::Stop& signal) {
  PlanReasons reasons;
  base::Stop end(ReasonsEnd(*options.stop), &signal);
  end.DropWork();
  if (options.stop->EndsProcess()) end.EndProcess();
  const base::Stop first(end.Before(kPartForCollision), &end);
  if (result.obstacle && result.obstacle->problem) {
    reasons.collision = ExplainIfProven(*result.obstacle->problem, result.obstacle->capacity,
                                        engines, budget, first);
  }
  reasons.remedies =
      search::partition::analysis::FindRemedies(network, profile, options, result, end);
  return reasons;
}

std::optional<api::answers::Collision> ExplainIfProven(const problem::Problem& problem,
                                                       problem::Bytes capacity,
                                                       const EngineSet& engines,
                                                       std::optional<int64_t> budget,
                                                       const base::Stop& stop) {
  const auto decide = search::allocate::MakeDecider(engines.Pointers(), stop);
  if (decide(problem, capacity, ReasonBudget(budget)).status != problem::Status::kInfeasible)
    return std::nullopt;
  return api::answers::Collision{problem, capacity,
                                 ExplainInfeasible(problem, capacity, engines, budget, stop)};
}

}  // namespace tessera::api::parts
