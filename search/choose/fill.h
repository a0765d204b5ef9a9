// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/choose/items.h"
#include "tessera/search/choose/value_bound.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/placed_buffers.h"
#include "tessera/search/engines/order_search/squeaky_wheel.h"

namespace tessera::search::choose {

// Makes choices for thousands of buffers, by first fit into the capacity.
//
// A choice takes three steps. Items are admitted by attraction (value per cost, value_bound.h) as
// long as no section holds more than the capacity, or than a part of it. The admitted items are
// placed by first fit in an order that leaves few holes. The other items, and those that did not
// fit, fill the holes by attraction. If fewer items are admitted, fewer valuable ones find no
// place, and more bytes are left to the others; so several parts of the capacity take turns. Orders
// are drawn as in order search. In half of the rounds, the admitted items that found no place come
// earlier the more often that happened (squeaky wheel).
//
// Supports problems whose items are single buffers of one memory that order search supports.
class Filler {
 public:
  // All arguments must outlive this object. `instance` is that of the memory.
  Filler(const Items& items, const Prices& prices, const engines::order_search::Instance& instance,
         Bytes capacity, uint64_t seed);

  // Makes one choice. Returns false if the effort ended or a stop came; the choice then consists of
  // the items placed so far.
  bool Fill(engines::order_search::Effort& effort);

  // From now on, these items take the turns of those that the whole capacity admits.
  void Prefer(const std::vector<bool>& items);

  // Chosen, Offsets and Value describe the best choice so far. Chosen and Offsets are empty if
  // there is none, because buffers that must be placed found no place.
  const std::vector<bool>& Chosen() const { return best_chosen_; }  // by item
  // By buffer of the instance.
  const engines::order_search::Offsets& Offsets() const { return best_offsets_; }
  int64_t Value() const { return best_value_; }

 private:
  std::vector<bool> AdmittedTo(Bytes capacity) const;
  void DrawOrder();
  bool PlaceAll(const std::vector<int>& buffers, engines::order_search::Effort& effort);

  const Items& items_;
  const Prices& prices_;
  const engines::order_search::Instance& instance_;
  Bytes capacity_;
  base::Random random_;
  engines::order_search::Traits traits_;
  engines::order_search::PlacedBuffers placed_;
  std::vector<int> item_of_;             // by buffer of the instance
  std::vector<int> by_attraction_;       // buffers; those that must be placed come first
  std::vector<std::vector<bool>> sets_;  // the sets of admitted buffers that take turns
  std::vector<bool> admitted_;           // by buffer, in this round
  engines::order_search::Keys lift_;
  std::vector<int> order_;

  std::vector<bool> chosen_;  // by buffer, of the current round
  engines::order_search::Offsets offsets_;
  std::vector<bool> best_chosen_;
  engines::order_search::Offsets best_offsets_;
  int64_t best_value_ = -1;
  int round_ = 0;
};

}  // namespace tessera::search::choose
