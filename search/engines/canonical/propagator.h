// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/canonical/search_state.h"

namespace tessera::search::engines::canonical {

// Fixed buffers and reserved ranges cut the addresses of a clique into gaps. The section check only
// adds up the bytes of the gaps; this rule determines how much of each gap can be filled.
//
//     capacity ------------------      Members of 4, 4 and 5 bytes are left, and gaps of 6 and 7
//              |    7 free      |      bytes. 13 bytes fit into 13, but no members fill a gap of 6
//              |##### fixed ####|      better than one of 5, and one of 7 better than 5. So three
//              |    6 free      |      bytes are lost, and the branch fails.
//        0     '----------------'
//
// A member may use a gap if some position at or above its least offset lies in the gap. A member
// with one such gap must lie there. The others that may use the gap can fill it up to the greatest
// sum of a subset of their sizes that is not longer than the gap. If the sums of all gaps are less
// than the load, some member has no place. Gaps are considered independently, so the rule is sound,
// but it does not decide whether the members fit.
//
// Sums of subsets are bits of a word array, in units of the common divisor of all sizes. They are
// computed only where they can matter: for few members, and for a gap that the plain sum of their
// sizes would fill and that is larger than the spare bytes of all gaps together.
//
// Cost: members times gaps, and for a gap members times the words of its array.
class GapFill {
 public:
  GapFill(const allocate::ConflictModel& model, problem::Bytes capacity);

  // Returns whether the buffer loses a gap when its least offset rises from `before` to `least`.
  // The rule should then be applied to all its cliques.
  bool LosesGap(int buffer, problem::Bytes before, problem::Bytes least) const {
    const std::vector<problem::Bytes>& ends = gap_ends_[static_cast<size_t>(buffer)];
    return std::upper_bound(ends.begin(), ends.end(), before) !=
           std::upper_bound(ends.begin(), ends.end(), least);
  }

  // Returns whether the rule permits the state of the clique.
  bool Permits(int clique, const CanonicalState& state);

  // Requests the reasons of the last refusal by Permits, which are bounds of unplaced members.
  void Explain(int clique, const CanonicalState& state, ConflictAnalysis& analysis) const;

 private:
  // The addresses of a clique that nothing blocks.
  struct Gaps {
    std::vector<problem::AddressRange> ranges;
    // By member, then gap: its last position there, or -1.
    std::vector<problem::Bytes> last;
  };
  // Of the last call of Permits: the members that may lie in a gap.
  struct Use {
    problem::Bytes length = 0;
    problem::Bytes forced = 0;          // sizes of those that may lie nowhere else
    problem::Bytes others = 0;          // sizes of the others
    std::vector<problem::Bytes> sizes;  // of the others
  };

  bool IsLoose(int clique, const CanonicalState& state) const;
  void FindUses(int clique, const CanonicalState& state);
  problem::Bytes FillOf(const Use& use);
  bool AddToSums(int64_t size, int64_t most);

  const allocate::ConflictModel& model_;
  std::vector<Gaps> gaps_;                             // by clique; no ranges: nothing is blocked
  std::vector<std::vector<problem::Bytes>> gap_ends_;  // by buffer, ascending; of all its cliques
  problem::Bytes unit_ = 0;

  // Of the last call of Permits.
  std::vector<Use> uses_;
  std::vector<uint64_t> sums_;  // bit i: a subset of i units
};

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
//   Gap fill.       The same for the gaps between fixed buffers (GapFill).
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
