#pragma once

#include <cstdint>

#include "tessera/search/orders/live_bytes.h"
#include "tessera/search/orders/precedence.h"

// Orders that a walk through the network gives. Cost: linear, but for sorting.
namespace tessera::search {

// Which operand of a node a depth-first walk goes to first.
enum class Turn : uint8_t {
  kFirst,  // the one that comes first
  kLast,
  // The one whose walk needs most beyond what it leaves, results held whole: the register allocation of Sethi and Ullman (1970), least
  // where nothing is read twice.
  kHungriest
};

// Each node behind all that it needs, those of one operand together: one branch after the other.
Order WalkDepthFirst(const Precedence& precedence, const LiveBytes& live, Turn turn);

// All branches side by side: by the most nodes that lie on a way from the first nodes, or to the last.
enum class Pace : uint8_t { kEarliest, kLatest };
Order WalkBreadthFirst(const Precedence& precedence, Pace pace);

}  // namespace tessera::search
