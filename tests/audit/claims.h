// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <vector>

#include "run.h"

// Compares the claims of the answers to several questions about one network and one profile.
namespace tessera::audit {

// The score of these totals under an objective whose metrics are weighed by these bounds.
double ScoreUnder(const plan::Objective& objective, const plan::Metrics& bounds,
                  const plan::Metrics& totals);

class Claims {
 public:
  // The questions differ in their objectives, and perhaps in constraints; all else is equal.
  void Add(const PlanRequest& question, const Answer& answer) {
    entries_.push_back({question, answer});
  }

  // Reports every claim that a plan refutes:
  // - a bound above the value of any plan;
  // - `optimal` where a plan within the limits, and without constraints of its own, scores better;
  // - `infeasible` where a plan is within the limits.
  void Check(Run& run) const;

 private:
  struct Entry {
    PlanRequest question;
    Answer answer;
  };

  void CheckAgainst(const Entry& claim, const Entry& witness, Run& run) const;

  std::vector<Entry> entries_;
};

}  // namespace tessera::audit
