// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <shared_mutex>
#include <unordered_map>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::search::cost {

// An output block and the part of the input that it needs.
struct Block {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t channels = 1;
  int64_t input_rows = 1;
  int64_t input_columns = 1;
};

// The output blocks in which an engine makes a part of a result: docs/program.md, "Output blocks".
struct Blocking {
  Block block;              // not larger than the result and its input
  int64_t areas = 1;        // blocks along batch, rows and columns: each fetches all weights
  int64_t layers = 1;       // blocks along the channels
  int64_t input_reads = 1;  // times that the input of an area is fetched
  double table_cycles = 0;  // for which the output stage of a block waits for its table
};

// Returns whether the engine makes results of the operator in output blocks. `engine` may be null.
bool WorksInBlocks(const graph::Operator& op, const hw_profiles::Engine* engine);

// Finds the blocking that a driver chooses: among the blockings that fit the engine's buffer, the
// one that fetches the least of input and weights. Stores its results, because tiles of many shapes
// make parts of the same extents. Thread-safe. Operators are identified by their addresses.
class BlockChoices {
 public:
  // Returns the blocking for `output`, which must not be empty; the operator must work in blocks.
  // `input` contains the extents that it needs of the first operand, of which the engine may fold
  // columns. Cost, unless the result is stored: the number of block sizes that fit.
  Blocking Find(const graph::Operator& op, const hw_profiles::Engine& engine,
                const hw_profiles::Throughput& throughput, base::DataType input_type,
                graph::tiling::ExtentsView output, graph::tiling::ExtentsView input,
                bool folds_columns);

 private:
  using Key = std::array<int64_t, 7>;  // the operator, extents of output and input
  struct HashOf {
    size_t operator()(const Key& key) const;
  };
  static constexpr size_t kMostKnown = size_t{1} << 18;

  std::optional<Block> Known(const Key& key) const;

  mutable std::shared_mutex mutex_;
  std::unordered_map<Key, Block, HashOf> known_;
};

}  // namespace tessera::search::cost
