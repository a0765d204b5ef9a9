#pragma once

#include <optional>
#include <string>

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

// One network in several files.
namespace tessera::audit {

// As people write it: block YAML that leaves out what readers infer or what is the default, with
// integers and lists in any of their forms, and operators in any order if `shuffles`: the reader
// sorts them. Names stay.
std::string WriteYaml(base::Random& random, const graph::Graph& network, bool shuffles);

// As an ONNX model of floats; nullopt where ONNX has no operator that means the same, or where the
// importer would fuse or drop it: barriers, described operators, tables, elementwise operators of
// one input, activations, stored sizes, several data types.
std::optional<std::string> WriteOnnx(const graph::Graph& network);

}  // namespace tessera::audit
