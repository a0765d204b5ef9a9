// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/restrictions.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The least change of a profile with which every network has a plan.
namespace tessera::explore {

// `restrictions` are those of the profile, which is in short form. The outcome is "sufficient",
// with the restrictions that must be dropped; if dropping all of them is not sufficient, it is the
// outcome of the profile without them. Returns nullopt if the call was cancelled.
base::Expected<std::optional<Json>> FindSufficient(const Spec& spec, const Store& store,
                                                   const RunOptions& options, const Json& profile,
                                                   const std::vector<Restriction>& restrictions);

// The cost of the restrictions and modes of the base profiles to the networks (docs/explore.md).

// Returns a document of the format "tessera-relaxation". Returns nullopt if the call was cancelled;
// everything found until then is in the store.
base::Expected<std::optional<Json>> Relax(const Spec& spec, const Store& store,
                                          const RunOptions& options);

std::string DescribeRelaxation(const Json& document);

}  // namespace tessera::explore
