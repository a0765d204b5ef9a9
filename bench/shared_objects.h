// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::bench {

// The rule that picks the next buffer and its object.
enum class ObjectStrategy : uint8_t { kBreadth, kSize, kSizeImproved };
inline constexpr ObjectStrategy kObjectStrategies[] = {
    ObjectStrategy::kBreadth, ObjectStrategy::kSize, ObjectStrategy::kSizeImproved};

// Shared Objects (Y. Pisarchyk and J. Lee, "Efficient Memory Management for Deep Neural Net
// Inference", MLSys 2020): each buffer is assigned to an object, buffers of one object never live
// together, and an object is as large as the largest of them. Objects lie one above the other:
//
//     object 2    | d |
//     object 1       |   b   |    | e |          a peak is the sum of objects
//     object 0    |   a  |  |    c    |
//
// - kBreadth takes steps by the bytes that live then, and the buffers of a step by size. A buffer
//   gets the smallest object that is large enough, or else the largest.
// - kSize takes buffers by size, with the smallest object.
// - kSizeImproved takes buffers by size in levels. A level lies between the greatest i-th largest
//   size of any step and the next such size. Within a level the buffer and object with the shortest
//   time between them come first.
//
// This is the baseline of the published tile-aware allocator. It considers the buffers of
// memories[0] with their sizes, alignments and lifespans, and returns offsets, by buffer. Cost:
// O(n^3) at most.
std::vector<problem::Bytes> PlaceSharedObjects(const problem::Problem& problem,
                                               ObjectStrategy strategy);

// Returns the placement with the lowest peak of the three strategies.
std::vector<problem::Bytes> PlaceSharedObjects(const problem::Problem& problem);

}  // namespace tessera::bench
