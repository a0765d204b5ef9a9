// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/canonical/gap_fill.h"
#include "tessera/search/engines/canonical/search_state.h"

namespace tessera::search::engines::canonical {

// The consequences of placing or delaying a buffer.
//
// The search looks for an allocation with the least sum of offsets; in it, no buffer can move down.
// Let M be a buffer's least offset, and up_d(v) the first position of d at or above v (alignment,
// reserved ranges, fixed buffers). Every placed neighbour of an unplaced d lies below it; let R be
// the highest of their tops.
//
//   Support bound.  If d lies above up_d(R), it rests on an unplaced buffer: M(d) rises to the
//                   least up_d(M(e) + size(e)) over its unplaced neighbours e.
//   Witness.        For the same reason an unplaced buffer must block the position up_d(R): some e
//                   has M(e) < up_d(R) + size(d). If none can, the branch fails: d could move down.
//   Section check.  The unplaced members of a clique are stacked from the least of their M. If they
//                   then exceed the capacity, less what is blocked there, the branch fails.
//   Gap fill.       The same for the gaps between fixed buffers (gap_fill.h).
//
//      capacity ------------------     The delayed d is above R. It may stay there only if e can
//            .-----.                   reach into the dotted space; d will not lie lower than e's
//            |  d  |   .---.           lowest top.
//            '-----'...| e |
//            :         '---'
//        R --#######--------------
//
// The bounds are stated with up_d rather than with tops, so they hold for any set of positions that
// does not depend on other buffers.
//
// Each function returns false when the branch fails. Analysis().Levels() is then the set of
// decisions that caused the failure. It also returns false when `work` is cut off: nothing is then
// known about the branch, and the state must be undone.
class Propagator {
 public:
  Propagator(const allocate::ConflictModel& model, CanonicalState& state, problem::Bytes capacity,
             const CanonicalOptions& options, base::PolledWork& work);

  ConflictAnalysis& Analysis() { return analysis_; }

  // Orders interchangeable buffers and raises all bounds to their fixpoint, before any decision.
  bool Start();

  // Places `buffer` at its least offset. No unplaced neighbour can lie below it there.
  bool Place(int buffer, int level);

  // Forbids the buffer its least offset, because of the decisions in Analysis().Levels().
  bool Delay(int buffer);

 private:
  bool Raise(int buffer, problem::Bytes bound, Cause cause, int subject);
  bool Propagate();
  bool CheckCliques();
  bool CheckClique(int clique);
  void FindFloor(int clique);
  bool CheckDelayed(int buffer, bool& raised);
  bool FailWitness(int buffer, problem::Bytes rest);
  void LoseCandidate(int buffer, problem::Bytes floor);
  void MarkDirty(int buffer);
  void ForgetDirty();
  problem::Bytes LeastOverload(int clique) const;

  const allocate::ConflictModel& model_;
  CanonicalState& state_;
  CanonicalOptions options_;
  base::PolledWork& work_;  // in buffers that are considered
  ConflictAnalysis analysis_;
  GapFill gap_fill_;
  std::vector<int> dirty_;  // cliques whose floor must be recomputed
  std::vector<char> is_dirty_;
  std::vector<problem::Bytes> capacity_;  // of a clique
  // Of a delayed buffer: the neighbour with the lowest top at the last search.
  std::vector<int> support_;
  std::vector<int> witness_;  // and the one with the least offset
};

}  // namespace tessera::search::engines::canonical
