// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "tessera/problem/problem.h"

namespace tessera::search::engines::guided {

// The features of a point that a major backtrack may return to. "Its buffer" is the buffer placed
// there, which the return would remove.
enum class Feature : uint8_t {
  kSize,        // of its buffer, relative to the capacity
  kLifetime,    // of its buffer, relative to that of the Problem
  kContention,  // the most bytes that live together with its buffer, relative to the capacity
  kLevel,       // decisions before it
  kDistance,    // decisions from it to the point that failed
  kBlamed,      // major backtracks that blamed its buffer
  kReturns,     // major backtracks to it
  kInside,      // major backtracks below it
  kSamePhase,   // 1 if its buffer has the phase of the buffer that failed last; else 0
  kBacktracks,  // major backtracks so far
};
inline constexpr size_t kFeatures = 10;
using Features = std::array<float, kFeatures>;

struct Target {
  int point = 0;
  Features features = {};
};

// The search is about to return from a point without candidates.
struct MajorBacktrack {
  const problem::Problem& problem;  // an independent part of the Problem of the query
  problem::Bytes capacity = 0;
  std::span<const int> buffers;             // by point: the buffer placed there; -1: none
  std::span<const problem::Bytes> offsets;  // by point: where it lies
  std::span<const Target> targets;          // ascending; at least one
};

// Returns the point to return to, which must precede the last one, or nullopt for the default
// policy. No answer makes the search unsound or incomplete (search_tree.h). Equal calls must return
// equal answers.
using Backtracking = std::function<std::optional<int>(const MajorBacktrack&)>;

}  // namespace tessera::search::engines::guided
