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

// What one operator needs when it is a subgraph of its own. Where it does not fit so, that is the
// plainest reason why there is no plan, and where it does after a change, so does a plan that runs
// operator by operator.
namespace tessera::search::partition::placement {

// A tensor in a memory, or the part of it that one buffer holds.
struct HeldPart {
  std::string tensor;  // its id; of scratch and accumulators that of the operator
  std::string part;    // "tile", "slice", "whole": what the buffer holds of it
  problem::Bytes bytes = 0;
  friend bool operator==(const HeldPart&, const HeldPart&) = default;
};

// What these buffers of the program hold, largest first; the sizes are those of `sized`.
std::vector<HeldPart> HeldPartsOf(const graph::Graph& graph,
                                  const encoder::program::Program& program,
                                  const problem::Problem& sized, const std::vector<int>& buffers);

struct Alone {
  // kFeasible: in these tiles it has a placement. Else these are the tiles that need the fewest
  // bytes among those that were tried, and none fits: kInfeasible, proven for each of them,
  // kUnknown, or kUnsupported, with no tiles.
  problem::Status status = problem::Status::kUnknown;
  graph::tiling::TileShape tile;
  encoder::program::Policy policy;
  problem::Problem problem;
  allocate::Bound bound;  // of the bytes that are needed at once
  // Where a buffer belongs inside one bank and no bank is long enough: the bytes of the longest.
  // The bound is then the buffer's size.
  std::optional<problem::Bytes> longest_bank;
  std::vector<HeldPart> held_parts;  // what makes up the bound
  std::string why;                   // no placement although the bytes would do; may be empty
};

struct AloneOptions {
  tiling::Engines engines;  // they outlive the call
  base::Budget budget;      // for each question put to an engine
  problem::Bytes room = 0;  // bytes of the tile memory that may be used
  const base::Stop& stop;
};

// Tries the tile shapes with which a search begins and the smallest there is, under each way to
// hold weights, those that need least first.
Alone TryAlone(const graph::Graph& graph, const hw_profiles::Profile& profile, int op,
               const AloneOptions& options);

// The lowest peak with which a placement of the problem was found when its capacity does not count;
// nullopt where none was.
std::optional<problem::Bytes> PeakWithoutCapacity(const problem::Problem& problem,
                                                  const AloneOptions& options);

// What stands in the way of a plan, with its numbers: the part of a refusal that programs read, and
// that remedies start from.

enum class ObstacleKind : uint8_t {
  kEngine,    // no engine runs the operator
  kOperator,  // the operator has no room as a subgraph of its own
  kCover,  // operators fit, each in some subgraph, but no sequence of subgraphs reaches beyond this one
  kLimit,  // limits of the objective
  kHome,   // a memory other than the tile memory holds too little
  kJoint,  // subgraphs fit one by one, but not in one program
};
std::string_view NameOf(ObstacleKind kind);  // "operator"

// A limit of the objective that is in the way.
struct BrokenLimit {
  std::string metric;
  double most = 0;   // what is allowed
  double bound = 0;  // no plan stays below; 0 where nothing is known
  int op = -1;       // the operator with the largest part of the bound, when each runs alone
  double part = 0;
};

struct Obstacle {
  ObstacleKind kind = ObstacleKind::kOperator;
  int op = -1;         // kEngine, kOperator, kCover
  std::string memory;  // where room lacks; empty for kEngine and kLimit
  // kOperator, kCover: the tiles that need least when it runs alone, and how its constants are
  // held.
  graph::tiling::TileShape tile;
  std::string policy;
  problem::Bytes needed = 0;  // at once
  problem::Bytes available =
      0;  // where that is as much as is needed, banks, modes or alignments are in the way
  bool in_one_bank =
      false;  // whether that is said of the longest bank, inside which the tensor belongs
  std::optional<problem::Step> step;  // of `problem`, at which they are needed
  std::vector<HeldPart> tensors;      // that need them, largest first
  std::vector<BrokenLimit> limits;    // kLimit
  std::vector<int>
      blocked;  // kOperator, kCover: operators that were not seen to fit alone, ascending
  // What has no placement within `capacity` bytes of its first memory; not where limits, engines or
  // the load of a home are in the way.
  std::optional<problem::Problem> problem;
  problem::Bytes capacity = 0;

  bool LacksBytes() const { return needed > available; }
};

// The operator alone, which does not fit.
Obstacle ObstacleOf(const hw_profiles::Profile& profile, int op, const Alone& alone,
                    problem::Bytes room);

Obstacle ObstacleOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const encoder::program::HomeOverflow& overflow);

// The limits that the bounds exceed, or, where they exceed none, all.
Obstacle LimitObstacle(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const plan::Objective& objective, const plan::Metrics& bounds);

}  // namespace tessera::search::partition::placement
