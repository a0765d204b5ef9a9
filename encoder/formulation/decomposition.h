#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// Some buffers of a Problem that share nothing with the others: a question of its own.
struct Part {
  std::vector<size_t> buffers;  // of the whole, ascending
  problem::Problem problem;     // of these buffers alone, in the same memories
  problem::Ladder ladder;       // without candidates where the whole has no ladder
};

// The parts into which the Problem falls, in the order of their first buffers; parts of very few
// buffers are put together, for a solver costs something to start. One part when everything hangs
// together. `ladder` may be null. Cost: O(n log n), and a copy of the Problem.
std::vector<Part> FindParts(const problem::Problem& problem, const problem::Ladder* ladder);

// Opens a session on one part; the arguments outlive it.
using PartOpener = std::function<std::unique_ptr<problem::Session>(const problem::Problem&,
                                                                   const problem::Ladder*)>;

// A session that asks the parts one after the other and puts their answers together. It stops at
// the first part that does not fit; a part that a limit cut off leaves the whole unknown, unless
// another does not fit.
std::unique_ptr<problem::Session> OpenInParts(const problem::Problem& problem,
                                              const problem::Ladder* ladder,
                                              const PartOpener& open);

}  // namespace tessera::encoder::formulation
