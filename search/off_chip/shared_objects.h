// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/problem/problem.h"

namespace tessera::search::off_chip {

// Which buffer gets an object next, and which.
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
// kBreadth: steps by the bytes that live then, buffers of a step by size; the smallest object that
// is large enough, or else the largest. kSize: buffers by size; the smallest object. kSizeImproved:
// buffers by size in levels, between the greatest i-th largest size of any step and the next;
// within a level the buffer and object with the shortest time between them come first.
//
// The baseline of the published tile-aware allocator. Considers the buffers of memories[0], their
// sizes, alignments and lifespans. Returns offsets, by buffer. Cost: O(n^3) at most.
std::vector<problem::Bytes> PlaceSharedObjects(const problem::Problem& problem,
                                               ObjectStrategy strategy);

// The lowest peak of the three strategies.
std::vector<problem::Bytes> PlaceSharedObjects(const problem::Problem& problem);

}  // namespace tessera::search::off_chip
