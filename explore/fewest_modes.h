// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/restrictions.h"
#include "tessera/explore/variants.h"

// The modes that no network needs.
namespace tessera::explore {

class ModeSearch {
 public:
  // `base`: of the profile in short form. `plans`: of all networks on it, each with its question.
  // Everything must outlive it.
  struct Planned {
    size_t network = 0;
    std::string metric;
    Plan plan;
  };
  ModeSearch(const Spec& spec, const Store& store, const RunOptions& options, Json base,
             std::vector<Planned> planned)
      : spec_(spec),
        options_(options),
        variants_(spec, store, options),
        base_(std::move(base)),
        planned_(std::move(planned)) {}

  // For each memory the modes to keep and to remove, the area before and after, and of each kept
  // mode why it stays. nullopt if the call was cancelled.
  base::Expected<std::optional<Json>> Run();

 private:
  // How the networks fare without one more mode.
  struct Verdict {
    std::string word;     // "needed", "costs", "open", "free"
    std::string network;  // that says so
    std::string reason;
    bool proven = false;
  };

  base::Expected<std::optional<Json>> FindReduced(Json& reduced) const;
  base::Expected<std::optional<Verdict>> Judge(const Json& reduced, const ModeOf& mode);
  base::Expected<std::optional<Verdict>> Replan(size_t variant, const std::string& mode);
  base::Expected<Json> Confirm(const Json& reduced);

  const Spec& spec_;
  const RunOptions& options_;
  Variants variants_;
  Json base_;
  std::vector<Planned> planned_;
};

}  // namespace tessera::explore
