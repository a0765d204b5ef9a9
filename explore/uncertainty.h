// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"

// Which members of the fronts survive if the stated areas are wrong.
namespace tessera::explore {

// Assumes that the area of each part is wrong by up to this fraction, by the same factor on every
// point. Returns for each network the members of its front, with whether each stays on the front
// for all such factors, and the points that may join it.
base::Expected<Json> FindSurvivors(const Spec& spec, const Exploration& exploration,
                                   double fraction);

// `document`: of the exploration, with its "uncertainty".
std::string DescribeSurvivors(const Json& document);

}  // namespace tessera::explore
