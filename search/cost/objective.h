// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

// Conversion of metrics, for an objective, to numbers that can be added along a partition and
// compared.
namespace tessera::search::cost {

// The values that decide between costs of equal score, in this order. All but the peak add up along
// a partition.
struct Tie {
  double latency = 0;
  double energy = 0;
  double off_chip_bytes = 0;
  double peak = 0;  // bytes; the maximum over parts

  friend bool operator==(const Tie&, const Tie&) = default;
};

// The position of the peak among plan::kMaximumMetrics. It depends on a placement.
inline constexpr size_t kPeakMaximum = 0;
static_assert(plan::kMaximumMetrics[kPeakMaximum]->name == "peak");

// The position of the off-chip peak. It depends on which tensors are kept on chip, not on tiles.
inline constexpr size_t kOffChipPeakMaximum = 2;
static_assert(plan::kMaximumMetrics[kOffChipPeakMaximum]->name == "off_chip_peak");

// Positions in Cost::sums. First come plan::kSummedMetrics, then the excesses and the numerators of
// plan::kRatioMetrics, then the negated latency.
inline constexpr size_t kFirstExcess = plan::kSummedMetrics.size();
inline constexpr size_t kFirstNumerator = kFirstExcess + plan::kRatioMetrics.size();
inline constexpr size_t kNegatedLatency = kFirstNumerator + plan::kRatioMetrics.size();
inline constexpr size_t kSums = kNegatedLatency + 1;

// The cost of a part of a partition, as far as the objective uses it. Metrics that the objective
// does not name are 0, except ties.
//
// The score of a whole partition is not the sum of the scores of its parts if the objective weighs
// a maximum or a ratio. So a cost has three kinds of components: sums, maxima, and the additive
// part of the score. A ratio falls both with a lower numerator and with a higher latency; therefore
// the latency is among the sums with a minus sign, and of two costs the one with less of everything
// is at least as good in every continuation.
struct Cost {
  double score = 0;  // the additive part of the objective
  // Summed metrics and excesses that have a limit. If a ratio has a weight, also its numerator and
  // the negated latency.
  std::array<double, kSums> sums = {};
  // The plan::kMaximumMetrics that have a weight or a limit.
  std::array<double, plan::kMaximumMetrics.size()> maxima = {};
  // Operators in other subgraphs than in the previous plan (search_context.h): decides between
  // equal scores.
  double change = 0;
  Tie tie;  // decides between equal changes

  friend bool operator==(const Cost&, const Cost&) = default;
};

// Returns the cost of two consecutive parts.
Cost Join(const Cost& a, const Cost& b);

// Returns whether the sum `a` is less than `b` by more than sums of the same doubles in different
// orders can differ.
bool IsLess(double a, double b);

// Compares two costs of equal score by change and then by ties. Returns -1, 0 or 1.
int CompareTies(const Cost& a, const Cost& b);

// Returns whether `a` is at least as good as `b` for any continuation. A lower sum decides. Among
// equal sums neither change nor ties may be worse, because a later, greater peak can make two
// different peaks equal. Two equal costs dominate each other.
bool Dominates(const Cost& a, const Cost& b);

// Returns the fault of an objective, or nullopt. Faults are an unknown metric, a value that is
// negative or not finite, weights that are all 0, and only ratios over time without a limit on the
// latency. In the last case a plan could lower its ratio by waiting, so the least ratio is not of
// interest.
std::optional<base::Diagnostic> CheckObjective(const plan::Objective& objective);

// An objective with the lower bounds that make its metrics comparable.
class Scale {
 public:
  // Returns the scale of an objective, or a diagnostic if CheckObjective finds a fault. An
  // objective without weights means latency.
  static base::Expected<Scale> Make(const plan::Objective& objective,
                                    const plan::Metrics& lower_bounds);

  Cost CostOf(const plan::Metrics& metrics) const;

  // Returns a lower bound of the cost of a part with these lower bounds. The excess of a ratio and
  // the negated latency have no lower bound, because they fall while the latency rises.
  Cost BoundOf(const plan::Metrics& lower_bounds) const;

  // Returns the score of a whole partition: one metric, or the weighted mean of metrics over their
  // lower bounds (plan/metrics.h, also for bounds of 0).
  double ScoreOf(const plan::Metrics& totals) const;

  // Returns the score of a whole partition with this cost, which must be within the limits. For a
  // lower bound of a cost, the result is a lower bound of the score.
  double ScoreOf(const Cost& cost) const;

  // Returns the least score of any partition with these lower bounds.
  double ScoreOfBounds(const plan::Metrics& lower_bounds) const;

