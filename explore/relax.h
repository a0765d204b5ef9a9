// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The cost of the restrictions and modes of the base profiles to the networks (docs/explore.md).
namespace tessera::explore {

// Returns a document of the format "tessera-relaxation". Returns nullopt if the call was cancelled;
// everything found until then is in the store.
base::Expected<std::optional<Json>> Relax(const Spec& spec, const Store& store,
                                          const RunOptions& options);

std::string DescribeRelaxation(const Json& document);

}  // namespace tessera::explore
