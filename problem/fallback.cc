// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/fallback.h"

#include <fmt/format.h>

#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::problem {
namespace {

std::optional<base::Diagnostic> WrongFallback(std::string pointer, std::string message,
                                              std::string expected, int64_t found) {
  base::Diagnostic fault;
  fault.pointer = std::move(pointer);
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.found = std::to_string(found);
  return fault;
}

std::optional<base::Diagnostic> CheckFallback(const Problem& problem, const Buffer& buffer,
                                              const Fallback& fallback) {
  if (!buffer.value) {
    base::Diagnostic fault;
    fault.message = "a fallback of a buffer without a value, which is always placed";
    fault.hint = "give the buffer a value";
    return fault;
  }
  if (fallback.memory < 0 || static_cast<size_t>(fallback.memory) >= problem.memories.size())
    return WrongFallback("/memory", "there is no such memory", "a memory", fallback.memory);
  const bool is_in_place = fallback.memory == buffer.memory;
  const Bytes most = is_in_place ? buffer.size - 1 : base::kMaxTotal;
  if (fallback.size < 1 || fallback.size > most)
    return WrongFallback("/size",
                         is_in_place
                             ? "the fallback is no smaller than the buffer, in the same memory"
                             : "the size of the fallback is out of range",
                         fmt::format("1 to {} bytes", most), fallback.size);
  if (fallback.value < 0 || fallback.value > *buffer.value)
    return WrongFallback("/value", "the fallback is worth more than the buffer",
                         fmt::format("0 to {}", *buffer.value), fallback.value);
  return std::nullopt;
}

}  // namespace

Buffer StandInFor(const Buffer& buffer, const Fallback& fallback) {
  Buffer other;
  other.id = buffer.id;
  other.name = buffer.name;
  other.role = buffer.role;
  other.size = fallback.size;
  other.memory = fallback.memory;
  other.lifespans = buffer.lifespans;
  other.alignment = buffer.alignment;
  other.accesses = buffer.accesses;
  return other;
}

std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem,
                                                const Fallbacks& fallbacks) {
  for (size_t i = 0; i < fallbacks.size(); ++i) {
    if (!fallbacks[i]) continue;
    if (std::optional<base::Diagnostic> fault =
            CheckFallback(problem, problem.buffers[i], *fallbacks[i])) {
      fault->pointer = fmt::format("/buffers/{}/fallback{}", i, fault->pointer);
      return fault;
    }
  }
  return std::nullopt;
}

}  // namespace tessera::problem
