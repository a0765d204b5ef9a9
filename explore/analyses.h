// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// Answers to other questions than the fronts of a space, as documents and as text.
namespace tessera::explore {

// The least value of one entry, such as the capacity of a memory, with which networks keep their
// limits (docs/explore.md).

// Returns a document of the format "tessera-least". `path` is an entry of the base profiles with
// one number. Values lie between the least and the greatest that `vary` states for it, or up to
// that of the base profile. Returns nullopt if the call was cancelled.
base::Expected<std::optional<Json>> FindLeast(const Spec& spec, const Store& store,
                                              const std::string& path, const RunOptions& options);

std::string DescribeLeast(const Json& document);

// The worth of a step of each axis along the fronts.

// Returns, for each point of a network's front and each axis, the neighbours with the next value of
// that axis and otherwise equal values, and the least value of each objective there. Plans
// neighbours that have no plan yet. Returns nullopt if the call was cancelled.
base::Expected<std::optional<Json>> FindMarginals(const Spec& spec, const Store& store,
                                                  const Exploration& exploration,
                                                  const RunOptions& options);

// `document`: of the exploration, with its "marginal" values.
std::string DescribeMarginals(const Json& document);

// Which members of the fronts survive if the stated areas are wrong.

// Assumes that the area of each part is wrong by up to this fraction, by the same factor on every
// point. Returns for each network the members of its front, with whether each stays on the front
// for all such factors, and the points that may join it.
base::Expected<Json> FindSurvivors(const Spec& spec, const Exploration& exploration,
                                   double fraction);

// `document`: of the exploration, with its "uncertainty".
std::string DescribeSurvivors(const Json& document);

}  // namespace tessera::explore
