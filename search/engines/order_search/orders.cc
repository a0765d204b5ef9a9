// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/orders.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::search::engines::order_search {

Traits::Traits(const Instance& instance, std::span<const Bytes> contention_of) {
  const auto count = static_cast<size_t>(instance.Count());
  size.reserve(count);
  life.reserve(count);
  sections.reserve(count);
  contention.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    size.push_back(std::log(static_cast<float>(instance.size[i])));
    life.push_back(std::log(instance.life[i]));
    sections.push_back(std::log(static_cast<float>(instance.last[i] - instance.first[i])));
    contention.push_back(std::log(static_cast<float>(contention_of[i])));
  }
}

ProductOrder DrawProductOrder(base::Random& random) {
  ProductOrder order;
  order.angle = 0.5 * random.Real();
  order.noise = random.Chance(1.0 / 3) ? 0 : random.Real();
  order.by_sections = random.Chance(1.0 / 3);
  order.contention = random.Chance(0.5) ? 0 : std::exp(5 * random.Real() - 2);
  return order;
}

Keys ProductKeys(const Traits& traits, const ProductOrder& order, base::Random& random) {
  const double of_life = std::cos(order.angle * std::numbers::pi);
  const double of_size = std::sin(order.angle * std::numbers::pi);
  const std::vector<float>& life = order.by_sections ? traits.sections : traits.life;
  Keys keys(life.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    keys[i] = of_life * static_cast<double>(life[i]) +
              of_size * static_cast<double>(traits.size[i]) +
              order.contention * static_cast<double>(traits.contention[i]);
    // The sum of two draws prefers small deviations.
    if (order.noise > 0) keys[i] += order.noise * (random.Real() + random.Real() - 1);
  }
  return keys;
}

Keys ClassKeys(const Instance& instance, const Traits& traits, const ClassOrder& order,
               base::Random& random) {
  static constexpr double kLifeClass = 1e-3;  // less than a class of size
  static constexpr double kBirths = 0.9;      // of a class of life
  const double size_scale = 1 / std::log(order.size_base);
  const double life_scale = order.life_base > 0 ? 1 / std::log(order.life_base) : 1;
  Keys keys(traits.size.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const double noise = order.noise > 0 ? order.noise * (random.Real() - 0.5) : 0;
    const double life = static_cast<double>(traits.life[i]) * life_scale;
    keys[i] =
        std::floor(static_cast<double>(traits.size[i]) * size_scale + order.size_phase + noise);
    if (order.life_base > 0) {
      const double birth = static_cast<double>(instance.first[i]) / instance.Sections();
      keys[i] += kLifeClass * (std::floor(life + order.life_phase) - kBirths * birth);
    } else {
      keys[i] += kLifeClass * life;
    }
  }
  return keys;
}

ClassOrder DrawClassOrder(base::Random& random) {
  ClassOrder order;
  order.size_base = 1.5 * std::pow(4.0, random.Real());
  order.size_phase = random.Real();
  order.life_base = random.Chance(0.25) ? 0 : 2 * std::pow(16.0, random.Real());
  order.life_phase = random.Real();
  order.noise = random.Chance(0.5) ? 0 : 0.3 * random.Real();
  return order;
}

void SortByKeys(const Keys& keys, Order& order) {
  std::vector<std::pair<double, int>> pairs;
  pairs.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) pairs.emplace_back(-keys[i], static_cast<int>(i));
  std::sort(pairs.begin(), pairs.end());
  order.resize(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = pairs[i].second;
}

std::vector<Order> FillOrders(const Instance& instance, const Traits& traits,
                              std::span<const int> part, base::Random& random) {
  const auto sorted = [&](const Keys& keys) {
    std::vector<std::pair<double, int>> pairs;
    pairs.reserve(part.size());
    for (const int i : part) pairs.emplace_back(-keys[static_cast<size_t>(i)], i);
    std::sort(pairs.begin(), pairs.end());
    Order order;
    order.reserve(part.size());
    for (const auto& [key, buffer] : pairs) order.push_back(buffer);
    return order;
  };
  Keys births(traits.size.size());
  for (size_t i = 0; i < births.size(); ++i) births[i] = -static_cast<double>(instance.first[i]);
  return {sorted(ClassKeys(instance, traits, {.size_base = 2, .life_base = 4}, random)),
          sorted(ProductKeys(traits, {.angle = 0.5}, random)),
          sorted(ProductKeys(traits, {.angle = 0.25}, random)),
          sorted(ProductKeys(traits, {.angle = 0.42}, random)),
          sorted(births),
          sorted(ProductKeys(traits, {.angle = 0}, random))};
}

}  // namespace tessera::search::engines::order_search
