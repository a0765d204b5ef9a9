// SPDX-License-Identifier: Apache-2.0

#include <tessera/bounds.h>
#include <tessera/evaluator.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "tessera/api/answer_cache.h"
#include "tessera/api/content.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/metrics.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/partition/rewriting.h"

// The first of these that decides an evaluation is its answer:
//
//     limits that lower bounds exceed     on any profile; no search, a part of a millisecond
//     the answer of an earlier call       whole networks, by all that they state
//     a search                            with the prices of intervals and the answers of engines
//                                         that earlier searches found
//
// The first is sound because the bounds hold for every plan. It returns kInfeasible where MakePlan
// with these limits might return kUnknown. The others are functions of their keys.
namespace tessera {
inline namespace v0 {

struct Evaluator::Content {
  Content(std::vector<Profile> some, const EvaluatorOptions& all)
      : profiles(std::move(some)),
        options(all),
        answers(all.most_bytes / 4),
        engines(api::EnginesOf(all.plan), all.most_bytes / 4) {
    constexpr size_t kBytesOfPrice = 300;
    const auto most = static_cast<int64_t>(all.most_bytes / 2 / kBytesOfPrice / profiles.size());
    for (size_t i = 0; i < profiles.size(); ++i)
      prices.push_back(std::make_unique<search::partition::choices::KeptPrices>(most));
  }

  std::vector<Profile> profiles;
  EvaluatorOptions options;
  api::AnswerCache answers;
  api::KeptEngines engines;
  std::vector<std::unique_ptr<search::partition::choices::KeptPrices>> prices;  // by profile
};

}  // namespace v0
}  // namespace tessera

