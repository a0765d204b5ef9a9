// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"

// Faults of well-formedness and their text. Internal to this module.
namespace tessera::problem {

using Fault = std::optional<base::Diagnostic>;

inline Fault FaultAt(std::string pointer, std::string message, std::string expected = "") {
  base::Diagnostic diagnostic;
  diagnostic.pointer = std::move(pointer);
  diagnostic.message = std::move(message);
  diagnostic.expected = std::move(expected);
  return diagnostic;
}

// Returns the fault of a part with the pointer of the whole before its own. Pointers are built only
// for faults, because most Problems have none.
inline Fault Within(std::string_view pointer, Fault fault) {
  if (fault) fault->pointer.insert(0, pointer);
  return fault;
}

inline Fault FaultIfOutside(int64_t value, int64_t least, int64_t most, std::string_view pointer,
                            std::string_view what) {
  if (value >= least && value <= most) return std::nullopt;
  return FaultAt(std::string(pointer),
                 fmt::format("{} {} is {}", what, value, value < least ? "too small" : "too large"),
                 most == base::kMaxTotal ? fmt::format("{} to 2^62", least)
                                         : fmt::format("{} to {}", least, most));
}

inline Fault FaultIfNoIndex(int64_t index, size_t count, std::string_view pointer,
                            std::string_view what) {
  if (index >= 0 && static_cast<uint64_t>(index) < count) return std::nullopt;
  return FaultAt(std::string(pointer), fmt::format("there is no {} {}", what, index),
                 fmt::format("an index below {}", count));
}

// Each returns the first fault of the problem's loops, rules or costs, or nullopt. The memories,
// buffers and modes must be well formed. Parts of CheckWellFormed (well_formed.h).
std::optional<base::Diagnostic> CheckWellFormedLoops(const Problem& problem);
std::optional<base::Diagnostic> CheckWellFormedRules(const Problem& problem);
std::optional<base::Diagnostic> CheckWellFormedCosts(const Problem& problem);

}  // namespace tessera::problem
