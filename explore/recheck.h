// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>
#include <tessera/plan.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/progress.h"
#include "tessera/explore/space.h"
#include "tessera/explore/store.h"

// Makes plans of explorations again, to show them and to check the answers of a store.
namespace tessera::explore {

// Makes plans of a store again. A store has the costs of plans and the inputs to make them, not the
// plans themselves.

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

// Plans a sample of an exploration's pairs again.

struct RecheckOptions {
  int64_t sample = 50;
  uint64_t seed = 0;
  CallOptions call = {};
  base::ProgressFunction progress = {};
};

struct RecheckReport {
  int64_t planned = 0;  // pairs with plans, made again
  int64_t skipped = 0;  // pairs that were not planned, planned now
  std::vector<std::string> findings = {};
};

// Plans the sample. A pair with plans must get the same answers again. A pair that was skipped as
// infeasible must have no plan; the plans of any other skipped pair must be dominated by the front
// of its network, and must not be below the bounds that the document states.
base::Expected<RecheckReport> Recheck(const Store& store, const Json& document,
                                      const RecheckOptions& options);

}  // namespace tessera::explore
