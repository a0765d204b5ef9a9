// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/problem.h"

// Fields of a CSV with their places in the text.
namespace tessera::problem::files {

// A part of a line and its position; columns count bytes from 1. For a quoted field the text is the
// part between the quotes, in which two quotes stand for one.
struct Field {
  std::string_view text;
  int line = 0;
  int column = 0;
  bool quoted = false;
};

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

inline Field Trim(Field field) {
  while (!field.text.empty() && IsBlank(field.text.front())) {
    field.text.remove_prefix(1);
    ++field.column;
  }
  while (!field.text.empty() && IsBlank(field.text.back())) field.text.remove_suffix(1);
  return field;
}

// The parts between separators, trimmed; one more than the number of separators.
inline std::vector<Field> Split(Field whole, char separator) {
  std::vector<Field> fields;
  for (;;) {
    const size_t end = whole.text.find(separator);
    fields.push_back(Trim({whole.text.substr(0, end), whole.line, whole.column}));
    if (end == std::string_view::npos) return fields;
    whole.text.remove_prefix(end + 1);
    whole.column += static_cast<int>(end) + 1;
  }
}

// The position of the closing quote of a field that begins with a quote; npos if there is none.
inline size_t FindClosingQuote(std::string_view text) {
  for (size_t at = text.find('"', 1); at != std::string_view::npos; at = text.find('"', at + 2)) {
    if (at + 1 == text.size() || text[at + 1] != '"') return at;
  }
  return std::string_view::npos;
}

inline std::string Unquote(const Field& field) {
  std::string text;
  for (size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

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
