// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/files/problem_files.h"

// Lists of buffers as other tools write them; docs/convert.md describes each. A writer refuses a
// problem that its format cannot state, and names the reason. `file` is used in messages only.
namespace tessera::problem::files {

enum class ListFormat : uint8_t {
  kCsv,
  kJson,         // "tessera-problem"
  kTrace,        // lines "alloc ID SIZE" and "free ID"
  kDsaSolver,    // structured problems of dsa-solver, schema version 1
  kExecutorch,   // {"tensors": [...]}, lives with their last step included
  kTvm,          // {"buffers": [...]}, conflicts in place of lives
  kTfliteMicro,  // the integers of an offline plan; can only be written
};
inline constexpr std::array<std::string_view, 7> kListFormatWords = {
    "csv", "json", "trace", "dsa-solver", "executorch", "tvm", "tflite-micro"};

// `lifetimes` is for CSV only.
base::Expected<ProblemDocument> ReadList(ListFormat format, std::string_view text,
                                         std::string_view file,
                                         std::optional<Lifetimes> lifetimes = std::nullopt);
base::Expected<std::string> WriteList(ListFormat format, const ProblemDocument& document,
                                      Lifetimes lifetimes = Lifetimes::kHalfOpen);

// Each line `alloc ID SIZE [ALIGNMENT]` or `free ID` is a step; blank lines and comments, which
// begin with a '#', are not. A buffer lives from its line up to the line that frees it, or to the
// end. An id may be used again after it is freed: the new buffer is then named "ID#2", "ID#3" and
// so on.
base::Expected<Problem> ReadTrace(std::string_view text, std::string_view file);
base::Expected<std::string> WriteTrace(const Problem& problem);

// Separations, exclusions and penalties of buffers in different pools are dropped. `notes` (may be
// null) then receives a sentence with their numbers.
base::Expected<Problem> ReadDsaSolver(std::string_view text, std::string_view file,
                                      std::vector<std::string>* notes = nullptr);
base::Expected<std::string> WriteDsaSolver(const Problem& problem);

base::Expected<Problem> ReadExecutorch(std::string_view text, std::string_view file);
base::Expected<std::string> WriteExecutorch(const Problem& problem);

// ReadTvm gives every buffer a different step, and adds a relation `separate` for each conflict.
base::Expected<Problem> ReadTvm(std::string_view text, std::string_view file);
base::Expected<std::string> WriteTvm(const Problem& problem);

// Writes version, subgraph, number of buffers, and the offset of each buffer (-1 if it has none).
base::Expected<std::string> WriteTfliteMicro(const Problem& problem);

// The parts that a conversion must preserve.
struct ListSummary {
  size_t buffers = 0;
  Bytes load = 0;     // the greatest of any memory, from lives alone
  int64_t pairs = 0;  // that must not share addresses
  friend bool operator==(const ListSummary&, const ListSummary&) = default;
};
ListSummary Summarize(const Problem& problem);

// The pairs of buffers that relations keep apart, and those that they let share addresses. A pair
// in both must not share any.
struct StatedPairs {
  using Pair = std::pair<int, int>;  // ascending

  explicit StatedPairs(const Problem& problem);
  std::set<Pair> separate;
  std::set<Pair> exclusive;
};

// The refusal of something that a format cannot state.
base::Diagnostic CannotState(std::string_view format, std::string_view what);

}  // namespace tessera::problem::files
