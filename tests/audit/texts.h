// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"

// One network in several files.
namespace tessera::audit {

// YAML as people write it: block style that leaves out inferred and default values, with integers
// and lists in any of their forms. With `shuffles` the operators are in any order; the reader sorts
// them. Names stay.
std::string WriteYaml(base::Random& random, const graph::Graph& network, bool shuffles);

// The network as an ONNX model of floats; nullopt where ONNX has no operator of the same meaning,
// or where the importer would fuse or drop it: barriers, described operators, tables, elementwise
// operators of one input, activations, stored sizes, several data types.
std::optional<std::string> WriteOnnx(const graph::Graph& network);

}  // namespace tessera::audit
