// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/squeaky_wheel.h"

#include <algorithm>
#include <cstddef>

namespace tessera::search::engines::order_search {

namespace {

constexpr int kPatience = 25;         // constructions without progress
constexpr double kReturns = 1.0 / 3;  // how often a failure goes back to the best keys
constexpr double kWorseMethod = 0.2;  // its share of the restarts

}  // namespace

SqueakyWheel::SqueakyWheel(const Instance& instance, std::span<const Bytes> contention,
                           uint64_t seed)
    : instance_(instance), traits_(instance, contention), random_(seed), skyline_(instance) {
  record_.fill(kNoTop);
  for (const Interval& component : ComponentsOf(instance)) {
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
