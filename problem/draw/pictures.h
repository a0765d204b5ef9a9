#pragma once

#include <cstddef>
#include <string>

#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem::draw {

// A stretch of a longer program, for looking at it.
struct Window {
  Problem problem;
  Allocation allocation;
};

// The part of `problem` and its `allocation` within the steps [lower, upper): buffers that live
// there with their lifespans and accesses clipped, the memories with their modes, the loops that
// lie inside. Relations, rules and costs are left out. The allocation has the shape that the
// problem asks for. Steps keep their numbers.
Window CutWindow(const Problem& problem, const Allocation& allocation, Step lower, Step upper);

// The buffers of an explanation by themselves, for looking at them: piled up by first fit, largest
// first, each at its own alignment or fixed offset and clear of what is reserved, however high the
// pile grows; blind to banks, modes and relations. Of their accesses only those stay that the
// explanation names. Steps keep their numbers; nothing has a mode. Cost: O(k^2) for k buffers.
Window PileUp(const Problem& problem, const Explanation& explanation);

// A picture of an allocation, a self-contained SVG document: for each memory a map of time (across)
// by address (upwards).
//
//     loops        .-- x ------------.
//               |  +-----+
//     bank b1   |  |  a  |+-----+           one rectangle a lifespan, coloured by role, with a tooltip that
//     holds bank b0   |  +-----++  b  |           id, name, role, size, offset and lifespans
//               | //// reserved ////
//     modes     |  m0   | m1    |
//               '----------------------> step
//
// memories[0] has `capacity` bytes. Addresses far above the peak are cut off, which the picture
// says. The allocation need not be valid, only of the right shape; the problem is well formed.
// Equal inputs give equal bytes.
std::string WriteSvg(const Problem& problem, const Allocation& allocation, Bytes capacity);

// A picture of what collides: the explanation's buffers piled up (problem/draw/pictures.h),
// outlined in red, with the accesses that it names; hatched in red what sticks out above the
// capacity; below it everything that it says, in sentences.
std::string WriteCollisionSvg(const Problem& problem, const Explanation& explanation,
                              Bytes capacity);

inline constexpr size_t kTextMapColumns = 100;

// A picture of an allocation for terminals, at most `columns` (40 or more) wide: for each memory
// that holds buffers, rows of addresses by steps, a letter for each buffer.
//
//     sram: peak 12 of 16 bytes
//               step 0  2  4
//     12 .. 16  hi   .........      rows end where a buffer or a bank does: nothing is rounded
//      8 .. 12  hi   aaabbb...
//      0 ..  8  lo   ccccccccc      '.' free, '#' reserved
//     mode           000111111
//     a  conv1 (weights) 4 bytes [8, 12), steps [0, 2)
//
// Steps at which the same buffers live under the same mode share a column, headed by their first;
// more columns than fit continue below. Letters begin again for each such part. memories[0] has
// `capacity` bytes. The allocation need not be valid, only of the right shape.
std::string WriteTextMap(const Problem& problem, const Allocation& allocation, Bytes capacity,
                         size_t columns = kTextMapColumns);

}  // namespace tessera::problem::draw
