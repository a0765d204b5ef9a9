#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/onnx/description.h"
#include "tessera/graph/onnx/report.h"

// Networks from ONNX files (docs/onnx.md).
namespace tessera::graph::onnx {

struct ImportOptions {
  std::map<std::string, int64_t> dims;  // extents of symbolic dimensions; "input[0]" for one without a symbol
  std::vector<std::pair<std::string, std::string>> states;  // network input and output that are one state
  std::optional<base::DataType> floats_as;                  // the type of all that the file holds as floats
  Descriptions descriptions;                                // of operators that import does not know
};

struct Import {
  Graph graph;
  std::vector<std::string> notes;  // what was folded, dropped, fused and fenced, shortened
  std::vector<NodeFate> nodes;     // what became of each node of the file, in its order
};

// Whether the bytes begin as ONNX files do, which no text does.
bool LooksLikeOnnx(std::string_view bytes);

// The graph of a model file: operators in an order nearest to the file's, batch normalisation, biases and activations fused, shape
// arithmetic folded; what cannot be known of an operator makes it a barrier with a note. Or the first fault, with the operator that
// has it. Reads nothing but `bytes`; `file_name` is for messages. The same bytes and options give the same graph, and one that
// ReadNetwork reads back from WriteNetworkJson. Cost: about linear in the nodes.
base::Expected<Import> ImportOnnx(std::string_view bytes, const std::string& file_name,
                                  const ImportOptions& options);

}  // namespace tessera::graph::onnx
