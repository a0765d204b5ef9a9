// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

#include "tessera/base/random.h"
#include "tessera/search/engines/order_search/effort.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/orders.h"
#include "tessera/search/engines/order_search/placed_buffers.h"
#include "tessera/search/engines/order_search/skyline.h"

namespace tessera::search::engines::order_search {

// Squeaky-wheel optimisation (Joslin and Clements, JAIR 10, 1999): construct, blame, reorder.
//
// An order is a vector of keys. Each construction places all buffers in that order. Then the keys
// of the buffers that end above the target rise, so that these buffers come earlier next time.
// After some constructions without progress, new keys are drawn. Two kinds of construction take
// turns, and the better one gets most of the turns: the skyline, with products of powers of size,
// life and contention, and first fit, with class orders. The skyline is better with few buffers
// alive, first fit with thousands.
//
// Components of the instance that are not connected in time are judged separately: the search
// keeps, for each component, the best placement of all constructions. A core (CoreSearch) often
// consists of many windows, and no order is good for all of them.
class SqueakyWheel {
 public:
  // `instance` must outlive this object. `contention` is parallel to its buffers.
  SqueakyWheel(const Instance& instance, std::span<const Bytes> contention, uint64_t seed);

  // Runs one construction and blames the buffers that end above `line`. Returns false after a stop.
  bool Construct(Bytes line, Effort& effort);

  // Returns the best placement of every component so far.
  const Offsets& Placement() const { return best_; }
  Bytes Top() const { return top_; }

  // Returns whether the last construction was the best so far for some component.
  bool HasGained() const { return has_gained_; }

 private:
  enum Method : uint8_t { kSkyline, kFirstFit };

  struct Component {
    size_t begin;  // of its buffers
    size_t end;
    Bytes top;    // of the best placement
    Bytes least;  // top since the last restart
  };

  void Restart();
  void Judge(Bytes line);
  bool Place(Effort& effort);
  void Blame(Bytes line);

  const Instance& instance_;
  Traits traits_;
  base::Random random_;
  Skyline skyline_;
  std::unique_ptr<PlacedBuffers> placed_;  // made at the first use

  Method method_ = kSkyline;
  std::vector<Component> components_;
  Keys keys_;
  Keys best_keys_;  // since the last restart, of each component
  Order order_;
  Offsets offsets_;  // of the last construction
  Offsets best_;
  Bytes top_ = kNoTop;
  bool has_gained_ = false;
  int since_ = 0;  // constructions without progress
  int restarts_ = 0;
  std::array<Bytes, 2> record_;  // the least top of each method
};

}  // namespace tessera::search::engines::order_search
