// SPDX-License-Identifier: Apache-2.0

#include <tessera/plan.h>

#include <chrono>
#include <map>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/certificate.h"
#include "tessera/api/parts/plan_reasons.h"
#include "tessera/plan/files/plan_draft.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/partition.h"

namespace tessera::api {
namespace {

using search::partition::answer::Ordering;
using search::partition::answer::PartitionOptions;
using search::partition::answer::PartitionResult;
using search::partition::paths::Keeping;

constexpr int kMostOperators = 1000;

Result<std::map<std::string, double>> AsMap(const std::vector<MetricValue>& values) {
  std::map<std::string, double> map;
  for (const auto& [name, value] : values) {
    if (!map.emplace(name, value).second)
      return BadArgument("the metric '" + name + "' is given twice", "each metric once");
  }
  return map;
}

Result<plan::Objective> ObjectiveOf(const PlanOptions& options) {
  Result<std::map<std::string, double>> weights = AsMap(options.minimize);
  if (!weights) return weights.Error();
  Result<std::map<std::string, double>> limits = AsMap(options.limits);
  if (!limits) return limits.Error();
  plan::Objective objective{*std::move(weights), *std::move(limits)};
  if (objective.weights.empty()) objective.weights["latency"] = 1;
  if (const auto fault = search::cost::CheckObjective(objective)) return BadInput(*fault);
  return objective;
}

std::optional<Error> FindBadNumber(const PlanOptions& options) {
  if (options.max_operators &&
      (*options.max_operators < 1 || *options.max_operators > kMostOperators))
    return BadArgument("max_operators is " + std::to_string(*options.max_operators), "1 to 1000");
  return FindBadOption(options);
}

Result<std::vector<plan::PlanConstraint>> ConstraintsOf(const Network& network,
                                                        const Profile& profile,
                                                        const PlanOptions& options) {
  if (options.constraints.empty()) return std::vector<plan::PlanConstraint>();
  auto read = search::partition::constraints::ReadConstraints(
      options.constraints, "constraints", network.Get().graph, profile.Get().profile,
      options.max_operators);
  if (!read) return BadInput(read.error());
  return *std::move(read);
}

// Adds the cause, changes that would help, and a proof, as far as the options request them.
std::optional<Error> Justify(const Network& network, const Profile& profile,
                             const PlanOptions& given, const PartitionOptions& options,
                             const PartitionResult& result, const KeptEngines& engines,
                             PlanAnswer& answer) {
  const graph::Graph& graph = network.Get().graph;
  const hw_profiles::Profile& hardware = profile.Get().profile;
  if (given.explain && !(given.canceller && given.canceller->IsCancelled())) {
    const base::Stop never;
    const base::Stop& signal = given.canceller ? StopOf(*given.canceller) : never;
    const parts::PlanReasons reasons = parts::FindPlanReasons(
        graph, hardware, options, result, engines.engines, given.budget, signal);
    if (reasons.collision) {
      const api::answers::Collision& collision = *reasons.collision;
      answer.explanation =
          problem::Sentences(collision.problem, collision.explanation, collision.capacity);
    }
    for (const auto& remedy : reasons.remedies) answer.remedies.push_back(remedy.what);
  }
  if (!given.certify || !result.refutation) return std::nullopt;
  base::Expected<parts::CertificateFiles> files = parts::CertifyRefutation(
      search::partition::answer::QuestionOf(graph, hardware, options), *result.refutation);
  if (!files) return AsError(CallStatus::kUnsupported, files.error());
  answer.certificate = AsCertificate(*std::move(files));
  return std::nullopt;
}

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
  const base::Expected<plan::files::Draft> draft = plan::files::ReadDraft(json, name);
  if (!draft) return BadInput(draft.error());
  const CallStop stop(given);
  const parts::EngineSet engines = EnginesOf(given);
  search::partition::answer::EvaluateOptions options;
  options.engines = engines.Pointers();
  options.switched_off = given.switched_off;
  options.budget = base::Budget{given.budget.value_or(kPlanBudget)};
  options.stop = &stop.Get();
  options.threads = given.threads;
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
  EvaluateAnswer answer;
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

Result<PlanAnswer> SearchPlan(const Network& network, const Profile& profile,
                              const PlanOptions& given, const KeptEngines* kept,
                              search::partition::choices::KeptPrices* prices) {
  if (auto error = FindBadNumber(given)) return *std::move(error);
  Result<plan::Objective> objective = ObjectiveOf(given);
  if (!objective) return objective.Error();
  Result<std::vector<plan::PlanConstraint>> constraints = ConstraintsOf(network, profile, given);
  if (!constraints) return constraints.Error();
  const CallStop stop(given);
  std::optional<KeptEngines> own;
  const bool is_kept = kept != nullptr;
  if (!is_kept) kept = &own.emplace(EnginesOf(given), size_t{0});
  PartitionOptions options;
  options.objective = *std::move(objective);
  options.constraints = *std::move(constraints);
  options.previous = given.previous != nullptr ? &given.previous->Get().plan : nullptr;
  options.max_operators = given.max_operators;
  options.ordering = given.keep_order ? Ordering::kGiven : Ordering::kSearch;
  options.keeping = given.keep_boundaries ? Keeping::kWherePossible : Keeping::kNothing;
  options.prefetch = given.transfers == Transfers::kProgram;
  options.engines = kept->engines.Pointers();
  options.cached = is_kept ? &kept->cached : nullptr;
  options.prices = prices;
  options.switched_off = given.switched_off;
  options.most_work = given.budget;
  options.budget = base::Budget{given.budget.value_or(kPlanBudget)};
  options.seed = given.seed;
  options.threads = given.threads;
  options.stop = &stop.Get();
  options.version = TESSERA_VERSION;
  options.progress = OneAtATime(given);
  const auto start = std::chrono::steady_clock::now();
  base::Expected<PartitionResult> result =
      search::partition::SearchPartition(network.Get().graph, profile.Get().profile, options);
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - start;
  options.prices = nullptr;  // remedies may change the profile
  if (!result) return AsError(CallStatus::kInternal, result.error());
  PlanAnswer answer;
  answer.outcome = OutcomeOf(result->status);
  answer.reason = std::move(result->reason);
  answer.causes = std::move(result->constraints);
  answer.stopped = stop.Get().HasCutOff();
  answer.out_of_memory = RanOutOfMemory(stop.Get());
  if (result->plan) {
    plan::Plan plan = *std::move(result->plan);
    const Network::Content& source = network.Get();
    plan.notes.insert(plan.notes.end(), source.notes.begin(), source.notes.end());
    if (!source.nodes.empty()) plan.notes.push_back(source.nodes);
    answer.plan = AsPlan(std::move(plan), elapsed.count());
  } else if (auto error = Justify(network, profile, given, options, *result, *kept, answer)) {
    return *std::move(error);
  }
  return answer;
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Result<PlanAnswer> MakePlan(const Network& network, const Profile& profile,
                            const PlanOptions& options) {
  return api::Guarded([&] { return api::SearchPlan(network, profile, options, nullptr); });
}

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
