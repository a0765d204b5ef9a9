#pragma once

#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/model.h"

namespace tessera::graph::onnx {

// A fault of the file as a whole.
base::Unexpected FileFault(const std::string& file, std::string message, std::string expected,
                           std::string hint = "");

// A fault of one node.
base::Diagnostic FaultAt(const std::string& file, const Node& node, std::string message,
                         std::string expected = "", std::string hint = "");

// "operator 'conv1' (Conv)"; a node without a name goes by its first output.
std::string Describe(const Node& node);

// Puts the nodes in the order nearest to the file's in which each value is made before it is read. Refuses values that are made
// twice or by nobody, and cycles.
base::Expected<void> OrderNodes(Model& model, const std::string& file);

}  // namespace tessera::graph::onnx
