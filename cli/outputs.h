#pragma once

#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/exit_code.h"
#include "tessera/problem/json.h"

namespace tessera::cli {

// The exit code of an answer. An answer that a signal cut short but that holds an allocation is kInterrupted
// too.
ExitCode ExitCodeOf(const problem::Result& result);

// The allocation in the form that the path's suffix names: .csv, .json or .svg. Refuses other suffixes, and
// results without an allocation.
base::Expected<std::string> RenderAllocation(const std::string& path, const problem::Problem& problem,
                                             const problem::AllocationDocument& document);

}  // namespace tessera::cli
