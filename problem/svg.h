#pragma once

#include <string>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

// A picture of an allocation, a self-contained SVG document: for each memory a map of time (across) by
// address (upwards).
//
//     loops        .-- x ------------.
//               |  +-----+
//     bank b1   |  |  a  |+-----+           one rectangle a lifespan, coloured by role, with a tooltip that
//     holds bank b0   |  +-----++  b  |           id, name, role, size, offset and lifespans
//               | //// reserved ////
//     modes     |  m0   | m1    |
//               '----------------------> step
//
// memories[0] has `capacity` bytes. Addresses far above the peak are cut off, which the picture says. The
// allocation need not be valid, only of the right shape; the problem is well formed. Equal inputs give equal
// bytes.
std::string WriteSvg(const Problem& problem, const Allocation& allocation, Bytes capacity);

// A picture of what collides: the explanation's buffers piled up (problem/collision.h), outlined in red, with the accesses that it
// names; hatched in red what sticks out above the capacity; below it everything that it says, in sentences.
std::string WriteCollisionSvg(const Problem& problem, const Explanation& explanation, Bytes capacity);

}  // namespace tessera::problem
