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

}  // namespace tessera::search::engines::order_search
