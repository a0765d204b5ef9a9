// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/program.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/result.h"
#include "tessera/search/off_chip/place.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/arc_table.h"
#include "tessera/search/partition/placement/obstacles.h"
#include "tessera/search/tiling/candidate_search.h"

// Addresses of the tensors outside the tile memory, in each of the other memories.
namespace tessera::search::partition::placement {

struct HomePlacement {
  // kInfeasible or kUnknown if not all tensors fit.
  problem::Status status = problem::Status::kFeasible;
  std::string reason;  // why not all fit; names the memory
  std::optional<Obstacle> obstacle;
  std::vector<plan::Home> homes;  // parallel to the problems, if all fit
  bool are_lowest = true;         // it is proven that no home has a placement with a lower peak
};

// The work that may be spent on lowering the peaks of homes, which only the off-chip peak uses.
enum class PeakEffort : uint8_t { kLittle, kWithinBudget };

// Places each Problem by itself, as low as the work allows; with kLittle, a Problem with hints
// close to these. After a stop the remaining ones are tried for a short time. An error is an error
// of the program.
base::Expected<HomePlacement> PlaceHomes(std::vector<encoder::program::HomeProblem> problems,
                                         const tiling::Engines& engines, const base::Budget& budget,
                                         PeakEffort effort, const base::Stop& stop);

// All subgraphs of a partition in program time, and one placement for them.

struct JointPlacement {
  encoder::program::Program program;
  problem::Result result;
  std::vector<plan::Home> homes;                    // if the result has an allocation
  bool are_homes_lowest = true;                     // as in HomePlacement
  std::optional<Obstacle> obstacle = std::nullopt;  // if the result has none
  // The result has none because of the other memories. Their contents depend only on the intervals
  // and their kept tensors, so every selection of these intervals fails in the same way.
  bool fails_at_home = false;
};

// Finds addresses in the other memories, then combines the placements of the single subgraphs. If
// each long-lived buffer has one address in all of them, the combination is the answer. Otherwise
// the engines decide the joint Problem with those addresses as hints; only required addresses are
// fixed. Minimises the peak if the objective does, and respects its limit. After context.stop
// little is tried apart from the combination. An error is one of encoder::BuildProgram, or an error
// of the program.
base::Expected<JointPlacement> PlaceJointly(const choices::SearchContext& context,
                                            const constraints::PlanConstraints& constraints,
                                            const paths::Selection& selection);

// Returns the choices of the selection as input of the encoder.
std::vector<encoder::program::SubgraphChoice> ChoicesOf(const paths::Selection& selection);

// Addresses that tensors must have at home, by the names of the memory and of the tensor.
using HomePins = std::map<std::pair<std::string, std::string>, problem::Bytes>;

// Places the plan's homes again, so that tensors share addresses tile by tile (options.method), and
// notes the gain in the plan. A home keeps its placement if it has banks or too many chunks
// (encoder/program/home_tiles.h), or if no lower placement was found; a note states why. Pins of
// the plan's constraints are kept too. The caller must compute the score again. Cost: the tiles of
// the plan, and the engines' budget.
base::Expected<void> PlaceHomesByTiles(plan::Plan& plan, const HomePins& pins,
                                       const off_chip::PlaceOptions& options);

}  // namespace tessera::search::partition::placement
