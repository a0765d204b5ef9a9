// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/problem/tiled_tensor.h"

// The parts of the published tile-aware allocator (tile_aware.h).
namespace tessera::search::off_chip {

using problem::AddressRange;
using problem::Bytes;
using problem::Lifespan;
using problem::TensorTile;
using problem::TiledTensor;

// Returns 0 if the tiles share no byte when their tensors lie at these bases. Otherwise returns the
// distance by which the published method moves the tensor of `a` up: the end of the first chunk of
// `a` that meets a chunk of `b`, minus the begin of that chunk of `b`. It may be more or less than
// needed. Cost: linear in the chunks.
Bytes CollisionSize(const TensorTile& a, Bytes base_a, const TensorTile& b, Bytes base_b);

// Returns a distance by which `a` may move up without sharing a byte with `b`; they must share none
// now. Cost: linear in the chunks.
Bytes ClearanceOf(const TensorTile& a, Bytes base_a, const TensorTile& b, Bytes base_b);

// A tile among the tiles of several tensors; tile -1 is the whole tensor.
struct Item {
  int tensor = 0;
  int tile = -1;
  Lifespan life;
};

// A balanced search tree of lifespans by their lower step, with the greatest upper step of each
// subtree (augmented tree; Cormen et al.). It is static: all lifespans are known when it is built.
class LifespanTree {
 public:
  explicit LifespanTree(std::vector<Item> items);

  // Appends the items that live at a common step with `life`, by lower step. Cost: O(log n) for
  // each item found, plus O(log n).
  void FindMeeting(Lifespan life, std::vector<const Item*>& found) const;

 private:
  void Build(size_t begin, size_t end);
  void Find(size_t begin, size_t end, Lifespan life, std::vector<const Item*>& found) const;

  std::vector<Item> items_;                // by lower step; the middle of a range is its root
  std::vector<problem::Step> last_upper_;  // of the subtree with that root
};

// Returns the peers of each tensor: the items of other tensors that live at a common step with one
// of its tiles or with the whole tensor. Each item occurs once; they are sorted by tensor and tile.
std::vector<std::vector<Item>> FindPeers(std::span<const TiledTensor> tensors);

// The order in which tensors are placed; greatest first.
enum class TensorOrder : uint8_t { kSize, kLifetime, kPeers };
inline constexpr TensorOrder kTensorOrders[] = {TensorOrder::kSize, TensorOrder::kLifetime,
                                                TensorOrder::kPeers};

// The published tile-aware allocation (A. Kvochko et al., "Off-Chip Memory Allocation for Neural
// Processing Units", IEEE Access 2024, algorithms 1 and 2). Tensors are placed one by one:
//
//     1  at the lowest address with room for all of it among those placed that are whole then
//     2  each of its tiles is compared with each placed peer; where they collide, the tensor moves
//        up by the collision's size, and all is compared again
//
//     I  | i1 |    i2 .. i4 are still to be read          O over I, tile by tile:
//        | i2 |                                           o1 lives when i1 is gone
//        | i3 |    <- o1 is written over i1
//        | i4 |
//
// Bases are rounded up to the tensors' alignments. A placed tensor never moves again, so the peak
// may be far from the best; it is never above the sum of all sizes. Returns bases, by tensor;
// nullopt after a stop, and for more than kMostTilePairs pairs of tiles of tensors that live
// together. Cost: for each shift of a tensor, its tiles times its peers' chunks.
inline constexpr int64_t kMostTilePairs = 4'000'000;
std::optional<std::vector<Bytes>> PlaceTileAware(std::span<const TiledTensor> tensors,
                                                 TensorOrder order, const base::Stop& stop);

// Returns the bases with the lowest peak of the three orders.
std::optional<std::vector<Bytes>> PlaceTileAware(std::span<const TiledTensor> tensors,
                                                 const base::Stop& stop);

Bytes PeakOf(std::span<const TiledTensor> tensors, std::span<const Bytes> bases);

}  // namespace tessera::search::off_chip
