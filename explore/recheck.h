// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/space.h"
#include "tessera/explore/store.h"

// Plans a sample of an exploration's pairs again.
namespace tessera::explore {

struct RecheckOptions {
  int64_t sample = 50;
  uint64_t seed = 0;
  CallOptions call = {};
  std::function<void(std::string_view line)> progress = {};
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
