#pragma once

#include <set>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::encoder::formulation {

// The offsets that leave `residue` modulo `multiple`.
struct Grid {
  problem::Bytes multiple = 1;
  problem::Bytes residue = 0;
};

// More pairs than this make a formula that no eager solver digests: 4 million pairs are 8 million
// order constraints.
inline constexpr size_t kPairLimit = 4'000'000;

// What a Problem asks of addresses, in plain data: everything about its banks, spans, reserved
// ranges, lifespans and relations that no solver need ever hear of again.
struct AddressConstraints {
  // For each memory, the unit in which its addresses may be counted: see GranularityOf.
  std::vector<problem::Bytes> granularities;

  // For each buffer, the offsets that its alignment and the rules of kind offset leave to it. A
  // rule that holds on some candidates only, or that does not merge with the others into one grid,
  // is not in it.
  std::vector<Grid> grids;

  // Pairs (i < j) of buffers that must share no byte.
  std::vector<std::pair<int, int>> disjoint;
  size_t pair_limit = kPairLimit;
  bool too_many_pairs = false;  // `disjoint` ends at the limit

  // Pairs (i < j) that a colocate or exclusive relation lets share addresses.
  std::set<std::pair<int, int>> may_share;

  // For each buffer, ranges of bytes [begin, end) that it must not touch; an empty one, begin ==
  // end, is a boundary that it must not cross. Two boundaries in ascending order never overlap.
  std::vector<std::vector<problem::AddressRange>> forbidden;
};

// `ladder` may be null. `most_pairs`: pairs that are listed before there are too many. Cost: O(n
// log n + pairs of buffers whose hulls of lifespans meet + buffers times banks).
AddressConstraints Analyse(const problem::Problem& problem, const problem::Ladder* ladder,
                           size_t most_pairs = kPairLimit);

// The largest unit g such that, if the buffers of `memory` fit at all, they fit at multiples of g;
// capacity may be rounded down to a multiple of it.
problem::Bytes GranularityOf(const problem::Problem& problem, const problem::Ladder* ladder,
                             int memory);

// The sizes of one buffer on all candidates; one alone without a ladder.
std::vector<problem::Bytes> SizesOf(const problem::Problem& problem, const problem::Ladder* ladder,
                                    size_t buffer);

// The size rounded up to a power of two; 1 <= size <= 2^62.
problem::Bytes NaturalAlignmentOf(problem::Bytes size);

// The bytes that some step needs at least, for each memory: the heaviest step, summed over the
// buffers that no colocate or exclusive relation allows to share addresses. `problem` has the sizes
// of the candidate in question.
std::vector<problem::Bytes> LoadOf(const problem::Problem& problem);

}  // namespace tessera::encoder::formulation
