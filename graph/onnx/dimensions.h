#pragma once

#include <map>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/onnx/model.h"

namespace tessera::graph::onnx {

// What a file declares of its values once symbols have their extents, by name. Inputs are complete; of others an open extent leaves
// the shape open.
using Declared = std::map<std::string, ValueType>;

// Gives each symbolic dimension of the inputs its extent from `dims`. Refuses inputs that keep an open one, naming all of them,
// and entries of `dims` that no dimension has.
base::Expected<Declared> ResolveDimensions(const Model& model, const std::map<std::string, int64_t>& dims,
                                           const std::string& file);

}  // namespace tessera::graph::onnx
