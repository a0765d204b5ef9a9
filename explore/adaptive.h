// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// Explorations that plan only a share of the pairs: those with the greatest expected gain.
namespace tessera::explore {

// Plans at most this share of the pairs, and leaves the others open unless bounds settle them.
// Returns nullopt if the call was cancelled.
base::Expected<std::optional<Exploration>> ExploreAdaptively(const Spec& spec, const Store& store,
                                                             double share,
                                                             const RunOptions& options);

// Chooses pairs by the hypervolume that they are expected to add to the front of their network.
class ExpectedGain : public Chooser {
 public:
  explicit ExpectedGain(const Spec& spec) : spec_(spec) {}
  std::vector<size_t> Choose(const Exploration& so_far, size_t most) override;

 private:
  const Spec& spec_;
};

// Returns for each network "hypervolume_at_least": the hypervolume of what was found, as a share of
// the hypervolume if the open pairs reached all their lower bounds at once. The share is proven,
// and 1 means that nothing is missing. Axes are logarithms. The value is null, with a "reason", if
// some pair is open and a figure has no logarithm.
Json GapJson(const Spec& spec, const Exploration& exploration, double share);

// `document`: of the exploration, with its "adaptive".
std::string DescribeGap(const Json& document);

}  // namespace tessera::explore
