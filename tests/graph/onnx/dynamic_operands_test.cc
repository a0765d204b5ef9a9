#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "examples.h"
#include "tessera/graph/onnx/translators.h"

// Any operand of any operator may be computed while the network runs. Whatever import then makes of the operator, what computes the
// operand is not lost; MustImport holds every node and edge of the file against the graph.
namespace tessera::graph::onnx {
namespace {

// A value that changes from run to run: computed from a network input of its own.
std::string Compute(ModelBuilder& model, const ExampleOperand& operand, const std::string& name) {
  const std::string input =
      model.Input(name + "_given", {operand.shape.begin(), operand.shape.end()}, operand.type);
  return model.Add(operand.type == kBool ? "Not" : "Abs", {input}, name);
}

std::string Constant(ModelBuilder& model, const ExampleOperand& operand, const std::string& name) {
  if (operand.values.empty()) return model.Weight(name, operand.shape, operand.type);
  return model.Values(name, operand.shape, operand.type, operand.values);
}

// The example with the operands of `dynamic` computed, the others constant.
void ExpectNothingLost(const Example& example, const std::set<size_t>& dynamic) {
  ModelBuilder model(example.version);
  std::vector<std::string> operands;
  std::string which;
  for (size_t i = 0; i < example.operands.size(); ++i) {
    const ExampleOperand& operand = example.operands[i];
    const std::string name = "operand" + std::to_string(i);
    if (operand.left_out) {
      operands.emplace_back();
    } else if (dynamic.count(i) > 0) {
      operands.push_back(Compute(model, operand, name));
      which += " " + std::to_string(i);
    } else {
      operands.push_back(Constant(model, operand, name));
    }
  }
  SCOPED_TRACE(example.type + " of version " + std::to_string(example.version) + ", computed:" + which);
  for (const std::string& result : AddExample(model, example, operands, "y")) model.Output(result);
  MustImport(model);
}

TEST(DynamicOperands, AreNotLostInAnyPosition) {
  int models = 0;
  for (const Example& example : Examples()) {
    const size_t operands = example.operands.size();
    for (size_t subset = 1; subset < size_t{1} << operands; ++subset) {
      std::set<size_t> dynamic;
      bool given = true;
      for (size_t i = 0; i < operands; ++i) {
        if ((subset >> i & 1U) == 0) continue;
        dynamic.insert(i);
        given =
            given && !example.operands[i].left_out && example.operands[i].shape != std::vector<int64_t>{0};
      }
      if (!given) continue;
      ExpectNothingLost(example, dynamic);
      ++models;
    }
  }
  EXPECT_GT(models, 2000);
}

TEST(DynamicOperands, CoverEveryTypeThatIsTranslated) {
  std::set<std::string> covered;
  for (const Example& example : Examples()) covered.insert(example.type);
  for (const std::string& type : TranslatedTypes()) EXPECT_EQ(covered.count(type), 1U) << type;
}

}  // namespace
}  // namespace tessera::graph::onnx
