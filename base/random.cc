// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/random.h"

#include <bit>

namespace tessera::base {

Random::Random(uint64_t seed) : state_{} {
  for (uint64_t& word : state_) {
    seed += 0x9e3779b97f4a7c15;
    uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    word = z ^ (z >> 31);
  }
}

uint64_t Random::Next() {
  const uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

int64_t Random::Uniform(int64_t lower, int64_t upper) {
  const uint64_t width = static_cast<uint64_t>(upper) - static_cast<uint64_t>(lower) + 1;
  if (width == 0) return static_cast<int64_t>(Next());
  // Values below the threshold would favour the low residues, so they are drawn again.
  const uint64_t threshold = -width % width;
  uint64_t draw = Next();
  while (draw < threshold) draw = Next();
  return static_cast<int64_t>(static_cast<uint64_t>(lower) + draw % width);
}

double Random::Real() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

}  // namespace tessera::base
