#include "search_options.h"

#include <utility>

#include "exhaustive.h"

namespace tessera::search {

plan::Objective Minimise(const std::string& metric) { return {.weights = {{metric, 1}}, .limits = {}}; }

PartitionOptions KeepingNothing(plan::Objective objective) {
  PartitionOptions options;
  options.objective = std::move(objective);
  options.engines = TestEngines();
  options.keeping = Keeping::kNothing;
  return options;
}

}  // namespace tessera::search
