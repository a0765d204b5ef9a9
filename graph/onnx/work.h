#pragma once

#include <optional>
#include <vector>

#include "tessera/graph/onnx/draft.h"

namespace tessera::graph::onnx {

// The multiply-accumulates of a node that becomes an opaque operator, where its definition and shapes say them exactly; none where
// they do not: then its work is unknown. A fault where they pass 2^62. `outputs` are what is known of the node's outputs.
tl::expected<std::optional<int64_t>, Obstacle> CountMacs(const Draft& draft, const Node& node,
                                                         const std::vector<ValueType>& outputs);

}  // namespace tessera::graph::onnx
