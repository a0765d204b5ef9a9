// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::search::allocate {

// A lower bound of the peak of every allocation of one memory, with its cause.
struct Bound {
  problem::Bytes bytes = 0;
  // The step whose load proves the bound; nullopt if a single buffer or separate buffers prove it.
  std::optional<problem::Step> step;
  // The buffers that need the bytes: pairwise in conflict (at `step`), or the single buffer.
  std::vector<int> buffers;
};

// Returns the greatest of the following lower bounds of the least peak.
// - The load of every section: the bytes of the buffers that live together, with the padding that
//   common alignments force between them and the reserved bytes below them. Buffers that may
//   overlap (exclusive, colocate), directly or over further ones, do not add up: of such a group
//   only the largest of a section counts. FindBound adds up colocated buffers that their distance
//   keeps apart.
// - The lowest top that a group of buffers at fixed distances can have (FindBound alone).
// - The lowest top that each buffer alone can have: its fixed offset or its first position, plus
//   its size.
// - The load of the heaviest set of buffers that pairwise live together or are separate, or of the
//   heaviest that a limited search finds (separated_stacks.h). Only FindBound looks for it, in
//   memories with separate buffers and at most 4 096. The stop (may be nullptr) ends the search.
//
// Cost: O(n log n) for n lifespans; with separate buffers O(n^2), and some 100 ms at most for the
// search.
Bound FindBound(const problem::Problem& problem, int memory, const base::Stop* stop = nullptr);

// Finds bounds as FindBound does, for a Problem of which only sizes change. Computes data that does
// not depend on sizes once. The Problem must outlive this object.
class BoundFinder {
 public:
  // If `sizes_are_fixed`, Find is always called with the sizes of the Problem, and colocated
  // buffers that are apart add up.
  BoundFinder(const problem::Problem& problem, int memory, bool sizes_are_fixed = false);
  BoundFinder(BoundFinder&&) noexcept;
  BoundFinder& operator=(BoundFinder&&) noexcept;
  BoundFinder(const BoundFinder&) = delete;
  BoundFinder& operator=(const BoundFinder&) = delete;
  ~BoundFinder();

  // `sizes` is parallel to the buffers of the problem.
  Bound Find(std::span<const problem::Bytes> sizes) const;

 private:
  struct Lives;
  const problem::Problem* problem_;
  int memory_;
  std::unique_ptr<const Lives> lives_;
};

inline constexpr std::string_view kMemoryHolds = "the memory holds";

// Returns a text such as "at step 3 the buffers b1, b2, b3 need 14 bytes together; the memory holds
// 12". `limit` states what has so many bytes.
std::string Explain(const problem::Problem& problem, const Bound& bound, problem::Bytes capacity,
                    std::string_view limit = kMemoryHolds);

// Applies the bounds to all memories of the Problem, where memories[0] has `capacity` bytes.
// Returns kInfeasible with the reason if something cannot fit, else kUnknown. lower_bound is that
// of memories[0], rounded up to a multiple of `granularity`.
problem::Result RefuteByBounds(const problem::Problem& problem, problem::Bytes capacity,
                               problem::Bytes granularity, const base::Stop* stop = nullptr,
                               std::string_view limit = kMemoryHolds);

// Returns a number of bytes that divides some optimal peak of memories[0]: the greatest common
// divisor of its sizes, alignments above 1, fixed offsets, distances and boundaries. Rounding every
// offset down to a multiple of it keeps an allocation valid, unless there are rules, or buffers
// must be adjacent or touch equal banks; in these cases the result is 1.
problem::Bytes GranularityOf(const problem::Problem& problem);

}  // namespace tessera::search::allocate
