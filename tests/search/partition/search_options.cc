// SPDX-License-Identifier: Apache-2.0

#include "search_options.h"

#include <utility>

#include "exhaustive.h"

namespace tessera::search {

plan::Objective Minimise(const std::string& metric) {
  return {.weights = {{metric, 1}}, .limits = {}};
}

partition::answer::PartitionOptions KeepingNothing(plan::Objective objective) {
  partition::answer::PartitionOptions options;
  options.objective = std::move(objective);
  options.engines = TestEngines();
  options.keeping = partition::paths::Keeping::kNothing;
  return options;
}

}  // namespace tessera::search
