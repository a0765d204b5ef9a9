#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/reasons/fewest_modes.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::cli {

// What `tessera modes` asks about: for each plan its subgraphs one by one, then the plan as a whole; or Problems as they are.
struct ModeInputs {
  std::vector<encoder::ModeQuery> queries;
  std::vector<std::string> names;  // parallel to queries: "conv1..conv3 of plan.json", "plan.json"
  std::optional<hw_profiles::Profile> profile;  // of the plans
};

// Refuses files of both kinds together, plans of different profiles, Problems whose memories have different modes, and what has no modes.
base::Expected<ModeInputs> LoadModeInputs(const std::vector<std::string>& files);

}  // namespace tessera::cli
