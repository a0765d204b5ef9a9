// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"

// Gaps of MiniMalloc's CSV in which a part of the buffer lives on: in `2-4@0:4` bytes [0, 4) of it.
//
//     byte 10 .-------.       .---.       chunk 1: bytes [4, 10), lives [0, 2) and [4, 6)
//           4 |       '-------'   |
//           0 '-------------------'       chunk 0: bytes [0, 4), lives [0, 6)
//             0       2       4   6 step
//
// A buffer with such gaps becomes a composite (docs/problem-format.md): a buffer for each chunk of
// bytes with equal lives, and kColocate relations from the first to the others. So every engine
// that supports composites supports windows, and the others refuse them.
namespace tessera::problem::files {

struct WindowedGap {
  Lifespan steps;
  AddressRange window;  // the bytes that live in these steps; none if the window is empty
};

// Appends the buffer, or its chunks, to the problem. The buffer has one lifespan, from its first to
// its last step; `gaps` are ascending and disjoint inside it, and windows lie inside the size.
// Returns false and appends nothing if some byte would never live.
bool AppendWithGaps(Buffer buffer, const std::vector<WindowedGap>& gaps, Problem& problem);

// The chunks of a composite: consecutive buffers of a problem.
struct ChunkRun {
  size_t first;
  std::vector<Bytes> at;  // of each chunk, from the offset of the first
};

// Returns the composites of the problem, ascending. nullopt if the problem has other relations than
// theirs, or if the living bytes of a composite are not one range at some step.
std::optional<std::vector<ChunkRun>> FindChunkRuns(const Problem& problem);

// A line of CSV.
struct FoldedLine {
  std::string_view id;
  Lifespan life;
  Bytes size = 0;
  std::vector<WindowedGap> gaps;
};

// The reverse of AppendWithGaps for a run that FindChunkRuns found, or for one buffer.
FoldedLine FoldLine(const Problem& problem, const ChunkRun& run);

}  // namespace tessera::problem::files
