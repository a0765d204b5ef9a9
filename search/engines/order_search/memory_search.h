// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tessera/search/engines/order_search/core_search.h"

namespace tessera::search::engines::order_search {

// The search for a low peak of one memory of a Problem.
//
// Elementary cases are solved at once. Otherwise one order places all buffers. Where the load is
// zero, time divides into components that do not concern each other: those that are above the
// target are then searched one by one, the highest first, and the others stay.
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

  // Works until the peak is at most `target`, or the effort is over. A later call continues.
  void Lower(Bytes target, Effort& effort);

  bool HasPlacement() const { return peak_.has_value(); }
  Bytes Peak() const { return *peak_; }

  // Offsets by index in the Problem.
  void CopyTo(std::vector<Bytes>& offsets) const;
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
  std::vector<CoreSearch> parts_;  // components that are searched on; empty: the whole is
  bool divided_ = false;           // whether components were looked for
  std::optional<Bytes> peak_;
};

}  // namespace tessera::search::engines::order_search
