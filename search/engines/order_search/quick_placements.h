// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>

#include "tessera/search/engines/order_search/instance.h"

namespace tessera::search::engines::order_search {

// Returns a placement whose top is the greatest load, for two kinds of instances in which one
// always exists and is easy to find: buffers that never live together, and buffers of one size.
//
//     size 4    12 |-------|      |---|           Interval colouring: in the order of birth, each
//                8 |   |-----------|              buffer takes a place that is free. A new place
//                4 |---|   |----------|           is opened only if all are in use; their number
//                0 '----------------------> time  is then the number of buffers alive.
//
// Returns nullopt for all other instances. Cost: O(n log n).
std::optional<Offsets> PlaceElementary(const Instance& instance);

// Returns a first placement of very many buffers, in a small part of the time that a skyline takes.
//
//     address ^   free ranges by size: 3, 9, rest        Buffers are placed in the order of birth,
//             |   ....rest.....                          as an allocator of a running program does
//             |  |   d   |     |---|                     (best fit with coalescing; Knuth, The Art
//             |  '-------'  9  | e |  <- next birth      of Computer Programming, volume 1, 2.5).
//             |  |a|  3  |-----'---'                     Deaths return their bytes first. Each
//             '--'-'-----'----------> time               buffer takes the smallest free range
//                                                        that can hold it.
//
// The placement is valid, because all buffers alive at a birth occupy their bytes at that time. The
// order of birth uses no information about the future: tops are 5 to 20 % above the load on random
// lives.
//
// Returns nullopt after a stop. Cost: O(n log k) with k buffers alive.
std::optional<Offsets> PlaceBySweep(const Instance& instance, Effort& effort);

}  // namespace tessera::search::engines::order_search
