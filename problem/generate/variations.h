// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/problem.h"

// Additions to an instance of plain buffers: penalties, values, fixed offsets and separated
// buffers. All are drawn from a seed. Fixed offsets and separations agree with a known solution,
// which therefore stays valid.
namespace tessera::problem::generate {

// Returns offsets by a first fit in the order of birth. The problem has one memory, and its buffers
// have one life each and no restrictions but alignments. Cost: O(n * buffers alive).
std::vector<Bytes> PlaceInOrderOfBirth(const Problem& problem);

// The highest end of a buffer in the first memory.
Bytes TopOf(const Problem& problem, const std::vector<Bytes>& offsets);

// Fixes each offset to that of the solution with a probability of `share_ppm` millionths.
void FixOffsets(Problem& problem, const std::vector<Bytes>& solution, int64_t share_ppm,
                uint64_t seed);

// Adds at most `count` costs of weight 1 on reuse between pairs that never live together. No pair
// is drawn twice, and drawing ends early when few new pairs are left.
void AddPenalties(Problem& problem, int count, uint64_t seed);

// Gives each buffer a value: its bytes times a number of accesses from 1 to 8, the traffic that it
// saves if it lies in a fast memory.
void AddValues(Problem& problem, uint64_t seed);

// Adds at most `count` relations `separate` between pairs that never live together and share no
// address in the solution. Pairs are drawn as in AddPenalties.
void SeparatePairs(Problem& problem, const std::vector<Bytes>& solution, int count, uint64_t seed);

}  // namespace tessera::problem::generate
