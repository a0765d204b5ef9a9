// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/proof/prover.h"

namespace tessera::search::allocate {

// Returns the portfolio as a function of one Problem, one capacity of its memories[0] and one
// budget, for callers with many queries (search/reasons). The function returns kFeasible or
// kOptimal with a checked allocation, kInfeasible, or any other status of Allocate. An error of an
// engine becomes kUnknown with the message of the diagnostic as its reason. Engines and stop must
// outlive the function.
std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)>
MakeDecider(std::span<const problem::Engine* const> engines, const base::Stop& stop);

// Searches for an answer that costs less than `placed` (problem/problem.h), with the first engine
// that minimises costs. `placed` must be an answer of any engine to the Problem, with memories[0]
// of `capacity` bytes; capacity and all other constraints still hold. The result contains
// Result::cost, and least_cost as far as it is proven. Without costs the result is `placed` itself.
// If no engine minimises costs, the reason states that. The budget is in the units of that engine.
//
// An allocation that fails problem::Validate is an error of the program; the function then returns
// a diagnostic.
base::Expected<problem::Result> FindCheapest(const problem::Problem& problem,
                                             problem::Result placed, problem::Bytes capacity,
                                             std::span<const problem::Engine* const> engines,
                                             const base::Budget& budget, const base::Stop& stop);

// A proof that the checker accepted, or the reason why there is none.
struct Certification {
  std::optional<std::string> proof;  // for problem::proof::CheckProof
  std::string prover;
  std::string reason;
};

// Searches for a proof that `problem`, which must be well formed, has no placement when memories[0]
// has `capacity` bytes. Tries the bounds (bounds.h) first, then each prover in order, each with
// `budget` in its units. The answer "infeasible" of an engine is not evidence: for engines that
// cannot certify, such as canonical search, another engine supplies the proof. `progress` receives
// one line for each attempt; it may be empty.
Certification Certify(const problem::Problem& problem, problem::Bytes capacity,
                      std::span<const problem::proof::Prover* const> provers,
                      const base::Budget& budget, const base::Stop& stop,
                      const base::ProgressFunction& progress);

}  // namespace tessera::search::allocate
