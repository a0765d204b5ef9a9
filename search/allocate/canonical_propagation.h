#pragma once

#include <vector>

#include "tessera/search/allocate/canonical_explain.h"
#include "tessera/search/allocate/canonical_options.h"
#include "tessera/search/allocate/canonical_state.h"

namespace tessera::search {

// What follows from placing or delaying a buffer.
//
// The search looks for an allocation with the least sum of offsets, in which therefore no buffer can move
// down. Let M be a buffer's least offset and up_d(v) the first position of d at or above v (alignment,
// reserved ranges, fixed buffers). Every placed neighbour of an unplaced d lies below it; let R be the
// highest of their tops.
//
//   Support bound.  If d lies above up_d(R) it rests on something unplaced: M(d) rises to the least
//                   up_d(M(e) + size(e)) over its unplaced neighbours e.
//   Witness.        For the same reason something unplaced must bar the position up_d(R): some e has
//                   M(e) < up_d(R) + size(d). If none can, the branch fails: d would fall down.
//   Section check.  The unplaced members of a clique stack up from the least of their M. If they then
//                   exceed the capacity, less what is blocked up there, the branch fails.
//
//      capacity ------------------     The delayed d hovers over R. It may stay there only if e can
//            .-----.                   reach into the dotted room, and will not lie lower than e's
//            |  d  |   .---.           lowest top.
//            '-----'...| e |
//            :         '---'
//        R --#######--------------
//
// The bounds are stated over up_d rather than over tops, which makes them hold for any set of
// positions that does not depend on other buffers.
//
// Each function returns false when the branch fails; Analysis().Levels() is then the set of decisions to
// blame.
class Propagator {
 public:
  Propagator(const CanonicalModel& model, CanonicalState& state, Bytes capacity,
             const CanonicalOptions& options);

  ConflictAnalysis& Analysis() { return analysis_; }

  // Orders twins and brings all bounds to their fixpoint before any decision.
  bool Start();

  // Lays `buffer` at its least offset. No unplaced neighbour can lie below it there.
  bool Place(int buffer, int level);

  // Forbids the buffer its least offset, because of the decisions in Analysis().Levels().
  bool Delay(int buffer);

 private:
  bool Raise(int buffer, Bytes bound, Cause cause, int subject);
  bool Propagate();
  bool CheckCliques();
  bool CheckClique(int clique);
  bool CheckDelayed(int buffer, bool& raised);
  bool FailWitness(int buffer, Bytes rest);
  void LoseCandidate(int buffer, Bytes floor);
  void ForgetDirty();
  Bytes LeastOverload(int clique) const;

  const CanonicalModel& model_;
  CanonicalState& state_;
  CanonicalOptions options_;
  ConflictAnalysis analysis_;
  std::vector<int> dirty_;  // cliques whose floor has to be found again
  std::vector<char> is_dirty_;
  std::vector<Bytes> capacity_;  // of a clique
  std::vector<int> support_;     // of a delayed buffer: a neighbour with the lowest top when last looked for
  std::vector<int> witness_;     // and one with the least offset
};

}  // namespace tessera::search
