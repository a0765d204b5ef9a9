#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tessera/base/yaml_reader.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/shape_inference.h"

namespace tessera::graph {

// An operator of a file on its way into the graph. Tensors are named by index into `made`, which precedes their place
// in the graph.
struct OperatorDraft {
  base::YamlNode entry;
  Operator op;
  Wanted wanted;
  std::vector<Tensor> made;           // its outputs
  std::vector<std::string> operands;  // names of its inputs
  std::vector<Shape> operand_shapes;
  std::optional<Shape> own_weight;  // the shape of the weight that belongs to it
  base::DataType weight_type = base::DataType::kInt8;
};

}  // namespace tessera::graph
