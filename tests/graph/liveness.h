// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <vector>

#include "tessera/graph/graph.h"

// The liveness of tensors. Time is counted in operators: step i of an interval is its i-th
// operator. Cut c lies between operators c and c + 1 of the whole program.
//
//     operator      0     1     2     3
//     input      ===|                       read by 0 only: dead behind it
//     a             |=====|=====|           made by 0, read by 1 and 2: passes over [1, 1]
//     b                   |=====|=====|     made by 1, read by 3: passes over [2, 2]
//     output                          |===  network output: kept to the end
//
// Network inputs hold their values from before the program until their last reader, network outputs
// from their maker until after the program. Constants and state live for all program time and are
// left out here.
namespace tessera::graph {

// The liveness of one feature tensor within an interval.
struct TensorLife {
  int tensor = 0;
  int made = -1;        // the step that makes it; -1: it comes from outside
  int last_read = -1;   // the last step that reads it; -1: no step of the interval reads it
  bool leaves = false;  // needed behind the interval: read there, or a network output
  friend bool operator==(const TensorLife&, const TensorLife&) = default;
};

// For every feature tensor that the interval reads or makes, ascending. Cost: O(operators).
std::vector<TensorLife> LivesIn(const Graph& graph, Interval interval);

// The tensors that hold values while the interval runs although it neither reads nor makes them:
// made before it (or network inputs), and read behind it (or network outputs). Ascending. Cost:
// O(operators).
std::vector<int> PassingOver(const Graph& graph, Interval interval);

// The tensors that hold values at the cut between operators `cut` and `cut` + 1: made at or before
// it (or network inputs), and read behind it (or network outputs). Ascending; cut -1 lies before
// the program. Cost: O(operators).
std::vector<int> CrossingAt(const Graph& graph, int cut);

}  // namespace tessera::graph
