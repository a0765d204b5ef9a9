#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem::files {

// Reads MiniMalloc's CSV: a header, then one buffer a line.
//
//     id,lower,upper,size,alignment,gaps
//     conv1,0,9,4096,64,3-5 8-9
//
// Columns id, lower, upper, size in any order; optional alignment (default 1), offset (fixed),
// hint, gaps (half-open pieces of [lower, upper) in which the buffer does not live). Optional
// fields may be empty. Lifespans are half-open; numbers are decimal without sign. CRLF, blank
// lines, blanks around fields, a UTF-8 byte order mark and quoted fields (RFC 4180, within one
// line) are fine. Bytes of an id that are no UTF-8 are escaped (base/text.h).
//
// The Problem has one memory. CSV states no capacity, so memories[0].capacity is base::kMaxTotal
// until the caller sets it. Faults carry line and column of the offending field; `file_name` is for
// messages. Cost: O(n log n).
base::Expected<Problem> ReadCsv(std::string_view text, std::string_view file_name);

// The same CSV for `problem`, with only the optional columns that some buffer needs; reading it
// back gives the same buffers. With an allocation (may be null) the offset column holds its
// offsets. What CSV cannot say is refused, naming it: several memories, banks, modes, reserved
// ranges, relations, loops, accesses, negative steps. Ids are quoted where RFC 4180 asks for it;
// control characters in them are escaped. Names, roles and annotations are for people and are left
// out; so is the capacity.
base::Expected<std::string> WriteCsv(const Problem& problem,
                                     const Allocation* allocation = nullptr);

// Versioned JSON, in and out without loss; docs/problem-format.md is its reference. Writing is
// deterministic: equal values give equal bytes. Reading is strict (base/json_reader.h) and never
// throws; what is read is well formed. `file` is for messages.

// "tessera-problem", version 1.
struct ProblemDocument {
  Problem problem;
  std::optional<Ladder> ladder;
};

base::Expected<ProblemDocument> ReadProblem(std::string_view text, std::string_view file);

// `problem` (and `ladder`, may be null) are well formed.
std::string WriteProblem(const Problem& problem, const Ladder* ladder = nullptr);

// "tessera-allocation", version 1: a Result and how it came about.
struct AllocationDocument {
  Result result;
  std::optional<Bytes> capacity;         // that memories[0] was given
  std::optional<std::string> candidate;  // of the ladder, when there is one
  std::optional<int64_t> seed;
  std::optional<double> time_ms;  // leave empty where bytes must not differ from run to run
};

// Offsets go by buffer id and modes by name, so `problem` says what they mean. An allocation that
// names every buffer and gives every step a mode is read whether or not it is correct: Validate
// decides that.
base::Expected<AllocationDocument> ReadAllocation(std::string_view text, std::string_view file,
                                                  const Problem& problem);

std::string WriteAllocation(const Problem& problem, const AllocationDocument& document);

}  // namespace tessera::problem::files
