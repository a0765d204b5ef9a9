// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/search/engines/guided/backtracking.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

// A state of the search in which a buffer is to be placed (search_tree.h).
struct Point {
  std::vector<int> candidates;  // buffers; or, as -1 - view, orders of a Boolean
  size_t next = 0;
  int phase = 0;      // of the previous placement
  int64_t since = 0;  // backtracks before its dead ends began to count
  int64_t major = 0;  // major backtracks before it was made
  int64_t returns = 0;

  // Returns the candidate of the decision that left the point.
  int Decided() const { return candidates[next - 1]; }
};

// Asks a policy for the point to which a major backtrack returns. The targets are those of
// TelaMalloc (Maas et al. 2023, section 6.2): the placements that the dead end blames, except the
// last one, and the last point of each range of levels 0 to 4, 5 to 8, 9 to 16, 17 to 32 ... that
// has no such placement. The latter let the search leave a region that gets all the blame.
//
//     level      0 . . . 4  5 . . 8  9 . . . . 16  17 . . 20      the point of level 20 failed
//     blamed           x             x       x            x
//     targets          *          *  *       *                    8: of a range without blame
//
// Cost: O(level + literals of the lesson) for each major backtrack, plus the policy.
class BacktrackTargets {
 public:
  // `problem` must outlive this object. Without a policy, Pick returns nullopt.
  BacktrackTargets(const problem::Problem& problem, problem::Bytes capacity,
                   problem::Bytes granularity, Backtracking policy);

  // Returns the point to return to from the last one, or nullopt if the policy picks none. The
  // trail must be that of the conflict.
  std::optional<int> Pick(const std::vector<Point>& points, const lazy::Trail& trail,
                          const lazy::Lesson& lesson);

  void SetCapacity(problem::Bytes capacity) { capacity_ = capacity; }
  int64_t Count() const { return major_; }  // major backtracks so far

 private:
  struct Block {
    double bytes = 0;
    double steps = 0;
    double contention = 0;  // bytes
    int phase = 0;
    int64_t blamed = 0;
  };

  std::vector<char> FindBlamed(const lazy::Trail& trail, const lazy::Lesson& lesson);
  void Add(const std::vector<Point>& points, size_t point);

  const problem::Problem& problem_;
  problem::Bytes capacity_;
  problem::Bytes granularity_;
  Backtracking policy_;
  std::vector<Block> blocks_;  // by buffer
  double steps_ = 1;           // of the Problem
  int64_t major_ = 0;
  // Of the current backtrack.
  std::vector<int> buffers_;
  std::vector<problem::Bytes> offsets_;
  std::vector<Target> targets_;
};

}  // namespace tessera::search::engines::guided
