// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem::files {

// How a file states lives. A half-open life [a, b) and an exclusive life (a, b) are both stated by
// the numbers a and b, and meet exactly the same other lives. An inclusive life [a, b] is the
// half-open life [a, b + 1).
enum class Lifetimes : uint8_t { kHalfOpen, kInclusive, kExclusive };
inline constexpr std::array<std::string_view, 3> kLifetimesWords = {"half-open", "inclusive",
                                                                    "exclusive"};

// Reads MiniMalloc's CSV: a header, then one buffer per line.
//
//     id,lower,upper,size,alignment,gaps
//     conv1,0,9,4096,64,3-5 8-9
//
// Columns id, lower, upper and size are required, in any order. Optional columns are alignment
// (default 1), offset (fixed), hint, value, fallback and gaps (half-open parts of [lower, upper) in
// which the buffer does not live; in `2-4@0:8` its bytes [0, 8) live on, and it is read as a
// composite of chunks, csv_fields.h). Optional fields may be empty. The names `buffer` and
// `buffer_id` stand for `id`, `begin` and `start` for `lower`. Lives and gaps are half-open unless
// `lifetimes` states otherwise. Some tools mean the last step by `end` and others the step after
// it, so `end` stands for `upper` only if `lifetimes` is stated. Numbers are decimal without sign.
// CRLF, blank lines, blanks around fields, a UTF-8 byte order mark and quoted fields (RFC 4180,
// within one line) are accepted. Bytes of an id that are not UTF-8 are escaped (base/text.h).
//
// The Problem has one memory. CSV states no capacity, so memories[0].capacity is base::kMaxTotal
// until the caller sets it. Faults carry line and column of the field; `file_name` is used in
// messages only. `fallbacks` receives the column fallback (bytes in the same memory); if it is
// null, the column is checked and dropped. Cost: O(n log n).
base::Expected<Problem> ReadCsv(std::string_view text, std::string_view file_name,
                                std::optional<Lifetimes> lifetimes = std::nullopt,
                                Fallbacks* fallbacks = nullptr);

// Writes `problem` as the same CSV, with only those optional columns that some buffer needs.
// ReadCsv reads it back to the same buffers. With an allocation (may be null) the offset column
// holds its offsets. A problem that CSV cannot represent is refused, and the fault names the
// reason: several memories, banks, modes, reserved ranges, relations other than those of gaps with
// windows, loops, accesses, negative steps. Ids are quoted as RFC 4180 requires; control characters
// in them are escaped. Names, roles, annotations and the capacity are left out. Inclusive lives get
// the columns `start` and `end`, which MiniMalloc reads as inclusive. `fallbacks` may be null; one
// with a value is refused.
base::Expected<std::string> WriteCsv(const Problem& problem, const Allocation* allocation = nullptr,
                                     Lifetimes lifetimes = Lifetimes::kHalfOpen,
                                     const Fallbacks* fallbacks = nullptr);

// Versioned JSON, read and written without loss; docs/problem-format.md is its reference. Writing
// is deterministic: equal values lead to equal bytes. Reading is strict (base/json_reader.h) and
// never throws; the result is well formed. `file` is used in messages only.

// "tessera-problem", version 1.
struct ProblemDocument {
  Problem problem;
  std::optional<Ladder> ladder;
  Fallbacks fallbacks = {};             // for alloc --maximize alone; not with a ladder
  std::vector<std::string> notes = {};  // what the reader left out, in words; never written
};

base::Expected<ProblemDocument> ReadProblem(std::string_view text, std::string_view file);

// Reads JSON if the first character is a brace, else CSV with these lifetimes.
base::Expected<ProblemDocument> ReadCsvOrJson(std::string_view text, std::string_view file,
                                              std::optional<Lifetimes> lifetimes = std::nullopt);

// `problem` (and `ladder` and `fallbacks`, which may be null) are well formed.
std::string WriteProblem(const Problem& problem, const Ladder* ladder = nullptr,
                         const Fallbacks* fallbacks = nullptr);
std::string WriteProblem(const ProblemDocument& document);

// "tessera-allocation", version 1: a Result and the settings that produced it.
struct AllocationDocument {
  Result result;
  std::optional<Bytes> capacity;         // the capacity that memories[0] had
  std::optional<std::string> candidate;  // of the ladder, if there is one
  std::optional<int64_t> seed;
  std::optional<double> time_ms;  // leave empty if the bytes must be the same in every run
  // If several memories were minimised: the peak of each, what was minimised, and a lower bound of
  // that.
  std::vector<MemoryPeak> peaks = {};
  double score = 0;
  double score_bound = 0;
};

// Offsets refer to buffer ids and modes to names, so `problem` is needed to read them. An
// allocation that states every offset and a mode for every step is read even if it is incorrect;
// Validate decides that.
base::Expected<AllocationDocument> ReadAllocation(std::string_view text, std::string_view file,
                                                  const Problem& problem);

std::string WriteAllocation(const Problem& problem, const AllocationDocument& document);

}  // namespace tessera::problem::files
