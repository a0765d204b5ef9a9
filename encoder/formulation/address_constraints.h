// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// The offsets with remainder `residue` modulo `multiple`.
struct Grid {
  problem::Bytes multiple = 1;
  problem::Bytes residue = 0;
};

// With more pairs than this no eager solver can handle the formula: 4 million pairs are 8 million
// order constraints.
inline constexpr size_t kPairLimit = 4'000'000;

// The constraints of a Problem on addresses, as plain data. They follow from alignments, lifespans,
// banks, spans, reserved ranges, relations and rules.
struct AddressConstraints {
  // For each memory, the unit in which its addresses may be counted: see GranularityOf.
  std::vector<problem::Bytes> granularities;

  // For each buffer, the offsets that its alignment and the rules of kind offset allow. A rule that
  // holds for some candidates only, or that does not merge with the others into one grid, is not
  // included.
  std::vector<Grid> grids;

  // Pairs (i < j) of buffers that must share no byte.
  std::vector<std::pair<int, int>> disjoint;
  size_t pair_limit = kPairLimit;
  bool too_many_pairs = false;  // `disjoint` was cut at the limit

  // Pairs (i < j) that may share addresses because of a colocate or exclusive relation.
  std::set<std::pair<int, int>> may_share;

  // For each buffer, ranges of bytes [begin, end) that it must not touch. An empty range, begin ==
  // end, is a boundary that it must not cross. Two boundaries in ascending order never overlap.
  std::vector<std::vector<problem::AddressRange>> forbidden;
};

// Derives the constraints. `ladder` may be null. `most_pairs` is the number of pairs that are
// listed before the list is cut. Polls `stop`, which may be null; after a stop the pairs are
// incomplete and the result must not be used. Cost: O(n log n + pairs of buffers whose lifespan
// hulls meet + buffers times banks).
AddressConstraints FindAddressConstraints(const problem::Problem& problem,
                                          const problem::Ladder* ladder,
                                          size_t most_pairs = kPairLimit,
                                          const base::Stop* stop = nullptr);

// Returns a unit g such that, if the buffers of `memory` fit at all, they fit at multiples of g
// (address_constraints.cc). The capacity may be rounded down to a multiple of g.
problem::Bytes GranularityOf(const problem::Problem& problem, const problem::Ladder* ladder,
                             int memory);

// Returns a lower bound of the bytes that each memory needs: the load of its heaviest step, summed
// over the buffers that no colocate or exclusive relation allows to share addresses. `problem` has
// the sizes of one candidate.
std::vector<problem::Bytes> LoadOf(const problem::Problem& problem);

}  // namespace tessera::encoder::formulation
