// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_builder.h"

// The element types of operands and results, which the definitions of operators and the file
// itself state (check_types.cc).
namespace tessera::graph::onnx {
namespace {

using testing::HasSubstr;

void ExpectTypeFault(const std::string& bytes, const std::string& message,
                     const std::string& expected) {
  const base::Diagnostic fault = FaultOf(bytes);
  EXPECT_THAT(fault.message, HasSubstr(message));
  EXPECT_THAT(fault.expected, HasSubstr(expected));
}

TEST(ElementTypes, OfOperandsAreOne) {
  ModelBuilder model;
  model.Add("Add", {model.Input("x", {4}), model.Input("z", {4}, kInt32)}, "y");
  model.Output("y");
  ExpectTypeFault(
      model.Bytes(),
      "operator 'y' (Add): operand 1, 'z', has element type int32, and operand 0, 'x', has "
      "float",
      "operands of one element type");
}

TEST(ElementTypes, OfOperandsAreThoseThatTheOperatorTakes) {
  ModelBuilder model;
  model.Add("Conv", {model.Input("x", {1, 4, 8, 8}, kBool), model.Weight("w", {4, 4, 3, 3})}, "y");
  model.Output("y");
  ExpectTypeFault(model.Bytes(), "operator 'y' (Conv): operand 0, 'x', has element type bool",
                  "one of double, float, float16");
}

TEST(ElementTypes, OfResultsAreThoseThatTheFileStates) {
  ModelBuilder model;
  model.Input("x", {4});
  model.Add("Cast", {"x"}, "c", {{"to", int64_t{kInt32}}});
  model.Add("Abs", {"c"}, "y");
  model.Output("y", {4}, kFloat);
  ExpectTypeFault(
      model.Bytes(),
      "operator 'y' (Abs): its output 'y' has element type int32, and the file says float",
      "element types that agree");
}

TEST(ElementTypes, OfDefaultsAreThoseOfTheirInputs) {
  ModelBuilder model;
  model.Input("b", {4}, kInt32);
  model.Weight("b", {4});
  model.Add("Add", {model.Input("x", {4}), "b"}, "y");
  model.Output("y");
  ExpectTypeFault(model.Bytes(),
                  "constant 'b' has element type float, and it is also listed as an input of int32",
                  "one element type");
}

// As exporters of quantised networks write them, though ONNX has them for floats only.
TEST(ElementTypes, OfQuantisedOperatorsAreFree) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8}, kInt8);
  model.Add("Conv", {"x", model.Weight("w", {4, 4, 3, 3}, kInt8), model.Weight("b", {4}, kInt32)},
            "c");
  model.Declare("c", {1, 4, 6, 6}, kInt8);
  model.Add("Relu", {"c"}, "y");
  model.Output("y", {1, 4, 6, 6}, kInt8);
  EXPECT_EQ(MustImportGraph(model).operators.size(), 1U);
}

// A sequence has the element type that an attribute states, and is no tensor.
TEST(ElementTypes, OfSequencesAreNotThoseOfTensors) {
  ModelBuilder model;
  model.Input("x", {4});
  model.Add("SequenceEmpty", {}, "none", {{"dtype", int64_t{kFloat}}});
  model.Add("SequenceInsert", {"none", "x"}, "one");
  model.Add("ConcatFromSequence", {"one"}, "y", {{"axis", int64_t{0}}});
  model.Output("y", {4}, kFloat);
  EXPECT_THAT(FaultOf(model.Bytes()).message, testing::Not(HasSubstr("element type")));
}

}  // namespace
}  // namespace tessera::graph::onnx
