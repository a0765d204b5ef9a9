#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/draft.h"

namespace tessera::graph::onnx {

// Marks network inputs that are handed in as what the run before handed out: those of `pairs` (input and output), and those whose
// name has "past" where an output's has "present", as key and value caches are called. Refuses names that are no input or output.
base::Expected<void> MarkStates(const Model& model,
                                const std::vector<std::pair<std::string, std::string>>& pairs,
                                const std::string& file, Draft& draft);

}  // namespace tessera::graph::onnx
