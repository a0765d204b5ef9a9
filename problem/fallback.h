// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// The replacement of a buffer that a choice leaves out (docs/choose.md). It lives at the same steps
// as the buffer, with fewer bytes in the same memory or with any number of bytes in another memory.
struct Fallback {
  Bytes size = 1;
  int memory = 0;
  int64_t value = 0;  // at most that of the buffer

  friend bool operator==(const Fallback&, const Fallback&) = default;
};

// The fallback of each buffer; the list is empty if no buffer has one.
using Fallbacks = std::vector<std::optional<Fallback>>;

// Returns the fallback as a buffer: id, name, role, lifespans, accesses and alignment are those of
// `buffer`, size and memory those of the fallback.
Buffer StandInFor(const Buffer& buffer, const Fallback& fallback);

// Returns the first fault, or nullopt. Faults are a fallback of a buffer without a value, a
// fallback that is worth more than its buffer or is no smaller in the same memory, and numbers out
// of range. `problem` is well formed. The diagnostic has a JSON pointer into the Problem's JSON
// form.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem, const Fallbacks& fallbacks);

}  // namespace tessera::problem
