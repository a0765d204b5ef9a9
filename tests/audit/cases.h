// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "run.h"

// Writes findings as cases that others can reproduce.
namespace tessera::audit {

// Writes network.yaml, profile.yaml, command.sh and the finding's own files into a folder.
void WriteCase(const Finding& finding, const std::filesystem::path& folder);

// Simplifies a question as long as it still shows the fault: fewer operators, features of the
// profile left out one by one, round figures. Cost: at most so many questions and seconds.
PlanRequest Reduce(const PlanRequest& question,
                   const std::function<bool(const PlanRequest&)>& shows, double seconds);

}  // namespace tessera::audit
