#pragma once

#include <cstdint>

namespace tessera::search {

// Rules of the canonical search, each of which may be switched off: answers stay right, only slower to come.
// What each rule says stands with the code that applies it.
struct CanonicalOptions {
  uint64_t seed = 0;            // shakes the orders of all restarts but the first round
  bool support = true;          // support bound, kept up to date (canonical_propagation.h)
  bool witness = true;          // (canonical_propagation.h)
  bool sections = true;         // section check (canonical_propagation.h)
  bool backjumping = true;      // else back to the last decision, whether or not it is to blame
  bool duplicates = true;       // identical buffers lie in order
  bool decomposition = true;    // independent stretches of time are searched one by one
  bool cache = true;            // refuted states are remembered (canonical_cache.h)
  int64_t cache_after = 4096;   // nodes of one search; short ones end sooner, and pay nothing for it
  bool both_directions = true;  // restarts against time as well
};

}  // namespace tessera::search
