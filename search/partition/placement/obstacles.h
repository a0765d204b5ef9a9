// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/tiling/candidate_search.h"

// Obstacles to a plan. The simplest one is an operator that does not fit as a subgraph by itself.
// If every operator fits after a change, there may be a plan with one operator per subgraph.
namespace tessera::search::partition::placement {

// A tensor in a memory, or the part of it that one buffer holds.
struct HeldPart {
  std::string tensor;  // its id; for scratch and accumulators that of the operator
  std::string part;    // "tile", "slice", "whole": the part of it that the buffer holds
  problem::Bytes bytes = 0;
  friend bool operator==(const HeldPart&, const HeldPart&) = default;
};

// Returns the contents of these buffers of the program, largest first; sizes are those of `sized`.
std::vector<HeldPart> HeldPartsOf(const graph::Graph& graph,
                                  const encoder::program::Program& program,
                                  const problem::Problem& sized, const std::vector<int>& buffers);

// An operator as a subgraph by itself.
struct Alone {
  // kFeasible: there is a placement with these tiles. Otherwise no tile that was tried fits, and
  // these are the ones that need the fewest bytes: kInfeasible if that is proven for each, kUnknown
  // if not; kUnsupported without tiles.
  problem::Status status = problem::Status::kUnknown;
  graph::tiling::TileShape tile;
  encoder::program::Policy policy;
  problem::Problem problem;
  allocate::Bound bound;  // of the bytes that are needed at the same time
  // If a buffer must lie inside one bank and no bank is long enough: the bytes of the longest. The
  // bound is then the size of the buffer.
  std::optional<problem::Bytes> longest_bank;
  std::vector<HeldPart> held_parts;  // the parts that make up the bound
  // Why there is no placement although there are enough bytes; may be empty.
  std::string why;
};

struct AloneOptions {
  tiling::Engines engines;  // they must outlive the call
  base::Budget budget;      // for each query to an engine
  problem::Bytes room = 0;  // bytes of the tile memory that may be used
  const base::Stop& stop;
};

// Tries to place one operator alone, with the tile shapes with which a search begins and the
// smallest one, under each weight policy, those that need least first.
Alone TryAlone(const graph::Graph& graph, const hw_profiles::Profile& profile, int op,
               const AloneOptions& options);

// Returns the lowest peak of the placements found for the problem without its capacity; nullopt if
// none was found.
std::optional<problem::Bytes> PeakWithoutCapacity(const problem::Problem& problem,
                                                  const AloneOptions& options);

// The kinds of obstacles. An Obstacle, with its numbers, is the part of a refusal that programs
// read, and the input of the search for remedies.

enum class ObstacleKind : uint8_t {
  kEngine,    // no engine runs the operator
  kOperator,  // the operator does not fit as a subgraph by itself
  // each operator fits in some subgraph, but no sequence of subgraphs extends beyond this operator
  kCover,
  kLimit,  // limits of the objective
  kHome,   // a memory other than the tile memory is too small
  kJoint,  // each subgraph fits, but not all in one program
};
std::string_view NameOf(ObstacleKind kind);  // "operator"

// A limit of the objective that excludes plans.
struct BrokenLimit {
  std::string metric;
  double most = 0;   // the limit
  double bound = 0;  // lower bound of every plan; 0 if nothing is known
  int op = -1;       // the operator with the largest part of the bound, layer by layer
  double part = 0;
};

struct Obstacle {
  ObstacleKind kind = ObstacleKind::kOperator;
  int op = -1;         // kEngine, kOperator, kCover
  std::string memory;  // the memory that is too small; empty for kEngine and kLimit
  // kOperator, kCover: the tiles that need least when the operator runs alone, and the policy of
  // its constants.
  graph::tiling::TileShape tile;
  std::string policy;
  problem::Bytes needed = 0;  // at the same time
  // If this is at least `needed`, banks, modes or alignments are the cause.
  problem::Bytes available = 0;
  bool peak_is_limited = false;  // `available` is a limit of the objective
  // Whether `available` refers to the longest bank, which must hold the tensor.
  bool in_one_bank = false;
  std::optional<problem::Step> step;  // of `problem`, at which `needed` bytes are needed
  std::vector<HeldPart> tensors;      // the parts that make up `needed`, largest first
  std::vector<BrokenLimit> limits;    // kLimit
  // kOperator, kCover: operators that are not known to fit alone, ascending.
  std::vector<int> blocked;
  // The Problem that has no placement within `capacity` bytes of its first memory. Not set if
  // limits, engines or the load of a home are the cause.
  std::optional<problem::Problem> problem;
  problem::Bytes capacity = 0;

  bool LacksBytes() const { return needed > available; }
};

// Returns the obstacle of an operator that does not fit alone.
Obstacle ObstacleOf(const hw_profiles::Profile& profile, int op, const Alone& alone,
                    problem::Bytes room);

// Returns the obstacle of a home that overflows.
Obstacle ObstacleOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const encoder::program::HomeOverflow& overflow);

// Returns an obstacle of the limits that the bounds exceed; of all limits if they exceed none.
Obstacle LimitObstacle(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const plan::Objective& objective, const plan::Metrics& bounds);

}  // namespace tessera::search::partition::placement
