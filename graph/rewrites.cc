// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/rewrites.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/graph/ops/definition.h"

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
//
// A slice of a reduction has a part of one axis, and the other reduced axes whole. Axis by axis, it
// is a part of one axis alone:
//
//     x [C, H, W] --> reduce C (l1) --> [1, H, W] --> reduce W (sum) --> [1, H, 1]
//                 --> reduce H (sum) --> y [1, 1, 1]
//
// Longer axes come first, so that the results between are small. The first of the axes comes last:
// that reduction may drop all of them, and takes its slices along the first.
//
// A sum of products in parts along K needs no policy for slices, and no memory that is read and
// written in one step. Its partial sums are ordinary tensors:
//
//     x [K, ..] --> slice --> conv, part 0 of the filters --> p0
//       '---------> slice --> conv, part 1 of the filters --> p1     p0, p1 --> add --> y

using base::OperatorKind;

// A reduction over several axes, as reductions over one each.
struct ByAxis {
  std::string_view function;
  std::string_view first;   // of the operand
  std::string_view middle;  // of results between
  std::string_view last;    // makes the result
};

constexpr ByAxis kByAxis[] = {
    {"sum", "sum", "sum", "sum"},
    {"mean", "mean", "mean", "mean"},
    {"average", "mean", "mean", "mean"},
    {"max", "max", "max", "max"},
    {"min", "min", "min", "min"},
    {"prod", "prod", "prod", "prod"},
    {"l1", "l1", "sum", "sum"},
    {"l2", "l2", "l2", "l2"},
    {"sum_square", "sum_square", "sum", "sum"},
    {"mean_square", "mean_square", "mean", "mean"},
    {"log_sum", "sum", "sum", "log_sum"},
    {"log_sum_exp", "log_sum_exp", "log_sum_exp", "log_sum_exp"},
};

const ByAxis* FindByAxis(std::string_view function) {
  const auto* found = std::find_if(std::begin(kByAxis), std::end(kByAxis),
                                   [&](const ByAxis& each) { return each.function == function; });
  return found == std::end(kByAxis) ? nullptr : found;
}

// The axis of K of the constant that is a factor of the operator's products.
std::optional<size_t> AxisOfFilters(const Graph& graph, const Operator& op) {
  if (op.weights.empty()) return std::nullopt;
  const auto axes = ops::FilterAxesOf(op, ShapeOf(graph, op.weights.front()).size(),
                                      ShapeOf(graph, op.outputs.front()).size());
  return axes ? axes->sum : std::nullopt;
}

