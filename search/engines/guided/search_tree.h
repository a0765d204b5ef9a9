// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/guided/backtrack_targets.h"
#include "tessera/search/engines/guided/candidates.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/clause_learning.h"
#include "tessera/search/engines/lazy/decisions.h"
#include "tessera/search/engines/lazy/propagation.h"
#include "tessera/search/engines/lazy/trail.h"

namespace tessera::search::engines::guided {

// A queue of the open Booleans. The Boolean that took most part in recent dead ends comes first
// (activity: Moskewicz et al. 2001). Before the first dead end, Booleans that were made later come
// first: banks and modes before orders of pairs. A Boolean gets its last value, initially false.
// Cost: O(log n) for each change.
class BooleanQueue {
 public:
  // Contains the integers of the trail from `first` on, but not those that are added later.
  BooleanQueue(const lazy::Trail& trail, int first);

  // Notes that the integer took part in a dead end.
  void Note(int integer);
  // Must be called after each dead end.
  void Age();
  // Must be called for each change of the trail that is undone.
  void Reopen(lazy::View view);

  // Returns the view of the next literal to assume; -1 if no Boolean is open.
  lazy::View Next();

 private:
  bool Holds(int integer) const {
    return integer >= first_ && integer - first_ < static_cast<int>(values_.size());
  }

  const lazy::Trail& trail_;
  int first_;
  lazy::ActivityHeap heap_;         // of integers, less first_
  std::vector<lazy::View> values_;  // the views that were true last
  double increment_ = 1;
};

// The tree of decisions. A point is a state in which a buffer is to be placed; it has candidates. A
// decision places one of them at its lowest valid position, which is its least offset after
// propagation, perhaps below buffers placed before.
//
//     point 0  longest  largest  greatest area
//                |
//     point 1  c1  c2  c3          c1 is a dead end, so c2 (minor backtrack), then c3 is tried.
//                \   \   \         All candidates fail: major backtrack. The last dead end blames
//                 x   x   x        the placements of points 0 and 1; the last but one is that of
//                                  point 0, whose next candidates are c1, c2 and c3.
//
// - *Minor backtrack*: a placement that leads to a contradiction is undone, and the next candidate
//   is tried.
// - *Major backtrack*: when a point has no candidate left, the search returns to the point of the
//   last but one placement that the dead end blames. The candidates that failed come first there,
//   because the other placements left no room for them. A policy may pick another point
//   (backtrack_targets.h).
// - *Stuck*: a point below which many dead ends lie is left for its next candidate.
// - *Lessons*: the clause of each dead end (clause_learning.h) stays. After a minor backtrack it
//   forbids the position that failed, so the buffer may be tried again, higher. With lessons, a
//   point without candidates gets new ones, and the search ends only with a placement or with the
//   empty clause, which proves that there is no placement.
//
// When every buffer has a place, the remaining Booleans (modes of steps, variables of constraints)
// are decided (BooleanQueue). A recipe may decide them before it places any buffer, which suits
// refutations. After a dead end below the decision of a Boolean, the search returns to the level at
// which the lesson implies a literal.
//
// Sources: TelaMalloc (Maas et al. 2023) for all but the lessons, which are those of
// conflict-driven solvers (Marques-Silva and Sakallah 1996), kept while backtracking in small steps
// as in chronological backtracking (Nadel and Ryvchin 2018).
class SearchTree {
 public:
  enum class PartOutcome : uint8_t { kPlaced, kRefuted, kUnknown };

  // All arguments must outlive this object. The propagation must have been started, and all
  // constraints written.
  SearchTree(lazy::Propagation& propagation, std::vector<Candidates> recipes, Blame& blame,
             BacktrackTargets& targets, const GuidedOptions& options);

  // Searches within the budget, in dead ends. A later call continues. After kPlaced the trail holds
  // the placement until the next call.
  PartOutcome Run(const base::Budget& budget, const base::Stop& stop);

  // Returns to the root, for another query.
  void ReturnToRoot();
  // Asserts what was learned, after the propagation was started again for a lower capacity. Returns
  // false on a contradiction.
  bool Resume();

  bool GaveUp() const { return gave_up_; }       // bounds rise in more steps than are followed
  bool Exhausted() const { return exhausted_; }  // without lessons: every candidate has failed
  const problem::Statistics& statistics() const { return statistics_; }

 private:
  bool Advance();
  bool Decide(Point& point);
  std::vector<int> CandidatesAt(int phase);
  bool Retreat();
  int TargetOfMajorBacktrack(int failed, const lazy::Lesson& lesson);
  int LeaveStuck(int target);
  void NextRecipe();
  void BacktrackTo(int level);
  void GoTo(int point);
  void NoteBlame(const lazy::Lesson& lesson);
  void Keep(const lazy::Lesson& lesson, int point);
  bool AssertUnits();
  void Reduce();
  int PhaseAt(int point) const;

  lazy::Propagation& propagation_;
  lazy::Trail& trail_;
  std::vector<Candidates> recipes_;
  Blame& blame_;
  BacktrackTargets& targets_;
  BooleanQueue booleans_;
  const GuidedOptions& options_;
  lazy::ConflictAnalysis analysis_;
  std::vector<Point> points_;  // point k is left by the decision of level k + 1
  std::vector<lazy::BoundLiteral> units_;
  size_t rooted_units_ = 0;  // units that hold at the root already
  int64_t learned_ = 0;      // clauses since the last reduction
  int64_t most_learned_;
  size_t recipe_ = 0;  // in use
  int64_t runs_ = 0;   // completed runs
  int64_t run_ends_;   // number of backtracks at which the run ends
  bool refuted_ = false;
  bool exhausted_ = false;
  bool gave_up_ = false;
  problem::Statistics statistics_;
};

}  // namespace tessera::search::engines::guided
