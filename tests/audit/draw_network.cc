// SPDX-License-Identifier: Apache-2.0

#include "draw_network.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "draws.h"
#include "tessera/base/diagnostic.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/ops/definition.h"
#include "tessera/graph/ops/shape_inference.h"
#include "tessera/tests/graph/graph_builder.h"
#include "tessera/tests/graph/random_batch.h"
#include "tessera/tests/graph/random_graph.h"

namespace tessera::audit {
namespace {

using base::DataType;
using base::OperatorKind;
using base::Random;
using graph::Graph;
using graph::GraphBuilder;
using graph::Operator;
using graph::Shape;
using graph::Tensor;

// Extents whose product is at most the number of elements that a random tensor may hold.
Shape DrawShape(Random& random, int64_t rank, int64_t most) {
  Shape shape;
  int64_t elements = 1;
  for (int64_t axis = 0; axis < rank; ++axis) {
    shape.push_back(random.Uniform(1, std::min(most, graph::kMostRandomElements / elements)));
    elements *= shape.back();
  }
  return shape;
}

Shape DrawMap(Random& random) {
  return {random.Chance(0.8) ? 1 : 2, random.Uniform(1, 4), random.Uniform(1, 8),
          random.Uniform(1, 6)};
}

// An opaque operator without any description, with one or two results.
void AddBarrier(Random& random, GraphBuilder& builder) {
  std::vector<Shape> outputs = {DrawShape(random, random.Uniform(1, 4), 6)};
  if (random.Chance(0.4)) outputs.push_back(DrawShape(random, random.Uniform(1, 3), 6));
  std::vector<int> inputs = {builder.TensorCount() - 1};
  if (random.Chance(0.3))
    inputs.push_back(static_cast<int>(random.Uniform(0, builder.TensorCount() - 1)));
  Operator op;
  op.macs = random.Uniform(0, 500);
  op.scratch_bytes = random.Chance(0.5) ? 0 : random.Uniform(1, 40);
  builder.AddOpaque(std::move(op), outputs, std::move(inputs));
}

// Draws operators as convolutional networks have them: mostly one after another, with sums over
// earlier results of the same shape.
void AddLayer(Random& random, GraphBuilder& builder) {
  const int last = builder.TensorCount() - 1;
  const int input = random.Chance(0.8) ? last : static_cast<int>(random.Uniform(0, last));
  const Shape& shape = builder.ShapeOf(input);
  if (random.Chance(0.25)) {
    for (int other = last; other >= 0; --other) {
      if (other == input || builder.ShapeOf(other) != shape || random.Chance(0.2)) continue;
      builder.AddSum(input, other);
      return;
    }
  }
  Operator op =
      graph::OfKind(OneOf(random, std::array{OperatorKind::kConv, OperatorKind::kConv,
                                             OperatorKind::kConv, OperatorKind::kDepthwise,
                                             OperatorKind::kPool, OperatorKind::kElementwise}));
  for (size_t axis = 0; axis < 2; ++axis) {
    op.window.kernel[axis] = OneOf<int64_t>(random, std::array<int64_t, 4>{1, 3, 3, 2});
    op.window.stride[axis] = random.Chance(0.75) ? 1 : 2;
    op.window.pad_low[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
    op.window.pad_high[axis] = random.Uniform(0, op.window.kernel[axis] - 1);
  }
  if (op.kind == OperatorKind::kPool && random.Chance(0.2)) {
    op.window = {};  // over the whole map
    op.window.kernel = {shape[2], shape[3]};
  }
  graph::ops::Wanted wanted;
  wanted.out_channels = random.Uniform(1, 5);
  builder.Add(std::move(op), wanted, {input});
}

Graph Layers(Random& random, int operators) {
  GraphBuilder builder;
  builder.AddInput(DrawMap(random));
  for (int i = 0; builder.OperatorCount() < operators && i < 50 * operators; ++i)
    AddLayer(random, builder);
  return std::move(builder).Build();
}

Graph Anything(Random& random, int operators) {
  GraphBuilder builder;
  const int64_t rank = random.Chance(0.5) ? 4 : random.Uniform(1, 6);
  const Shape shape = rank == 4 ? DrawMap(random) : DrawShape(random, rank, rank <= 3 ? 9 : 4);
  builder.AddInput(shape);
  if (random.Chance(0.3)) builder.AddInput(random.Chance(0.5) ? shape : DrawShape(random, 3, 5));
  while (builder.OperatorCount() < operators) {
    random.Chance(0.04) ? AddBarrier(random, builder)
                        : static_cast<void>(graph::AddRandomOperator(random, builder));
  }
  return std::move(builder).Build();
}

Graph DrawStructure(Random& random, int operators) {
  const int64_t style = random.Uniform(0, 19);
  if (style < 10) return Anything(random, operators);
  if (style < 16) return Layers(random, operators);
  if (style < 18 && operators > 1) return graph::RandomRecurrence(random, operators);
  return style == 18 ? graph::RandomBatch(random) : graph::RandomDepthwiseChain(random, operators);
}

int AddConstant(Random& random, Graph& network, Shape shape, DataType type) {
  Tensor tensor;
  tensor.id = "w" + std::to_string(network.tensors.size());
  tensor.shape = std::move(shape);
  tensor.type = type;
  tensor.constant = true;
  if (random.Chance(0.1))
    tensor.stored_bytes = random.Uniform(1, 2 * graph::ElementsOf(tensor.shape));
  network.tensors.push_back(std::move(tensor));
  return static_cast<int>(network.tensors.size()) - 1;
}

// Draws filters for the operators that have any, and tables for some others. A constant is shared
// where one of the same shape exists.
void AddConstants(Random& random, Graph& network, size_t index) {
  Operator& op = network.operators[index];
  std::vector<Shape> shapes;
  for (const int input : op.inputs)
    shapes.push_back(network.tensors[static_cast<size_t>(input)].shape);
  const Shape out = network.tensors[static_cast<size_t>(op.outputs.front())].shape;
  const auto share = [&](const Shape& shape) {
    for (size_t i = 0; i < network.tensors.size(); ++i) {
      if (network.tensors[i].constant && network.tensors[i].shape == shape && random.Chance(0.5))
        return static_cast<int>(i);
    }
    return -1;
  };
  const auto filters = graph::ops::WeightShapeOf(op, shapes, out);
  if (filters) {
    const int shared = share(*filters);
    const DataType type = OneOf(
        random, std::array{DataType::kInt8, DataType::kInt8, DataType::kInt16, DataType::kInt4});
    op.weights = {shared >= 0 ? shared : AddConstant(random, network, *filters, type)};
  }
  const bool takes_table =
      filters || op.kind == OperatorKind::kElementwise || op.kind == OperatorKind::kOpaque;
  if (takes_table && random.Chance(filters ? 0.2 : 0.3)) {
    const Shape shape = {out.size() > 1 ? out[1] : out[0]};
    const int shared = share(shape);
    const int table = shared >= 0 ? shared : AddConstant(random, network, shape, DataType::kInt32);
    if (op.weights.empty() || op.weights.front() != table) op.weights.push_back(table);
  }
}

void DrawTypes(Random& random, Graph& network) {
  const DataType usual = OneOf(random, std::array{DataType::kInt8, DataType::kInt8, DataType::kInt8,
                                                  DataType::kInt16, DataType::kFloat16});
  const bool mixed = random.Chance(0.3);
  for (Tensor& tensor : network.tensors) {
    tensor.type = usual;
    if (mixed && random.Chance(0.2))
      tensor.type = OneOf(random, std::array{DataType::kInt32, DataType::kInt4, DataType::kUint8,
                                             DataType::kFloat32});
  }
}

// Indices need an integer type that holds them. A state that they become has the same type.
void WidenIndices(Graph& network) {
  for (const Operator& op : network.operators) {
    if (op.inputs.empty()) continue;
    const Shape& input = network.tensors[static_cast<size_t>(op.inputs.front())].shape;
    const std::optional<int64_t> greatest = graph::ops::GreatestIndexOf(op, input);
    Tensor& made = network.tensors[static_cast<size_t>(op.outputs.front())];
    if (!greatest || graph::ops::HoldsIndex(made.type, *greatest)) continue;
    made.type = DataType::kInt32;
    if (made.next_of >= 0) network.tensors[static_cast<size_t>(made.next_of)].type = made.type;
  }
}

// Some inputs become states, some results network outputs.
void DrawEnds(Random& random, Graph& network) {
  const bool has_state = std::any_of(network.tensors.begin(), network.tensors.end(),
                                     [](const Tensor& tensor) { return tensor.state; });
  if (!has_state && random.Chance(0.35)) graph::DrawStates(random, network);
  for (Tensor& tensor : network.tensors) {
    if (tensor.next_of >= 0)
      tensor.type = network.tensors[static_cast<size_t>(tensor.next_of)].type;
  }
  WidenIndices(network);
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    if (usages[i].producer >= 0 && random.Chance(0.07)) network.tensors[i].network_output = true;
  }
}

// Removes inputs that no operator reads; they are no part of a network.
void DropUnread(Graph& network) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(network);
  std::vector<int> numbers;
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const bool is_used = usages[i].producer >= 0 || !usages[i].consumers.empty();
    numbers.push_back(is_used ? static_cast<int>(tensors.size()) : -1);
    if (is_used) tensors.push_back(network.tensors[i]);
    if (is_used && usages[i].producer < 0) tensors.back().network_output = false;
  }
  network.tensors = std::move(tensors);
  for (Operator& op : network.operators) {
    for (int& input : op.inputs) input = numbers[static_cast<size_t>(input)];
    for (int& output : op.outputs) output = numbers[static_cast<size_t>(output)];
  }
  for (Tensor& tensor : network.tensors) {
    if (tensor.next_of >= 0) tensor.next_of = numbers[static_cast<size_t>(tensor.next_of)];
  }
}

