// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "tessera/base/text.h"
#include "tessera/plan/metrics.h"

namespace tessera::search::cost {
namespace {

// Sums of the same doubles in different orders differ by less than this, relative to the sum.
constexpr double kSumRounding = 1e-12;

// A limit on a ratio is raised by this share, because the excess of a ratio that equals its limit
// differs from 0 by rounding.
constexpr double kRatioRounding = 1e-11;

// Used instead of minus infinity, so that sums with infinity are defined.
constexpr double kNoBound = -1e200;

constexpr size_t kLatencySum = 0;
static_assert(plan::kSummedMetrics[kLatencySum]->name == "latency");

// The range of values other than 0.
struct ValueRange {
  double least = 0;
  double most = std::numeric_limits<double>::max();
};

// Scores are sums of products of weights and metrics, which doubles can hold.
constexpr ValueRange kWeights = {1e-100, 1e100};

std::optional<base::Diagnostic> CheckWellFormed(const std::map<std::string, double>& values,
                                                std::string_view what, ValueRange range) {
  const std::vector<std::string_view> names = plan::MetricNames();
  for (const auto& [name, value] : values) {
    base::Diagnostic fault;
    if (std::find(names.begin(), names.end(), name) == names.end()) {
      fault.message = fmt::format("unknown metric '{}' in the {} of the objective", name, what);
      fault.expected = fmt::format("one of {}", base::Join(names));
      fault.found = name;
      fault.hint = base::DidYouMean(name, names);
      return fault;
    }
    const bool is_in_range = value == 0 || (range.least <= value && value <= range.most);
    if (!is_in_range) {
      fault.message = fmt::format("bad value for '{}' in the {} of the objective", name, what);
      fault.expected = range.least == 0
                           ? "a number, 0 or more"
                           : fmt::format("0, or a number from {} to {}", range.least, range.most);
      fault.found = fmt::format("{}", value);
      return fault;
    }
  }
  return std::nullopt;
}

std::optional<double> Find(const std::map<std::string, double>& values, std::string_view name) {
  const auto found = values.find(std::string(name));
  return found == values.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

Cost Join(const Cost& a, const Cost& b) {
  Cost joined{.score = a.score + b.score,
              .change = a.change + b.change,
              .tie = {.latency = a.tie.latency + b.tie.latency,
                      .energy = a.tie.energy + b.tie.energy,
                      .off_chip_bytes = a.tie.off_chip_bytes + b.tie.off_chip_bytes,
                      .peak = std::max(a.tie.peak, b.tie.peak)}};
  for (size_t i = 0; i < joined.sums.size(); ++i) joined.sums[i] = a.sums[i] + b.sums[i];
  for (size_t i = 0; i < joined.maxima.size(); ++i)
    joined.maxima[i] = std::max(a.maxima[i], b.maxima[i]);
  return joined;
}

bool IsLess(double a, double b) {
  return std::isinf(b) ? a < b : a < b - kSumRounding * std::abs(b);
}

int CompareTies(const Cost& a, const Cost& b) {
  const auto values = [](const Cost& cost) {
    return std::array{cost.change, cost.tie.latency, cost.tie.energy, cost.tie.off_chip_bytes,
                      cost.tie.peak};
  };
  const auto of_a = values(a);
  const auto of_b = values(b);
  for (size_t i = 0; i < of_a.size(); ++i) {
    if (IsLess(of_a[i], of_b[i])) return -1;
    if (IsLess(of_b[i], of_a[i])) return 1;
  }
  return 0;
}

bool Dominates(const Cost& a, const Cost& b) {
  if (IsLess(b.score, a.score)) return false;
  for (size_t i = 0; i < a.maxima.size(); ++i) {
    if (a.maxima[i] > b.maxima[i]) return false;
  }
  for (size_t i = 0; i < a.sums.size(); ++i) {
    if (a.sums[i] > b.sums[i]) return false;
  }
  return IsLess(a.score, b.score) || CompareTies(a, b) <= 0;
}

std::optional<base::Diagnostic> CheckObjective(const plan::Objective& objective) {
  if (auto fault = CheckWellFormed(objective.weights, "weights", kWeights)) return fault;
  if (auto fault = CheckWellFormed(objective.limits, "limits", {})) return fault;
  std::vector<std::string_view> ratios;
  for (const auto& [name, weight] : objective.weights) {
    if (weight == 0) continue;
    if (plan::FindMetric(name)->joining != plan::Joining::kRatio) return std::nullopt;
    ratios.push_back(name);
  }
  base::Diagnostic fault;
  if (ratios.empty()) {
    if (objective.weights.empty()) return std::nullopt;
    fault.message = "the weights of the objective are all 0";
    fault.expected = "at least one weight above 0";
    return fault;
  }
  if (objective.limits.contains("latency")) return std::nullopt;
  fault.message = fmt::format("{} falls as the latency rises, and the latency has no limit",
                              base::Join(ratios));
  fault.expected = "a limit on the latency, or a weight for a metric that is no ratio over time";
  fault.hint = "for example --limit latency=1000000";
  return fault;
}

base::Expected<Scale> Scale::Make(const plan::Objective& objective,
                                  const plan::Metrics& lower_bounds) {
  if (auto fault = CheckObjective(objective)) return base::Unexpected(*fault);
  Scale scale;
  scale.objective_ = objective;
  scale.clock_hz_ = lower_bounds.clock_hz;
  std::map<std::string, double>& weights = scale.objective_.weights;
  if (weights.empty()) weights["latency"] = 1;
  double sum = 0;
  for (const auto& [name, weight] : weights) sum += weight;
  const auto weight_of = [&](const plan::Metric& metric) {
    const double weight = Find(weights, metric.name).value_or(0);
    if (weights.size() == 1) return weight > 0 ? 1.0 : 0.0;
    return weight / sum / plan::DivisorOf(lower_bounds, metric, objective.limits);
  };
  for (size_t i = 0; i < plan::kSummedMetrics.size(); ++i) {
    scale.weights_[i] = weight_of(*plan::kSummedMetrics[i]);
    scale.limits_[i] = Find(objective.limits, plan::kSummedMetrics[i]->name);
  }
  for (size_t i = 0; i < plan::kMaximumMetrics.size(); ++i) {
    scale.maximum_weights_[i] = weight_of(*plan::kMaximumMetrics[i]);
    scale.maximum_limits_[i] = Find(objective.limits, plan::kMaximumMetrics[i]->name);
  }
  for (size_t i = 0; i < plan::kRatioMetrics.size(); ++i) {
    scale.ratio_weights_[i] = weight_of(*plan::kRatioMetrics[i]);
    scale.ratio_limits_[i] = Find(objective.limits, plan::kRatioMetrics[i]->name);
    if (scale.ratio_limits_[i]) scale.limits_[kFirstExcess + i] = 0;
  }
  return scale;
}

Cost Scale::CostOf(const plan::Metrics& metrics) const {
  Cost cost;
  for (size_t i = 0; i < plan::kSummedMetrics.size(); ++i) {
    const double value = plan::ValueOf(metrics, *plan::kSummedMetrics[i]);
    cost.score += weights_[i] * value;
    if (limits_[i]) cost.sums[i] = value;
  }
  for (size_t i = 0; i < plan::kRatioMetrics.size(); ++i) {
    const plan::Metric& ratio = *plan::kRatioMetrics[i];
    if (ratio_limits_[i])
      cost.sums[kFirstExcess + i] =
          plan::ExcessOf(metrics, ratio, *ratio_limits_[i] * (1 + kRatioRounding));
    if (ratio_weights_[i] > 0) cost.sums[kFirstNumerator + i] = plan::NumeratorOf(metrics, ratio);
  }
  if (WeighsRatios()) cost.sums[kNegatedLatency] = -static_cast<double>(metrics.latency_cycles);
  for (size_t i = 0; i < plan::kMaximumMetrics.size(); ++i) {
    if (maximum_weights_[i] > 0 || maximum_limits_[i])
      cost.maxima[i] = plan::ValueOf(metrics, *plan::kMaximumMetrics[i]);
  }
  cost.tie = {.latency = static_cast<double>(metrics.latency_cycles),
              .energy = metrics.energy_pj,
              .off_chip_bytes = static_cast<double>(metrics.off_chip_bytes),
              .peak = static_cast<double>(metrics.peak_bytes)};
  return cost;
}

Cost Scale::BoundOf(const plan::Metrics& lower_bounds) const {
  Cost cost = CostOf(lower_bounds);
  for (size_t i = 0; i < plan::kRatioMetrics.size(); ++i) {
    if (ratio_limits_[i]) cost.sums[kFirstExcess + i] = kNoBound;
  }
  if (WeighsRatios()) cost.sums[kNegatedLatency] = kNoBound;
  return cost;
}

bool Scale::GainsBySpeed() const {
  const auto is_used = [](const auto& weights, const auto& limits) {
    return std::any_of(weights.begin(), weights.end(), [](double weight) { return weight > 0; }) ||
           std::any_of(limits.begin(), limits.end(),
                       [](const std::optional<double>& limit) { return limit.has_value(); });
  };
  return !is_used(maximum_weights_, maximum_limits_) && !is_used(ratio_weights_, ratio_limits_);
}

bool Scale::AddsUp() const {
  return GainsBySpeed() &&
         std::none_of(limits_.begin(), limits_.end(),
                      [](const std::optional<double>& limit) { return limit.has_value(); });
}

double Scale::ScoreOf(const plan::Metrics& totals) const {
  return ScoreAt(CostOf(totals), static_cast<double>(totals.latency_cycles));
}

// In a lower bound the latency is an upper bound, perhaps beyond its limit.
double Scale::ScoreOf(const Cost& cost) const {
  const double cycles = -cost.sums[kNegatedLatency];
  const std::optional<double>& limit = limits_[kLatencySum];
  return ScoreAt(cost, limit ? std::min(cycles, *limit) : cycles);
}

double Scale::ScoreAt(const Cost& cost, double cycles) const {
  double score = cost.score + ScoreOfMaxima(cost);
  for (size_t i = 0; i < ratio_weights_.size(); ++i) {
    if (ratio_weights_[i] > 0)
      score += ratio_weights_[i] * plan::RatioOf(*plan::kRatioMetrics[i],
                                                 cost.sums[kFirstNumerator + i], cycles, clock_hz_);
  }
  return score;
}

double Scale::ScoreOfBounds(const plan::Metrics& lower_bounds) const {
  double score = 0;
  const auto add = [&](const auto& metrics, const auto& weights) {
    for (size_t i = 0; i < metrics.size(); ++i) {
      if (weights[i] > 0)
        score += weights[i] * plan::LowerBoundOf(lower_bounds, *metrics[i], objective_.limits);
    }
  };
  add(plan::kSummedMetrics, weights_);
  add(plan::kMaximumMetrics, maximum_weights_);
  add(plan::kRatioMetrics, ratio_weights_);
  return score;
}

void Scale::RaiseMaxima(double least_score, Cost& cost) const {
  const auto has_weight = [](double weight) { return weight > 0; };
  const bool is_one =
      std::count_if(maximum_weights_.begin(), maximum_weights_.end(), has_weight) == 1;
  for (size_t i = 0; i < cost.maxima.size(); ++i) {
    const std::optional<double>& limit = maximum_limits_[i];
    double least = limit.value_or(0);
    if (has_weight(maximum_weights_[i])) {
      least = is_one ? least_score / maximum_weights_[i] : 0;
      if (limit) least = std::min(least, *limit);  // rounding may exceed it
    }
    cost.maxima[i] = std::max(cost.maxima[i], least);
  }
}

bool Scale::Prefers(const Cost& a, const Cost& b) const {
  const double of_a = ScoreOf(a);
  const double of_b = ScoreOf(b);
  return IsLess(of_a, of_b) || (!IsLess(of_b, of_a) && CompareTies(a, b) < 0);
}

bool Scale::WeighsRatios() const {
  return std::any_of(ratio_weights_.begin(), ratio_weights_.end(),
                     [](double weight) { return weight > 0; });
}

bool Scale::WeighsOnlyRatios() const {
  const auto has_none = [](const auto& weights) {
    return std::none_of(weights.begin(), weights.end(), [](double weight) { return weight > 0; });
  };
  return WeighsRatios() && has_none(weights_) && has_none(maximum_weights_);
}

Scale::Latency Scale::LatencyOf(const Cost& cost) {
  return cost.sums[kNegatedLatency] <= kNoBound ? Latency::kUnknown : Latency::kKnown;
}

Cost Scale::Parametric(const Cost& cost, double ratio) const {
  Cost additive = cost;
  const bool is_known = LatencyOf(cost) == Latency::kKnown;
  additive.score = is_known ? ratio * cost.sums[kNegatedLatency] : 0;
  for (size_t i = 0; i < ratio_weights_.size(); ++i) {
    double& numerator = additive.sums[kFirstNumerator + i];
    if (ratio_weights_[i] > 0)
      additive.score +=
          ratio_weights_[i] *
          plan::RatioOf(*plan::kRatioMetrics[i], std::exchange(numerator, 0), 1, clock_hz_);
  }
  additive.sums[kNegatedLatency] = is_known ? 0 : -1;
  return additive;
}

Scale Scale::ForParameter(Latency latency) const {
  Scale scale = *this;
  scale.ratio_weights_ = {};
  if (latency == Latency::kUnknown) scale.limits_[kNegatedLatency] = -0.5;
  return scale;
}

bool Scale::WithinLimits(const Cost& cost) const {
  for (size_t i = 0; i < maximum_limits_.size(); ++i) {
    if (maximum_limits_[i] && cost.maxima[i] > *maximum_limits_[i]) return false;
  }
  return SumsWithinLimits(cost, limits_.size());
}

bool Scale::SumsWithinLimits(const Cost& cost, size_t count) const {
  for (size_t i = 0; i < count; ++i) {
    if (limits_[i] && IsLess(*limits_[i], cost.sums[i])) return false;
  }
  return true;
}

bool Scale::MayKeepLimits(const plan::Metrics& lower_bounds) const {
  for (size_t i = 0; i < ratio_limits_.size(); ++i) {
    if (ratio_limits_[i] &&
        IsLess(*ratio_limits_[i],
               plan::LowerBoundOf(lower_bounds, *plan::kRatioMetrics[i], objective_.limits)))
      return false;
  }
  return WithinLimits(BoundOf(lower_bounds));
}

std::string Scale::DescribeLimits() const {
  std::string text;
  for (const auto& [name, limit] : objective_.limits) {
    text += fmt::format("{}{} at most {}", text.empty() ? "" : ", ", name, limit);
  }
  return text;
}

}  // namespace tessera::search::cost