// Returns the network without constants that only `before` uses.
Graph WithoutUnused(Graph graph, const Graph& before) {
  const std::vector<Usage> now = UsagesOf(graph);
  const std::vector<Usage> then = UsagesOf(before);
  std::set<std::string_view> used;
  for (size_t tensor = 0; tensor < then.size(); ++tensor) {
    if (!then[tensor].consumers.empty()) used.insert(before.tensors[tensor].id);
  }
  std::vector<int> kept;
  for (size_t tensor = 0; tensor < now.size(); ++tensor) {
    const Tensor& facts = graph.tensors[tensor];
    if (!facts.constant || !now[tensor].consumers.empty() || !used.contains(facts.id))
      kept.push_back(static_cast<int>(tensor));
  }
  return Renumbered(graph, kept);
}

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
         is_softmax ? std::vector{"log_sum_exp"} : std::vector{"mean", "mean_square"}) {
      const int operand = renamed_[static_cast<size_t>(op.inputs.front())];
      sums.push_back(AddReduction(op, operand, function, op.axes, function));
    }
    for (const int output : op.outputs) Copy(output);
    Operator last = Renumbered(op);
    last.kind = OperatorKind::kElementwise;
    last.function = is_softmax ? "exp_difference" : "normalize";
    last.axes.clear();
    last.measured.clear();
    last.inputs.insert(last.inputs.end(), sums.begin(), sums.end());
    after_.operators.push_back(std::move(last));
  }

  void AddAxisByAxis(const Operator& op) {
    const ByAxis& functions = *FindByAxis(op.function);
    Operator last = Renumbered(op);
    int& operand = last.inputs.front();
    const Shape shape = after_.tensors[static_cast<size_t>(operand)].shape;
    last.kind = OperatorKind::kReduce;
    last.axes = ReducedAxes(op);
    std::vector<int> others(last.axes.begin() + 1, last.axes.end());
    std::stable_sort(others.begin(), others.end(), [&shape](int a, int b) {
      return shape[static_cast<size_t>(a)] > shape[static_cast<size_t>(b)];
    });
    for (const int axis : others) {
      const std::string_view function = axis == others.front() ? functions.first : functions.middle;
      operand =
          AddReduction(op, operand, std::string(function), {axis}, "axis_" + std::to_string(axis));
    }
    for (const int output : op.outputs) Copy(output);
    last.outputs.front() = renamed_[static_cast<size_t>(op.outputs.front())];
    last.function = functions.last;
    last.measured.clear();
    after_.operators.push_back(std::move(last));
  }

  void AddInParts(const Operator& op, int64_t k_extent) {
    const Shape& first = ShapeOf(before_, op.inputs.front());
    const int64_t whole = first[*ops::SumAxisOf(op, 0, first.size())];
    Operator sum;
    sum.id = op.id;
    sum.kind = OperatorKind::kElementwise;
    sum.function = "add";
    sum.activation = op.activation;
    sum.annotations = op.annotations;
    for (int64_t begin = 0; begin < whole; begin += k_extent)
      sum.inputs.push_back(AddPart(op, begin, std::min(begin + k_extent, whole), whole));
    Copy(op.outputs.front());
    sum.outputs = {renamed_[static_cast<size_t>(op.outputs.front())]};
    after_.operators.push_back(std::move(sum));
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

  // Adds a tensor inside the network, by this name if it is free. Returns its number.
  int AddTensor(Tensor made, const std::string& name) {
    made.id = FreeName(name, [this](const std::string& id) { return FindTensor(before_, id); });
    made.network_input = made.network_output = made.state = false;
    made.next_of = -1;
    after_.tensors.push_back(std::move(made));
    return static_cast<int>(after_.tensors.size()) - 1;
  }

  // Adds a part of `op`: a reduction of a tensor of the new network, which keeps its axes. Returns
  // its result, which is named after the result of `op`.
  int AddReduction(const Operator& op, int operand, const std::string& function,
                   const std::vector<int>& axes, const std::string& name) {
    const Tensor& facts = after_.tensors[static_cast<size_t>(operand)];
    const Tensor& result = before_.tensors[static_cast<size_t>(op.outputs.front())];
    const bool selects = function == "max" || function == "min";
    Tensor sum;
    sum.shape = facts.shape;
    for (const int axis : axes) sum.shape[static_cast<size_t>(axis)] = 1;
    const base::DataType first = before_.tensors[static_cast<size_t>(op.inputs.front())].type;
    sum.type = selects ? first : base::AccumulatorOf(first);
    Operator reduction;
    reduction.id = FreeName(op.id + "/" + name,
                            [this](const std::string& id) { return FindOperator(before_, id); });
    reduction.kind = OperatorKind::kReduce;
    reduction.function = function;
    reduction.axes = axes;
    reduction.inputs = {operand};
    reduction.outputs = {AddTensor(std::move(sum), result.id + "/" + name)};
    after_.operators.push_back(std::move(reduction));
    return after_.operators.back().outputs.front();
  }

  // Adds the products of indices [begin, end) of K, with the slices of the operands that they need.
  // Returns their sums. Further constants belong to the last part.
  int AddPart(const Operator& op, int64_t begin, int64_t end, int64_t whole) {
    const std::string name = "part_" + std::to_string(begin);
    const auto free = [this](const std::string& id) { return FindOperator(before_, id); };
    const auto cut = [&](int tensor, size_t axis) {
      Tensor part = before_.tensors[static_cast<size_t>(tensor)];
      part.shape[axis] = end - begin;
      DropRatio(part);
      return part;
    };
    Operator part = op;
    part.id = FreeName(op.id + "/" + name, free);
    part.activation.clear();
    part.measured.clear();
    for (size_t i = 0; i < op.inputs.size(); ++i) {
      const Tensor& operand = before_.tensors[static_cast<size_t>(op.inputs[i])];
      const size_t axis = *ops::SumAxisOf(op, i, operand.shape.size());
      Operator slice;
      slice.id = FreeName(part.id + "/operand_" + std::to_string(i), free);
      slice.kind = OperatorKind::kSlice;
      auto& own = slice.MakeOwn<base::SliceAttributes>();
      own.starts.assign(operand.shape.size(), 0);
      own.starts[axis] = begin;
      own.steps.assign(operand.shape.size(), 1);
      slice.inputs = {renamed_[static_cast<size_t>(op.inputs[i])]};
      part.inputs[i] = AddTensor(cut(op.inputs[i], axis), slice.id);
      slice.outputs = {part.inputs[i]};
      after_.operators.push_back(std::move(slice));
    }
    part.weights.clear();
    for (size_t i = 0; i < op.weights.size(); ++i) {
      const Tensor& constant = before_.tensors[static_cast<size_t>(op.weights[i])];
      if (i == 0)
        part.weights.push_back(
            AddTensor(cut(op.weights[i], *AxisOfFilters(before_, op)), constant.id + "/" + name));
      else if (end == whole)
        part.weights.push_back(renamed_[static_cast<size_t>(op.weights[i])]);
    }
    Tensor sums = before_.tensors[static_cast<size_t>(op.outputs.front())];
    sums.type = base::AccumulatorOf(before_.tensors[static_cast<size_t>(op.inputs.front())].type);
    const std::string result = sums.id + "/" + name;
    part.outputs = {AddTensor(std::move(sums), result)};
    after_.operators.push_back(std::move(part));
    return after_.operators.back().outputs.front();
  }

  const Graph& before_;
  std::vector<int> renamed_;  // by tensor of the network before
  Graph after_;
};

