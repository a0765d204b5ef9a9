#pragma once

#include <cstdint>
#include <optional>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search::cost {

// The output blocks in which an engine makes a part of a result: docs/program.md, "Output blocks".
struct Blocking {
  // of one block and of the input that it needs, not larger than the result and its input
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t channels = 1;
  int64_t input_rows = 1;
  int64_t input_columns = 1;
  int64_t positions = 1;    // blocks along batch, rows and columns: each fetches all weights
  int64_t depths = 1;       // blocks along the channels
  int64_t input_reads = 1;  // times that a block's input is fetched at each position
};

// The blocking that a driver takes: of those that fit the engine's buffer the one that fetches the
// least of input and weights. nullopt if the engine has no blocks, the operator is of another kind,
// or `output` is empty. `input` is what the output needs of the first operand. Cost: at most the
// number of block sizes, in practice those that fit.
std::optional<Blocking> BlockingOf(const graph::Operator& op, const hw_profiles::Engine* engine,
                                   const hw_profiles::Throughput* throughput,
                                   base::DataType input_type, graph::tiling::ExtentsView output,
                                   graph::tiling::ExtentsView input);

}  // namespace tessera::search::cost
