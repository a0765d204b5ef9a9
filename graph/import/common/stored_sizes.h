// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"

namespace tessera::graph::import::common {

// Sets Tensor::stored_bytes from a CSV of constants and their sizes in bytes, as a weight
// compressor reports them:
//
//     tensor,bytes
//     conv1.weight,1204
//
// The last comma of a line is the separator, so names may contain commas. Blank lines, CRLF and a
// byte order mark are accepted. Faults carry line and column: unknown tensors, tensors that are not
// constants, duplicates, bytes outside 1 to 2^56.
base::Expected<void> ReadStoredSizes(std::string_view csv, const std::string& file_name,
                                     Graph& graph);

}  // namespace tessera::graph::import::common
