#pragma once

#include <functional>
#include <span>

#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"

namespace tessera::search {

// The portfolio as a function of one Problem, one capacity of its memories[0] and one budget, for those who put many questions
// (encoder/reasons): kFeasible or kOptimal with a checked allocation, kInfeasible, or what else Allocate answers. A fault of an
// engine is kUnknown with the diagnostic's message as its reason. Engines and stop outlive it.
std::function<problem::Result(const problem::Problem&, problem::Bytes, const base::Budget&)> MakeDecider(
    std::span<const problem::Engine* const> engines, const base::Stop& stop);

}  // namespace tessera::search
