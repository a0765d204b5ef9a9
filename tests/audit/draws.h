// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "tessera/base/random.h"

// Small functions that all draws use.
namespace tessera::audit {

// One of the values, each as likely as the others.
template <typename T, size_t n>
T OneOf(base::Random& random, const std::array<T, n>& values) {
  return values.at(static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(n) - 1)));
}

// Any value of an enumeration that begins at 0, up to and including `last`.
template <typename Value>
Value AnyUpTo(base::Random& random, Value last) {
  return static_cast<Value>(random.Uniform(0, static_cast<int64_t>(last)));
}

// The seed of one draw of one family. A draw does not depend on the draws before it.
constexpr uint64_t SeedOf(uint64_t seed, uint64_t family, uint64_t draw) {
  return (seed * 1'000'003 + family) * 1'000'000'007 + draw;
}

}  // namespace tessera::audit
