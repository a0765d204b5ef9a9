#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/search/partition/scale.h"

// The best way from the first operator to behind the last, over arcs that stand for subgraphs.
//
//     cut points    0 ---- 1 ---- 2 ---- 3          every arc is one subgraph of operators [begin, end) with one choice
//                   |______|      |      |          of tile and policy; a path from 0 to n is a partition
//                   |_____________|______|
//
// Labels at a cut point are costs of ways to get there. Sums add and maxima join, and both only grow, so a label that another
// one dominates can never win and is dropped (Martins 1984, multiple-criteria shortest path). With a single metric one label a
// cut point is left, and this is the textbook recurrence.
// Cost: O(arcs * labels) joins and as many dominance tests as labels squared.
namespace tessera::search {

struct Arc {
  int begin = 0;
  int end = 0;        // exclusive; begin < end
  size_t choice = 0;  // whatever the caller needs to know the arc again
  Cost cost;
};

struct Path {
  std::vector<size_t> arcs;  // indices, in order
  Cost cost;
};

// A partition that must not be found: its arcs in order.
using Forbidden = std::vector<Arc>;

inline constexpr size_t kMostForbidden = 32;

// The path of least score within the limits that is not forbidden, or nullopt. Of equals the first found wins, arcs being tried in
// the order given. Two arcs are the same when begin, end and choice are. At most kMostForbidden forbidden paths.
std::optional<Path> FindBestPath(const Scale& scale, int operators, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden);

// How many intervals of at most `most` operators a chain of that many has: 10 for 4 and no cap.
int64_t CountIntervals(int operators, int most);

// How many partitions into such intervals: 8 for 4 and no cap. Saturates at base::kMaxTotal.
int64_t CountPartitions(int operators, int most);

}  // namespace tessera::search
