#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "tessera/problem/engine.h"

namespace tessera::search {

using SessionOpener =
    std::function<std::unique_ptr<problem::Session>(const problem::Problem&, const problem::Ladder*)>;

// A session of an engine that knows nothing of colocation, on a Problem that may have some: `open` is handed
// the contracted Problem (contraction.h) where there is one, else `problem` itself, and answers are expanded.
// A contradiction among the colocated buffers is kInfeasible by the name of `engine`.
std::unique_ptr<problem::Session> OpenContracted(std::string_view engine, const problem::Problem& problem,
                                                 const problem::Ladder* ladder, const SessionOpener& open);

}  // namespace tessera::search
