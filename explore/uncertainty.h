// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

// Which members of the fronts survive if areas are not what they are said to be.
namespace tessera::explore {

// The area of each part may be wrong by this fraction, by the same factor on every point. By
// network the members of its front, each with whether it stays on the front whatever the factors
// are, and the points that may join it.
base::Expected<Json> FindSurvivors(const Spec& spec, const Exploration& exploration,
                                   double fraction);

// `document`: of the exploration, with its "uncertainty".
std::string DescribeSurvivors(const Json& document);

}  // namespace tessera::explore
