#include "tessera/graph/onnx/fold/fold.h"

#include <string_view>
#include <unordered_map>

#include "tessera/graph/onnx/fold/rules.h"

// Exporters compute shapes by operators: Shape, Gather, Mul, Concat, Reshape. All such arithmetic is done here, so that
// only what depends on data remains. Costs are linear in the elements, of which a constant has at most kMostValues.
namespace tessera::graph::onnx {
namespace {

using Rule = Folded (*)(const Node&, const Operands&);

Rule FindRule(std::string_view type) {
  static const std::unordered_map<std::string_view, Rule> table = {{"ConstantOfShape", FoldConstantOfShape},
                                                                   {"Range", FoldRange},
                                                                   {"Identity", FoldIdentity},
                                                                   {"Dropout", FoldIdentity},
                                                                   {"Squeeze", FoldSqueeze},
                                                                   {"Unsqueeze", FoldUnsqueeze},
                                                                   {"Reshape", FoldReshape},
                                                                   {"Flatten", FoldFlatten},
                                                                   {"Transpose", FoldTranspose},
                                                                   {"Gather", FoldGather},
                                                                   {"Slice", FoldSlice},
                                                                   {"Expand", FoldExpand},
                                                                   {"Concat", FoldConcat},
                                                                   {"Cast", FoldCast},
                                                                   {"Where", FoldWhere},
                                                                   {"ReduceProd", FoldReduce},
                                                                   {"ReduceSum", FoldReduce},
                                                                   {"ReduceMax", FoldReduce},
                                                                   {"ReduceMin", FoldReduce}};
  const auto found = table.find(type);
  return found == table.end() ? nullptr : found->second;
}

Folded FoldOne(const Node& node, const Operands& operands) {
  if (node.type == "Shape" && !operands.empty()) return FoldShape(node, operands);
  if (node.type == "Size" && !operands.empty()) return FoldSize(node, operands);
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.HasInput(i) && !HasConstant(operands, i)) return std::nullopt;
  }
  if (node.type == "Constant") return FoldConstant(node, operands);
  if (!HasConstant(operands, 0)) return std::nullopt;
  const Rule rule = FindRule(node.type);
  return rule != nullptr ? rule(node, operands) : FoldArithmetic(node, operands);
}

}  // namespace

std::optional<std::vector<Constant>> Fold(const Node& node, const std::vector<Known>& operands) {
  if (!node.domain.empty()) return std::nullopt;
  if (node.type == "Split") {
    if (!HasConstant(operands, 0)) return std::nullopt;
    return FoldSplit(node, operands);
  }
  Folded output = FoldOne(node, operands);
  if (!output) return std::nullopt;
  return std::vector<Constant>{*std::move(output)};
}

}  // namespace tessera::graph::onnx
