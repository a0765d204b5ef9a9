#pragma once

#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/graph/graph.h"

namespace tessera::graph::import::common {

// Sets Tensor::stored_bytes from a CSV of constants and the bytes that they take, as a compressor
// of weights reports them:
//
//     tensor,bytes
//     conv1.weight,1204
//
// The last comma of a line divides it, so names may hold commas. Blank lines, CRLF and a byte order
// mark are fine. Faults carry line and column: unknown tensors, ones that are no constants, ones
// that come twice, bytes other than 1 to 2^56.
base::Expected<void> ReadStoredSizes(std::string_view csv, const std::string& file_name,
                                     Graph& graph);

}  // namespace tessera::graph::import::common
