// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <cstdlib>
#include <string_view>

// The switch of seeded faults: it states which fault is active, if any. Only sources that
// tests/faults/seed.py has written include this.
namespace tessera::tests {

constexpr uint64_t HashOf(std::string_view name) {
  uint64_t hash = 14695981039346656037U;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  return hash;
}

// The name of a fault, hashed at compile time because inner loops compare it.
struct Fault {
  // NOLINTNEXTLINE(google-explicit-constructor)
  consteval Fault(const char* name) : hash(HashOf(name)) {}
  uint64_t hash;
};

// Whether the environment variable TESSERA_FAULT names this fault.
inline bool IsSeeded(Fault fault) {
  static const uint64_t on = [] {
    const char* name = std::getenv("TESSERA_FAULT");
    return HashOf(name == nullptr ? "" : name);
  }();
  return on == fault.hash;
}

}  // namespace tessera::tests
