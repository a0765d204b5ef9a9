// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/search/engines/order_search/instance.h"

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

}  // namespace tessera::search::engines::order_search
