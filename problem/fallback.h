// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/problem.h"

namespace tessera::problem {

// The replacement of a buffer that a choice leaves out (docs/choose.md): other bytes for the same
// steps, fewer of them in the same memory, or so many in another one.
struct Fallback {
  Bytes size = 1;
  int memory = 0;
  int64_t value = 0;  // at most that of the buffer

  friend bool operator==(const Fallback&, const Fallback&) = default;
};

// By buffer; empty if no buffer has one.
using Fallbacks = std::vector<std::optional<Fallback>>;

// The fallback as a buffer: the id, steps, accesses and alignment of `buffer`, and nothing else.
Buffer StandInFor(const Buffer& buffer, const Fallback& fallback);

// Why the fallbacks are meaningless, or nullopt: a buffer without a value, a fallback that is worth
// more or takes no less of the same memory, numbers out of range. `problem` is well formed. The
// diagnostic carries a JSON pointer into the Problem's JSON form.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem, const Fallbacks& fallbacks);

}  // namespace tessera::problem
