// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

// The elements that an operator reads, from the definition of its kind: whether one output element
// depends on one input element. The oracle uses no intervals and no loops over taps, and only plain
// types of graph/ and plan/. It compares every pair of elements, so it is for small tensors.
namespace tessera::graph {

using Index = std::vector<int64_t>;

// Every index of a box, row-major; of rank 0 the one element.
std::vector<Index> IndicesOf(const ops::Box& box);

// Whether element y of the operator's (first) output reads element x of its input number `input`. A
// barrier reads every element.
bool Reads(const Graph& graph, const Operator& op, size_t input, const Index& x, const Index& y);

// A set of elements of one tensor, one flag each, row-major.
struct ElementSet {
  const Shape* shape = nullptr;
  std::vector<char> has;

  explicit ElementSet(const Shape& of);
  void AddBox(const ops::Box& box);
  bool Empty() const;
  // The smallest box around them; all extents {0, 0} where there are none.
  ops::Box Hull() const;
  // Whether they fill their hull.
  bool FillHull() const;
};

// The elements of input number `input` that the operator reads for these elements of its output.
ElementSet NeedOf(const Graph& graph, const Operator& op, size_t input, const ElementSet& output);

// Whether the operator is a reshape for which some input axes stay whole in any region.
bool HasWholeAxes(const Graph& graph, const Operator& op);
// The smallest box around the needed elements of its input, but for axes that stay whole.
ops::Box SmallestRegion(const Graph& graph, const Operator& op, const ElementSet& needed);

// Every element of every feature tensor of the interval that a tile needs. A tile is a box of the
// interval's last output. It needs: the tile itself, its share of the other outputs (element f of F
// is in the share where [f, f + 1) / F and [a, b) / E meet), and all that these read.
std::map<int, ElementSet> NeedsOfTile(const Graph& graph, Interval interval, const ops::Box& tile);

}  // namespace tessera::graph
