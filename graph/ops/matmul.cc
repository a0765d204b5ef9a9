#include <string>

#include "tessera/graph/ops/axis_map.h"
#include "tessera/graph/ops/definition.h"

// Products of matrices: the last two axes of one operand and of a constant, or of two operands.
// Leading axes broadcast.
namespace tessera::graph::ops {
namespace {

// The axis of an operand that both factors share.
size_t SumAxis(const Operator& op, size_t operand, size_t rank) {
  const bool is_last = operand == 0 ? !op.transpose_first : op.transpose_second;
  return rank - (is_last ? 1 : 2);
}

std::vector<Field> FieldsOfMatmul(Operator& op, Wanted& wanted, size_t operands) {
  std::vector<Field> fields = {{"transpose_first", &op.transpose_first}};
  if (operands == 1) {
    fields.push_back({"columns", &wanted.columns, Presence::kRequired, 1});
    fields.push_back({"weights_dtype", Field::WeightsType{}});
  } else if (operands == 2) {
    fields.push_back({"transpose_second", &op.transpose_second});
  }
  return fields;
}

Inferred InferMatmul(Operator& op, const Wanted& wanted, const std::vector<Shape>& inputs) {
  const Shape& first = inputs[0];
  if (first.size() < 2) return WrongRank(first, "at least two axes: [..., rows, depth]");
  const int64_t rows = first[first.size() - (op.transpose_first ? 1 : 2)];
  const int64_t first_depth = first[SumAxis(op, 0, first.size())];
  if (inputs.size() == 1) {
    Shape output = first;
    output[output.size() - 2] = rows;
    output.back() = *wanted.columns;
    return output;
  }
  const Shape& second = inputs[1];
  if (second.size() < 2) return WrongRank(second, "at least two axes: [..., depth, columns]");
  const size_t rank = second.size();
  const int64_t depth = second[SumAxis(op, 1, rank)];
  const int64_t columns = second[op.transpose_second ? rank - 2 : rank - 1];
  if (first_depth != depth) {
    return Disagreeing(first, second,
                       "a depth of " + std::to_string(first_depth) + " in the second operand");
  }
  std::optional<Shape> output =
      Broadcast(Shape(first.begin(), first.end() - 2), Shape(second.begin(), second.end() - 2));
  if (!output) return Disagreeing(first, second, "leading axes that are equal or 1");
  output->push_back(rows);
  output->push_back(columns);
  return *output;
}

// Rows of the output are rows of the first operand, columns are columns of the second. K is needed
// whole.
std::vector<AxisMap> MapsOfMatmul(const OperandView& view) {
  const Shape& input = view.Input();
  std::vector<AxisMap> maps = BroadcastAxes(input, view.output);
  const size_t sum = SumAxis(view.op, view.operand, input.size());
  const size_t kept = 2 * input.size() - 3 - sum;  // the other of the last two
  maps[kept] = SameAxis(view.output.size() - (view.operand == 0 ? 2 : 1));
  maps[sum] = WholeAxis(input[sum]);
  return maps;
}

// out[.., i, j] = sum over d of first[.., i, d] * second[.., d, j].
constexpr Reading kReadingOfMatmul =
    ReadingBy([](const OperandView& view, const Box& output, auto& need) {
      const Shape& in = view.Input();
      ReadAligned(in, output, 2, need);
      const bool is_first = view.operand == 0;
      const bool is_turned = is_first ? view.op.transpose_first : view.op.transpose_second;
      const size_t rows = in.size() - (is_turned ? 1 : 2);
      const size_t columns = in.size() - (is_turned ? 2 : 1);
      if (is_first) {
        ReadSame(rows, output[output.size() - 2], need);
        need.All(columns);
      } else {
        need.All(rows);
        ReadSame(columns, output.back(), need);
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
