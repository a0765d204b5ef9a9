// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/engines/boxing/boxer.h"
#include "tessera/search/engines/boxing/schedule.h"
#include "tessera/search/engines/order_search/placed_buffers.h"

namespace tessera::search::engines::boxing {

using order_search::Offsets;
using order_search::Order;

// Boxing as a stochastic search, as idealloc does it:
//
//     box all jobs -> colour the outermost boxes -> unbox: offsets of the buffers, with holes
//                  -> first fit in the order of these offsets -> keep the best, and start again
//
// The first placement is a first fit by decreasing size, then life. Every later first fit ends as
// soon as a buffer would not stay below the best top so far. Conflicts are found by time
// (PlacedBuffers), without an interference graph, so memory grows with the number of buffers only.
// With calibration, every other boxing uses the least legal epsilon instead of the tuned one: which
// of the two is better depends on the instance, and a search that alternates is nearly as good as
// the better one. The same seed gives the same sequence of placements.
class BoxSearch {
 public:
  // `instance` must not be empty. `known` is a placement, or empty.
  BoxSearch(Instance instance, Offsets known, uint64_t seed, const BoxingOptions& options);

  const Instance& Whole() const { return instance_; }

  // Makes one boxing and places it. If there is no placement yet, makes the first placement
  // instead. Returns false after a stop.
  bool Iterate(Effort& effort);

  bool HasPlacement() const { return !best_.empty(); }
  const Offsets& Best() const { return best_; }
  Bytes Top() const { return top_; }
  int Iterations() const { return iterations_; }

  // Continues the search from `known` if it is better than the best placement so far.
  void Adopt(Offsets known);

 private:
  Order SizeOrder() const;
  Order UnboxedOrder(const Boxing& boxing);
  bool PlaceBelow(const Order& order, Bytes limit, Effort& effort);

  Instance instance_;
  BoxingOptions options_;
  base::Random random_;
  std::vector<BoxingSchedule> schedules_;  // take turns
  order_search::PlacedBuffers placed_;
  Boxing boxing_;
  Offsets offsets_;
  Offsets best_;
  Bytes top_ = order_search::kNoTop;
  int iterations_ = 0;
};

// Returns the offset of every job of a boxing. Interval colouring places the outermost boxes in
// rows of one height; all other jobs lie inside their boxes.
Offsets OffsetsOf(const Boxing& boxing);

}  // namespace tessera::search::engines::boxing
