#pragma once

#include <cstddef>
#include <string>

#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

namespace tessera::problem {

inline constexpr size_t kTextMapColumns = 100;

// A picture of an allocation for terminals, at most `columns` (40 or more) wide: for each memory that holds buffers, rows of addresses
// by steps, a letter for each buffer.
//
//     sram: peak 12 of 16 bytes
//               step 0  2  4
//     12 .. 16  hi   .........      rows end where a buffer or a bank does: nothing is rounded
//      8 .. 12  hi   aaabbb...
//      0 ..  8  lo   ccccccccc      '.' free, '#' reserved
//     mode           000111111
//     a  conv1 (weights) 4 bytes [8, 12), steps [0, 2)
//
// Steps at which the same buffers live under the same mode share a column, headed by their first; more columns than fit continue
// below. Letters begin again for each such part. memories[0] has `capacity` bytes. The allocation need not be valid, only of the
// right shape.
std::string WriteTextMap(const Problem& problem, const Allocation& allocation, Bytes capacity,
                         size_t columns = kTextMapColumns);

}  // namespace tessera::problem
