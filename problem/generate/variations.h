// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"

// Additions to an instance of plain buffers: penalties, fixed offsets and separated
// buffers. All are drawn from a seed. Fixed offsets and separations agree with a known solution, so
// that it stays one.
namespace tessera::problem::generate {

// Offsets by a first fit in the order of birth, for one memory whose buffers have one life each and
// no restrictions but alignments. Cost: O(n * buffers alive).
std::vector<Bytes> PlaceInOrderOfBirth(const Problem& problem);

// The highest end of a buffer in the first memory.
Bytes TopOf(const Problem& problem, const std::vector<Bytes>& offsets);

// Fixes each offset with the probability of so many millionths.
void FixOffsets(Problem& problem, const std::vector<Bytes>& solution, int64_t share_ppm,
                uint64_t seed);

// Costs of weight 1 on reuse between pairs that never live together. At most `count`: none is drawn
// twice, and the search for more ends when few are left.
void AddPenalties(Problem& problem, int count, uint64_t seed);

// Gives each buffer a value: its bytes times a number of accesses from 1 to 8, the traffic that it
// spares where it lies in a fast memory.
void AddValues(Problem& problem, uint64_t seed);

// Relations `separate` between pairs that never live together and share no address in the solution;
// at most `count`, as above.
void SeparatePairs(Problem& problem, const std::vector<Bytes>& solution, int count, uint64_t seed);

}  // namespace tessera::problem::generate
