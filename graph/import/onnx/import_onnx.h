#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/import_report.h"

namespace tessera::graph::import::onnx {

// What a user says of an operator that import does not know, so that it is no barrier
// (docs/onnx.md, "ops").
struct Description {
  std::vector<OperandAccess>
      accesses;  // of the feature operands, in order; the last one stands for all further
  std::optional<int> shape_of;             // the operand whose shape the output has
  std::optional<Shape> shape;              // or this one; neither: as the file or ONNX says
  std::optional<int64_t> macs_per_output;  // of one element; none: its work is unknown
  int64_t scratch_bytes = 0;
  std::string engine;
  std::vector<int> in_place;
};

// By operator type: "Conv", or "my.domain:MyConv" outside ONNX's own domain.
using Descriptions = std::map<std::string, Description>;

// Reads the map under `ops` of a YAML document: of a file of its own, or of a hardware profile,
// whose other keys are not looked at. No `ops`: no descriptions.
base::Expected<Descriptions> ReadDescriptions(std::string text, const std::string& file_name);

// Networks from ONNX files (docs/onnx.md).

struct ImportOptions {
  std::map<std::string, int64_t>
      dims;  // extents of symbolic dimensions; "input[0]" for one without a symbol
  std::vector<std::pair<std::string, std::string>>
      states;                               // network input and output that are one state
  std::optional<base::DataType> floats_as;  // the type of all that the file holds as floats
  Descriptions descriptions;                // of operators that import does not know
};

struct Import {
  Graph graph;
  std::vector<std::string> notes;       // what was folded, dropped, fused and fenced, shortened
  std::vector<common::NodeFate> nodes;  // what became of each node of the file, in its order
};

// Whether the bytes begin as ONNX files do, which no text does.
bool LooksLikeOnnx(std::string_view bytes);

// The graph of a model file: operators in an order nearest to the file's, batch normalisation,
// biases and activations fused, shape arithmetic folded; what cannot be known of an operator makes
// it a barrier with a note. Or the first fault, with the operator that has it. Reads nothing but
// `bytes`; `file_name` is for messages. The same bytes and options give the same graph, and one
// that ReadNetwork reads back from WriteNetworkJson. Cost: about linear in the nodes.
base::Expected<Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                  const ImportOptions& options);

}  // namespace tessera::graph::import::onnx
