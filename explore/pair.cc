// SPDX-License-Identifier: Apache-2.0

#include "tessera/explore/pair.h"

#include <tessera/call.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tessera::explore {

std::string_view NameOf(Settled settled) {
  static constexpr std::array<std::string_view, 5> kNames = {"open", "planned", "bound", "monotone",
                                                             "refused"};
  return kNames[static_cast<size_t>(settled)];
}

double PriorityOf(const Pair& pair) {
  constexpr double kLeastValue = 1e-30;
  double sum = 0;
  for (const double value : pair.least) sum += std::log(std::fmax(value, kLeastValue));
  return sum;
}

Values BestOf(const Pair& pair) {
  Values best;
  for (const Values& values : pair.values) {
    if (values.empty()) continue;
    if (best.empty()) best = values;
    for (size_t i = 0; i < values.size(); ++i) best[i] = std::min(best[i], values[i]);
  }
  return best;
}

bool HasNoPlan(const Pair& pair) {
  return pair.is_infeasible || pair.settled == Settled::kRefused ||
         std::any_of(pair.answers.begin(), pair.answers.end(),
                     [](const Answer& answer) { return answer.outcome == "infeasible"; });
}

bool IsUndecided(const Pair& pair) {
  if (pair.settled != Settled::kPlanned) return false;
  return std::none_of(pair.answers.begin(), pair.answers.end(), [](const Answer& answer) {
    return answer.HasPlan() || answer.outcome == NameOf(Outcome::kInfeasible);
  });
}

}  // namespace tessera::explore
