// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/planner.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// Profiles outside the space of a specification, planned for its networks: each differs by one
// piece of hardware. A plan for one of them may also be a plan for another, which Reevaluate finds
// out; they share nothing else.
namespace tessera::explore {

// The known facts about a network on a profile, one metric minimised.
struct Standing {
  std::string outcome;       // as NameOf(Outcome)
  Planner::Figures metrics;  // of the best plan; empty without one
  std::string id;            // of the answer in the store; empty for a plan of another profile
  std::string reason;        // why there is no plan
  double at_least = 0;       // a lower bound of the minimised metric
  bool HasPlan() const { return !metrics.empty(); }
  bool IsInfeasible() const { return outcome == "infeasible"; }
};

class Variants {
 public:
  // All arguments must outlive this object.
  Variants(const Spec& spec, const Store& store, const RunOptions& options)
      : spec_(spec), store_(store), options_(options) {}

  // Replaces all profiles by these, in short form.
  std::optional<base::Diagnostic> Load(const std::vector<Json>& profiles);

  size_t Size() const { return points_.size(); }
  const Json& ProfileAt(size_t variant) const { return profiles_[variant]; }
  const std::string* FaultOf(size_t variant) const { return planner_->FaultOf(variant); }
  bool IsCancelled() const { return options_.canceller.IsCancelled(); }

  // Returns the area in mm2; nullopt if some part has no figure.
  std::optional<double> AreaOf(size_t variant) const;

  // Returns whether plans of one variant are proven to be plans of another that also keep the
  // limits of the network. Both must be profiles.
  bool IsAtLeastAsGood(size_t network, size_t better, size_t worse) const {
    return planner_->IsAtLeastAsGood(network, better, worse, {});
  }

  // Returns the facts known without a plan, for each of the profiles and networks: by variant, then
  // network.
  base::Expected<std::vector<Planner::Bounds>> FindBounds() const;

  // Plans for the questions, whose points are variants, and returns the answers in their order;
  // nullopt if the call was cancelled.
  base::Expected<std::optional<std::vector<Standing>>> Ask(
      const std::vector<Question>& questions) const;

  // Makes the plan of an answer again. The diagnostic says why there is none.
  base::Expected<Plan> PlanOf(const Question& question) const;

  // Returns the metrics that the partition of a plan has on another of the profiles, where
  // addresses and modes may change; empty if it is not a plan there, or none was found.
  base::Expected<Planner::Figures> Reevaluate(const Plan& plan, size_t variant) const;

 private:
  const Spec& spec_;
  const Store& store_;
  const RunOptions& options_;
  std::vector<Json> profiles_;
  std::vector<Point> points_;
  std::optional<Planner> planner_;
};

// Profiles that differ in one whole number.

// The values of the number at a path, in steps from the least to the greatest; the last step may be
// shorter. If an axis of the space varies the number, the values lie between those of the axis;
// else none exceeds that of the profile.
class ValueRange {
 public:
  // Refuses a path that does not name exactly one whole number. `base` must outlive the range.
  static base::Expected<ValueRange> Find(const Space& space, const BaseProfile& base,
                                         const std::string& path);

  int64_t Least() const { return least_; }
  int64_t Most() const { return most_; }
  int64_t Step() const { return step_; }

  int64_t At(int64_t index) const;
  int64_t Last() const;  // the index of the greatest value

  Json ProfileWith(int64_t index) const;

  // Returns at most `most` indices between the first and the last one: the middle first, then the
  // middles of both halves, and so on.
  std::vector<int64_t> Between(size_t most) const;

 private:
  ValueRange(const BaseProfile& base, std::string path, int64_t most)
      : base_(&base), path_(std::move(path)), most_(most) {}

  const BaseProfile* base_;
  std::string path_;
  int64_t least_ = 0;
  int64_t most_;
  int64_t step_ = 1;
};

}  // namespace tessera::explore
