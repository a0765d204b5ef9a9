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
  // `base` is the profile in short form. `plans` are those of all networks on it, each with its
  // question. All arguments must outlive this object.
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

  // Returns for each memory the modes to keep and to remove, the area before and after, and for
  // each kept mode the reason. Returns nullopt if the call was cancelled.
  base::Expected<std::optional<Json>> Run();

 private:
  // The effect on the networks of removing one more mode.
  struct ModeOutcome {
    std::string word;     // "needed", "costs", "open", "free"
    std::string network;  // that decides it
    std::string reason;
    bool proven = false;
  };

  base::Expected<std::optional<Json>> FindReduced(Json& reduced) const;
  base::Expected<std::optional<ModeOutcome>> Judge(const Json& reduced, const ModeOf& mode);
  base::Expected<std::optional<ModeOutcome>> Replan(size_t variant, const std::string& mode);
  base::Expected<Json> Confirm(const Json& reduced);

  const Spec& spec_;
  const RunOptions& options_;
  Variants variants_;
  Json base_;
  std::vector<Planned> planned_;
};

}  // namespace tessera::explore
