// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/store.h"

// Plans of a store, made again: a store keeps what plans cost, and how to make them.
namespace tessera::explore {

// The answer whose id begins so. Refuses an id that no answer or more than one has.
base::Expected<StoredAnswer> FindByPrefix(const Store& store, const std::string& id);

// The same question put to the library again. The network is read from the file that the
// exploration read; a file that has changed since is refused.
base::Expected<PlanAnswer> AskAgain(const Store& store, const StoredAnswer& answer,
                                    const CallOptions& call);

// The plan of that answer. The complaint says why there is none, or that it differs from what the
// store states. `call` has no timeout. Throws std::bad_alloc where memory runs out.
base::Expected<Plan> MakePlanAgain(const Store& store, const StoredAnswer& answer,
                                   const CallOptions& call);

}  // namespace tessera::explore
