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

// Networks that a search loop proposes, on one or several profiles:
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
  // That of MakePlan. kUnknown too where no plan was found on another profile before a search here.
  Outcome outcome = Outcome::kUnknown;
  std::vector<PlanMetric> metrics = {};  // of the plan that MakePlan gives; empty: there is none
  // Of each metric, in the order of MetricNames: no plan that keeps the limits is below it. Those
  // of the plan, or of LowerBounds where there is none. 0 for the peak where another limit failed.
  std::vector<MetricValue> bounds = {};
  std::string reason = {};     // why there is no plan
  bool searched = false;       // false: bounds decided, or no plan was found on another profile
  bool stopped = false;        // a deadline, a memory limit or a cancellation cut the search off
  bool out_of_memory = false;  // a memory limit did
};

// Plans networks on the same profiles again and again, and keeps what does not depend on their
// differences: whole answers, prices of intervals of operators, and what engines found out. That
// changes the time of a call, never its answer. Threads may share it; copies are one evaluator.
class TESSERA_API Evaluator {
 public:
  // At least one profile. Options that MakePlan refuses are refused here.
  static Result<Evaluator> Make(std::vector<Profile> profiles,
                                const EvaluatorOptions& options = {});

  // The metrics of the plans that MakePlan gives, in the order of the profiles. `call` has limits
  // of this call in place of those of the options.
  Result<std::vector<Evaluation>> Evaluate(const Network& network,
                                           const std::optional<CallOptions>& call = {}) const;

  // The same for plans that keep the limits, in addition to those of the options. `limits` holds
  // those of each profile, or one list for all. A limit that a lower bound exceeds fails without a
  // search. If no plan is found on one profile, the network is not planned on those behind it;
  // bounds are compared on all profiles first.
  Result<std::vector<Evaluation>> EvaluateAtMost(
      const Network& network, const std::vector<std::vector<MetricValue>>& limits,
      const std::optional<CallOptions>& call = {}) const;

  // hits and misses: of evaluations that were searched for.
  SessionCounts Count() const;

  struct Content;
  explicit Evaluator(std::shared_ptr<Content> content) noexcept;

 private:
  std::shared_ptr<Content> content_;
};

}  // namespace v0
}  // namespace tessera

#endif  // TESSERA_EVALUATOR_H_
