// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <chrono>
#include <utility>

#include "tessera/api/plan_call.h"
#include "tessera/report/plan_text.h"
#include "tessera/search/partition/analysis/analyses.h"

// Fronts of plans.
namespace tessera::api {
namespace {

std::optional<Error> FindBadFrontOption(const PlanOptions& options, int most_searches) {
  if (!options.minimize.empty() || options.sensitivity || options.lowering)
    return BadArgument("a front minimises several metrics, without sensitivity and lowering",
                       "options without minimize, sensitivity and lowering");
  if (most_searches < 1)
    return BadArgument("most_searches is " + std::to_string(most_searches), "1 or more");
  return std::nullopt;
}

Result<FrontAnswer> Find(PlanCall& call, int most_searches) {
  call.options.objective.weights.clear();
  const auto start = std::chrono::steady_clock::now();
  auto front = search::partition::analysis::FindFront(call.network, call.profile, call.options,
                                                      most_searches);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!front) return AsError(CallStatus::kInternal, front.error());
  FrontAnswer answer;
  answer.searches = front->searches;
  answer.complete = front->complete;
  answer.stopped = call.stop.Get().HasCutOff();
  if (front->points.empty()) {
    answer.refusal.outcome = OutcomeOf(front->refusal.status);
    answer.refusal.reason = front->refusal.reason;
    answer.refusal.causes = front->refusal.constraints;
    if (auto error = call.Justify(front->refusal, answer.refusal)) return *std::move(error);
    return answer;
  }
  answer.text = report::DescribeFront(*front, elapsed.count());
  answer.json = report::FrontAsJson(*front, elapsed.count());
  for (plan::FrontPoint& point : front->points) {
    for (std::string& note : call.ImportNotes()) point.plan.notes.push_back(std::move(note));
    const std::vector<MetricValue> limits(point.objective.limits.begin(),
                                          point.objective.limits.end());
    answer.points.push_back({point.objective.weights.begin()->first, limits,
                             AsPlan(std::move(point.plan), elapsed.count())});
  }
  return answer;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<FrontAnswer> FindFront(const Network& network, const Profile& profile,
                              const PlanOptions& options, int most_searches) {
  return api::Guarded([&]() -> Result<FrontAnswer> {
    if (auto error = api::FindBadFrontOption(options, most_searches)) return *std::move(error);
    api::PlanCall call(network, profile, options, nullptr);
    if (auto error = call.Prepare()) return *std::move(error);
    return api::Find(call, most_searches);
  });
}

}  // namespace v0
}  // namespace tessera
