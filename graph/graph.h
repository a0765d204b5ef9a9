// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/ops/operator.h"

// A computation graph: operators in a topological order, and the tensors between them.
namespace tessera::graph {

using ops::AddMeasured;
using ops::DepthOrder;
using ops::DepthSpaceAttributes;
using ops::ElementsOf;
using ops::FindMeasured;
using ops::GatherAttributes;
using ops::HasUnknownWork;
using ops::IsBarrier;
using ops::kMostMeasuredCycles;
using ops::kMostMeasuredPicojoules;
using ops::MatmulAttributes;
using ops::MeasuredTile;
using ops::NearestRounding;
using ops::OperandAccess;
using ops::Operator;
using ops::PadAttributes;
using ops::PadMode;
using ops::Ratio;
using ops::ReadPattern;
using ops::ResizeAttributes;
using ops::ResizeCoordinates;
using ops::ResizeMode;
using ops::Shape;
using ops::SliceAttributes;
using ops::TransposeAttributes;
using ops::Window;

struct Tensor {
  std::string id;  // unique within the graph
  Shape shape;
  base::DataType type = base::DataType::kInt8;
  bool network_input = false;
  bool network_output = false;
  bool constant = false;  // weights and tables
  // an input of each run like a network input, but it lives for all program time
  bool state = false;
  int next_of = -1;  // of a network output: the state whose next value it is; -1: none
  // of a constant with a custom encoding; 0: size follows from shape and type
  int64_t stored_bytes = 0;
  bool stored_by_ratio = false;  // a hardware profile's ratio gives stored_bytes
  // If a hardware profile gives the role several homes: the tensor's home, as an index into their
  // list. Not part of a network file.
  int home = 0;
  std::map<std::string, std::string> annotations;  // the user's own keys with their text
  friend bool operator==(const Tensor&, const Tensor&) = default;
};

// Whether the network itself states how many bytes a constant is stored in. No part of such a
// constant has known bytes.
inline bool StatesStoredBytes(const Tensor& tensor) {
  return tensor.stored_bytes > 0 && !tensor.stored_by_ratio;
}

// A tensor in another form has other stored bytes, which its profile gives it.
inline void DropRatio(Tensor& tensor) {
  if (tensor.stored_by_ratio) tensor.stored_bytes = 0;
  tensor.stored_by_ratio = false;
}

struct Graph {
  std::string name;
  std::vector<Tensor> tensors;
  // in topological order: each input is produced earlier, or comes from outside
  std::vector<Operator> operators;
  std::map<std::string, std::string> annotations;
  friend bool operator==(const Graph&, const Graph&) = default;
};

// Returns the network as its author gave it: without the engines that a planner chose, and without
// the stored bytes that the ratio of a profile gave.
Graph AsGiven(Graph graph);

// The index of the operator or tensor with this id. Cost: linear.
std::optional<int> FindOperator(const Graph& graph, std::string_view id);
std::optional<int> FindTensor(const Graph& graph, std::string_view id);

// Operators [first, last], both included: indices into Graph::operators.
struct Interval {
  int first = 0;
  int last = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

// The producer and the consumers of each tensor. producer is -1 for network inputs, constants and
// state.
struct Usage {
  int producer = -1;
  std::vector<int> consumers;  // ascending
};
std::vector<Usage> UsagesOf(const Graph& graph);

// The role of a tensor outside the subgraph that makes it: that of a constant, a state (also of its
// next value), a network input or output, or else of a boundary tensor.
base::TensorRole OuterRoleOf(const Tensor& tensor);

// The role of a tensor if `interval` is one subgraph: its outer role, but a boundary tensor that is
// made and read only inside is a feature.
base::TensorRole RoleIn(const Graph& graph, const Usage& usage, int tensor, Interval interval);

inline const Shape& ShapeOf(const Graph& graph, int tensor) {
  return graph.tensors[static_cast<size_t>(tensor)].shape;
}

// Orders operators so that each comes after those on which it depends.

struct TopologicalOrder {
  std::vector<int>
      order;  // of all nodes if there is no cycle; the next node is always the first ready one
  // otherwise the nodes of a cycle: each depends on the previous one, the first on the last
  std::vector<int> cycle;
};

// dependencies[i] are the nodes on which node i depends. A list that is already in order is not
// changed. Kahn's algorithm with a heap. Cost: O((nodes + dependencies) log nodes).
TopologicalOrder SortTopologically(const std::vector<std::vector<int>>& dependencies);

// A network may run its operators in any order in which each comes after those on which it depends.

// Returns for each operator the makers of its operands, ascending, each once.
std::vector<std::vector<int>> DependenciesOf(const Graph& graph);

// The same network in another order: operator order[i] comes i-th. Tensors keep their indices. The
// order names each operator once, after those on which it depends. Cost: a copy.
Graph Reordered(const Graph& graph, std::span<const int> order);

// The tensors in file order: inputs and states, constants, then results, operator by operator.
// Those without a maker keep their order among themselves.
std::vector<int> TensorsByMaker(const Graph& graph);

// Returns the same network with its tensors in another order: tensor tensors[i] gets the number i.
// Tensors that no operator uses may be left out.
Graph Renumbered(const Graph& graph, std::span<const int> tensors);

}  // namespace tessera::graph
