#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "run.h"

// Findings as cases that others can try.
namespace tessera::audit {

// Writes network.yaml, profile.yaml, command.sh and the finding's own files into a folder.
void WriteCase(const Finding& finding, const std::filesystem::path& folder);

// Makes a question simpler as long as it still shows what it should: fewer operators, features of
// the profile left out one by one, plain figures. Cost: at most so many questions and seconds.
PlanRequest Reduce(const PlanRequest& question,
                   const std::function<bool(const PlanRequest&)>& shows, double seconds);

}  // namespace tessera::audit