namespace tessera::api {
namespace {

using Limits = std::vector<MetricValue>;

// Sums of energies may differ by rounding.
bool Exceeds(double bound, double most) {
  constexpr double kRounding = 1e-9;
  return bound > most + std::abs(most) * kRounding;
}

std::string NumberText(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

Limits BoundsWithoutPeak(const graph::Graph& network, const hw_profiles::Profile& profile,
                         const std::map<std::string, double>& limits) {
  const graph::Graph graph = encoder::program::WithHomes(network, profile);
  const plan::Metrics bounds =
      search::cost::LowerBound(graph, profile, {0, static_cast<int>(graph.operators.size()) - 1});
  Limits values;
  values.reserve(std::size(plan::kMetrics));
  for (const plan::Metric& metric : plan::kMetrics)
    values.emplace_back(metric.name, plan::LowerBoundOf(bounds, metric, limits));
  return values;
}

// As LowerBounds, including networks that are planned in another form, but with 0 for the peak.
Limits BoundsWithoutPeak(const Network& network, const Profile& profile, const Limits& limits) {
  const graph::Graph& graph = network.Get().graph;
  const hw_profiles::Profile& hardware = profile.Get().profile;
  const std::map<std::string, double> most(limits.begin(), limits.end());
  Limits values = BoundsWithoutPeak(graph, hardware, most);
  const auto rewriting = search::partition::RewriteWhatDoesNotFit(graph, hardware);
  if (!rewriting) return values;
  const Limits others = BoundsWithoutPeak(rewriting->network, hardware, most);
  for (size_t i = 0; i < values.size(); ++i)
    values[i].second = std::min(values[i].second, others[i].second);
  return values;
}

// Returns the limits of the options and of a call; of two limits of a metric, the lower one.
Limits Merged(const Limits& some, const Limits& more) {
  Limits all = some;
  for (const MetricValue& limit : more) {
    const auto same = std::find_if(
        all.begin(), all.end(), [&](const MetricValue& each) { return each.first == limit.first; });
    if (same == all.end()) {
      all.push_back(limit);
    } else {
      same->second = std::min(same->second, limit.second);
    }
  }
  return all;
}

// The work of one call.
class Evaluating {
 public:
  Evaluating(Evaluator::Content& content, const Network& network, PlanOptions options)
      : content_(content), network_(network), options_(std::move(options)) {
    if (options_.timeout_s)
      deadline_ = Clock::now() + std::chrono::duration<double>(*options_.timeout_s);
  }

  Result<std::vector<Evaluation>> With(const std::vector<Limits>& limits, bool are_given) {
    const size_t count = content_.profiles.size();
    std::vector<Evaluation> found(count);
    for (size_t i = 0; i < count; ++i)
      all_.push_back(Merged(content_.options.plan.limits, limits[limits.size() == 1 ? 0 : i]));
    for (size_t i = 0; i < count && are_given; ++i) {
      const Result<bool> fails = FailsByBounds(i, found[i]);
      if (!fails) return fails.Error();
      if (*fails) return Settled(std::move(found), i);
    }
    for (size_t i = 0; i < count; ++i) {
      Result<Evaluation> one = Find(i, std::move(found[i].bounds));
      if (!one) return one.Error();
      found[i] = *std::move(one);
      if (are_given && found[i].metrics.empty()) return Settled(std::move(found), i);
    }
    return found;
  }

 private:
  using Clock = std::chrono::steady_clock;

  // Returns whether a lower bound exceeds a limit, and records it in `found`. The bound of the peak
  // takes most of the time, so it is last, and computed only if the peak has a limit.
  Result<bool> FailsByBounds(size_t profile, Evaluation& found) const {
    const Limits& limits = all_[profile];
    if (limits.empty()) return false;
    found.bounds = BoundsWithoutPeak(network_, content_.profiles[profile], limits);
    if (Refuse(limits, found)) return true;
    const bool has_peak = std::any_of(limits.begin(), limits.end(), [](const MetricValue& limit) {
      return limit.first == "peak";
    });
    if (!has_peak) {
      found.bounds.clear();
      return false;
    }
    Result<Limits> bounds = LowerBounds(network_, content_.profiles[profile], limits);
    if (!bounds) return bounds.Error();
    found.bounds = *std::move(bounds);
    return Refuse(limits, found);
  }

  static bool Refuse(const Limits& limits, Evaluation& found) {
    for (const auto& [metric, most] : limits) {
      const auto bound =
          std::find_if(found.bounds.begin(), found.bounds.end(),
                       [name = &metric](const MetricValue& each) { return each.first == *name; });
      if (bound == found.bounds.end() || !Exceeds(bound->second, most)) continue;
      found.outcome = Outcome::kInfeasible;
      found.reason = metric + " is at least " + NumberText(bound->second) + ", above the limit " +
                     NumberText(most);
      return true;
    }
    return false;
  }

  // Fills in the profiles that need no search because another one has no plan.
  std::vector<Evaluation> Settled(std::vector<Evaluation> found, size_t decided) const {
    const bool is_proven = found[decided].outcome == Outcome::kInfeasible;
    const std::string why =
        std::string(is_proven ? "there is no plan on " : "no plan was found on ") +
        content_.profiles[decided].Name();
    for (size_t i = 0; i < found.size(); ++i) {
      if (i == decided || found[i].searched) continue;
      found[i].reason = "not planned: " + why;
    }
    return found;
  }

  Result<Evaluation> Find(size_t profile, Limits bounds) {
    CallKey key("evaluation");
    key.Add(NetworkKey(network_.Get()));
    std::string text = std::to_string(profile);
    for (const auto& [metric, most] : all_[profile]) {
      text += ' ' + metric + ' ';
      text.append(reinterpret_cast<const char*>(&most), sizeof most);
    }
    key.Add(text);
    if (const auto known = content_.answers.Find<Evaluation>(key)) return *known;
    Result<Evaluation> found = Search(profile, std::move(bounds));
    if (!found || found->stopped) return found;
    const size_t bytes = sizeof(Evaluation) + found->metrics.size() * sizeof(PlanMetric) +
                         found->bounds.size() * sizeof(MetricValue) + found->reason.size();
    content_.answers.Keep(std::move(key), std::make_shared<const Evaluation>(*found), bytes);
    return found;
  }

  Result<Evaluation> Search(size_t profile, Limits bounds) {
    options_.limits = all_[profile];
    if (deadline_) {
      const std::chrono::duration<double> left = *deadline_ - Clock::now();
      options_.timeout_s = std::max(0.0, left.count());
    }
    const Result<PlanAnswer> answer = SearchPlan(network_, content_.profiles[profile], options_,
                                                 &content_.engines, content_.prices[profile].get());
    if (!answer) return answer.Error();
    Evaluation found;
    found.outcome = answer->outcome;
    found.reason = answer->reason;
    found.stopped = answer->stopped;
    found.out_of_memory = answer->out_of_memory;
    found.searched = true;
    if (!answer->plan) {
      if (bounds.empty()) {
        Result<Limits> more = LowerBounds(network_, content_.profiles[profile], all_[profile]);
        if (!more) return more.Error();
        bounds = *std::move(more);
      }
      found.bounds = std::move(bounds);
      return found;
    }
    found.metrics = answer->plan->Metrics();
    for (const PlanMetric& metric : found.metrics)
      found.bounds.emplace_back(metric.name, metric.lower_bound);
    return found;
  }

  Evaluator::Content& content_;
  const Network& network_;
  PlanOptions options_;
  // of the whole call
  std::optional<std::chrono::time_point<Clock, std::chrono::duration<double>>> deadline_;
  std::vector<Limits> all_;  // by profile
};

Result<std::vector<Evaluation>> EvaluateIn(Evaluator::Content& content, const Network& network,
                                           const std::vector<Limits>& limits, bool are_given,
                                           const std::optional<CallOptions>& call) {
  if (limits.size() != 1 && limits.size() != content.profiles.size())
    return BadArgument(std::to_string(limits.size()) + " lists of limits",
                       "one for each profile, or one for all");
  const Result<std::vector<std::string>> names = MetricNames();
  if (!names) return names.Error();
  for (const Limits& some : limits) {
    for (const auto& [metric, most] : some) {
      if (std::find(names->begin(), names->end(), metric) == names->end() || !(most >= 0))
        return BadArgument("the limit of '" + metric + "' is " + NumberText(most),
                           "a metric, and a number of at least 0");
    }
  }
  PlanOptions options = content.options.plan;
  if (call) static_cast<CallOptions&>(options) = *call;
  return Evaluating(content, network, std::move(options)).With(limits, are_given);
}

}  // namespace
}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Evaluator::Evaluator(std::shared_ptr<Content> content) noexcept : content_(std::move(content)) {}

Result<Evaluator> Evaluator::Make(std::vector<Profile> profiles, const EvaluatorOptions& options) {
  return api::Guarded([&]() -> Result<Evaluator> {
    if (profiles.empty()) return api::BadArgument("no profiles", "at least one");
    const PlanOptions& plan = options.plan;
    if (plan.previous != nullptr || plan.explain || plan.certify || plan.sensitivity ||
        plan.lowering) {
      return api::BadArgument("an evaluator keeps no plans and no reasons",
                              "options without previous, explain, certify, sensitivity, lowering");
    }
    if (auto error = api::FindBadOption(options.plan)) return *std::move(error);
    return Evaluator(std::make_shared<Content>(std::move(profiles), options));
  });
}

Result<std::vector<Evaluation>> Evaluator::Evaluate(const Network& network,
                                                    const std::optional<CallOptions>& call) const {
  return api::Guarded([&] { return api::EvaluateIn(*content_, network, {{}}, false, call); });
}

Result<std::vector<Evaluation>> Evaluator::EvaluateAtMost(
    const Network& network, const std::vector<std::vector<MetricValue>>& limits,
    const std::optional<CallOptions>& call) const {
  return api::Guarded([&] { return api::EvaluateIn(*content_, network, limits, true, call); });
}

SessionCounts Evaluator::Count() const {
  const api::AnswerCache::Counts answers = content_->answers.Count();
  const search::tiling::ResultCache::Counts engines = content_->engines.cached.Count();
  return {answers.hits,  answers.misses, answers.dropped,
          answers.bytes, engines.hits,   engines.misses};
}

}  // namespace v0
}  // namespace tessera
