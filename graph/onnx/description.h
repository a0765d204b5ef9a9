#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"

namespace tessera::graph::onnx {

// What a user says of an operator that import does not know, so that it is no barrier (docs/onnx.md, "ops").
struct Description {
  std::vector<OperandAccess>
      accesses;                 // of the feature operands, in order; the last one stands for all further
  std::optional<int> shape_of;  // the operand whose shape the output has
  std::optional<Shape> shape;   // or this one; neither: as the file or ONNX says
  std::optional<int64_t> macs_per_output;  // of one element; none: its work is unknown
  int64_t scratch_bytes = 0;
  std::string engine;
  std::vector<int> in_place;
};

// By operator type: "Conv", or "my.domain:MyConv" outside ONNX's own domain.
using Descriptions = std::map<std::string, Description>;

// Reads the map under `ops` of a YAML document: of a file of its own, or of a hardware profile, whose other keys are not looked at.
// No `ops`: no descriptions.
base::Expected<Descriptions> ReadDescriptions(std::string text, const std::string& file_name);

}  // namespace tessera::graph::onnx
