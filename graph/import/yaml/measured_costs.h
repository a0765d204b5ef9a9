// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"

namespace tessera::graph::import::yaml {

// Returns the kind and sixteen hexadecimal digits, such as "conv-5d41402abc4b2a76". The signature
// is equal for operators of equal kind and attributes whose operands, constants and results have
// equal shapes and data types. Names do not affect it.
std::string SignatureOf(const Graph& graph, const Operator& op);

// Adds the measurements of tiles in a CSV to the operators (Operator::measured):
//
//     operator,tile,engine,cycles,pj
//     conv1,1x32x14x14,npu,5120,81.5
//     conv-5d41402abc4b2a76,1x32x14x7,npu,2688,
//
// The operator is an id, or a signature of one or more operators. `tile` has an extent for each
// axis of the operator's first output, `pj` may be missing or empty. The columns `signature`,
// `tiles` and `source` of report::TilesAsCsv are not read. A row replaces the network's own
// measurement of that tile on that engine. Faults carry line and column: unknown operators, tiles
// beyond the output, numbers out of range, a tile twice.
//
// Rows with a signature that no operator has are for other networks; a note with their number is
// returned. A row with an id takes precedence over a row with a signature.
base::Expected<std::optional<std::string>> ReadMeasuredCosts(std::string_view csv,
                                                             const std::string& file_name,
                                                             Graph& graph);

}  // namespace tessera::graph::import::yaml