// States what readers require.
void NameFunctions(Random& random, Graph& network) {
  for (Operator& op : network.operators) {
    if (op.kind == OperatorKind::kPool || op.kind == OperatorKind::kGlobalPool)
      op.function = OneOf<std::string>(random, std::array<std::string, 3>{"max", "average", "lp"});
    if (op.kind == OperatorKind::kElementwise) op.function = op.inputs.size() == 1 ? "relu" : "add";
    if (op.kind == OperatorKind::kReduce) op.function = "mean";
  }
}

// The network as the reader returns it, with tensors in the order of
// graph/import/yaml/network_yaml.h.
Graph NetworkAsRead(const Graph& network) {
  base::Expected<Graph> read = graph::import::yaml::ReadNetwork(
      graph::import::yaml::WriteNetworkJson(network), "drawn.json");
  if (!read) throw std::logic_error("a drawn network is refused: " + base::Format(read.error()));
  return *std::move(read);
}

}  // namespace

Graph DrawNetwork(Random& random, int operators) {
  Graph network = DrawStructure(random, operators);
  network.name = "drawn";
  DropUnread(network);
  NameFunctions(random, network);
  DrawTypes(random, network);
  DrawEnds(random, network);
  for (size_t i = 0; i < network.operators.size(); ++i) AddConstants(random, network, i);
  for (Operator& op : network.operators) {
    for (size_t number = 0; number < op.accesses.size(); ++number) {
      if (op.accesses[number].kind == graph::ReadPattern::kElementwise && random.Chance(0.4))
        op.in_place.push_back(static_cast<int>(number));
    }
    random.Shuffle(std::span(op.in_place));
  }
  return NetworkAsRead(network);
}

}  // namespace tessera::audit
