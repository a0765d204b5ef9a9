// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/space.h"
#include "tessera/explore/store.h"

// One store made of several that explored the same specification, in pieces or as a whole.
namespace tessera::explore {

struct MergeOptions {
  int threads = 1;
  Canceller canceller = {};
  std::function<void(std::string_view line)> progress = {};
};

struct MergeReport {
  size_t answers = 0;                     // in the merged store
  size_t planned = 0;                     // that no store had
  std::vector<std::string> missing = {};  // pieces that are not done; then there is no document
  std::optional<Json> document = {};      // of the exploration
};

// Adds the content of the stores to `output` in one step; `output` may have some or all of it
// already. Then makes the document of the exploration, if all pieces are done, and plans the pairs
// that it needs and no piece planned. Refuses stores that have no specification in common, and
// different answers to one question; nothing is written then. Returns nullopt if it was cancelled.
tl::expected<std::optional<MergeReport>, StoreFault> Merge(const std::vector<std::string>& stores,
                                                           const std::string& output,
                                                           const MergeOptions& options);

}  // namespace tessera::explore
