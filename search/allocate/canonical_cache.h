#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/search/allocate/positions.h"

namespace tessera::search {

// States of the canonical search that are known to lead nowhere.
//
// What can still come of a stretch of time depends on its unplaced buffers alone: on which they are, on the
// least offset M of each, and on the real top R beneath it, for whether a buffer must rest on something
// unplaced depends on both (canonical_propagation.h). Two branches that agree in these triples agree in their
// answer; (buffer, M) alone would not do. The order in which a search tries candidates plays no part, so
// states stay refuted over restarts.
//
// A table of fixed size, one state a slot, the last one wins. States are compared in full: equal hashes alone
// prove nothing. Cost: O(length) a look-up; at most kMostWords words of memory.
class FailureCache {
 public:
  FailureCache() : slots_(kSlots) {}

  bool Holds(std::span<const Bytes> state) const;
  void Insert(std::span<const Bytes> state);

 private:
  static constexpr size_t kSlots = size_t{1} << 14;
  static constexpr size_t kMostWords = size_t{1} << 22;

  static size_t SlotOf(std::span<const Bytes> state);

  std::vector<std::vector<Bytes>> slots_;
  size_t words_ = 0;
};

}  // namespace tessera::search
