// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <chrono>
#include <utility>

#include "tessera/api/parts/plan_check.h"
#include "tessera/api/plan_call.h"
#include "tessera/search/partition/analysis/analyses.h"

// Plans of networks.
namespace tessera::api {
namespace {

using search::partition::answer::PartitionResult;

constexpr double kPartWithLowering = 0.75;  // of the time, for the search

// Also halves and doubles each energy of the profile, and notes whether the choice survives.
std::optional<Error> NoteSensitivity(const PlanCall& call, plan::Plan& plan) {
  namespace analysis = search::partition::analysis;
  if (!analysis::LooksAtEnergy(call.options.objective)) {
    plan.notes.emplace_back("sensitivity: the objective does not look at energy");
    return std::nullopt;
  }
  const auto found = analysis::FindSensitivities(call.network, plan, call.options);
  if (!found) return AsError(CallStatus::kInternal, found.error());
  for (const analysis::Sensitivity& each : *found)
    plan.notes.push_back("sensitivity: " + analysis::Describe(each));
  return std::nullopt;
}

// Adds the lowering, or the reason why there is none.
std::optional<Error> Lower(const base::Stop& stop, plan::Plan& plan, PlanAnswer& answer) {
  parts::CheckedLowering lowering = parts::LowerAndRun(plan, stop);
  if (lowering.outcome == parts::LoweringOutcome::kWrong)
    return AsError(CallStatus::kInternal, lowering.why);
  plan.lowering = std::move(lowering.program);
  if (lowering.outcome != parts::LoweringOutcome::kLowered)
    answer.no_lowering = lowering.why.message;
  return std::nullopt;
}

Result<PlanAnswer> Answer(PlanCall& call) {
  // The lowering is made in the time that the search leaves.
  std::optional<base::Stop> search_stop;
  if (call.given.lowering) {
    const base::Stop& whole = call.stop.Get();
    call.options.stop = &search_stop.emplace(whole.Before(kPartWithLowering), &whole);
  }
  const auto start = std::chrono::steady_clock::now();
  base::Expected<PartitionResult> result =
      search::partition::SearchPartition(call.network, call.profile, call.options);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  call.options.prices = nullptr;  // remedies and sensitivities change the profile
  if (!result) return AsError(CallStatus::kInternal, result.error());
  PlanAnswer answer;
  answer.outcome = OutcomeOf(result->status);
  answer.reason = std::move(result->reason);
  answer.causes = std::move(result->constraints);
  if (result->plan) {
    plan::Plan plan = *std::move(result->plan);
    for (std::string& note : call.ImportNotes()) plan.notes.push_back(std::move(note));
    if (call.given.sensitivity) {
      if (auto error = NoteSensitivity(call, plan)) return *std::move(error);
    }
    if (call.given.lowering) {
      if (auto error = Lower(call.stop.Get(), plan, answer)) return *std::move(error);
    }
    answer.plan = AsPlan(std::move(plan), elapsed.count());
  } else if (auto error = call.Justify(*result, answer)) {
    return *std::move(error);
  }
  answer.stopped = call.options.stop->HasCutOff() || call.stop.Get().HasCutOff();
  answer.out_of_memory = RanOutOfMemory(call.stop.Get());
  return answer;
}

}  // namespace

Result<PlanAnswer> SearchPlan(const Network& network, const Profile& profile,
                              const PlanOptions& given, const KeptEngines* kept,
                              search::partition::choices::KeptPrices* prices) {
  PlanCall call(network, profile, given, kept);
  if (auto error = call.Prepare()) return *std::move(error);
  call.options.prices = prices;
  return Answer(call);
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<PlanAnswer> MakePlan(const Network& network, const Profile& profile,
                            const PlanOptions& options) {
  return api::Guarded([&] { return api::SearchPlan(network, profile, options, nullptr); });
}

}  // namespace v0
}  // namespace tessera
