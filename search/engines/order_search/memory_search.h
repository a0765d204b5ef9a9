// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/search/engines/order_search/core_search.h"

namespace tessera::search::engines::order_search {

// Searches for a placement with a low peak in one memory of a Problem.
//
// Elementary cases (elementary.h) are solved directly. Otherwise one order places all buffers.
// Sections that share no buffer split the steps into independent components. The search then
// improves those above the target one by one, the highest first; the others stay unchanged.
//
//     ---------------------- target
//      .-----.                     .--.         Only the first component matters; the second and
//      |     |      .---.          |  |         the third stay as the first order left them.
//      |     |______|   |          |  |
//     -'-----'------'---'----------'--'----> time
class MemorySearch {
 public:
  // FindUnsupportedBuffer (instance.h) must accept the memory.
  MemorySearch(const problem::Problem& problem, size_t memory, uint64_t seed, size_t strand);

  // Searches until the peak is at most `target` or the effort is over. A later call continues the
  // search.
  void Lower(Bytes target, Effort& effort);

  bool HasPlacement() const { return peak_.has_value(); }
  Bytes Peak() const { return *peak_; }

  // Writes the offsets of the best placement, by index in the Problem.
  void CopyTo(std::vector<Bytes>& offsets) const;
  // Continues from these offsets, by index in the Problem, if their peak is lower.
  void Adopt(std::span<const Bytes> offsets);

 private:
  void LowerPlaced(Bytes aim, Effort& effort);
  void Split(Bytes aim);
  CoreSearch* Highest();
  void Measure();

  const problem::Problem& problem_;
  uint64_t seed_;
  size_t strand_;
  Bytes unit_;                     // all sizes in the search are multiples of it
  CoreSearch whole_;               // of all buffers, numbered as in its Instance
  std::vector<CoreSearch> parts_;  // components still to improve; empty: search the whole
  bool divided_ = false;           // whether the components were computed
  std::optional<Bytes> peak_;
};

}  // namespace tessera::search::engines::order_search
