#pragma once

#include <optional>
#include <vector>

#include "tessera/graph/onnx/model.h"

namespace tessera::graph::onnx {

// What folding knows of an operand: a constant, or the shape of a feature, or neither where it is left out.
struct Known {
  const Constant* constant = nullptr;
  const Shape* shape = nullptr;
};

// The outputs of a node that follow from constants and from shapes alone, by ONNX's definition; none where they do not, where
// values are missing, or where the operator is no arithmetic on shapes.
std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands);

}  // namespace tessera::graph::onnx
