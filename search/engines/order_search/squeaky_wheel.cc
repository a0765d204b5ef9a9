// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/squeaky_wheel.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numbers>

namespace tessera::search::engines::order_search {
namespace {

constexpr int kPatience = 25;         // constructions without progress
constexpr double kReturns = 1.0 / 3;  // how often a failure goes back to the best keys
constexpr double kWorseMethod = 0.2;  // its share of the restarts

}  // namespace

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

SqueakyWheel::SqueakyWheel(const Instance& instance, std::span<const Bytes> contention,
                           uint64_t seed)
    : instance_(instance), traits_(instance, contention), random_(seed), skyline_(instance) {
  record_.fill(kNoTop);
  for (const SectionRange& component : ComponentsOf(instance)) {
    components_.push_back({static_cast<size_t>(component.first),
                           static_cast<size_t>(component.last), kNoTop, kNoTop});
  }
  best_.resize(instance.size.size());
  Restart();
}

void SqueakyWheel::Restart() {
  if (restarts_ < 2) {
    method_ = restarts_ == 0 ? kSkyline : kFirstFit;
  } else {
    const Method better = record_[kSkyline] <= record_[kFirstFit] ? kSkyline : kFirstFit;
    method_ = random_.Chance(kWorseMethod) ? (better == kSkyline ? kFirstFit : kSkyline) : better;
  }
  keys_ = method_ == kSkyline
              ? ProductKeys(traits_, restarts_ == 0 ? ProductOrder{} : DrawProductOrder(random_),
                            random_)
              : ClassKeys(instance_, traits_, DrawClassOrder(random_), random_);
  best_keys_ = keys_;
  for (Component& component : components_) component.least = kNoTop;
  since_ = 0;
  ++restarts_;
}

bool SqueakyWheel::Construct(Bytes line, Effort& effort) {
  if (since_ > kPatience) Restart();
  SortByKeys(keys_, order_);
  if (!Place(effort)) return false;
  Judge(line);
  if (since_ > 0 && random_.Chance(kReturns)) keys_ = best_keys_;
  Blame(line);
  return true;
}

// Keeps the better placement of each component. There is progress if a component that is still
// above the line has its lowest top since the last restart.
void SqueakyWheel::Judge(Bytes line) {
  ++since_;
  has_gained_ = false;
  top_ = 0;
  Bytes highest = 0;
  for (Component& component : components_) {
    Bytes top = 0;
    for (size_t i = component.begin; i < component.end; ++i)
      top = std::max(top, offsets_[i] + instance_.size[i]);
    const auto copy = [&](const auto& from, auto& to) {
      using Index = std::ptrdiff_t;
      std::copy(from.begin() + static_cast<Index>(component.begin),
                from.begin() + static_cast<Index>(component.end),
                to.begin() + static_cast<Index>(component.begin));
    };
    if (top < component.least) {
      if (component.least > line) since_ = 0;
      component.least = top;
      copy(keys_, best_keys_);
    }
    if (top < component.top) {
      component.top = top;
      has_gained_ = true;
      copy(offsets_, best_);
    }
    highest = std::max(highest, top);
    top_ = std::max(top_, component.top);
  }
  record_[method_] = std::min(record_[method_], highest);
}

bool SqueakyWheel::Place(Effort& effort) {
  if (method_ == kSkyline) return skyline_.Place(order_, offsets_, effort);
  if (!placed_) placed_ = std::make_unique<PlacedBuffers>(instance_);
  return PlaceByFirstFit(instance_, *placed_, order_, offsets_, effort);
}

// A class of size is one unit of a class key, so a smaller rise reorders buffers in their class.
void SqueakyWheel::Blame(Bytes line) {
  const double rise = 0.05 + 0.6 * random_.Real();
  for (int i = 0; i < instance_.Count(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (instance_.Top(i, offsets_[at]) <= line) continue;
    const double unit = method_ == kSkyline ? 1 : random_.Chance(1.0 / 3) ? 1 : 3e-3;
    keys_[at] += rise * (0.5 + random_.Real()) * unit;
  }
}

}  // namespace tessera::search::engines::order_search
