#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/encoder/adapt/homes.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/problem.h"
#include "tessera/search/partition/alone.h"

// What stands in the way of a plan, with its numbers: the part of a refusal that programs read, and that remedies start from.
namespace tessera::search {

enum class ObstacleKind : uint8_t {
  kEngine,    // no engine runs the operator
  kOperator,  // the operator has no room as a subgraph of its own
  kCover,     // operators fit, each in some subgraph, but no sequence of subgraphs reaches beyond this one
  kLimit,     // limits of the objective
  kHome,      // a memory other than the tile memory holds too little
  kJoint,     // subgraphs fit one by one, but not in one program
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
  // kOperator, kCover: the tiles that need least when it runs alone, and how its constants are held.
  graph::TileShape tile;
  std::string policy;
  problem::Bytes needed = 0;  // at once
  problem::Bytes available =
      0;                     // where that is as much as is needed, banks, modes or alignments are in the way
  bool in_one_bank = false;  // whether that is said of the longest bank, inside which the tensor belongs
  std::optional<problem::Step> step;  // of `problem`, at which they are needed
  std::vector<Holding> tensors;       // that need them, largest first
  std::vector<BrokenLimit> limits;    // kLimit
  std::vector<int> blocked;  // kOperator, kCover: operators that were not seen to fit alone, ascending
  // What has no placement within `capacity` bytes of its first memory; not where limits, engines or the load of a home are in the way.
  std::optional<problem::Problem> problem;
  problem::Bytes capacity = 0;

  bool LacksBytes() const { return needed > available; }
};

// The operator alone, which does not fit.
Obstacle ObstacleOf(const hw_profiles::Profile& profile, int op, const Alone& alone, problem::Bytes room);

Obstacle ObstacleOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const encoder::HomeOverflow& overflow);

// The limits that the bounds exceed, or, where they exceed none, all.
Obstacle LimitObstacle(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const plan::Objective& objective, const plan::Metrics& bounds);

}  // namespace tessera::search
