#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// Marks network inputs that are handed in as what the run before handed out: those of `pairs`
// (input and output), and those whose name has "past" where an output's has "present", as key and
// value caches are called. Refuses names that are no input or output.
base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft);

// Makes every output of the file an output of the graph, under its name and as often as the file
// lists it. All nodes are taken.
void MarkOutputs(const Model& model, Draft& draft);

// The draft's graph with its tensors in the order of networks in YAML (inputs, constants, outputs
// of operators), unread ones left out. Refuses a network that is nothing, or too much to count.
base::Expected<Graph> Finish(Draft draft, const std::string& file);

}  // namespace tessera::graph::import::common
