// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem::draw {

// A part of a longer program, for display.
struct Window {
  Problem problem;
  Allocation allocation;
};

// The part of `problem` and its `allocation` within the steps [lower, upper): the buffers that live
// there, with their lifespans and accesses clipped, the memories with their modes, and the loops
// that lie inside. Relations, rules and costs are left out. The allocation must have the shape that
// the problem requires. Steps keep their numbers.
Window CutWindow(const Problem& problem, const Allocation& allocation, Step lower, Step upper);

// The buffers of an explanation alone, for display. They are stacked by first fit, largest first.
// Each has its own alignment or fixed offset and avoids reserved ranges. The height of the stack is
// not limited, and banks, modes and relations are ignored. Only the accesses that the explanation
// names are kept. Steps keep their numbers; there are no modes. Cost: O(k^2) for k buffers.
Window PileUp(const Problem& problem, const Explanation& explanation);

// Returns one line for each key under which the memory lists sets of banks: "bank_groups: b0 b1 |
// b2 b3". A bank without a name is shown by its number.
std::vector<std::string> DescribeBankSets(const Memory& memory);

// Returns a picture of an allocation as a self-contained SVG document. For each memory it contains
// a map of time (across) by address (upwards).
//
//     loops        .-- x ------------.
//               |  +-----+
//   : bank b1   |  |  a  |+-----+        one rectangle per lifespan, coloured by role; its
//     holds     |  +-----++  b  |        tooltip has id, name, role, size, offset and lifespans
//   : bank b0   |         +-----+        a bar at the left for banks of one group
//               | //// reserved ////
//     modes     |  m0   | m1    |
//               '----------------------> step
//
// memories[0] has `capacity` bytes. Addresses far above the peak are cut off, and the picture notes
// it. The allocation may be invalid but must have the right shape. The problem is well formed.
// Equal inputs lead to equal bytes.
std::string WriteSvg(const Problem& problem, const Allocation& allocation, Bytes capacity);

// Returns a picture of a conflict: the stacked buffers of the explanation (PileUp), outlined in
// red, with the accesses that the explanation names. The part above the capacity is hatched in red.
// The text of the explanation is below the picture.
std::string WriteCollisionSvg(const Problem& problem, const Explanation& explanation,
                              Bytes capacity);

inline constexpr size_t kTextMapColumns = 100;

// Returns a picture of an allocation for terminals, at most `columns` (40 or more) wide. For each
// memory that holds buffers it prints rows of addresses by steps, with one letter per buffer.
//
//     sram: peak 12 of 16 bytes
//     bank_groups: lo | hi
//               step 0  2  4
//     12 .. 16  hi   .........      rows end where a buffer or a bank does: nothing is rounded
//      8 .. 12  hi   aaabbb...
//      0 ..  8  lo   ccccccccc      '.' free, '#' reserved
//     mode           000111111
//     a  conv1 (weights) 4 bytes [8, 12), steps [0, 2)
//
// Steps with the same live buffers and the same mode share a column; its head is their first step.
// If the columns do not fit, the map continues below, and each part starts its letters again.
// memories[0] has `capacity` bytes. The allocation may be invalid but must have the right shape.
std::string WriteTextMap(const Problem& problem, const Allocation& allocation, Bytes capacity,
                         size_t columns = kTextMapColumns);

}  // namespace tessera::problem::draw
