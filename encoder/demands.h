#pragma once

#include <utility>
#include <vector>

#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// What a Problem asks of addresses, in plain data: everything about its banks, spans, reserved ranges,
// lifespans and relations that no solver need ever hear of again.
struct Demands {
  // For each memory, the unit in which its addresses may be counted: see GranuleOf.
  std::vector<problem::Bytes> granules;

  // Pairs (i < j) of buffers that must share no byte.
  std::vector<std::pair<int, int>> disjoint;
  bool too_many_pairs = false;  // `disjoint` ends at kPairLimit

  // For each buffer, ranges of bytes [begin, end) that it must not touch; an empty one, begin == end, is a
  // border that it must not cross. Two borders in ascending order never overlap.
  std::vector<std::vector<problem::AddressRange>> forbidden;
};

// More pairs than this make a formula that no eager solver digests: 4 million pairs are 8 million order
// constraints.
inline constexpr size_t kPairLimit = 4'000'000;

// `ladder` may be null. Cost: O(n log n + pairs of buffers whose hulls of lifespans meet + buffers times
// banks).
Demands Analyse(const problem::Problem& problem, const problem::Ladder* ladder);

// The largest unit g such that, if the buffers of `memory` fit at all, they fit at multiples of g; capacity
// may be rounded down to a multiple of it.
problem::Bytes GranuleOf(const problem::Problem& problem, const problem::Ladder* ladder, int memory);

// The bytes that some step needs at least, for each memory: the heaviest step, summed over the buffers that
// no colocate or exclusive relation allows to share addresses. `problem` has the sizes of the rung in
// question.
std::vector<problem::Bytes> LoadOf(const problem::Problem& problem);

}  // namespace tessera::encoder
