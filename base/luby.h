#pragma once

#include <cstdint>

namespace tessera::base {

// The n-th term, from 1, of 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...: run lengths that are within a logarithm of the
// best for any search whose run times nobody knows (Luby, Sinclair and Zuckerman 1993). Cost: O(log n).
constexpr int64_t Luby(int64_t n) {
  while (true) {
    int64_t period = 1;  // the least 2^k - 1 that is at least n
    while (period < n) period = 2 * period + 1;
    if (period == n) return (period + 1) / 2;
    n -= period / 2;
  }
}

}  // namespace tessera::base
