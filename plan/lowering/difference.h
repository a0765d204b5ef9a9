#pragma once

#include <string>
#include <vector>

#include "tessera/plan/lowering/program.h"

namespace tessera::plan::lowering {

// Where one lowering says something else than another, in words: for each subgraph the first job, work or class.
std::vector<std::string> FindDifferences(const Program& found, const Program& expected);

}  // namespace tessera::plan::lowering