  // Returns whether `a` is the better cost of a whole partition: it has the lower score; if equal,
  // less change; then the lower tie.
  bool Prefers(const Cost& a, const Cost& b) const;

  // Returns whether the cost keeps the limits; sums may exceed them by rounding. Sums and maxima
  // only grow, so this applies to parts as well as to the whole.
  bool WithinLimits(const Cost& cost) const;

  // Returns whether the first `count` of Cost::sums keep their limits.
  bool SumsWithinLimits(const Cost& cost, size_t count) const;

  // Returns whether a partition with these lower bounds may keep the limits.
  bool MayKeepLimits(const plan::Metrics& lower_bounds) const;
  std::string DescribeLimits() const;  // "latency at most 1000"; empty without limits

  // Returns the limit of the value of Cost::sums at this position.
  std::optional<double> SumLimit(size_t sum) const { return limits_[sum]; }

  // Returns the part of the score that the maxima contribute, which is not a sum over parts.
  double ScoreOfMaxima(const Cost& cost) const {
    double score = 0;
    for (size_t i = 0; i < cost.maxima.size(); ++i) score += maximum_weights_[i] * cost.maxima[i];
    return score;
  }

  // Returns the greatest term of ScoreOfMaxima. Some part of a partition has at least this
  // ScoreOfMaxima.
  double GreatestOfMaxima(const Cost& cost) const {
    double greatest = 0;
    for (size_t i = 0; i < cost.maxima.size(); ++i)
      greatest = std::max(greatest, maximum_weights_[i] * cost.maxima[i]);
    return greatest;
  }

  // Raises the maxima of a part as far as the difference cannot matter in partitions whose
  // ScoreOfMaxima is at least `least_score` and that keep the limits on maxima.
  void RaiseMaxima(double least_score, Cost& cost) const;

  bool MinimizesPeak() const { return maximum_weights_[kPeakMaximum] > 0; }
  bool LimitsPeak() const { return maximum_limits_[kPeakMaximum].has_value(); }
  double PeakLimit() const { return *maximum_limits_[kPeakMaximum]; }
  bool LooksAtOffChipPeak() const {
    return maximum_weights_[kOffChipPeakMaximum] > 0 || LimitsOffChipPeak();
  }
  bool LimitsOffChipPeak() const { return maximum_limits_[kOffChipPeakMaximum].has_value(); }
  double OffChipPeakLimit() const { return *maximum_limits_[kOffChipPeakMaximum]; }
  bool WeighsRatios() const;
  bool WeighsOnlyRatios() const;

  // For objectives that weigh only ratios (search/partition/paths/label_search.h): whether a cost
  // contains a latency, or is the bound of a part whose latency has no upper bound.
  enum class Latency : uint8_t { kKnown, kUnknown };
  static Latency LatencyOf(const Cost& cost);

  // Returns the cost with the additive score N - ratio * latency, where N is the sum of the
  // weighted numerators. In place of the negated latency it contains -1 if the latency is unknown,
  // otherwise 0.
  Cost Parametric(const Cost& cost, double ratio) const;

  // Returns the scale of costs of Parametric, with the same limits. With kUnknown, a cost is within
  // them only if some part has an unknown latency.
  Scale ForParameter(Latency latency) const;

  // Returns whether a part is no worse if its latency falls and its peak rises: there is no weight
  // or limit on a ratio, on bytes per cycle or on the peak.
  bool GainsBySpeed() const;

  // Returns whether scores and ties alone decide: nothing is limited, and the score of a whole is
  // the sum of the scores of its parts.
  bool AddsUp() const;
  const plan::Objective& Objective() const { return objective_; }

 private:
  double ScoreAt(const Cost& cost, double cycles) const;

  plan::Objective objective_;
  double clock_hz_ = 0;
  // of plan::kSummedMetrics, divided by their lower bounds and by the sum of weights
  std::array<double, plan::kSummedMetrics.size()> weights_ = {};
  std::array<std::optional<double>, kSums> limits_;  // of Cost::sums
  // of plan::kMaximumMetrics
  std::array<double, plan::kMaximumMetrics.size()> maximum_weights_ = {};
  std::array<std::optional<double>, plan::kMaximumMetrics.size()> maximum_limits_;
  // of plan::kRatioMetrics
  std::array<double, plan::kRatioMetrics.size()> ratio_weights_ = {};
  std::array<std::optional<double>, plan::kRatioMetrics.size()> ratio_limits_;
};

}  // namespace tessera::search::cost
