#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/program.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/path_search.h"
#include "tessera/search/partition/placement/obstacles.h"
#include "tessera/search/tiling/candidate_search.h"

// Addresses for the tensors outside the tile memory, in each of the other memories.
namespace tessera::search::partition::placement {

struct HomePlacement {
  // Where not all fit: kInfeasible or kUnknown; and why, naming the memory.
  problem::Status status = problem::Status::kFeasible;
  std::string reason;
  std::optional<Obstacle> obstacle;
  std::vector<plan::Home> homes;  // parallel to the problems, where all fit
};

// Places each Problem on its own, as low as a small part of the budget allows, or, where it has
// hints, near those. What the stop cuts short is tried for a moment longer. An error is a fault of
// the program.
base::Expected<HomePlacement> PlaceHomes(std::vector<encoder::program::HomeProblem> problems,
                                         const tiling::Engines& engines, const base::Budget& budget,
                                         const base::Stop& stop);

// All subgraphs of a partition laid end to end in program time, and one placement for them.

struct JointPlacement {
  encoder::program::Program program;
  problem::Result result;
  std::vector<plan::Home> homes;                    // where the result has an allocation
  std::optional<Obstacle> obstacle = std::nullopt;  // where it has none
};

// Finds addresses in the other memories, then puts the placements that the subgraphs found alone
// side by side. Where long-lived buffers got one address in all of them that is the answer already;
// else the engines decide the joint Problem with those addresses as hints, nothing being fixed but
// what is required. Minimises the peak where the objective does, and obeys its limit. After
// context.stop little is tried beyond the composition. An error is what encoder::BuildProgram
// refuses, or a fault of the program.
base::Expected<JointPlacement> PlaceJointly(const choices::SearchContext& context,
                                            const constraints::PlanConstraints& constraints,
                                            const paths::Selection& selection);

// What the selection stands for.
std::vector<encoder::program::SubgraphChoice> ChoicesOf(const paths::Selection& selection);

}  // namespace tessera::search::partition::placement
