#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/cost/objective.h"

// The best way from the first operator to behind the last, over arcs that stand for subgraphs.
//
//     states        0 ---- 1 ---- 2 ---- 3          every arc is one subgraph with one choice of tile and policy; a path
//                   |______|      |      |          from 0 to the last state is a partition
//                   |_____________|______|
//
// States are cut points, or what else tells one cut from another (cut_states.h). Labels at a state
// are costs of ways to get there. Sums add and maxima join, and both only grow, so a label that
// another one dominates can never win and is dropped (Martins 1984, multiple-criteria shortest
// path). Labels are taken up in the order of the least score that they can lead to (A*: Hart,
// Nilsson, Raphael 1968): that of the label with the least sum and the least peak from its state
// on. So the first label at the last state is the best, and those that are worse are never
// extended. A label that cannot keep the limits, even with the least of each limited metric from
// its state on, is dropped at once. With a single metric the bound is exact, and hardly more is
// extended than the path. Cost: a pass over all arcs, then for each label extended a join for each
// arc and a dominance test for each label there. With several metrics the labels of one state can
// be exponential in the arcs: a stop ends the look.
namespace tessera::search::partition::paths {

struct Arc {
  int begin = 0;
  int end = 0;          // begin < end
  size_t interval = 0;  // whatever the caller needs to know the arc again
  size_t choice = 0;
  cost::Cost cost;
};

struct Path {
  std::vector<size_t> arcs;  // indices, in order
  cost::Cost cost;
};

// A partition that must not be found: its arcs in order.
using Forbidden = std::vector<Arc>;

inline constexpr size_t kMostForbidden = 64;

// What limits one look for a path, and what it took.
struct PathLook {
  const base::Stop* stop = nullptr;  // ends the look without a path
  int64_t joins = 0;                 // of labels with arcs; grows
};

// The path that the scale prefers from state 0 to `last`, within the limits, that is not forbidden;
// nullopt when there is none or the stop came first. Of equals the first found wins, arcs being
// tried in the order given. Two arcs are the same when begin, end, interval and choice are. At most
// kMostForbidden forbidden paths.
std::optional<Path> FindBestPath(const cost::Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look);
std::optional<Path> FindBestPath(const cost::Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden);

// How many intervals of at most `most` operators a chain of that many has: 10 for 4 and no cap.
int64_t CountIntervals(int operators, int most);

// How many partitions into such intervals: 8 for 4 and no cap. Saturates at base::kMaxTotal.
int64_t CountPartitions(int operators, int most);

}  // namespace tessera::search::partition::paths
