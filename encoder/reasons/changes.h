#pragma once

#include <span>
#include <vector>

#include "tessera/encoder/reasons/conditions.h"
#include "tessera/encoder/reasons/oracle.h"
#include "tessera/problem/ladder.h"

namespace tessera::encoder::reasons {

// The rung whose sizes the question has, of a ladder of others; no ladder: no rungs.
struct RungOf {
  const problem::Ladder* ladder = nullptr;
  size_t rung = 0;
};

struct ChangeSearch {
  std::vector<problem::Change> changes;
  bool all_tried = true;  // what is not listed is proven useless
};

// Single changes that make the whole question feasible, each solved. A change can only help if it touches every set of conditions
// that collide, so only those that touch `set`, one such set, are tried. See changes.cc.
ChangeSearch FindChanges(const Query& query, std::span<const problem::Condition> set, RungOf rung,
                         Oracle& oracle);

}  // namespace tessera::encoder::reasons
