#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/adapt/homes.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/obstacle.h"
#include "tessera/search/tiling/ladder_search.h"

// Addresses for the tensors outside the tile memory, in each of the other memories.
namespace tessera::search {

struct HomePlacement {
  // Where not all fit: kInfeasible or kUnknown; and why, naming the memory.
  problem::Status status = problem::Status::kFeasible;
  std::string reason;
  std::optional<Obstacle> obstacle;
  std::vector<plan::Home> homes;  // parallel to the problems, where all fit
};

// Places each Problem on its own, as low as a small part of the budget allows, or, where it has hints, near those. What the stop cuts short is tried for a moment
// longer. An error is a fault of the program.
base::Expected<HomePlacement> PlaceHomes(std::vector<encoder::HomeProblem> problems, const Engines& engines,
                                         const base::Budget& budget, const base::Stop& stop);

}  // namespace tessera::search
