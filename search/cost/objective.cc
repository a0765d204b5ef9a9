#include "tessera/search/cost/objective.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tessera/base/text.h"

namespace tessera::search::cost {
namespace {

// The metrics that add up, in the order of Cost::limited.
constexpr std::array<std::string_view, 4> kSums = {"latency", "energy", "off_chip_bytes", "macs"};
constexpr std::string_view kPeak = "peak";

// Sums of the same doubles in another order differ by less, relative to the sum.
constexpr double kSumRounding = 1e-12;

std::optional<base::Diagnostic> CheckWellFormed(const std::map<std::string, double>& values,
                                                std::string_view what) {
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
    if (!std::isfinite(value) || value < 0) {
      fault.message = fmt::format("bad value for '{}' in the {} of the objective", name, what);
      fault.expected = "a number, 0 or more";
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
              .peak = std::max(a.peak, b.peak),
              .change = a.change + b.change,
              .tie = {.latency = a.tie.latency + b.tie.latency,
                      .energy = a.tie.energy + b.tie.energy,
                      .off_chip_bytes = a.tie.off_chip_bytes + b.tie.off_chip_bytes,
                      .peak = std::max(a.tie.peak, b.tie.peak)}};
  for (size_t i = 0; i < joined.limited.size(); ++i)
    joined.limited[i] = a.limited[i] + b.limited[i];
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
  if (a.peak > b.peak || IsLess(b.score, a.score)) return false;
  for (size_t i = 0; i < a.limited.size(); ++i) {
    if (a.limited[i] > b.limited[i]) return false;
  }
  return IsLess(a.score, b.score) || CompareTies(a, b) <= 0;
}

base::Expected<Scale> Scale::Make(const plan::Objective& objective,
                                  const plan::Metrics& lower_bounds) {
  if (auto fault = CheckWellFormed(objective.weights, "weights")) return base::Unexpected(*fault);
  if (auto fault = CheckWellFormed(objective.limits, "limits")) return base::Unexpected(*fault);
  Scale scale;
  scale.objective_ = objective;
  std::map<std::string, double>& weights = scale.objective_.weights;
  if (weights.empty()) weights["latency"] = 1;
  double sum = 0;
  for (const auto& [name, weight] : weights) sum += weight;
  if (sum <= 0) {
    base::Diagnostic fault;
    fault.message = "the weights of the objective are all 0";
    fault.expected = "at least one weight above 0";
    return base::Unexpected(fault);
  }
  const bool single = weights.size() == 1;
  const auto weight_of = [&](std::string_view name) {
    const double weight = Find(weights, name).value_or(0);
    if (single) return weight > 0 ? 1.0 : 0.0;
    const double bound = plan::ValueOf(lower_bounds, name);
    return weight / sum / (bound > 0 ? bound : 1);
  };
  for (size_t i = 0; i < kSums.size(); ++i) {
    scale.weights_[i] = weight_of(kSums[i]);
    scale.limits_[i] = Find(objective.limits, kSums[i]);
  }
  scale.peak_weight_ = weight_of(kPeak);
  scale.peak_limit_ = Find(objective.limits, kPeak);
  return scale;
}

Cost Scale::CostOf(const plan::Metrics& metrics) const {
  Cost cost;
  for (size_t i = 0; i < kSums.size(); ++i) {
    const double value = plan::ValueOf(metrics, kSums[i]);
    cost.score += weights_[i] * value;
    if (limits_[i]) cost.limited[i] = value;
  }
  if (peak_weight_ > 0 || peak_limit_) cost.peak = plan::ValueOf(metrics, kPeak);
  cost.tie = {.latency = plan::ValueOf(metrics, "latency"),
              .energy = plan::ValueOf(metrics, "energy"),
              .off_chip_bytes = plan::ValueOf(metrics, "off_chip_bytes"),
              .peak = plan::ValueOf(metrics, kPeak)};
  return cost;
}

double Scale::ScoreOf(const plan::Metrics& totals) const { return ScoreOf(CostOf(totals)); }

bool Scale::Prefers(const Cost& a, const Cost& b) const {
  const double of_a = ScoreOf(a);
  const double of_b = ScoreOf(b);
  return IsLess(of_a, of_b) || (!IsLess(of_b, of_a) && CompareTies(a, b) < 0);
}

bool Scale::WithinLimits(const Cost& cost) const {
  if (peak_limit_ && cost.peak > *peak_limit_) return false;
  for (size_t i = 0; i < limits_.size(); ++i) {
    if (limits_[i] && IsLess(*limits_[i], cost.limited[i])) return false;
  }
  return true;
}

std::string Scale::DescribeLimits() const {
  std::string text;
  for (const auto& [name, limit] : objective_.limits) {
    text += fmt::format("{}{} at most {}", text.empty() ? "" : ", ", name, limit);
  }
  return text;
}

}  // namespace tessera::search::cost
