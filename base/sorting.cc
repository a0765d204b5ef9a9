// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/sorting.h"

#include <algorithm>
#include <numeric>

namespace tessera::base {

std::vector<size_t> OrderOf(std::span<const int64_t> keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [keys](size_t a, size_t b) { return std::pair(keys[a], a) < std::pair(keys[b], b); });
  return order;
}

}  // namespace tessera::base
