// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "tessera/base/random.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"

// Networks small enough to try every partition.
namespace tessera::search {

// Convolutions one after another, some results added to the one before: at most two boundary
// tensors cross a cut.
graph::Graph AnyNetwork(base::Random& random, int operators);

// Convolutions and additions of any earlier results, all of one shape. The last operators read the
// results that have no reader.
graph::Graph ForkedNetwork(base::Random& random, int operators);

// Such a network and a machine for it.
struct Subject {
  graph::Graph graph;
  hw_profiles::Profile profile;
};

// Both inclusive.
struct Range {
  int64_t least = 0;
  int64_t most = 0;
};

// Draw `seed` of those with so many operators and bytes of tile memory.
Subject AnySubject(uint64_t seed, Range operators, Range bytes);

// Convolutions one after another, of 64 bytes and 12 bytes of weights each.
graph::Graph Chain(int operators);

// A convolution of 20 channels whose rows read 3 rows of 10 elements each, which exceed the tile
// memory, on a machine without slices along K.
Subject WideSum(problem::Bytes capacity = 900);

// Some operators of a network alone. Tensors from before them are network inputs, tensors that are
// read behind them are network outputs.
graph::Graph WindowOf(const graph::Graph& graph, graph::Interval window);

}  // namespace tessera::search
