// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/off_chip/collision.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace tessera::search::off_chip {

Bytes CollisionSize(const TensorTile& a, Bytes base_a, const TensorTile& b, Bytes base_b) {
  size_t i = 0, j = 0;
  while (i < a.chunks.size() && j < b.chunks.size()) {
    const AddressRange x = {base_a + a.chunks[i].begin, base_a + a.chunks[i].end};
    const AddressRange y = {base_b + b.chunks[j].begin, base_b + b.chunks[j].end};
    if (x.end <= y.begin) {
      ++i;
    } else if (y.end <= x.begin) {
      ++j;
    } else {
      return x.end - y.begin;
    }
  }
  return 0;
}

Bytes ClearanceOf(const TensorTile& a, Bytes base_a, const TensorTile& b, Bytes base_b) {
  Bytes clearance = std::numeric_limits<Bytes>::max() / 2;
  size_t j = 0;
  for (const AddressRange& chunk : a.chunks) {
    while (j < b.chunks.size() && base_b + b.chunks[j].end <= base_a + chunk.begin) ++j;
    if (j == b.chunks.size()) break;
    clearance = std::min(clearance, base_b + b.chunks[j].begin - (base_a + chunk.end));
  }
  return clearance;
}

LifespanTree::LifespanTree(std::vector<Item> items)
    : items_(std::move(items)), last_upper_(items_.size()) {
  std::stable_sort(items_.begin(), items_.end(),
                   [](const Item& a, const Item& b) { return a.life.lower < b.life.lower; });
  Build(0, items_.size());
}

void LifespanTree::Build(size_t begin, size_t end) {
  if (begin == end) return;
  const size_t root = begin + (end - begin) / 2;
  problem::Step last = items_[root].life.upper;
  for (const auto& [from, to] : {std::pair(begin, root), std::pair(root + 1, end)}) {
    Build(from, to);
    if (from < to) last = std::max(last, last_upper_[from + (to - from) / 2]);
  }
  last_upper_[root] = last;
}

void LifespanTree::FindMeeting(Lifespan life, std::vector<const Item*>& found) const {
  Find(0, items_.size(), life, found);
}

void LifespanTree::Find(size_t begin, size_t end, Lifespan life,
                        std::vector<const Item*>& found) const {
  if (begin == end) return;
  const size_t root = begin + (end - begin) / 2;
  if (last_upper_[root] <= life.lower) return;
  Find(begin, root, life, found);
  const Item& item = items_[root];
  if (item.life.lower >= life.upper) return;
  if (life.lower < item.life.upper) found.push_back(&item);
  Find(root + 1, end, life, found);
}

std::vector<std::vector<Item>> FindPeers(std::span<const TiledTensor> tensors) {
  std::vector<Item> items;
  for (size_t i = 0; i < tensors.size(); ++i) {
    items.push_back({static_cast<int>(i), -1, tensors[i].whole});
    for (size_t k = 0; k < tensors[i].tiles.size(); ++k)
      items.push_back({static_cast<int>(i), static_cast<int>(k), tensors[i].tiles[k].life});
  }
  const LifespanTree tree(items);
  std::vector<std::vector<Item>> peers(tensors.size());
  std::vector<const Item*> found;
  for (size_t i = 0; i < tensors.size(); ++i) {
    found.clear();
    tree.FindMeeting(tensors[i].whole, found);
    for (const TensorTile& tile : tensors[i].tiles) tree.FindMeeting(tile.life, found);
    for (const Item* item : found) {
      if (item->tensor != static_cast<int>(i)) peers[i].push_back(*item);
    }
    const auto key = [](const Item& item) { return std::pair(item.tensor, item.tile); };
    std::sort(peers[i].begin(), peers[i].end(),
              [&](const Item& a, const Item& b) { return key(a) < key(b); });
    peers[i].erase(std::unique(peers[i].begin(), peers[i].end(),
                               [&](const Item& a, const Item& b) { return key(a) == key(b); }),
                   peers[i].end());
  }
  return peers;
}

}  // namespace tessera::search::off_chip
