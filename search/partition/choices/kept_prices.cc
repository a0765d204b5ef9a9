// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/choices/kept_prices.h"

#include <algorithm>

namespace tessera::search::partition::choices {

std::shared_ptr<PriceStore> KeptPrices::Of(const plan::Objective& objective) {
  if (objective.weights.size() > 1) return nullptr;
  const Key key(objective.weights, objective.limits);
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(stores_.begin(), stores_.end(),
                                  [&key](const auto& each) { return each.first == key; });
  if (found != stores_.end()) stores_.splice(stores_.begin(), stores_, found);
  const bool is_known = found != stores_.end();
  if (is_known && !stores_.front().second->IsFull()) return stores_.front().second;
  auto empty = std::make_shared<PriceStore>(most_, PriceStore::Sharing::kManySearches);
  if (is_known) {
    stores_.front().second = empty;
    return empty;
  }
  if (stores_.size() == kMostObjectives) stores_.pop_back();
  stores_.emplace_front(key, empty);
  return empty;
}

void KeptPrices::Clear() {
  const std::lock_guard lock(mutex_);
  stores_.clear();
}

}  // namespace tessera::search::partition::choices
