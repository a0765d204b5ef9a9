#pragma once

#include <array>
#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"

// What an objective makes of costs: numbers that can be added along a partition and compared.
namespace tessera::search::cost {

// Decides between costs of equal score, in this order. Sums add up along a partition.
struct Tie {
  double latency = 0;
  double energy = 0;
  double off_chip_bytes = 0;
  double peak = 0;  // bytes; of several parts the greatest
};

// The cost of a part of a partition as far as the objective cares. What the objective does not name
// is 0, ties excepted.
struct Cost {
  double score = 0;  // the part of the objective that adds up
  std::array<double, 4> limited =
      {};           // latency, energy, off-chip bytes, MACs, where a limit stands
  double peak = 0;  // bytes; of several parts the greatest
  double change =
      0;  // operators in other subgraphs than before (previous plan.h): decides between equal scores
  Tie tie;  // decides between equal changes
};

// The cost of two parts that follow one another.
Cost Join(const Cost& a, const Cost& b);

// Whether the sum `a` is less than `b` by more than sums of the same doubles in another order
// differ.
bool IsLess(double a, double b);

// -1, 0 or 1: which of two costs of equal score comes first, by change and then by ties.
int CompareTies(const Cost& a, const Cost& b);

// Whether `a` is at least as good as `b`, whatever follows. A lower sum decides; among equal sums
// change and ties have to be no worse either, because a greater peak that follows can make equals
// of two peaks. Each of two equal costs dominates the other.
bool Dominates(const Cost& a, const Cost& b);

// An objective with the lower bounds that make its metrics comparable.
class Scale {
 public:
  // Refuses unknown metrics, weights and limits that are negative or no numbers, and weights that
  // are all 0. An objective without weights means latency.
  static base::Expected<Scale> Make(const plan::Objective& objective,
                                    const plan::Metrics& lower_bounds);

  Cost CostOf(const plan::Metrics& metrics) const;

  // Of a whole partition: one metric, or the weighted mean of metrics over their lower bounds (a
  // bound of 0 counts as 1).
  double ScoreOf(const plan::Metrics& totals) const;
  double ScoreOf(const Cost& cost) const { return cost.score + peak_weight_ * cost.peak; }

  // Whether `a` is the better cost of a whole partition: a lower score, among equals less change,
  // then the lower tie.
  bool Prefers(const Cost& a, const Cost& b) const;

  // Sums and maxima only grow, so this holds for parts as well as for the whole. Sums may exceed a
  // limit by rounding alone.
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