// Returns the network in which `replace` adds these operators, which are ascending.
Graph WithReplaced(const Graph& graph, std::span<const int> ops,
                   void (Rewriting::*replace)(const Operator&)) {
  Rewriting rewriting(graph);
  for (size_t op = 0; op < graph.operators.size(); ++op) {
    const bool is_replaced = std::binary_search(ops.begin(), ops.end(), static_cast<int>(op));
    (rewriting.*(is_replaced ? replace : &Rewriting::AddAsIs))(graph.operators[op]);
  }
  return std::move(rewriting).Finish();
}

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
  return facts.constant && !StatesStoredBytes(facts) && !usage.consumers.empty() &&
         std::all_of(usage.consumers.begin(), usage.consumers.end(), is_operand_of);
}

Graph WithStates(const Graph& graph, std::span<const int> tensors) {
  Graph after = graph;
  const auto is_chosen = [tensors](int tensor) {
    return std::find(tensors.begin(), tensors.end(), tensor) != tensors.end();
  };
  for (const int tensor : tensors) {
    Tensor& state = after.tensors[static_cast<size_t>(tensor)];
    state.constant = false;
    state.state = true;
    DropRatio(state);
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
  return WithReplaced(graph, ops, &Rewriting::AddInTwoPasses);
}

std::vector<int> ReducedAxes(const Operator& op) {
  if (op.kind == OperatorKind::kGlobalPool) return {2, 3};
  return op.kind == OperatorKind::kReduce ? op.axes : std::vector<int>();
}

bool CanGoAxisByAxis(const Operator& op) {
  return ReducedAxes(op).size() > 1 && op.inputs.size() == 1 && FindByAxis(op.function) != nullptr;
}

Graph AxisByAxis(const Graph& graph, std::span<const int> ops) {
  return WithReplaced(graph, ops, &Rewriting::AddAxisByAxis);
}

bool CanGoInParts(const Graph& graph, const Operator& op) {
  if (ops::DefinitionOf(op.kind).products == nullptr || op.inputs.empty()) return false;
  if (op.inputs.size() > 1 && op.inputs.front() == op.inputs.back()) return false;
  int64_t k_extent = 0;
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const Shape& shape = ShapeOf(graph, op.inputs[i]);
    const std::optional<size_t> axis = ops::SumAxisOf(op, i, shape.size());
    if (!axis || (i > 0 && shape[*axis] != k_extent)) return false;
    k_extent = shape[*axis];
  }
  if (op.inputs.size() > 1) return k_extent > 1 && op.weights.empty();
  const std::optional<size_t> axis = AxisOfFilters(graph, op);
  if (!axis) return false;
  const Tensor& filters = graph.tensors[static_cast<size_t>(op.weights.front())];
  if (std::count(op.weights.begin(), op.weights.end(), op.weights.front()) > 1) return false;
  return k_extent > 1 && filters.constant && !StatesStoredBytes(filters) &&
         filters.shape[*axis] == k_extent;
}

Graph InParts(const Graph& graph, std::span<const Parts> all) {
  Rewriting rewriting(graph);
  auto next = all.begin();
  for (size_t op = 0; op < graph.operators.size(); ++op) {
    if (next != all.end() && next->op == static_cast<int>(op)) {
      rewriting.AddInParts(graph.operators[op], next->k_extent);
      ++next;
    } else {
      rewriting.AddAsIs(graph.operators[op]);
    }
  }
  return WithoutUnused(std::move(rewriting).Finish(), graph);
}

}  // namespace tessera::graph
