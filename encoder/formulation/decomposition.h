#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// A part of a Problem: buffers that share nothing with the others, as a Problem of its own.
struct Part {
  std::vector<size_t> buffers;  // indices in the whole Problem, ascending
  problem::Problem problem;     // of these buffers alone, in the same memories
  problem::Ladder ladder;       // without candidates if the whole Problem has no ladder
};

// Splits the Problem into independent parts, in the order of their first buffers. Parts of very few
// buffers are merged, because starting a solver has a cost. The result is one part if everything is
// connected. `ladder` may be null. Cost: O(n log n), and a copy of the Problem.
std::vector<Part> FindParts(const problem::Problem& problem, const problem::Ladder* ladder);

// Opens a session for one part. The arguments outlive the session.
using PartOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                   const problem::Ladder*)>;

// A session that solves the parts one after the other and merges their answers. It stops at the
// first part that does not fit. If a limit cuts off a part, the whole is unknown, unless another
// part does not fit.
std::unique_ptr<problem::Session> OpenInParts(const problem::Problem& problem,
                                              const problem::Ladder* ladder,
                                              const PartOpener& open);

}  // namespace tessera::encoder::formulation
