// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The worth of a step of each axis along the fronts.
namespace tessera::explore {

// Returns, for each point of a network's front and each axis, the neighbours with the next value of
// that axis and otherwise equal values, and the least value of each objective there. Plans
// neighbours that have no plan yet. Returns nullopt if the call was cancelled.
base::Expected<std::optional<Json>> FindMarginals(const Spec& spec, const Store& store,
                                                  const Exploration& exploration,
                                                  const RunOptions& options);

// `document`: of the exploration, with its "marginal" values.
std::string DescribeMarginals(const Json& document);

}  // namespace tessera::explore
