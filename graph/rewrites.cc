// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/rewrites.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace tessera::graph {
namespace {

// A softmax or a normalisation needs all of the axes that it reduces over before it can make the
// first element. In two passes it needs them slice by slice:
//
//     x --> reduce (log_sum_exp) --> s       softmax: exp(x - s)
//     x, s --> elementwise ------------> y
//
//     x --> reduce (mean) --------> m        layer_norm: (x - m) / sqrt(q - m * m + epsilon),
//     x --> reduce (mean_square) -> q        then scale and bias
//     x, m, q --> elementwise ---------> y
//
// The reductions can add up slices (policy split_k), and the last operator can be cut along every
// axis. The cost is that x is read two or three times. The sum of exponentials is rescaled when a
// slice has a new greatest element (Milakov and Gimelshein, arXiv 1805.02867), so that one
// reduction suffices.

using base::OperatorKind;

class Rewriting {
 public:
  explicit Rewriting(const Graph& graph) : before_(graph), renamed_(graph.tensors.size(), -1) {
    after_.name = graph.name;
    after_.annotations = graph.annotations;
    std::vector<char> made(graph.tensors.size());
    for (const Operator& op : graph.operators) {
      for (const int output : op.outputs) made[static_cast<size_t>(output)] = 1;
    }
    for (size_t tensor = 0; tensor < graph.tensors.size(); ++tensor) {
      if (made[tensor] == 0) Copy(static_cast<int>(tensor));
    }
  }

  void AddAsIs(const Operator& op) {
    for (const int output : op.outputs) Copy(output);
    after_.operators.push_back(Renumbered(op));
  }

  void AddInTwoPasses(const Operator& op) {
    const bool is_softmax = op.kind == OperatorKind::kSoftmax;
    std::vector<int> sums;
    for (const char* function :
         is_softmax ? std::vector{"log_sum_exp"} : std::vector{"mean", "mean_square"})
      sums.push_back(AddReduction(op, function));
    for (const int output : op.outputs) Copy(output);
    Operator last = Renumbered(op);
    last.kind = OperatorKind::kElementwise;
    last.function = is_softmax ? "exp_difference" : "normalize";
    last.axes.clear();
    last.measured.clear();
    last.inputs.insert(last.inputs.end(), sums.begin(), sums.end());
    after_.operators.push_back(std::move(last));
  }

  Graph Finish() && {
    for (Tensor& tensor : after_.tensors) {
      if (tensor.next_of >= 0) tensor.next_of = renamed_[static_cast<size_t>(tensor.next_of)];
    }
    return std::move(after_);
  }

 private:
  void Copy(int tensor) {
    renamed_[static_cast<size_t>(tensor)] = static_cast<int>(after_.tensors.size());
    after_.tensors.push_back(before_.tensors[static_cast<size_t>(tensor)]);
  }

  Operator Renumbered(Operator op) const {
    for (auto* tensors : {&op.inputs, &op.weights, &op.outputs}) {
      for (int& tensor : *tensors) tensor = renamed_[static_cast<size_t>(tensor)];
    }
    return op;
  }

  // Appends a number to a name that the network already uses.
  template <typename Find>
  static std::string FreeName(const std::string& wanted, const Find& find) {
    std::string name = wanted;
    for (int number = 2; find(name); ++number) name = wanted + "." + std::to_string(number);
    return name;
  }

  int AddReduction(const Operator& op, const std::string& function) {
    const Tensor& operand = before_.tensors[static_cast<size_t>(op.inputs.front())];
    const Tensor& result = before_.tensors[static_cast<size_t>(op.outputs.front())];
    Tensor sum;
    sum.id = FreeName(result.id + "/" + function,
                      [this](const std::string& id) { return FindTensor(before_, id); });
    sum.shape = operand.shape;
    for (const int axis : op.axes) sum.shape[static_cast<size_t>(axis)] = 1;
    sum.type = base::AccumulatorOf(operand.type);
    Operator reduction;
    reduction.id = FreeName(op.id + "/" + function,
                            [this](const std::string& id) { return FindOperator(before_, id); });
    reduction.kind = OperatorKind::kReduce;
    reduction.function = function;
    reduction.axes = op.axes;
    reduction.inputs = {renamed_[static_cast<size_t>(op.inputs.front())]};
    reduction.outputs = {static_cast<int>(after_.tensors.size())};
    after_.tensors.push_back(std::move(sum));
    after_.operators.push_back(std::move(reduction));
    return after_.operators.back().outputs.front();
  }

  const Graph& before_;
  std::vector<int> renamed_;  // by tensor of the network before
  Graph after_;
};

}  // namespace

bool CanBeState(const Graph& graph, const Usage& usage, int tensor) {
  const Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
  // An operand is aligned with the end of the result's shape. Tables need not be: one with a value
  // for each channel is aligned with the channels.
  const auto is_operand_of = [&](int op) {
    const Operator& reader = graph.operators[static_cast<size_t>(op)];
    if (reader.kind != base::OperatorKind::kElementwise) return false;
    const Shape& made = ShapeOf(graph, reader.outputs.front());
    return facts.shape.size() <= made.size() &&
           std::equal(facts.shape.rbegin(), facts.shape.rend(), made.rbegin(),
                      [](int64_t own, int64_t whole) { return own == 1 || own == whole; });
  };
  return facts.constant && facts.stored_bytes == 0 && !usage.consumers.empty() &&
         std::all_of(usage.consumers.begin(), usage.consumers.end(), is_operand_of);
}

Graph WithStates(const Graph& graph, std::span<const int> tensors) {
  Graph after = graph;
  const auto is_chosen = [tensors](int tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  for (const int tensor : tensors) {
    after.tensors[static_cast<size_t>(tensor)].constant = false;
    after.tensors[static_cast<size_t>(tensor)].state = true;
  }
  for (Operator& op : after.operators) {
    const auto moved = std::stable_partition(op.weights.begin(), op.weights.end(),
                                             [&](int weight) { return !is_chosen(weight); });
    op.inputs.insert(op.inputs.end(), moved, op.weights.end());
    op.weights.erase(moved, op.weights.end());
  }
  return after;
}

bool CanTakeTwoPasses(const Operator& op) {
  return (op.kind == OperatorKind::kSoftmax || op.kind == OperatorKind::kLayerNorm) &&
         op.inputs.size() == 1;
}

Graph InTwoPasses(const Graph& graph, std::span<const int> ops) {
  Rewriting rewriting(graph);
  for (size_t op = 0; op < graph.operators.size(); ++op) {
    const bool in_two = std::binary_search(ops.begin(), ops.end(), static_cast<int>(op));
    if (in_two) {
      rewriting.AddInTwoPasses(graph.operators[op]);
    } else {
      rewriting.AddAsIs(graph.operators[op]);
    }
  }
  return std::move(rewriting).Finish();
}

}  // namespace tessera::graph
