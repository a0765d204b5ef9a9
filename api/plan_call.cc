// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/plan_call.h"

#include <map>
#include <string>
#include <utility>

#include "tessera/api/parts/allocation.h"
#include "tessera/api/parts/certificate.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

namespace tessera::api {
namespace {

using search::partition::answer::Ordering;
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
  if (options.off_chip > OffChip::kTileAware)
    return BadArgument("off_chip is " + std::to_string(static_cast<int>(options.off_chip)),
                       "a method of the enumeration");
  return FindBadOption(options);
}

Result<std::vector<plan::PlanConstraint>> ConstraintsOf(const graph::Graph& network,
                                                        const hw_profiles::Profile& profile,
                                                        const PlanOptions& options) {
  if (options.constraints.empty()) return std::vector<plan::PlanConstraint>();
  auto read = search::partition::constraints::ReadConstraints(
      options.constraints, "constraints", network, profile, options.max_operators);
  if (!read) return BadInput(read.error());
  return *std::move(read);
}

}  // namespace

PlanCall::PlanCall(const Network& of, const Profile& on, const PlanOptions& options_of_call,
                   const KeptEngines* kept_engines)
    : network(of.Get().graph),
      profile(on.Get().profile),
      given(options_of_call),
      source(of.Get()),
      stop(options_of_call),
      kept(kept_engines) {}

std::optional<Error> PlanCall::Prepare() {
  if (auto error = FindBadNumber(given)) return error;
  Result<plan::Objective> objective = ObjectiveOf(given);
  if (!objective) return objective.Error();
  Result<std::vector<plan::PlanConstraint>> constraints = ConstraintsOf(network, profile, given);
  if (!constraints) return constraints.Error();
  if (kept != nullptr)
    options.cached = &kept->cached;
  else
    kept = &own.emplace(EnginesOf(given), size_t{0});
  options.objective = *std::move(objective);
  options.constraints = *std::move(constraints);
  options.previous = given.previous != nullptr ? &given.previous->Get().plan : nullptr;
  options.max_operators = given.max_operators;
  options.ordering = given.keep_order ? Ordering::kGiven : Ordering::kSearch;
  options.keeping = given.keep_boundaries ? Keeping::kWherePossible : Keeping::kNothing;
  options.prefetch = given.transfers == Transfers::kProgram;
  options.off_chip = static_cast<plan::OffChip>(given.off_chip);
  options.engines = kept->engines.Pointers();
  options.switched_off = given.switched_off;
  options.most_work = given.budget;
  options.budget = base::Budget{given.budget.value_or(kPlanBudget)};
  options.seed = given.seed;
  options.threads = ThreadsOf(given);
  options.stop = &stop.Get();
  options.version = TESSERA_VERSION;
  options.progress = OneAtATime(given);
  return std::nullopt;
}

std::vector<std::string> PlanCall::ImportNotes() const {
  std::vector<std::string> notes = source.notes;
  if (!source.nodes.empty()) notes.push_back(source.nodes);
  return notes;
}

std::optional<Error> PlanCall::Justify(const PartitionResult& result, PlanAnswer& answer) const {
  if (given.explain && !(given.canceller && given.canceller->IsCancelled())) {
    const base::Stop never;
    const base::Stop& signal = given.canceller ? StopOf(*given.canceller) : never;
    const parts::PlanReasons reasons = parts::FindPlanReasons(network, profile, options, result,
                                                              kept->engines, given.budget, signal);
    if (reasons.collision) {
      const answers::Collision& collision = *reasons.collision;
      answer.explanation =
          problem::Sentences(collision.problem, collision.explanation, collision.capacity);
    }
    for (const auto& remedy : reasons.remedies) answer.remedies.push_back(remedy.what);
  }
  if (!given.certify || !result.refutation) return std::nullopt;
  base::Expected<parts::CertificateFiles> files = parts::CertifyRefutation(
      search::partition::answer::QuestionOf(network, profile, options), *result.refutation);
  if (!files) return AsError(CallStatus::kUnsupported, files.error());
  answer.certificate = AsCertificate(*std::move(files));
  return std::nullopt;
}

}  // namespace tessera::api
