// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/import_report.h"

namespace tessera::graph::import::common {

// The user's description of an operator that import does not know; it prevents a barrier
// (docs/onnx.md, "ops").
struct Description {
  // of the feature operands, in order; the last one applies to all further operands
  std::vector<OperandAccess> accesses;
  std::optional<int> shape_of;             // the operand with the shape of the output
  std::optional<Shape> shape;              // alternative: the shape itself; neither: from the file
  std::optional<int64_t> macs_per_output;  // of one element; unset: its work is unknown
  int64_t scratch_bytes = 0;
  std::string engine;
  std::vector<int> in_place;
};

// By operator type: "Conv", or "my.domain:MyConv" outside the format's own operators.
using Descriptions = std::map<std::string, Description>;

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
  // The nodes that were folded, dropped, fused or made a barrier, in shortened form.
  std::vector<std::string> notes = {};
  // the outcome of each node of the file, in its order; empty if each is an operator of the graph
  std::vector<NodeFate> nodes = {};
};

// A file format of networks. Each has a folder next to this one, which defines `kFormat` and makes
// the library tessera_network_FOLDER; the list in ../CMakeLists.txt names the folder
// (docs/extending.md, "A new network format").
struct NetworkFormat {
  std::string_view name;     // in messages: "ONNX"
  std::string_view suffix;   // of its files: ".onnx"
  std::string_view example;  // a file and its options, for the help of `tessera plan`; may be empty
  bool takes_options;        // otherwise ImportOptions have no effect on its files
  // Whether the bytes have this format, for files whose suffix does not determine it.
  bool (*recognizes)(std::string_view bytes);
  // The network, or the first fault. `file_name` is used in messages only.
  base::Expected<Import> (*read)(std::string_view bytes, const std::string& file_name,
                                 const ImportOptions& options);
};

}  // namespace tessera::graph::import::common
