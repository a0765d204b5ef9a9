// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/variants.h"

#include "tessera/explore/again.h"
#include "tessera/explore/objectives.h"

namespace tessera::explore {

std::optional<base::Diagnostic> Variants::Load(const std::vector<Json>& profiles) {
  profiles_ = profiles;
  points_.clear();
  for (const Json& profile : profiles)
    points_.push_back({std::vector<Json>(spec_.space.Axes().size()), 0, profile.dump()});
  planner_.emplace(spec_, points_, store_,
                   PlannerOptions{options_.threads, options_.canceller, options_.memory_limit, {}});
  return planner_->Load();
}

std::optional<double> Variants::AreaOf(size_t variant) const {
  const Json& profile = profiles_[variant];
  const base::Expected<double> area = spec_.area.Of(profile, [&](std::string_view name) {
    return spec_.space.Lookup(points_[variant].values, profile, name);
  });
  return area ? std::optional(*area) : std::nullopt;
}

base::Expected<std::vector<Planner::Bounds>> Variants::FindBounds() const {
  std::vector<PairOf> pairs;
  std::vector<size_t> places;
  for (size_t variant = 0; variant < points_.size(); ++variant) {
    for (size_t network = 0; network < spec_.networks.size(); ++network) {
      if (FaultOf(variant) != nullptr) continue;
      pairs.push_back({network, variant});
      places.push_back(variant * spec_.networks.size() + network);
    }
  }
  auto found = planner_->FindBounds(pairs);
  if (!found) return base::Unexpected(found.error());
  std::vector<Planner::Bounds> bounds(points_.size() * spec_.networks.size());
  for (size_t i = 0; i < places.size(); ++i) bounds[places[i]] = std::move((*found)[i]);
  return bounds;
}

base::Expected<std::optional<std::vector<Standing>>> Variants::Ask(
    const std::vector<Question>& questions) const {
  const auto answers = planner_->Ask(questions);
  if (!answers) return base::Unexpected(answers.error());
  if (!*answers) return std::optional<std::vector<Standing>>();
  std::vector<Standing> standings;
  for (const Answer& answer : **answers) {
    Standing& standing = standings.emplace_back();
    standing.outcome = answer.outcome;
    standing.metrics = answer.values;
    standing.id = answer.key;
    standing.reason = answer.reason;
    if (answer.outcome == "optimal") standing.at_least = answer.values.at(answer.metric);
  }
  return std::optional(std::move(standings));
}

base::Expected<Plan> Variants::PlanOf(const Question& question) const {
  const std::optional<StoredAnswer> stored = store_.FindAnswer(planner_->KeyOf(question));
  if (!stored) {
    base::Diagnostic fault;
    fault.message = "the store does not have the answer that was asked for";
    return base::Unexpected(fault);
  }
  CallOptions call;
  call.threads = options_.threads;
  call.canceller = options_.canceller;
  call.memory_limit = options_.memory_limit;
  return MakePlanAgain(store_, *stored, call);
}

base::Expected<Planner::Figures> Variants::Reevaluate(const Plan& plan, size_t variant) const {
  const Result<std::string> text = plan.Render("json");
  if (!text) return base::Unexpected(AsDiagnostic(text.Error()));
  Json draft = Json::parse(*text);
  draft["profile"] = Json::parse(planner_->ProfileAt(variant).Json());
  EvaluateOptions options;
  options.move = true;
  options.explain = false;
  options.budget = spec_.settings.budget;
  options.seed = spec_.settings.seed;
  options.canceller = options_.canceller;
  options.memory_limit = options_.memory_limit;
  Planner::Figures figures;
  const Result<EvaluateAnswer> answer = Evaluate(draft.dump(), options);
  if (!answer) ThrowIfExhausted(answer.Error());
  // A plan that does not suit the profile is not an error: it is not a plan there.
  if (!answer || !answer->plan || !answer->findings.empty()) return figures;
  for (const PlanMetric& metric : answer->plan->Metrics()) figures[metric.name] = metric.value;
  return figures;
}

}  // namespace tessera::explore
