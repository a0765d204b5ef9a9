// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "tessera/plan/plan.h"
#include "tessera/search/partition/choices/equal_intervals.h"

namespace tessera::search::partition::choices {

// Prices that searches of several networks on one profile share. If a network differs from an
// earlier one in one block, the prices of all intervals outside of that block and its neighbours
// are known. Prices depend on the objective and its limits, so each objective has a separate store.
// An objective with several weights has none, because it divides each metric by a bound of the
// network. Thread-safe.
class KeptPrices {
 public:
  explicit KeptPrices(int64_t most_configurations)
      : most_(most_configurations / static_cast<int64_t>(kMostObjectives)) {}

  // Returns the store of this objective; nullptr if its costs depend on the network. A full store
  // is replaced by an empty one. The store stays valid while the caller holds it.
  std::shared_ptr<PriceStore> Of(const plan::Objective& objective);

  void Clear();

 private:
  static constexpr size_t kMostObjectives = 4;
  using Key = std::pair<std::map<std::string, double>, std::map<std::string, double>>;

  const int64_t most_;
  std::mutex mutex_;
  std::list<std::pair<Key, std::shared_ptr<PriceStore>>> stores_;  // used last first
};

}  // namespace tessera::search::partition::choices
