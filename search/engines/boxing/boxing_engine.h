// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/problem/engine.h"
#include "tessera/search/engines/boxing/boxer.h"
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

// The engine "boxing" (BoxSearch), which runs only if it is requested by name. It proves nothing;
// if a peak equals the load, that bound proves it least. Buffers that never live together, and
// buffers of one size, are placed at the load immediately.
//
// Answers kFeasible or kUnknown; LowerPeak continues the search of the session. Supports the same
// Problems as order search (order_search.h): alignment and several memories, but no fixed offsets,
// reserved ranges, gaps in lives or relations, and no rules, banks, modes and ports that restrict
// something. Hints are not tried. Budget units are those of order search.
class BoxingEngine final : public problem::Engine {
 public:
  explicit BoxingEngine(uint64_t seed = 0, const BoxingOptions& options = {})
      : seed_(seed), options_(options) {}

  std::string_view Name() const override { return "boxing"; }
  bool Refutes() const override { return false; }
  size_t Strands() const override { return 2; }
  std::unique_ptr<problem::Session> Open(const problem::Problem& problem,
                                         const problem::Ladder* ladder) const override;

 private:
  uint64_t seed_;
  BoxingOptions options_;
};

}  // namespace tessera::search::engines::boxing
