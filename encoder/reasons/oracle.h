#pragma once

#include <functional>

#include "tessera/base/stop.h"
#include "tessera/encoder/reasons/conditions.h"
#include "tessera/problem/result.h"

namespace tessera::encoder {

// Decides whether everything fits when memories[0] has `capacity` bytes: kFeasible or kOptimal with an allocation, kInfeasible only
// with a proof, anything else where it does not know. A portfolio, one engine, or an enumeration.
using Decide = std::function<problem::Result(const problem::Problem& problem, problem::Bytes capacity,
                                             const base::Budget& budget)>;

namespace reasons {

// Puts questions to a Decide within one budget for all of them, counted in nodes, conflicts and the buffers of each question, and one
// for each.
class Oracle {
 public:
  // Decision and stop outlive this.
  Oracle(const Decide& decide, base::Budget all, base::Budget each, const base::Stop& stop)
      : decide_(decide), each_(each.units), left_(all.units), stop_(stop) {}

  // kFeasible with an allocation that problem::Validate accepts, kInfeasible, or kUnknown.
  problem::Result Solve(const Query& query);

  problem::Status Ask(const Query& query) { return Solve(query).status; }

  // Gives the questions that follow `units` more.
  void Grant(int64_t units) { left_ += units; }

 private:
  const Decide& decide_;
  int64_t each_;
  int64_t left_;
  const base::Stop& stop_;
};

}  // namespace reasons
}  // namespace tessera::encoder
