// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/search/engines/order_search/effort.h"
#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::order_search {

// A first placement of very many buffers, in a small part of the time of a skyline.
//
//     address ^   free ranges by size: 3, 9, rest        Buffers are placed in the order of birth,
//             |   ....rest.....                          as an allocator of a running program does
//             |  |   d   |     |---|                     (best fit with coalescing; Knuth, The Art
//             |  '-------'  9  | e |  <- next birth      of Computer Programming, volume 1, 2.5).
//             |  |a|  3  |-----'---'                     Deaths return their bytes first. Each
//             buffer
//             '--'-'-----'----------> time               takes the smallest free range that holds
//             it.
//
// Sound, because all buffers alive at a birth hold their bytes at that time. No order is better
// informed of the past or worse of the future: tops are 5 to 20 % above the load on random lives.
//
// nullopt after a stop. Cost: O(n log k) with k buffers alive.
std::optional<Offsets> PlaceBySweep(const Instance& instance, Effort& effort);

}  // namespace tessera::search::engines::order_search
