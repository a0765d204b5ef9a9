// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

// Converts metrics to numbers that can be added along a partition and compared, for an objective.
namespace tessera::search::cost {

// Decides between costs of equal score, in this order. Sums add up along a partition.
struct Tie {
  double latency = 0;
  double energy = 0;
  double off_chip_bytes = 0;
  double peak = 0;  // bytes; the maximum over parts
};

// The position of the peak among plan::kMaximumMetrics. It depends on a placement.
inline constexpr size_t kPeakMaximum = 0;
static_assert(plan::kMaximumMetrics[kPeakMaximum]->name == "peak");

// The position of the off-chip peak. It depends on which tensors are kept on chip, not on tiles.
inline constexpr size_t kOffChipPeakMaximum = 2;
static_assert(plan::kMaximumMetrics[kOffChipPeakMaximum]->name == "off_chip_peak");

// Positions in Cost::sums: of plan::kSummedMetrics; of the excesses and of the numerators of
// plan::kRatioMetrics; of the latency, negated.
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
  // Summed metrics and excesses with a limit; of weighted ratios the numerators and the negated
  // latency.
  std::array<double, kSums> sums = {};
  // of plan::kMaximumMetrics, if they have a weight or a limit
  std::array<double, plan::kMaximumMetrics.size()> maxima = {};
  // Operators in other subgraphs than in the previous plan (search_context.h): decides between
  // equal scores.
  double change = 0;
  Tie tie;  // decides between equal changes
};

// The cost of two consecutive parts.
Cost Join(const Cost& a, const Cost& b);

// Whether the sum `a` is less than `b` by more than the rounding difference of sums of the same
// doubles in another order.
bool IsLess(double a, double b);

// -1, 0 or 1: the order of two costs of equal score, by change and then by ties.
int CompareTies(const Cost& a, const Cost& b);

// Whether `a` is at least as good as `b` for any continuation. A lower sum decides. Among equal
// sums neither change nor ties may be worse, because a later, greater peak can make two different
// peaks equal. Two equal costs dominate each other.
bool Dominates(const Cost& a, const Cost& b);

// The fault of an objective: an unknown metric, a value that is negative or not finite, no
// weight above 0, or only ratios over time without a limit on the latency. A plan that waits has a
// lower ratio, so the least one is then not of interest.
std::optional<base::Diagnostic> FindFault(const plan::Objective& objective);

// An objective with the lower bounds that make its metrics comparable.
class Scale {
 public:
  // Refuses unknown metrics, weights and limits that are negative or not numbers, weights that are
  // all 0, and a ratio as the only metric without a limit on the latency: a longer plan has a lower
  // ratio. An objective without weights means latency.
  static base::Expected<Scale> Make(const plan::Objective& objective,
                                    const plan::Metrics& lower_bounds);

  Cost CostOf(const plan::Metrics& metrics) const;

  // A lower bound of the cost of a part with these lower bounds. The excess of a ratio and the
  // negated latency have none: they fall while the latency rises.
  Cost BoundOf(const plan::Metrics& lower_bounds) const;

  // The score of a whole partition: one metric, or the weighted mean of metrics over their lower
  // bounds (plan/weighted_mean.h, also for bounds of 0).
  double ScoreOf(const plan::Metrics& totals) const;

  // The same of a cost within the limits. Of a lower bound of a cost, a lower bound of the score.
  double ScoreOf(const Cost& cost) const;

  // The least score of any partition with these lower bounds.
  double ScoreOfBounds(const plan::Metrics& lower_bounds) const;

  // Whether `a` is the better cost of a whole partition: a lower score; if equal, less change; then
  // the lower tie.
  bool Prefers(const Cost& a, const Cost& b) const;

  // Sums and maxima only grow, so this applies to parts as well as to the whole. Sums may exceed a
  // limit by rounding only.
  bool WithinLimits(const Cost& cost) const;

  // The same of the first of Cost::sums alone.
  bool SumsWithinLimits(const Cost& cost, size_t count) const;

  // Whether a partition with these lower bounds may keep the limits.
  bool MayKeepLimits(const plan::Metrics& lower_bounds) const;
  std::string DescribeLimits() const;  // "latency at most 1000"; empty without limits

  // The limit of Cost::sums at this position.
  std::optional<double> SumLimit(size_t sum) const { return limits_[sum]; }

  // The part of the score that is not the sum of parts: of the maxima.
  double ScoreOfMaxima(const Cost& cost) const {
    double score = 0;
    for (size_t i = 0; i < cost.maxima.size(); ++i) score += maximum_weights_[i] * cost.maxima[i];
    return score;
  }

  // The greatest part of ScoreOfMaxima. Some part of a partition has at least this ScoreOfMaxima.
  double GreatestOfMaxima(const Cost& cost) const {
    double greatest = 0;
    for (size_t i = 0; i < cost.maxima.size(); ++i)
      greatest = std::max(greatest, maximum_weights_[i] * cost.maxima[i]);
    return greatest;
  }

  // Raises maxima as far as makes no difference between parts of partitions whose ScoreOfMaxima is
  // at least this, and that keep the limits on maxima.
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

  // For objectives that weigh only ratios (search/partition/paths/ratio_paths.h). Whether a cost
  // states a latency, or is the bound of a part whose latency has no upper bound.
  enum class Latency : uint8_t { kKnown, kUnknown };
  static Latency LatencyOf(const Cost& cost);

  // The cost with the additive score N - ratio * latency, where N is the sum of the weighted
  // numerators; instead of the negated latency -1 if the latency is unknown, otherwise 0.
  Cost Parametric(const Cost& cost, double ratio) const;

  // The scale of such costs, with the same limits. With kUnknown, a cost is within them only if
  // some part has an unknown latency.
  Scale ForParameter(Latency latency) const;

  // Whether a part is no worse if its latency falls and its peak rises: no weight or limit is on a
  // ratio, on bytes per cycle or on the peak.
  bool GainsBySpeed() const;

  // Whether scores and ties alone decide: nothing is limited, and the score of a whole is the sum
  // of the scores of its parts.
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
