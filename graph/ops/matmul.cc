// SPDX-License-Identifier: Apache-2.0

#include "tessera/graph/ops/matmul.h"

#include <algorithm>
#include <array>
#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Products of matrices: the last two axes of one operand and of a constant, or of two operands.
// Leading axes broadcast.
namespace tessera::graph::ops {
namespace {

// The axis of an operand that both factors share.
size_t SumAxis(const Operator& op, size_t operand, size_t rank) {
  const auto& own = op.Own<MatmulAttributes>();
  const bool is_last = operand == 0 ? !own.transpose_first : own.transpose_second;
  return StoredAxis(op, operand, rank - (is_last ? 1 : 2));
}

// The axis of the matrix that is not summed over.
size_t KeptAxis(const Operator& op, size_t operand, size_t rank) {
  const auto& own = op.Own<MatmulAttributes>();
  const bool is_last = operand == 0 ? own.transpose_first : !own.transpose_second;
  return StoredAxis(op, operand, rank - (is_last ? 1 : 2));
}

std::vector<Field> FieldsOfMatmul(Operator& op, Wanted& wanted, size_t operands) {
  constexpr int64_t kLastAxis = 63;
  auto& own = op.MakeOwn<MatmulAttributes>();
  std::vector<Field> fields = {
      {"transpose_first", &own.transpose_first},
      {"first_axes", &own.operand_axes[0], Presence::kSparse, 0, kLastAxis}};
  if (operands == 1) {
    fields.push_back({"columns", &wanted.columns, Presence::kRequired, 1});
    fields.push_back({"weights_dtype", Field::WeightsType{}});
  } else if (operands == 2) {
    fields.push_back({"transpose_second", &own.transpose_second});
    fields.push_back({"second_axes", &own.operand_axes[1], Presence::kSparse, 0, kLastAxis});
  }
  fields.push_back({"result_axes", &own.result_axes, Presence::kSparse, 0, kLastAxis});
  return fields;
}

bool IsPermutation(std::vector<int> axes, size_t rank) {
  std::sort(axes.begin(), axes.end());
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (axes[axis] != static_cast<int>(axis)) return false;
  }
  return axes.size() == rank;
}

std::optional<ShapeFault> FaultOfAxes(const char* key, const std::vector<int>& axes,
                                      const Shape& shape) {
  if (axes.empty() || IsPermutation(axes, shape.size())) return std::nullopt;
  return ShapeFault{key,
                    "not a permutation of the axes of " + ToText(shape),
                    "each of 0 to " + std::to_string(shape.size() - 1) + " once",
                    {}};
}

// The extents of an operand in the order of the product's axes.
Shape Taken(const Operator& op, size_t operand, const Shape& stored) {
  Shape taken;
  for (size_t axis = 0; axis < stored.size(); ++axis)
    taken.push_back(stored[StoredAxis(op, operand, axis)]);
  return taken;
}

Inferred InferResult(const Operator& op, const Shape& product) {
  const std::vector<int>& axes = op.Own<MatmulAttributes>().result_axes;
  if (auto fault = FaultOfAxes("result_axes", axes, product)) return tl::unexpected(*fault);
  if (!axes.empty() && axes.back() + 1 != static_cast<int>(product.size()))
    return Fault("result_axes", "the columns of the product are not the last axis of the result",
                 std::to_string(product.size() - 1) + " as the last number");
  Shape result;
  for (size_t axis = 0; axis < product.size(); ++axis)
    result.push_back(product[ProductAxis(op, axis)]);
  return result;
}

Inferred InferMatmul(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  constexpr std::array kKeys = {"first_axes", "second_axes"};
  const auto& own = op.MakeOwn<MatmulAttributes>();
  std::vector<Shape> taken;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].size() < 2)
      return WrongRank(inputs[i], i == 0 ? "at least two axes: [..., rows, depth]"
                                         : "at least two axes: [..., depth, columns]");
    if (auto fault = FaultOfAxes(kKeys.at(i), own.operand_axes.at(i), inputs[i]))
      return tl::unexpected(*fault);
    taken.push_back(Taken(op, i, inputs[i]));
  }
  const int64_t rows = inputs[0][KeptAxis(op, 0, inputs[0].size())];
  Shape product(taken[0].begin(), taken[0].end() - 2);
  if (inputs.size() == 1) {
    product.insert(product.end(), {rows, *wanted.columns});
    return InferResult(op, product);
  }
  const int64_t depth = inputs[0][SumAxis(op, 0, inputs[0].size())];
  if (depth != inputs[1][SumAxis(op, 1, inputs[1].size())]) {
    return Disagreeing(inputs[0], inputs[1],
                       "a depth of " + std::to_string(depth) + " in the second operand");
  }
  std::optional<Shape> outer = Broadcast(product, Shape(taken[1].begin(), taken[1].end() - 2));
  if (!outer) return Disagreeing(taken[0], taken[1], "leading axes that are equal or 1");
  outer->insert(outer->end(), {rows, inputs[1][KeptAxis(op, 1, inputs[1].size())]});
  return InferResult(op, *outer);
}

