#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/problem/json.h"

namespace tessera::cli {

// The exit code of an answer. An answer that a signal cut short but that holds an allocation is kInterrupted
// too.
ExitCode ExitCodeOf(const problem::Result& result);

// The answer in the form that the path's suffix names: .csv, .json or .svg. It holds an allocation; for .svg an
// explanation does as well, whose collision is drawn.
base::Expected<std::string> RenderAllocation(const std::string& path, const problem::Problem& problem,
                                             const problem::AllocationDocument& document);

// Whether every path ends in .csv, .json or .svg; says so on the console where one does not.
bool CheckSuffixes(Console& console, const std::vector<std::string>& paths);

// Why one of the files could not be written for any answer, as CSV cannot state every Problem; to be asked
// before the work.
std::optional<base::Diagnostic> FindUnwritable(const std::vector<std::string>& paths,
                                               const problem::Problem& problem);

// Writes the answer to every path, each by itself; without an allocation only pictures of what
// collides. kAnswer when all is well.
ExitCode WriteAllocations(Console& console, Destinations& files, const std::vector<std::string>& paths,
                          const problem::Problem& problem, const problem::AllocationDocument& document);

// The answer in a few lines for people.
std::string DescribeAllocation(const problem::Problem& problem, const problem::AllocationDocument& document);

}  // namespace tessera::cli
