#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tessera/search/allocate/conflict_model.h"
#include "tessera/search/engines/canonical/search_state.h"

namespace tessera::search::engines::canonical {

// Fixed buffers and reserved ranges cut the addresses of a clique into gaps. The section check only
// adds up the bytes of the gaps; this rule asks how much of each gap can be filled.
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
// Sums of subsets are bits of a word array, in units of the common divisor of all sizes. If that is
// too small for a short array, the plain sum counts, cut off at the length of the gap.
//
// Cost: members times gaps times the words of a gap.
class GapFill {
 public:
  GapFill(const allocate::ConflictModel& model, problem::Bytes capacity);

  // Whether a gap that the buffer may use ends between these least offsets: then the rule should be
  // asked about all its cliques.
  bool LosesGap(int buffer, problem::Bytes before, problem::Bytes least) const {
    const std::vector<problem::Bytes>& ends = gap_ends_[static_cast<size_t>(buffer)];
    return std::upper_bound(ends.begin(), ends.end(), before) !=
           std::upper_bound(ends.begin(), ends.end(), least);
  }

  // Whether the rule permits the state of the clique.
  bool Permits(int clique, const CanonicalState& state);

  // After a refusal: requests the reasons, which are bounds of unplaced members.
  void Explain(int clique, const CanonicalState& state, ConflictAnalysis& analysis);

 private:
  struct Member {
    int buffer;
    int lowest;  // of the gaps that it may use; past the last gap if there is none
    int gaps;    // how many it may use
  };

  int FindGaps(int buffer, problem::Bytes least, int clique);
  bool MayUse(int buffer, problem::Bytes least, const problem::AddressRange& gap) const;
  problem::Bytes FillOf(int gap, problem::Bytes length);
  void AddToSums(int64_t size);

  const allocate::ConflictModel& model_;
  std::vector<std::vector<problem::AddressRange>> gaps_;  // by clique; empty: nothing is fixed
  std::vector<std::vector<problem::Bytes>> gap_ends_;  // by buffer, ascending; of all its cliques
  problem::Bytes unit_ = 0;

  // Of the last question.
  std::vector<Member> members_;
  std::vector<std::vector<char>> may_use_;  // by member, then gap
  std::vector<uint64_t> sums_;              // bit i: a subset of i units
};

}  // namespace tessera::search::engines::canonical
