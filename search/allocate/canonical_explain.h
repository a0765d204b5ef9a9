#pragma once

#include <vector>

#include "tessera/search/allocate/canonical_state.h"

namespace tessera::search {

// Conflict-directed backjumping (Prosser 1993), explained lazily.
//
// When a branch fails, the failure rests on a few statements of the form "the offset of d is at least v".
// Each was once derived: the log of bound changes says from what. Going through the log from its end, each
// statement is replaced by those it came from, weakened as far as the failure allows, until only decisions
// remain. Decisions outside that set are innocent: the search leaps over them without trying their other
// branch. No explanation is built unless a branch fails, and none for changes that played no part.
//
// Cost of one failure: the log's length / 64, plus for each change that took part a binary search among its
// buffer's changes or, where the support bound did it, one for each neighbour.
class ConflictAnalysis {
 public:
  ConflictAnalysis(const CanonicalModel& model, const CanonicalState& state);

  LevelSet& Levels() { return levels_; }

  // Call when the root of the state was fixed: its bounds need no explanation.
  void FixRoot();

  // Asks for the reasons of offset(buffer) >= bound, which must hold now.
  void Need(int buffer, Bytes bound);

  // Asks why no unplaced neighbour of `buffer` reaches below `top`, and who its placed neighbours are.
  void NeedNoWitness(int buffer, Bytes top);

  // Resolves everything asked for into Levels(), which grows.
  void Resolve();

 private:
  void ResolveChange(size_t at, Bytes bound);
  void NeedSupports(int buffer, Bytes bound, size_t at);

  const CanonicalModel& model_;
  const CanonicalState& state_;
  LevelSet levels_;
  std::vector<Bytes> covered_;  // by buffer: the bound asked for, or, when none is, that of the root
  std::vector<int> needed_at_;  // by buffer: the change that first met what is asked, or -1
  std::vector<uint64_t> open_;  // changes to explain, as bits
  size_t top_ = 0;              // words of open_ that may hold a bit
};

}  // namespace tessera::search
