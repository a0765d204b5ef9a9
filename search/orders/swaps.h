#pragma once

#include <cstddef>
#include <vector>

#include "tessera/search/orders/precedence.h"

// The neighbours of an order: two runs of nodes that follow one another change places where no node of the one needs one of the other.
//
//     order    0 1 2 | 3 4 | 5 6      1 2 before 3 4, or behind them; so an operator moves within its range, a branch before
//     swapped  0 | 3 4 | 1 2 | 5 6    another one, or a part of it. Each cut of two chains side by side lies on some neighbour.
//
// Swaps that touch different nodes do not mind each other, so many of them are made in one order at a time: a search that may pass
// from order to order wherever these meet still has each for itself.
namespace tessera::search {

// Orders that between them make every legal swap of at most `longest` nodes around this order, the shortest first. At most `most`
// orders. Cost: for each node longest^2 looks at what it needs.
std::vector<Order> FindSwapped(const Precedence& precedence, const Order& order, int longest, size_t most);

}  // namespace tessera::search
