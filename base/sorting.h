// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tessera::base {

// Returns the positions of the keys, those of the least keys first, those of equal keys in order.
std::vector<size_t> OrderOf(std::span<const int64_t> keys);

// Sorts items by an integer key, equal ones in the order before. One sort of keys serves all types
// of items: a std::stable_sort for each makes the small library larger.
template <typename Item, typename KeyOf>
void SortBy(std::vector<Item>& items, const KeyOf& key_of) {
  std::vector<int64_t> keys;
  keys.reserve(items.size());
  for (const Item& item : items) keys.push_back(key_of(item));
  std::vector<Item> sorted;
  sorted.reserve(items.size());
  for (const size_t i : OrderOf(keys)) sorted.push_back(std::move(items[i]));
  items = std::move(sorted);
}

}  // namespace tessera::base
