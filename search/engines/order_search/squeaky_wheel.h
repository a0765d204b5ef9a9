// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/placed_buffers.h"
#include "tessera/search/engines/order_search/skyline.h"

namespace tessera::search::engines::order_search {

// The features of each buffer of an Instance on which orders of placement depend. They are
// logarithms, so that a weighted sum of them is a product of powers.
struct Traits {
  explicit Traits(const Instance& instance, std::span<const Bytes> contention);

  std::vector<float> size;
  std::vector<float> life;      // in steps
  std::vector<float> sections;  // the length of the life in sections
  std::vector<float> contention;
};

// Sort keys of the buffers; buffers with greater keys are placed first.
using Keys = std::vector<double>;

// A product of powers of size, life and contention, with or without noise.
struct ProductOrder {
  double angle = 0.25;  // in units of pi; 0: by life, 0.25: by area, 0.5: by size
  double contention = 0;
  double noise = 0;
  bool by_sections = false;  // rather than steps
};

Keys ProductKeys(const Traits& traits, const ProductOrder& order, base::Random& random);
ProductOrder DrawProductOrder(base::Random& random);

// An order by classes of similar size, largest first; within such a class by classes of similar
// life, longest first; within those by birth. First fit then places buffers of nearly equal height
// next to each other in rows, so that few narrow holes remain under later rows.
struct ClassOrder {
  double size_base = 2;   // the ratio of the sizes of adjacent classes
  double size_phase = 0;  // 0 to 1: where the borders of classes lie
  double life_base = 4;   // 0: by life itself
  double life_phase = 0;
  double noise = 0;  // in classes of size
};

// Returns keys in which one class of size is one unit.
Keys ClassKeys(const Instance& instance, const Traits& traits, const ClassOrder& order,
               base::Random& random);
ClassOrder DrawClassOrder(base::Random& random);

// Sets `order` to all buffers, descending by key; equal keys ascend by number.
void SortByKeys(const Keys& keys, Order& order);

// Returns orders of the buffers in `part` that are promising for first fit.
std::vector<Order> FillOrders(const Instance& instance, const Traits& traits,
                              std::span<const int> part, base::Random& random);

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
