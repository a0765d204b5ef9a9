#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/ladder.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// Versioned JSON, in and out without loss; docs/problem-format.md is its reference. Writing is deterministic:
// equal values give equal bytes. Reading is strict (base/json_reader.h) and never throws; what is read is
// well formed. `file` is for messages.
namespace tessera::problem {

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
  std::optional<Bytes> capacity;    // that memories[0] was given
  std::optional<std::string> rung;  // of the ladder, when there is one
  std::optional<int64_t> seed;
  std::optional<double> time_ms;  // leave empty where bytes must not differ from run to run
};

// Offsets go by buffer id and modes by name, so `problem` says what they mean. An allocation that names every
// buffer and gives every step a mode is read whether or not it is correct: Validate decides that.
base::Expected<AllocationDocument> ReadAllocation(std::string_view text, std::string_view file,
                                                  const Problem& problem);

std::string WriteAllocation(const Problem& problem, const AllocationDocument& document);

}  // namespace tessera::problem
