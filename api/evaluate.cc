// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <chrono>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/graph/import/yaml/measured_costs.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/partition/partition.h"

// Partitions that the caller states: edited plans, and plans on other profiles.
namespace tessera::api {
namespace {

std::vector<std::string> ExplainPlacement(const search::partition::Evaluation& found,
                                          const parts::EngineSet& engines,
                                          const EvaluateOptions& given, const base::Stop& stop) {
  const problem::Problem& problem = *found.infeasible_problem;
  const problem::Explanation why =
      parts::ExplainInfeasible(problem, found.capacity, engines, given.budget, stop);
  return problem::Sentences(problem, why, found.capacity);
}

Result<EvaluateAnswer> Complete(std::string_view json, const EvaluateOptions& given,
                                const std::string& name) {
  if (auto error = FindBadOption(given)) return *std::move(error);
  base::Expected<plan::files::Draft> draft = plan::files::ReadDraft(json, name);
  if (!draft) return BadInput(draft.error());
  if (given.profile != nullptr) draft->profile = given.profile->Get().profile;
  EvaluateAnswer answer;
  if (!given.costs.empty()) {
    const auto note = graph::import::yaml::ReadMeasuredCosts(given.costs, "costs", draft->network);
    if (!note) return BadInput(note.error());
    answer.note_on_costs = note->value_or("");
  }
  const CallStop stop(given);
  const parts::EngineSet engines = EnginesOf(given);
  search::partition::answer::EvaluateOptions options;
  options.engines = engines.Pointers();
  options.switched_off = given.switched_off;
  options.budget = base::Budget{given.budget.value_or(kPlanBudget)};
  options.stop = &stop.Get();
  options.threads = ThreadsOf(given);
  options.version = TESSERA_VERSION;
  options.may_move = given.move;
  const auto start = std::chrono::steady_clock::now();
  base::Expected<search::partition::Evaluation> found =
      search::partition::Evaluate(*draft, options);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  if (!found) {
    if (found.error().file.empty()) found.error().file = name;
    return BadInput(found.error());
  }
  answer.outcome = OutcomeOf(found->status);
  answer.reason = found->reason;
  for (const plan::verify::Violation& violation : found->violations)
    answer.findings.push_back(std::string(NameOf(violation.kind)) + ": " + violation.message);
  if (found->plan) answer.plan = AsPlan(*std::move(found->plan), elapsed.count());
  if (given.explain && found->infeasible_problem && answer.outcome == Outcome::kInfeasible)
    answer.explanation = ExplainPlacement(*found, engines, given, stop.Get());
  answer.stopped = stop.Get().HasCutOff();
  return answer;
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<EvaluateAnswer> Evaluate(std::string_view json, const EvaluateOptions& options,
                                const std::string& name) {
  return api::Guarded([&] { return api::Complete(json, options, name); });
}

Result<EvaluateAnswer> Evaluate(const Plan& plan, const EvaluateOptions& options) {
  return api::Guarded(
      [&] { return api::Complete(plan::files::WritePlanJson(plan.Get().plan), options, "plan"); });
}

}  // namespace v0
}  // namespace tessera
