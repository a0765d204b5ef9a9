#pragma once

#include "tessera/graph/onnx/draft.h"

namespace tessera::graph::onnx {

// Makes every output of the file an output of the graph, under its name and as often as the file lists it. All nodes are taken.
void MarkOutputs(const Model& model, Draft& draft);

}  // namespace tessera::graph::onnx
