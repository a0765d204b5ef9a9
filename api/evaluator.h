// SPDX-License-Identifier: Apache-2.0

#ifndef TESSERA_EVALUATOR_H_
#define TESSERA_EVALUATOR_H_

#include <tessera/network.h>
#include <tessera/plan.h>
#include <tessera/profile.h>
#include <tessera/result.h>
#include <tessera/session.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

// Evaluation of networks that a search loop proposes, on one or several profiles:
//
//     auto evaluator = tessera::Evaluator::Make({npu, mcu});
//     for (...) auto found = evaluator->EvaluateAtMost(candidate, {{{"latency", 2e6}}});
namespace tessera {
inline namespace v0 {

struct EvaluatorOptions {
  PlanOptions plan = {};  // of every search; `previous`, `explain` and `certify` are refused
  std::size_t most_bytes = std::size_t{512} << 20;  // that it keeps between calls, about
};

// The known facts about the plans of a network on one profile.
struct Evaluation {
  // The outcome of MakePlan. If a bound exceeds a limit, it is kInfeasible. If no plan was found on
  // another profile before a search on this one, it is kUnknown.
  Outcome outcome = Outcome::kUnknown;
  std::vector<PlanMetric> metrics = {};  // of the plan that MakePlan returns; empty: there is none
  // A lower bound of each metric of all plans within the limits, in the order of MetricNames: those
  // of the plan, or of LowerBounds if there is no plan. The bound of the peak is 0 if another limit
  // failed. May be empty if another profile decided.
  std::vector<MetricValue> bounds = {};
  std::string reason = {};     // why there is no plan
  bool searched = false;       // false: bounds decided, or no plan was found on another profile
  bool stopped = false;        // a deadline, a memory limit or a cancellation cut the search off
  bool out_of_memory = false;  // the memory limit cut it off
};

// Plans many networks on the same profiles and caches everything that several of them share: whole
// answers, prices of intervals of operators, and answers of engines. The cache changes the time of
// a call, never its answer. Threads may share an evaluator; copies are one evaluator.
class TESSERA_API Evaluator {
 public:
  // At least one profile. Options that MakePlan refuses are refused here.
  static Result<Evaluator> Make(std::vector<Profile> profiles,
                                const EvaluatorOptions& options = {});

  // Returns the metrics of the plans that MakePlan returns, in the order of the profiles. `call`
  // replaces the call options in EvaluatorOptions::plan.
  Result<std::vector<Evaluation>> Evaluate(const Network& network,
                                           const std::optional<CallOptions>& call = {}) const;

  // As Evaluate, for plans that keep these limits in addition to those of the options. `limits` has
  // one list for each profile, or one list for all. A limit that a lower bound exceeds fails
  // without a search; the bounds are compared on all profiles first. If no plan is found on one
  // profile, the network is not planned on the later profiles.
  Result<std::vector<Evaluation>> EvaluateAtMost(
      const Network& network, const std::vector<std::vector<MetricValue>>& limits,
      const std::optional<CallOptions>& call = {}) const;

  // `hits` and `misses` leave out the evaluations that bounds decide.
  SessionCounts Count() const;

  struct Content;
  explicit Evaluator(std::shared_ptr<Content> content) noexcept;

 private:
  std::shared_ptr<Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_EVALUATOR_H_
