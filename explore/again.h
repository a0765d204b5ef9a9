// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/store.h"

// Makes plans of a store again. A store has the costs of plans and the inputs to make them, not the
// plans themselves.
namespace tessera::explore {

// Returns the answer whose id begins with `id`. Refuses an id that no answer or more than one has.
base::Expected<StoredAnswer> FindByPrefix(const Store& store, const std::string& id);

// Asks the library the same question again. The network is read from the file that the exploration
// read; a file that has changed since is refused.
base::Expected<PlanAnswer> AskAgain(const Store& store, const StoredAnswer& answer,
                                    const CallOptions& call);

// Returns the plan of that answer. The diagnostic says why there is none, or that it differs from
// what the store states. `call` has no timeout. Throws std::bad_alloc if memory runs out.
base::Expected<Plan> MakePlanAgain(const Store& store, const StoredAnswer& answer,
                                   const CallOptions& call);

}  // namespace tessera::explore
