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

// The user's description of an operator that import does not know; it prevents a barrier
// (docs/onnx.md, "ops").
struct Description {
  // of the feature operands, in order; the last one applies to all further operands
  std::vector<OperandAccess> accesses;
  std::optional<int> shape_of;  // the operand with the shape of the output
  std::optional<Shape> shape;   // alternative: the shape itself; neither: from the file or ONNX
  std::optional<int64_t> macs_per_output;  // of one element; unset: its work is unknown
  int64_t scratch_bytes = 0;
  std::string engine;
  std::vector<int> in_place;
};

// By operator type: "Conv", or "my.domain:MyConv" outside ONNX's own domain.
using Descriptions = std::map<std::string, Description>;

// Reads the map under `ops` of a YAML document: of a separate file, or of a hardware profile, whose
// other keys are ignored. Without `ops` there are no descriptions.
base::Expected<Descriptions> ReadDescriptions(std::string text, const std::string& file_name);

// Networks from ONNX files (docs/onnx.md).

struct ImportOptions {
  // extents of symbolic dimensions; "input[0]" for one without a symbol
  std::map<std::string, int64_t> dims;
  // network input and output that are one state
  std::vector<std::pair<std::string, std::string>> states;
  std::optional<base::DataType> floats_as;  // the type of all values that the file stores as floats
  Descriptions descriptions;                // of operators that import does not know
};

struct Import {
  Graph graph;
  std::vector<std::string> notes;  // what was folded, dropped, fused and made a barrier, shortened
  std::vector<common::NodeFate> nodes;  // the outcome of each node of the file, in its order
};

// Whether the bytes begin like an ONNX file. No text begins like that.
bool LooksLikeOnnx(std::string_view bytes);

// The graph of a model file: operators in an order nearest to the file's, batch normalisation,
// biases and activations fused, shape arithmetic folded. An operator with unknown properties
// becomes a barrier with a note. On failure the first fault, with its operator. Reads only `bytes`;
// `file_name` is used in messages only. The same bytes and options give the same graph, and
// ReadNetwork reads the same graph back from WriteNetworkJson. Cost: about linear in the nodes.
base::Expected<Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                  const ImportOptions& options);

}  // namespace tessera::graph::import::onnx
