#pragma once

#include <map>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/ops/region.h"

// Which elements an operator reads, straight from the definition of its kind: whether ONE output
// element depends on ONE input element. No intervals, no taps walked, nothing of graph/ or plan/
// but their plain types; every pair of elements is asked, so only small tensors are for it.
namespace tessera::graph {

using Index = std::vector<int64_t>;

// Every index of a box, row-major; of rank 0 the one element.
std::vector<Index> IndicesOf(const ops::Box& box);

// Whether element y of the operator's (first) output reads element x of its input number `input`.
// Of a barrier, every one does.
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
  // Whether they are all of their hull.
  bool FillHull() const;
};

// What the operator reads of its input number `input` for these elements of its output.
ElementSet NeedOf(const Graph& graph, const Operator& op, size_t input, const ElementSet& output);

// Every element that a tile, a box of the interval's last output, needs of every feature tensor
// that the interval reads or makes: the tile itself, its share of what else leaves (element f of F
// is in it where [f, f + 1) / F and [a, b) / E meet), and what these read.
std::map<int, ElementSet> NeedsOfTile(const Graph& graph, Interval interval, const ops::Box& tile);

}  // namespace tessera::graph
