// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/import/common/format.h"

// The text format of networks: docs/network-format.md, schema 1.
namespace tessera::graph::import::yaml {

// The graph that `text` describes, or the first fault with its line and column. `file_name` is used
// in messages only. Tensors are in the order inputs, constants (declared ones first), outputs of
// operators. Operators are in file order or, if that is not topological, in the topological order
// nearest to it.
base::Expected<Graph> ReadNetwork(std::string_view text, const std::string& file_name);

// The network as JSON in the same schema, with every shape, data type and constant stated. The same
// graph gives the same bytes, and ReadNetwork(WriteNetworkJson(g)) is g for every graph that
// ReadNetwork returned.
std::string WriteNetworkJson(const Graph& graph);

// Reads the map under `ops` of a YAML document: of a separate file, or of a hardware profile, whose
// other keys are ignored. Without `ops` there are no descriptions.
base::Expected<common::Descriptions> ReadDescriptions(std::string text,
                                                      const std::string& file_name);

}  // namespace tessera::graph::import::yaml
