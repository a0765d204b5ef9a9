#pragma once

#include <optional>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/demands.h"
#include "tessera/search/partition/obstacle.h"
#include "tessera/search/partition/path_search.h"

// All subgraphs of a partition laid end to end in program time, and one placement for them.
namespace tessera::search {

struct JointPlacement {
  encoder::Program program;
  problem::Result result;
  std::vector<plan::Home> homes;                    // where the result has an allocation
  std::optional<Obstacle> obstacle = std::nullopt;  // where it has none
};

// Finds addresses in the other memories, then puts the placements that the subgraphs found alone side by side. Where long-lived buffers got one address in all of them that
// is the answer already; else the engines decide the joint Problem with those addresses as hints, nothing being fixed but what is demanded. Minimises
// the peak where the objective does, and obeys its limit. After planning.stop
// little is tried beyond the composition. An error is what encoder::BuildProgram refuses, or a fault of the program.
base::Expected<JointPlacement> PlaceJointly(const Planning& planning, const Demands& demands,
                                            const Selection& selection);

// What the selection stands for.
std::vector<encoder::SubgraphChoice> ChoicesOf(const Selection& selection);

}  // namespace tessera::search
