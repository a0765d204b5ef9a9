#pragma once

#include <array>
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

// The cost of a part of a partition, as far as the objective uses it. Metrics that the objective
// does not name are 0, except ties.
struct Cost {
  double score = 0;  // the additive part of the objective
  std::array<double, 4> limited =
      {};           // latency, energy, off-chip bytes, MACs, if they have a limit
  double peak = 0;  // bytes; the maximum over parts
  double change =
      // operators in other subgraphs than in the previous plan (search_context.h): decides between
      // equal scores
      0;
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

// An objective with the lower bounds that make its metrics comparable.
class Scale {
 public:
  // Refuses unknown metrics, weights and limits that are negative or not numbers, and weights that
  // are all 0. An objective without weights means latency.
  static base::Expected<Scale> Make(const plan::Objective& objective,
                                    const plan::Metrics& lower_bounds);

  Cost CostOf(const plan::Metrics& metrics) const;

  // The score of a whole partition: one metric, or the weighted mean of metrics over their lower
  // bounds (a bound of 0 counts as 1).
  double ScoreOf(const plan::Metrics& totals) const;
  double ScoreOf(const Cost& cost) const { return cost.score + peak_weight_ * cost.peak; }

  // Whether `a` is the better cost of a whole partition: a lower score; if equal, less change; then
  // the lower tie.
  bool Prefers(const Cost& a, const Cost& b) const;

  // Sums and maxima only grow, so this applies to parts as well as to the whole. Sums may exceed a
  // limit by rounding only.
  bool WithinLimits(const Cost& cost) const;
  std::string DescribeLimits() const;  // "latency at most 1000"; empty without limits

  bool MinimizesPeak() const { return peak_weight_ > 0; }
  bool LimitsPeak() const { return peak_limit_.has_value(); }
  double PeakLimit() const { return *peak_limit_; }
  const plan::Objective& Objective() const { return objective_; }

 private:
  plan::Objective objective_;
  std::array<double, 4> weights_ = {};  // divided by their lower bounds and by the sum of weights
  std::array<std::optional<double>, 4> limits_;
  double peak_weight_ = 0;
  std::optional<double> peak_limit_;
};

}  // namespace tessera::search::cost
