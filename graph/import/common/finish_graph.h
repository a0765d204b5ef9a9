#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/draft.h"

namespace tessera::graph::import::common {

// Marks network inputs that are outputs of the previous run: those of `pairs` (input and output),
// and those whose name has "past" where an output's has "present", as in key and value caches.
// Refuses names that are not an input or output.
base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft);

// Makes every output of the file an output of the graph, with its name and as often as the file
// lists it. All nodes have been added.
void MarkOutputs(const Model& model, Draft& draft);

// The draft's graph with its tensors in the order of YAML networks (inputs, constants, outputs of
// operators) and without unread ones. Refuses an empty network and totals that are too large.
base::Expected<Graph> Finish(Draft draft, const std::string& file);

}  // namespace tessera::graph::import::common
