// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// The mode of one memory at each step of the Problem's horizon; empty for a memory without modes.
using ModeSchedule = std::vector<int>;

struct Allocation {
  std::vector<Bytes> offsets;  // parallel to Problem::buffers
  // parallel to Problem::memories; may be empty when no memory has modes
  std::vector<ModeSchedule> modes;
};

enum class Status : uint8_t {
  kOptimal,      // placed, and no lower peak is possible
  kFeasible,     // placed within the capacity
  kInfeasible,   // proven impossible
  kUnknown,      // a limit was reached first
  kInvalid,      // the Problem contradicts itself
  kUnsupported,  // a constraint that this engine does not support
};

inline constexpr std::array<std::string_view, 6> kStatusWords = {
    "optimal", "feasible", "infeasible", "unknown", "invalid", "unsupported"};
inline std::string_view NameOf(Status status) { return kStatusWords[static_cast<size_t>(status)]; }

// Work done, in the engine's own units.
struct Statistics {
  int64_t nodes = 0;
  int64_t backtracks = 0;
  int64_t conflicts = 0;
};

// Adds the work of a part to a sum.
inline void Accumulate(Statistics& sum, const Statistics& part) {
  sum.nodes += part.nodes;
  sum.backtracks += part.backtracks;
  sum.conflicts += part.conflicts;
}

struct Result {
  Status status = Status::kUnknown;
  std::optional<Allocation> allocation;  // for kOptimal and kFeasible
  Bytes lower_bound = 0;                 // of the peak in memories[0]; always valid
  std::optional<Bytes> peak;             // in memories[0], if there is an allocation
  std::optional<int64_t> cost;           // of the allocation, if costs were minimised
  int64_t least_cost = 0;                // no allocation within the capacity costs less than this
  std::string engine;
  // why it is infeasible, or which limit or constraint applied, in the user's terms
  std::string reason;
  std::optional<Explanation> explanation;  // of kInfeasible, if one was requested
  Statistics statistics;
};

// The peak of one of several memories.
struct MemoryPeak {
  std::string memory;
  Bytes peak = 0;
  Bytes lower_bound = 0;
  friend bool operator==(const MemoryPeak&, const MemoryPeak&) = default;
};

// The highest byte used in `memory`, including guards, plus one; 0 if the memory is empty.
Bytes PeakOf(const Problem& problem, const Allocation& allocation, int memory = 0);

}  // namespace tessera::problem
