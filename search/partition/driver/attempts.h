// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "tessera/base/diagnostic.h"
#include "tessera/plan/plan.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/ordered_network.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

// A path search finds selections of subgraphs that fit one by one. Each is placed as one program,
// the best first, until a plan has the score that its selection promised (order_search.h). The
// number of attempts is limited; each costs a joint placement and a check of its plan.
namespace tessera::search::partition::driver {

// The best plan of the attempts, and their other findings.
struct Attempted {
  std::optional<plan::Plan> best;
  paths::Selection selection;  // of the best plan
  cost::Cost cost;             // of the best plan, for ties with other plans
  answer::SearchOutcome outcome;
  std::string last_reason;
  std::optional<placement::Obstacle> obstacle;  // of the last failure
};

// Tries selections in the order of their scores and keeps the best plan. A returned diagnostic is
// an error of the program.
class Attempts {
 public:
  // All arguments must outlive the object.
  Attempts(const paths::OrderedNetwork& network, const answer::LowerBounds& lower_bounds,
           paths::PathSearch& paths);

  // Places the previous plan, and the best selection of choices that are known to fit, if there are
  // any, so that there is a result from then on.
  std::optional<base::Diagnostic> TakeKnown();

  // Searches for the best plan. `effort`: the work on what the search skipped, in tile shapes times
  // operators.
  std::optional<base::Diagnostic> Run(int64_t effort);

  bool HasPlan() const { return attempted_.best.has_value(); }
  Attempted Take();

 private:
  // The outcome for a selection. The tensors at home depend on the intervals alone. So after
  // kNoPlanAtHome no selection of the same intervals has a plan, and after kWorseAtHome none of the
  // choices known so far is better.
  enum class Outcome : uint8_t { kAsPromised, kWorse, kNoPlan, kWorseAtHome, kNoPlanAtHome };

  double BestScore() const;
  bool MeetsBound() const;
  Outcome Place(const paths::Selection& selection);
  Outcome PlaceNow(const paths::Selection& selection);
  bool IsChecked(const plan::Plan& plan);
  bool IsProvenLowest(const placement::JointPlacement& joint) const;
  cost::Cost CostOf(const plan::Plan& plan, const paths::Selection& selection) const;
  cost::Cost CostOfBest() const;
  bool IsBetter(const plan::Plan& plan, const paths::Selection& selection) const;
  void Search();
  void Forbid(const paths::Selection& selection, Outcome outcome);
  void TakeOpen();
  void Complete(int64_t effort);
  void Exchange(int64_t effort);
  void BreakTies(int64_t effort);

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  const answer::LowerBounds& lower_bounds_;
  paths::PathSearch& paths_;
  bool reordered_;  // tensors are renumbered when the plan is returned
  Attempted attempted_;
  std::optional<base::Diagnostic> fault_;
};

}  // namespace tessera::search::partition::driver
