#pragma once

#include <functional>
#include <span>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search::allocate {

// The portfolio as a function of one Problem, one capacity of its memories[0] and one budget, for
// those who put many questions (encoder/reasons): kFeasible or kOptimal with a checked allocation,
// kInfeasible, or what else Allocate answers. A fault of an engine is kUnknown with the
// diagnostic's message as its reason. Engines and stop outlive it.
std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)>
MakeDecider(std::span<const problem::Engine* const> engines, const base::Stop& stop);

// `placed` is an answer to the problem, from whatever engine, in memories[0] of `capacity` bytes.
// Looks for one that costs less (problem/problem.h), with the first engine that minimises costs;
// capacity and everything else hold as before. The answer has Result::cost, and least_cost as far
// as it is proven. Without costs it is `placed` itself; where no engine minimises them, its reason
// says so. The budget is the engine's own.
//
// An allocation that fails problem::Validate is a fault of the program: then there is no result.
base::Expected<problem::Result> FindCheapest(const problem::Problem& problem,
                                             problem::Result placed, problem::Bytes capacity,
                                             std::span<const problem::Engine* const> engines,
                                             const base::Budget& budget, const base::Stop& stop);

}  // namespace tessera::search::allocate
