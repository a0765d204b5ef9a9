#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tessera/base/stop.h"
#include "tessera/search/orders/live_bytes.h"
#include "tessera/search/orders/precedence.h"

// The order with the fewest bytes alive.
//
// What is alive after some nodes have run depends on which they are, not on their order. So of all orders of the same nodes the best one
// may stand for all (Held, Karp 1962; for memory Ahn et al. 2020, "SERENITY"), and the best order is a shortest path through the sets
// of nodes that are closed under what they need: the cuts.
//
//     a --> b --> d          {} - {a} - {a,b} -- {a,b,c} - {a,b,c,d}
//      '--> c ---'                   '- {a,c} --'
//
// All cuts of one size are made before the next size; where they are more than `width`, the best stay. Where a network is narrow, every
// order passes through one cut, which parts the problem by itself. Exact where no size has more cuts than that; for series-parallel
// networks there are polynomial algorithms (Liu 1987), which this replaces: they take no skips.
// Cost: nodes^2 * width at most.
namespace tessera::search {

enum class LiveGoal : uint8_t {
  kPeak,  // the least peak; of ways to one cut whose peaks are equal, the one of less sum
  kSum,   // the least sum over all nodes, of those the least peak
};

inline constexpr size_t kUsualWidth = 64;

// nullopt where the stop came first.
std::optional<Order> FindLeastLiveOrder(const Precedence& precedence, const LiveBytes& live, LiveGoal goal,
                                        const base::Stop& stop, size_t width = kUsualWidth);

}  // namespace tessera::search
