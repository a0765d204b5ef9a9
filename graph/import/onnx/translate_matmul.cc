// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <numeric>

#include "tessera/graph/import/onnx/translations.h"

// Products of matrices. If the second operand is a constant of one matrix, it is a weight. If the
// first one is, the product is made transposed:  W x = (x^T W^T)^T.
namespace tessera::graph::import::onnx {
namespace {

// The parameters of a product of matrices, apart from its operands.
struct Product {
  size_t first = 0;  // positions of the operands
  size_t second = 1;
  bool transpose_first = false;
  bool transpose_second = false;
  std::optional<base::DataType> type;
  std::string result;  // the suffix of the result's name, if it is not the node's own name
};

Product ProductOf(const common::Translation& node) {
  const common::Node& source = node.Source();
  Product product;
  if (source.type == "QLinearMatMul") {
    product.second = 3;
    if (node.Has(7)) product.type = node.TypeOf(7);
  } else if (source.type == "MatMulInteger") {
    product.type = base::DataType::kInt32;
  } else {
    product.transpose_first = source.Flag("transA");
    product.transpose_second = source.Flag("transB");
  }
  return product;
}

// The two last extents of a constant that is one matrix, otherwise nullopt.
std::optional<Shape> MatrixOf(const Shape& shape) {
  if (shape.size() < 2 || !ops::IsCountable(shape)) return std::nullopt;
  if (std::any_of(shape.begin(), shape.end() - 2, [](int64_t extent) { return extent != 1; }))
    return std::nullopt;
  return Shape(shape.end() - 2, shape.end());
}

tl::unexpected<common::Obstacle> DepthsDiffer(const Shape& first, const Shape& second) {
  return common::Fault(
      "shapes " + ops::ToText(first) + " and " + ops::ToText(second) + " do not agree",
      "equal depths");
}

// feature x weight. Leading axes of the weight that the feature lacks are leading axes of the
// result.
common::MadeTensor MultiplyByWeight(common::Translation& node, const Product& product,
                                    int feature) {
  const Shape& constant = node.ShapeOf(product.second);
  Shape matrix =
      constant.size() == 1 ? Shape{constant[0], 1} : MatrixOf(constant).value_or(Shape{});
  if (matrix.empty()) return common::Barrier("its weights are a batch of matrices");
  if (product.transpose_second && constant.size() > 1) std::swap(matrix[0], matrix[1]);
  Shape input = node.ShapeOfTensor(feature);
  const bool vector = input.size() == 1;
  if (vector) input.insert(input.begin(), 1);
  const size_t depth = input.size() - (product.transpose_first ? 2 : 1);
  if (input[depth] != matrix[0]) return DepthsDiffer(node.ShapeOf(product.first), constant);
  Shape result = input;
  if (product.transpose_first) std::swap(result[input.size() - 2], result[input.size() - 1]);
  result.back() = matrix[1];
  const Shape plain = result;
  if (constant.size() == 1) result.pop_back();
  if (vector) result.erase(result.end() - (constant.size() == 1 ? 1 : 2));
  if (constant.size() > input.size())
    result.insert(result.begin(), constant.size() - input.size(), 1);
  common::MadeTensor rows = node.Reshape(feature, input, "/matrix");
  if (!rows) return rows;
  common::Part part;
  part.op.kind = base::OperatorKind::kMatmul;
  part.op.MakeOwn<MatmulAttributes>().transpose_first = product.transpose_first;
  part.op.weights = {node.Weight(product.second, matrix)};
  part.wanted.columns = matrix[1];
  part.inputs = {*rows};
  part.type = product.type;
  common::MadeTensor made =
      node.Emit(std::move(part), product.result,
                result == plain ? product.result : product.result + "/matrix");
  if (!made || result == plain) return made;
  return node.Reshape(*made, result, product.result);
}

// weight x feature, made transposed.
common::MadeTensor MultiplyWeightBy(common::Translation& node, const Product& product,
                                    int feature) {
  const std::optional<Shape> stored = MatrixOf(node.ShapeOf(product.first));
  const Shape& input = node.ShapeOfTensor(feature);
  if (!stored || input.size() < std::max<size_t>(2, node.ShapeOf(product.first).size()))
    return common::Barrier("its first operand is a constant of another form than one matrix");
  Shape matrix = *stored;  // [K, rows of the product]
  if (!product.transpose_first) std::swap(matrix[0], matrix[1]);
  const size_t rank = input.size();
  if (input[rank - (product.transpose_second ? 1 : 2)] != matrix[0])
    return DepthsDiffer(node.ShapeOf(product.first), input);
  common::Part part;
  part.op.kind = base::OperatorKind::kMatmul;
  part.op.MakeOwn<MatmulAttributes>().transpose_first = !product.transpose_second;
  part.op.weights = {node.Weight(product.first, matrix)};
  part.wanted.columns = matrix[1];
  part.inputs = {feature};
  part.type = product.type;
  common::MadeTensor made =
      node.Emit(std::move(part), product.result, product.result + "/transposed");
  if (!made) return made;
  common::Part turn;
  turn.op.kind = base::OperatorKind::kTranspose;
  std::vector<int>& permutation = turn.op.MakeOwn<TransposeAttributes>().permutation;
  permutation.resize(rank);
  std::iota(permutation.begin(), permutation.end(), 0);
  std::swap(permutation[rank - 2], permutation[rank - 1]);
  turn.inputs = {*made};
  return node.Emit(std::move(turn), product.result + "/transpose", product.result);
}

common::MadeTensor MultiplyFeatures(common::Translation& node, const Product& product, int first,
                                    int second) {
  if (node.ShapeOfTensor(first).size() == 1 || node.ShapeOfTensor(second).size() == 1)
    return common::Barrier("it multiplies by a vector that is computed");
  common::Part part;
  part.op.kind = base::OperatorKind::kMatmul;
  part.op.own = MatmulAttributes{product.transpose_first, product.transpose_second, {}, {}};
  part.inputs = {first, second};
  part.type = product.type;
  return node.Emit(std::move(part), product.result, product.result);
}

// FusedMatMul may have the batch axes between the two axes of the matrix: [rows, batch..., columns]
// in the file is [batch..., rows, columns].
common::MadeTensor FrontBatches(common::Translation& node, size_t operand, bool wanted,
                                std::string_view suffix) {
  const int feature = node.Feature(operand);
  const size_t rank = node.ShapeOf(operand).size();
  if (!wanted || rank < 3) return feature;
  common::Part part;
  part.op.kind = base::OperatorKind::kTranspose;
  std::vector<int>& permutation = part.op.MakeOwn<TransposeAttributes>().permutation;
  for (size_t axis = 1; axis + 1 < rank; ++axis) permutation.push_back(static_cast<int>(axis));
  permutation.push_back(0);
  permutation.push_back(static_cast<int>(rank) - 1);
  part.inputs = {feature};
  return node.Emit(std::move(part), suffix, suffix);
}

// Whether a constant only adds a value to each column, which the profile's tables hold.
bool IsBias(const Shape& shape) {
  return shape.empty() ||
         std::all_of(shape.begin(), shape.end() - 1, [](int64_t extent) { return extent == 1; });
}

common::MadeTensor Multiply(common::Translation& node, const Product& product) {
  const common::Node& source = node.Source();
  const bool batches_first = source.Flag("transBatchA");
  const bool batches_second = source.Flag("transBatchB");
  if (node.IsConstant(product.first) && node.IsConstant(product.second))
    return common::Barrier(
        "its matrices are constants, and another operand is computed while the network runs");
  if (node.IsConstant(product.first)) {
    if (batches_first || batches_second)
      return common::Barrier("its constant operand is a batch of matrices");
    return MultiplyWeightBy(node, product, node.Feature(product.second));
  }
  common::MadeTensor first = FrontBatches(node, product.first, batches_first, "/batches_a");
  if (!first) return first;
  if (node.IsConstant(product.second)) return MultiplyByWeight(node, product, *first);
  common::MadeTensor second = FrontBatches(node, product.second, batches_second, "/batches_b");
  if (!second) return second;
  return MultiplyFeatures(node, product, *first, *second);
}

// Adds the third operand of a Gemm, in a separate operator if it is not just a bias.
common::MadeTensor AddToProduct(common::Translation& node, int product) {
  constexpr size_t kAddend = 2;
  common::Part part;
  part.op.kind = base::OperatorKind::kElementwise;
  part.op.function = "add";
  part.inputs = {product};
  if (node.IsFeature(kAddend)) {
    part.inputs.push_back(node.Feature(kAddend));
  } else {
    part.op.weights = {node.Weight(kAddend)};
  }
  return node.Emit(std::move(part), "/add");
}

common::Outcome TranslateMatMul(common::Translation& node) {
  return common::AsOutcome(Multiply(node, ProductOf(node)));
}

common::Outcome TranslateGemm(common::Translation& node) {
  Product product = ProductOf(node);
  for (const size_t i : {product.first, product.second}) {
    if (node.ShapeOf(i).size() != 2)
      return common::Fault("an operand of shape " + ops::ToText(node.ShapeOf(i)), "a matrix");
  }
  const Shape result = {node.ShapeOf(product.first)[product.transpose_first ? 1 : 0],
                        node.ShapeOf(product.second)[product.transpose_second ? 0 : 1]};
  if (auto sum = ExpectBroadcast(node, 2, result); !sum) return sum;
  const bool adds = node.Has(2) && (node.IsFeature(2) || !IsBias(node.ShapeOf(2)));
  if (adds) product.result = "/product";
  const common::MadeTensor made = Multiply(node, product);
  return common::AsOutcome(made && adds ? AddToProduct(node, *made) : made);
}

}  // namespace

TranslationTable TranslationsOfMatmul() {
  return {{{TranslateMatMul, 2, true}, {"MatMul", "MatMulInteger", "com.microsoft:FusedMatMul"}},
          {{TranslateMatMul, 8, true}, {"QLinearMatMul"}},
          {{TranslateGemm, 2, true}, {"Gemm"}}};
}

}  // namespace tessera::graph::import::onnx
