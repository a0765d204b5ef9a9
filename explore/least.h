// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/exploration.h"
#include "tessera/explore/space.h"
#include "tessera/explore/spec.h"
#include "tessera/explore/store.h"

// The least value of one entry, such as the capacity of a memory, with which networks keep their
// limits (docs/explore.md).
namespace tessera::explore {

// Returns a document of the format "tessera-least". `path` is an entry of the base profiles with
// one number. Values lie between the least and the greatest that `vary` states for it, or up to
// that of the base profile. Returns nullopt if the call was cancelled.
base::Expected<std::optional<Json>> FindLeast(const Spec& spec, const Store& store,
                                              const std::string& path, const RunOptions& options);

std::string DescribeLeast(const Json& document);

}  // namespace tessera::explore
