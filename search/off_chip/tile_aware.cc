// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/off_chip/tile_aware.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"

namespace tessera::search::off_chip {
namespace {

class Placement {
 public:
  Placement(std::span<const TiledTensor> tensors, std::span<const std::vector<Item>> peers)
      : tensors_(tensors), peers_(peers), bases_(tensors.size(), -1) {
    for (const TiledTensor& tensor : tensors) wholes_.push_back({{{0, tensor.size}}, tensor.whole});
  }

  std::optional<std::vector<Bytes>> Run(const std::vector<size_t>& order, const base::Stop& stop) {
    base::PolledWork work(&stop);
    for (const size_t tensor : order) {
      Bytes base = FirstRegion(tensor);
      std::vector<Meeting> meetings = MeetingsOf(tensor);
      while (const Bytes collision = CollisionAt(base, meetings)) {
        if (!work.Continues(static_cast<int64_t>(meetings.size()) + 1)) return std::nullopt;
        base = base::RoundUp(base + collision, tensors_[tensor].alignment);
      }
      bases_[tensor] = base;
    }
    return std::move(bases_);
  }

 private:
  const TensorTile& TileAt(size_t tensor, int tile) const {
    return tile < 0 ? wholes_[tensor] : tensors_[tensor].tiles[static_cast<size_t>(tile)];
  }

  // Returns the lowest address with room for the tensor among the placed tensors that are whole at
  // a common step with it.
  Bytes FirstRegion(size_t tensor) const {
    std::vector<AddressRange> taken;
    for (size_t i = 0; i < tensors_.size(); ++i) {
      if (bases_[i] >= 0 && Meet(tensors_[i].whole, tensors_[tensor].whole))
        taken.push_back({bases_[i], bases_[i] + tensors_[i].size});
    }
    problem::SortByBegin(taken);
    Bytes base = 0;
    for (const AddressRange& range : taken) {
      if (range.begin >= base + tensors_[tensor].size) break;
      base = std::max(base, base::RoundUp(range.end, tensors_[tensor].alignment));
    }
    return base;
  }

  static bool Meet(Lifespan a, Lifespan b) { return a.lower < b.upper && b.lower < a.upper; }

  // A tile of the tensor and a tile of a placed peer that live at a common step.
  struct Meeting {
    const TensorTile* own = nullptr;
    const TensorTile* other = nullptr;
    Bytes other_base = 0;
    Bytes free_up_to = -1;  // no collision from where they were compared to this base
  };

  // Returns the pairs in the order in which the published method compares them.
  std::vector<Meeting> MeetingsOf(size_t tensor) const {
    std::vector<Meeting> meetings;
    for (int tile = -1; tile < static_cast<int>(tensors_[tensor].tiles.size()); ++tile) {
      const TensorTile& own = TileAt(tensor, tile);
      if (own.chunks.empty()) continue;
      for (const Item& peer : peers_[tensor]) {
        const auto other = static_cast<size_t>(peer.tensor);
        const TensorTile& its = TileAt(other, peer.tile);
        if (bases_[other] >= 0 && Meet(own.life, peer.life) && !its.chunks.empty())
          meetings.push_back({&own, &its, bases_[other], -1});
      }
    }
    return meetings;
  }

  // Returns the size of the first collision; 0 if there is none. A tensor only moves up, so pairs
  // that it has passed are removed.
  static Bytes CollisionAt(Bytes base, std::vector<Meeting>& meetings) {
    size_t kept = 0, next = 0;
    Bytes collision = 0;
    for (; next < meetings.size() && collision == 0; ++next) {
      const Meeting& meeting = meetings[next];
      const Bytes end = meeting.other_base + meeting.other->chunks.back().end;
      if (base + meeting.own->chunks.front().begin >= end) continue;
      Meeting& kept_one = meetings[kept++] = meeting;
      if (base <= kept_one.free_up_to) continue;
      collision = CollisionSize(*kept_one.own, base, *kept_one.other, kept_one.other_base);
      if (collision == 0)
        kept_one.free_up_to =
            base + ClearanceOf(*kept_one.own, base, *kept_one.other, kept_one.other_base);
    }
    meetings.erase(meetings.begin() + static_cast<std::ptrdiff_t>(kept),
                   meetings.begin() + static_cast<std::ptrdiff_t>(next));
    return collision;
  }

  std::span<const TiledTensor> tensors_;
  std::span<const std::vector<Item>> peers_;
  std::vector<TensorTile> wholes_;  // by tensor
  std::vector<Bytes> bases_;        // -1: not placed yet
};

std::vector<size_t> Sequence(std::span<const TiledTensor> tensors,
                             std::span<const std::vector<Item>> peers, TensorOrder order) {
  const auto key = [&](size_t i) {
    const Lifespan life = tensors[i].Life();
    const int64_t lifetime = life.upper - life.lower;
    switch (order) {
      case TensorOrder::kSize:
        return std::pair(tensors[i].size, lifetime);
      case TensorOrder::kLifetime:
        return std::pair(lifetime, tensors[i].size);
      case TensorOrder::kPeers:
        break;
    }
    return std::pair(static_cast<int64_t>(peers[i].size()), tensors[i].size);
  };
  std::vector<size_t> sequence(tensors.size());
  std::iota(sequence.begin(), sequence.end(), size_t{0});
  std::stable_sort(sequence.begin(), sequence.end(),
                   [&](size_t a, size_t b) { return key(a) > key(b); });
  return sequence;
}

// Returns whether tensors that live together have too many pairs of tiles for Placement and
// FindPeers, or a stop was requested.
bool AreTooMany(std::span<const TiledTensor> tensors, const base::Stop& stop) {
  base::PolledWork work(&stop);
  int64_t pairs = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (!work.Continues()) return true;
      const Lifespan a = tensors[i].whole, b = tensors[j].whole;
      if (a.lower >= b.upper || b.lower >= a.upper) continue;
      pairs += static_cast<int64_t>((tensors[i].tiles.size() + 1) * (tensors[j].tiles.size() + 1));
      if (pairs > kMostTilePairs) return true;
    }
  }
  return false;
}

}  // namespace

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

Bytes PeakOf(std::span<const TiledTensor> tensors, std::span<const Bytes> bases) {
  Bytes peak = 0;
  for (size_t i = 0; i < tensors.size(); ++i) peak = std::max(peak, bases[i] + tensors[i].size);
  return peak;
}

std::optional<std::vector<Bytes>> PlaceTileAware(std::span<const TiledTensor> tensors,
                                                 TensorOrder order, const base::Stop& stop) {
  if (AreTooMany(tensors, stop)) return std::nullopt;
  const std::vector<std::vector<Item>> peers = FindPeers(tensors);
  return Placement(tensors, peers).Run(Sequence(tensors, peers, order), stop);
}

std::optional<std::vector<Bytes>> PlaceTileAware(std::span<const TiledTensor> tensors,
                                                 const base::Stop& stop) {
  if (AreTooMany(tensors, stop)) return std::nullopt;
  const std::vector<std::vector<Item>> peers = FindPeers(tensors);
  std::optional<std::vector<Bytes>> best;
  for (const TensorOrder order : kTensorOrders) {
    std::optional<std::vector<Bytes>> bases =
        Placement(tensors, peers).Run(Sequence(tensors, peers, order), stop);
    if (!bases) return std::nullopt;
    if (!best || PeakOf(tensors, *bases) < PeakOf(tensors, *best)) best = std::move(bases);
  }
  return best;
}

}  // namespace tessera::search::off_chip
