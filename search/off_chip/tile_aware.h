// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/off_chip/collision.h"

namespace tessera::search::off_chip {

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
