// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/plan.h>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/explore/space.h"
#include "tessera/explore/variants.h"

// The restrictions of a profile apart from sizes and speeds, one by one: rules, alignments and the
// like, and the modes of its banks.
namespace tessera::explore {

struct Restriction {
  std::string kind;                         // "rule", "alignment", ...
  std::string what;                         // in words
  std::function<void(Json& profile)> drop;  // removes it from the profile, even without some others
};

// Returns each rule, alignment, port limit, forbidden transition, reserved range and bank boundary
// of the profile, which is in short form. Dropping an alignment sets it to 1. Dropping a boundary
// joins two neighbouring banks, if they have the same states in every mode and nothing else
// distinguishes them; dropping a span of single or contiguous banks sets it to `any`.
std::vector<Restriction> RestrictionsOf(const Json& profile);

// A mode of a memory that has at least two modes.
struct ModeOf {
  std::string memory;
  std::string mode;
};
std::vector<ModeOf> ModesOf(const Json& profile);

// Returns the profile without the mode, and without transitions from and to it.
Json WithoutMode(Json profile, const ModeOf& mode);

// The modes that no network needs.

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
