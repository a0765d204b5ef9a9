#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/draft.h"

namespace tessera::graph::onnx {

// The draft's graph with its tensors in the order of networks in YAML (inputs, constants, outputs of operators), unread ones left
// out. Refuses a network that is nothing, or too much to count.
base::Expected<Graph> Finish(Draft draft, const std::string& file);

}  // namespace tessera::graph::onnx
