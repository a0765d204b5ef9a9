// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace tessera::base {

// xoshiro256** (Blackman, Vigna), seeded by splitmix64. The distributions of the standard library
// differ between implementations. These do not, so one seed gives one sequence on every platform.
class Random {
 public:
  explicit Random(uint64_t seed);

  uint64_t Next();

  // Uniform in [lower, upper], both ends included; lower <= upper.
  int64_t Uniform(int64_t lower, int64_t upper);

  // Uniform in [0, 1).
  double Real();

  // True with the given probability.
  bool Chance(double probability) { return Real() < probability; }

  template <typename T>
  void Shuffle(std::span<T> items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[static_cast<size_t>(Uniform(0, static_cast<int64_t>(i) - 1))]);
    }
  }

 private:
  std::array<uint64_t, 4> state_;
};

}  // namespace tessera::base
