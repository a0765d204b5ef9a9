#pragma once

#include <functional>
#include <span>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search::allocate {

// The portfolio as a function of one Problem, one capacity of its memories[0] and one budget, for
// callers with many queries (search/reasons). Returns kFeasible or kOptimal with a checked
// allocation, kInfeasible, or any other status of Allocate. An error of an engine becomes kUnknown
// with the message of the diagnostic as its reason. Engines and stop must outlive the function.
std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)>
MakeDecider(std::span<const problem::Engine* const> engines, const base::Stop& stop);

// `placed` is an answer of any engine to the problem, with memories[0] of `capacity` bytes.
// Searches for a cheaper answer (problem/problem.h) with the first engine that minimises costs;
// capacity and all other constraints still hold. The answer has Result::cost, and least_cost as far
// as it is proven. Without costs the answer is `placed` itself. If no engine minimises costs, the
// reason says so. The budget is in the units of that engine.
//
// An allocation that fails problem::Validate is an error of the program: then there is no result.
base::Expected<problem::Result> FindCheapest(const problem::Problem& problem,
                                             problem::Result placed, problem::Bytes capacity,
                                             std::span<const problem::Engine* const> engines,
                                             const base::Budget& budget, const base::Stop& stop);

}  // namespace tessera::search::allocate
