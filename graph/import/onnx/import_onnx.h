// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/common/format.h"

namespace tessera::graph::import::onnx {

// Networks from ONNX files (docs/onnx.md).

// Returns the graph of a model file. Operators are in the order nearest to the file's; batch
// normalisation, biases and activations are fused, and shape arithmetic is folded. An operator with
// unknown properties becomes a barrier with a note. On failure returns the first fault, with its
// operator. Reads only `bytes`; `file_name` is used in messages only. The same bytes and options
// always result in the same graph, and ReadNetwork reads the same graph back from WriteNetworkJson.
// Cost: about linear in the nodes.
base::Expected<common::Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                          const common::ImportOptions& options);

}  // namespace tessera::graph::import::onnx