// Rows of the output are rows of the first operand, columns are columns of the second. K is needed
// whole.
std::vector<AxisMap> MapsOfMatmul(const OperandView& view) {
  const Shape& input = view.Input();
  const size_t rank = view.output.size();
  std::vector<size_t> result_of(rank);  // by axis of the product
  for (size_t axis = 0; axis < rank; ++axis) result_of[ProductAxis(view.op, axis)] = axis;
  std::vector<AxisMap> maps = WholeAxes(input);
  for (size_t axis = 0; axis + 2 < input.size(); ++axis) {
    const size_t stored = StoredAxis(view.op, view.operand, axis);
    if (input[stored] != 1) maps[stored] = SameAxis(result_of[axis + rank - input.size()]);
  }
  maps[KeptAxis(view.op, view.operand, input.size())] =
      SameAxis(result_of[rank - (view.operand == 0 ? 2 : 1)]);
  return maps;
}

// The position of an axis in an order. An empty order keeps all positions.
size_t PlaceOf(size_t axis, const std::vector<int>& order) {
  if (order.empty()) return axis;
  return static_cast<size_t>(std::find(order.begin(), order.end(), static_cast<int>(axis)) -
                             order.begin());
}

// product[.., i, j] = sum over d of first[.., i, d] * second[.., d, j].
constexpr Reading kReadingOfMatmul =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const Shape& in = view.Input();
      const auto& own = view.op.Own<MatmulAttributes>();
      const auto made = [&](size_t axis) { return output[PlaceOf(axis, own.result_axes)]; };
      const size_t rank = output.size();
      const bool is_first = view.operand == 0;
      const bool is_turned = is_first ? own.transpose_first : own.transpose_second;
      for (size_t axis = 0; axis < in.size(); ++axis) {
        const size_t place = PlaceOf(axis, own.operand_axes[view.operand]);
        const bool is_row = place + (is_turned ? 1 : 2) == in.size();
        if (place + 2 >= in.size() && is_row != is_first) {
          need.All(axis);
        } else if (place + 2 >= in.size()) {
          need.Same(axis, made(rank - (is_first ? 2 : 1)));
        } else if (in[axis] == 1) {
          need.Only(axis, 0);
        } else {
          need.Same(axis, made(place + rank - in.size()));
        }
      }
    });

}  // namespace

extern const OperatorDefinition kMatmul = {
    .arity = {1, 2},
    .fields = FieldsOfMatmul,
    .restate = [](const Operator&, const Shape&, const Shape& output,
                  Wanted& wanted) { wanted.columns = output.back(); },
    .infer_shape = InferMatmul,
    .weight_shape = [](const Operator& op, const std::vector<Shape>& inputs,
                       const Shape& output) -> std::optional<Shape> {
      if (inputs.size() != 1) return std::nullopt;
      return Shape{inputs[0][SumAxis(op, 0, inputs[0].size())], output.back()};
    },
    .axis_maps = MapsOfMatmul,
    .reading = kReadingOfMatmul,
    .products =
        [](const Operator& op, const Shape& input) {
          return Ratio{input[SumAxis(op, 0, input.size())], 1};
        },
    .sum_axis = [](const Operator& op, size_t operand, size_t rank) -> std::optional<size_t> {
      if (rank < 2) return std::nullopt;
      return SumAxis(op, operand, rank);
    },
    .filter_axes = [](const Operator& op, size_t rank,
                      size_t output_rank) -> std::optional<FilterAxes> {
      if (op.inputs.size() != 1 || rank != 2 || output_rank == 0) return std::nullopt;
      return FilterAxes{1, output_rank - 1, 0};
    },
};

}  // namespace tessera::graph::ops
