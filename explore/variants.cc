// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/variants.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "tessera/api/errors.h"
#include "tessera/base/arithmetic.h"
#include "tessera/explore/objectives.h"
#include "tessera/explore/recheck.h"

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
  SetThreads(options_.threads, call);
  call.canceller = options_.canceller;
  call.memory_limit = options_.memory_limit;
  return MakePlanAgain(store_, *stored, call);
}

base::Expected<Planner::Figures> Variants::Reevaluate(const Plan& plan, size_t variant) const {
  const Result<std::string> text = plan.Render("json");
  if (!text) return base::Unexpected(api::AsDiagnostic(text.Error()));
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
  if (!answer) api::ThrowIfExhausted(answer.Error());
  // A plan that does not suit the profile is not an error: it is not a plan there.
  if (!answer || !answer->plan || !answer->findings.empty()) return figures;
  for (const PlanMetric& metric : answer->plan->Metrics()) figures[metric.name] = metric.value;
  return figures;
}

base::Expected<ValueRange> ValueRange::Find(const Space& space, const BaseProfile& base,
                                            const std::string& path) {
  const std::optional<double> stated = NumberAt(base.document, path);
  base::Diagnostic fault;
  fault.file = base.file;
  fault.message = "the profile '" + base.name + "' has no one whole number at '" + path + "'";
  fault.expected = "keys of the profile with dots between them, as memories.sram.capacity_bytes";
  if (!stated || std::floor(*stated) != *stated || *stated < 1) return base::Unexpected(fault);
  ValueRange range(base, path, static_cast<int64_t>(*stated));
  if (path.starts_with("memories.") && path.ends_with(".capacity_bytes")) {
    const std::string memory = path.substr(0, path.rfind('.'));
    const auto alignment = NumberAt(base.document, memory + ".alignment_bytes");
    const auto banks = NumberAt(base.document, memory + ".banks");
    range.step_ = static_cast<int64_t>(alignment.value_or(1) * banks.value_or(1));
  }
  for (const Axis& axis : space.Axes()) {
    if (axis.path != path) continue;
    std::vector<double> values;
    for (const Json& value : axis.values) {
      if (value.is_number()) values.push_back(value.get<double>());
    }
    if (values.empty()) continue;
    range.least_ = static_cast<int64_t>(*std::min_element(values.begin(), values.end()));
    range.most_ = static_cast<int64_t>(*std::max_element(values.begin(), values.end()));
  }
  range.least_ = std::min(std::max(range.step_, range.least_), range.most_);
  return range;
}

int64_t ValueRange::At(int64_t index) const { return std::min(least_ + index * step_, most_); }

int64_t ValueRange::Last() const { return base::CeilDiv(most_ - least_, step_); }

Json ValueRange::ProfileWith(int64_t index) const {
  Json profile = base_->document;
  SetEntries(profile, FindPlaces(profile, path_), At(index));
  return profile;
}

std::vector<int64_t> ValueRange::Between(size_t most) const {
  std::vector<std::pair<int64_t, int64_t>> gaps = {{0, Last()}};
  std::vector<int64_t> order;
  for (size_t i = 0; i < gaps.size() && order.size() < most; ++i) {
    const auto [low, high] = gaps[i];
    if (high - low < 2) continue;
    order.push_back(low + (high - low) / 2);
    gaps.emplace_back(low, order.back());
    gaps.emplace_back(order.back(), high);
  }
  return order;
}

}  // namespace tessera::explore
