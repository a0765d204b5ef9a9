// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_builder.h"

// Invalid files. The message about each states the file, the faulty operator, and what is expected.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;
using testing::HasSubstr;

// A valid model to modify: y = relu(conv(x)).
void Build(ModelBuilder& model) {
  model.Input("x", {1, 4, 8, 8});
  model.Weight("w", {4, 4, 3, 3});
  model.Add("Conv", {"x", "w"}, "c");
  model.Add("Relu", {"c"}, "y");
  model.Output("y");
}

void ExpectFault(const std::string& bytes, const std::string& message,
                 const std::string& expected = "") {
  const base::Diagnostic fault = FaultOf(bytes);
  EXPECT_EQ(fault.file, "model.onnx");
  EXPECT_THAT(fault.message, HasSubstr(message));
  EXPECT_THAT(fault.expected, HasSubstr(expected));
  EXPECT_FALSE(fault.expected.empty());
}

TEST(OnnxFault, EmptyFile) { ExpectFault("", "the file is empty", "an ONNX model"); }

TEST(OnnxFault, AnyTruncation) {
  ModelBuilder model;
  Build(model);
  const std::string whole = model.Bytes();
  for (size_t length = 1; length < whole.size(); ++length) {
    const base::Expected<import::common::Import> import =
        import::onnx::ImportOnnx(whole.substr(0, length), "model.onnx", {});
    EXPECT_FALSE(import.has_value()) << length;
  }
}

TEST(OnnxFault, AnyByteChanged) {
  ModelBuilder model;
  Build(model);
  const std::string whole = model.Bytes();
  for (size_t place = 0; place < whole.size(); ++place) {
    for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
      std::string spoilt = whole;
      spoilt[place] = static_cast<char>(spoilt[place] ^ flip);
      const base::Expected<import::common::Import> import =
          import::onnx::ImportOnnx(spoilt, "model.onnx", {});
      if (!import) {
        EXPECT_FALSE(import.error().message.empty());
      }
    }
  }
}

TEST(OnnxFault, Text) { ExpectFault("ir_version: 8\ngraph { }\n", "no ONNX model"); }

TEST(OnnxFault, NoOperators) {
  ModelBuilder model;
  model.Input("x", {1});
  model.Output("x");
  ExpectFault(model.Bytes(), "the model has no operators");
}

TEST(OnnxFault, NoOutputs) {
  ModelBuilder model;
  model.Add("Relu", {model.Input("x", {1})}, "y");
  ExpectFault(model.Bytes(), "the model has no outputs");
}

TEST(OnnxFault, AValueMadeTwice) {
  ModelBuilder model;
  Build(model);
  model.Add("Exp", {"x"}, "y");
  ExpectFault(model.Bytes(), "operator 'y' (Exp): value 'y' is also made by operator 'y' (Relu)",
              "made once");
}

TEST(OnnxFault, AConstantThatIsThereTwice) {
  ModelBuilder model;
  Build(model);
  model.Weight("w", {1});
  ExpectFault(model.Bytes(), "constant 'w' is there twice");
}

TEST(OnnxFault, AnInputWithoutAMaker) {
  ModelBuilder model;
  Build(model);
  model.Add("Add", {"y", "cc"}, "z");
  ExpectFault(model.Bytes(), "operator 'z' (Add): no node makes its input 'cc'");
  EXPECT_EQ(FaultOf(model.Bytes()).hint, "did you mean 'c'?");
}

TEST(OnnxFault, ACycle) {
  ModelBuilder model;
  model.Input("x", {4});
  model.Add("Add", {"x", "b"}, "a");
  model.Add("Relu", {"a"}, "b");
  model.Output("b");
  ExpectFault(
      model.Bytes(),
      "operators depend on each other in a cycle: operator 'b' (Relu) -> operator 'a' (Add) -> ");
}

TEST(OnnxFault, OperatorsInAnyOrderAreFine) {
  ModelBuilder model;
  model.Input("x", {4});
  model.Add("Exp", {"a"}, "b");
  model.Add("Relu", {"x"}, "a");
  model.Output("b");
  EXPECT_EQ(MustImportGraph(model).operators[0].id, "a");
}

TEST(OnnxFault, AnAttributeThatIsMissing) {
  ModelBuilder model;
  model.Add("MaxPool", {model.Input("x", {1, 1, 8, 8})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "kernel_shape");
}

TEST(OnnxFault, ChannelsThatDoNotFit) {
  ModelBuilder model;
  model.Input("x", {1, 5, 8, 8});
  model.Add("Conv", {"x", model.Weight("w", {4, 4, 3, 3})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "operator 'y' (Conv): an input of 5 channels", "4 input channels");
}

// Tables of a known operator, which the plan holds or merges.
TEST(OnnxFault, TablesThatDoNotFit) {
  const auto expect = [](const std::string& type, const std::vector<Extent>& input,
                         const std::vector<std::vector<int64_t>>& tables,
                         const std::string& expected, const std::string& message) {
    ModelBuilder model;
    std::vector<std::string> operands = {model.Input("x", input)};
    for (size_t i = 0; i < tables.size(); ++i)
      operands.push_back(model.Weight("w" + std::to_string(i), tables[i]));
    model.Add(type, operands, "y");
    model.Output("y");
    ExpectFault(model.Bytes(), "operator 'y' (" + type + "): " + message, expected);
  };
  expect("Conv", {1, 4, 8, 8}, {{6, 4, 3, 3}, {4}}, "[6]", "operand 3 has shape [4]");
  expect("ConvTranspose", {1, 4, 8, 8}, {{4, 6, 3, 3}, {4}}, "[6]", "operand 3 has shape [4]");
  expect("LayerNormalization", {1, 5, 8}, {{7}}, "a shape that broadcasts to [1, 5, 8]",
         "operand 2 has shape [7]");
  expect("InstanceNormalization", {1, 4, 8, 8}, {{4}, {8}}, "[4]",
         "operand 3, 'w1', has shape [8]");
  expect("Gemm", {2, 4}, {{4, 6}, {5}}, "a shape that broadcasts to [2, 6]",
         "operand 3 has shape [5]");
}

// Attributes and bounds beyond what the operator is defined for.
TEST(OnnxFault, AttributesBeyondTheirRange) {
  const auto refuse = [](const std::string& type, const Attributes& attributes,
                         const std::vector<std::vector<int64_t>>& tables,
                         const std::string& expected, const std::string& message) {
    ModelBuilder model;
    std::vector<std::string> operands = {model.Input("x", {1, 4, 8, 8})};
    for (size_t i = 0; i < tables.size(); ++i)
      operands.push_back(model.Weight("w" + std::to_string(i), tables[i]));
    model.Add(type, operands, "y", attributes);
    model.Output("y");
    ExpectFault(model.Bytes(), "operator 'y' (" + type + "): " + message, expected);
  };
  const Attributes::value_type kernel{"kernel_shape", Ints{2, 2}};
  refuse("MaxPool", {kernel, {"pads", Ints{2, 0, 0, 0}}}, {}, "less than the window",
         "'pads' holds 2 for a window over 2");
  refuse("LpPool", {kernel, {"p", int64_t{0}}}, {}, "at least 1", "'p' is 0");
  refuse("GlobalLpPool", {{"p", int64_t{-1}}}, {}, "at least 1", "'p' is -1");
  refuse("MaxPool", {kernel, {"auto_pad", "VALID"}, {"pads", Ints{1, 1, 1, 1}}}, {},
         "one of the two", "auto_pad is 'VALID', and 'pads' holds other pads");
  refuse("ConvTranspose", {{"output_padding", Ints{0, 2}}}, {{4, 6, 3, 3}},
         "less than the stride or the dilation, which are 1 and 1", "'output_padding' holds 2");
  refuse("Clip", {}, {{2}}, "a scalar", "operand 2 has shape [2]");
  refuse("QuantizeLinear", {{"axis", int64_t{5}}}, {{4}}, "an axis of the input",
         "axis 5 of an input of shape [1, 4, 8, 8]");
  refuse("QuantizeLinear", {}, {{3}}, "[4]", "operand 2 has shape [3]");
  refuse("Cast", {{"to", int64_t{99}}}, {}, "the number of a data type, 1 to 26", "'to' is 99");
  refuse("Resize", {{"coordinate_transformation_mode", "middle"}}, {}, "half_pixel",
         "coordinate_transformation_mode 'middle'");
}

// Operators that stay whole, whose work is counted from the shapes.
TEST(OnnxFault, OperandsOfCountedOperatorsThatDoNotFit) {
  const auto refuse = [](const std::string& type, const std::vector<std::vector<Extent>>& shapes,
                         const Attributes& attributes, const std::string& expected,
                         const std::string& message) {
    ModelBuilder model;
    std::vector<std::string> operands;
    for (size_t i = 0; i < shapes.size(); ++i)
      operands.push_back(model.Input("x" + std::to_string(i), shapes[i]));
    model.Add(type, operands, "y", attributes);
    model.Output("y", {4, 4});
    ExpectFault(model.Bytes(), "operator 'y' (" + type + "): " + message, expected);
  };
  refuse("Einsum", {{4, 8}, {7, 6}}, {{"equation", "ij,jk->ik"}}, "8 for index 'j'",
         "the equation is 'ij,jk->ik', and operand 2 has shape [7, 6]");
  refuse("Einsum", {{4, 8}, {8, 6}}, {{"equation", "ij,jk->ik"}},
         "[4, 6], the extents of the indices",
         "the equation is 'ij,jk->ik', and its output has shape [4, 4]");
  refuse("Einsum", {{4, 8}, {8, 6}}, {{"equation", "ij,jk->iz"}}, "an index of an operand",
         "the equation is 'ij,jk->iz', and no operand has index 'z'");
  refuse("Einsum", {{4, 8}, {8, 6}}, {{"equation", "ijk,jk->ik"}}, "an index for each axis",
         "the equation is 'ijk,jk->ik', and operand 1 has shape [4, 8]");
  refuse("LSTM", {{10, 3, 8}, {1, 16, 8}, {1, 16, 5}}, {{"hidden_size", int64_t{4}}},
         "[1, 16, 4], for 4 hidden values", "operand 3 has shape [1, 16, 5]");
}

TEST(OnnxFault, AConstantThatIsListedAsAnInputOfAnotherShape) {
  ModelBuilder model;
  model.Add("Conv", {model.Input("x", {1, 8, 8, 8}), model.Weight("w", {8, 8, 3, 3})}, "y");
  model.Input("w", {8, 8, 5, 5});
  model.Output("y");
  ExpectFault(model.Bytes(), "constant 'w' is also listed as an input, of another shape",
              "[8, 8, 3, 3], the shape of the constant");
}

TEST(OnnxFault, AnAxisThatIsSlicedTwice) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Slice",
            {"x", model.Integers("starts", {0, 1}), model.Integers("ends", {2, 3}),
             model.Integers("axes", {1, -1})},
            "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "operator 'y' (Slice): axis 1 is listed twice", "each axis once");
}

TEST(OnnxFault, AKernelLargerThanItsInput) {
  ModelBuilder model;
  model.Input("x", {1, 4, 2, 8});
  model.Add("Conv", {"x", model.Weight("w", {4, 4, 3, 3})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "kernel reaches over 3 rows of a padded input of 2");
}

TEST(OnnxFault, ShapesThatDoNotBroadcast) {
  ModelBuilder model;
  model.Add("Add", {model.Input("a", {3}), model.Input("b", {4})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "operator 'y' (Add): an operand of shape [4] does not fit the others");
}

TEST(OnnxFault, ADeclaredShapeThatIsAnother) {
  ModelBuilder model;
  Build(model);
  model.Declare("c", {1, 4, 7, 7});
  ExpectFault(
      model.Bytes(),
      "operator 'c' (Conv): its output 'c' has shape [1, 4, 6, 6], and the file says [1, 4, 7, 7]");
}

TEST(OnnxFault, AnAttributeOfAnotherVersion) {
  ModelBuilder model(17);
  model.Add("ReduceSum", {model.Input("x", {1, 4, 8, 8})}, "y", {{"axes", Ints{1}}});
  model.Output("y");
  ExpectFault(model.Bytes(),
              "operator 'y' (ReduceSum): it has the attribute 'axes' of version 11 of the operator",
              "as ONNX version 17 defines it");
}

TEST(OnnxFault, AComputedBiasOfAnotherLength) {
  const auto refuse = [](const std::string& type, int64_t in, int64_t out, int64_t size) {
    ModelBuilder model;
    model.Input("x", {1, in, 8, 8});
    model.Add(type, {"x", model.Weight("w", {4, 6, 3, 3}), model.Input("b", {3})}, "y");
    model.Declare("y", {1, out, size, size});
    model.Output("y");
    ExpectFault(model.Bytes(), "its bias has shape [3], and its weights have shape [4, 6, 3, 3]",
                std::to_string(out) + " channels");
  };
  refuse("Conv", 6, 4, 6);
  refuse("ConvTranspose", 4, 6, 10);
}

TEST(OnnxFault, ChannelsOfAConvolutionOverThreeAxesThatDoNotFit) {
  const auto refuse = [](int64_t in, int64_t out, int64_t groups, const std::string& message) {
    ModelBuilder model;
    model.Input("x", {1, in, 6, 6, 6});
    model.Weight("w", {8, 4, 3, 3, 3});
    model.Add("Conv", {"x", "w"}, "y", {{"group", groups}});
    model.Declare("y", {1, out, 4, 4, 4});
    model.Output("y");
    ExpectFault(model.Bytes(), message);
  };
  refuse(5, 8, 1, "its input has shape [1, 5, 6, 6, 6], and its weights have shape");
  refuse(4, 8, 2, "its input has shape [1, 4, 6, 6, 6], and its weights have shape");
  refuse(12, 8, 3, "its weights of shape [8, 4, 3, 3, 3] are in 3 groups");
  refuse(4, 9, 1, "[1, 9, 4, 4, 4]");
}

TEST(OnnxFault, ExtentsBeyondMeasure) {
  ModelBuilder model;
  model.Add("Relu", {model.Input("x", {int64_t{1} << 40, int64_t{1} << 40})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "network input 'x' has shape", "at most 2^56 elements");
  ModelBuilder weights;
  weights.Input("x", {4});
  weights.Weight("w", {-3});
  weights.Add("Relu", {"x"}, "y");
  weights.Output("y");
  ExpectFault(weights.Bytes(), "constant 'w' has the extents [-3]");
}

TEST(OnnxFault, NamesThatAreNoUtf8) {
  ModelBuilder model;
  model.Add("Relu", {model.Input("x\xff", {4})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "a name that is no UTF-8");
}

TEST(OnnxFault, AnIndexBeyondItsAxis) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Gather", {"x", model.Integers("i", {4})}, "y");
  model.Output("y");
  ExpectFault(model.Bytes(), "index 4 of an axis of 4");
  ModelBuilder negative;
  negative.Input("x", {4, 8});
  negative.Add("Gather", {"x", negative.Integers("i", {-5})}, "y");
  negative.Output("y");
  ExpectFault(negative.Bytes(), "index -5 of an axis of 4");
}

TEST(OnnxFault, APermutationThatIsNone) {
  const Ints permutations[] = {{0, 0, 0},
                               {0, 1},
                               {0, 1, 2, 3},
                               {1, 2, 3},
                               {-1, 0, 1},
                               {2, 1, 1},
                               {0, 1, int64_t{1} << 32},
                               {0, 1, INT64_MIN}};
  for (const Ints& permutation : permutations) {
    for (const bool constant : {false, true}) {
      ModelBuilder model;
      model.Input("x", {4, 4, 4});
      const std::string operand = constant ? model.Weight("w", {4, 4, 4}) : "x";
      model.Add("Add", {"x", model.Add("Transpose", {operand}, "t", {{"perm", permutation}})}, "y");
      model.Declare("t", {4, 4, 4});
      model.Output("y", {4, 4, 4});
      ExpectFault(model.Bytes(), "operator 't' (Transpose): 'perm' is ", "each of 0 to 2 once");
      EXPECT_FALSE(FaultOf(model.Bytes()).hint.empty());
    }
  }
}

TEST(Dimensions, NeedAnExtentEach) {
  ModelBuilder model;
  model.Add("Add",
            {model.Input("a", {"batch", 3, "width"}), model.Input("b", {"batch", 3, "width"})},
            "y");
  model.Output("y");
  const base::Diagnostic fault = FaultOf(model.Bytes());
  EXPECT_EQ(fault.message, "the extent of dimension 'batch' is not in the file");
  EXPECT_EQ(fault.expected, "--dim batch=1 --dim width=1");
  import::common::ImportOptions options;
  options.dims = {{"batch", 2}, {"width", 5}};
  EXPECT_EQ(Describe(MustImportGraph(model, options)), "elementwise add (a, b) -> y [2, 3, 5]\n");
}

// Operators of which one operand has another shape than its definition requires.
struct Misshapen {
  std::string type;
  std::vector<std::pair<Ints, int>> operands;  // shape and element type
  std::string message;
  std::string expected;
  Attributes attributes = {};
};

const std::vector<Misshapen>& AllMisshapen() {
  static const std::vector<Misshapen> all = {
      {"BatchNormalization",
       {{{1, 4, 8, 8}, kFloat}, {{8}, kFloat}, {{4}, kFloat}, {{4}, kFloat}, {{4}, kFloat}},
       "operand 2, 'x1', has shape [8]",
       "[4]"},
      {"ConvInteger",
       {{{1, 4, 8, 8}, kUint8}, {{4, 4, 3, 3}, kUint8}, {{5}, kUint8}},
       "operand 3, 'x2', has shape [5]",
       "one value"},
      {"QLinearConv",
       {{{1, 4, 8, 8}, kUint8},
        {{}, kFloat},
        {{}, kUint8},
        {{6, 4, 3, 3}, kUint8},
        {{5}, kFloat},
        {{}, kUint8},
        {{}, kFloat},
        {{}, kUint8}},
       "operand 5, 'x4', has shape [5]",
       "[6] or one value"},
      {"LSTM",
       {{{3, 2, 5}, kFloat},
        {{1, 16, 5}, kFloat},
        {{1, 16, 4}, kFloat},
        {{1, 32}, kFloat},
        {{2}, kInt32},
        {{1, 1, 4}, kFloat}},
       "operand 6, 'x5', has shape [1, 1, 4]",
       "[1, 2, 4]",
       {{"hidden_size", int64_t{4}}}},
      {"GatherElements",
       {{{1, 4, 8, 8}, kFloat}, {{1, 4, 8}, kInt64}},
       "has shape [1, 4, 8]",
       "[any, any, any, any]"},
      {"ScatterElements",
       {{{1, 4, 8, 8}, kFloat}, {{1, 2, 8, 8}, kInt64}, {{1, 3, 8, 8}, kFloat}},
       "operand 3",
       "[1, 2, 8, 8]"},
      {"ScatterND",
       {{{4, 4, 8, 8}, kFloat}, {{2, 1}, kInt64}, {{3, 4, 8, 8}, kFloat}},
       "operand 3",
       "[2, 4, 8, 8]"},
      {"OneHot", {{{4}, kInt64}, {{}, kInt64}, {{3}, kFloat}}, "operand 3", "[2]"},
      {"RoiAlign",
       {{{1, 4, 8, 8}, kFloat}, {{3, 5}, kFloat}, {{3}, kInt64}},
       "operand 2",
       "[any, 4]"},
      {"MaxUnpool",
       {{{1, 4, 8, 8}, kFloat}, {{1, 4, 4, 4}, kInt64}},
       "operand 2",
       "[1, 4, 8, 8]",
       {{"kernel_shape", Ints{2, 2}}}},
      {"Slice", {{{1, 4, 8, 8}, kFloat}, {{4}, kInt64}, {{3}, kInt64}}, "operand 3", "[4]"},
      {"Pad", {{{1, 4, 8, 8}, kFloat}, {{7}, kInt64}}, "operand 2", "[8]"},
      {"Concat",
       {{{1, 4, 8, 8}, kFloat}, {{1, 4, 8, 7}, kFloat}},
       "input 2 has shape [1, 4, 8, 7]",
       "agree but along axis 1",
       {{"axis", int64_t{1}}}},
  };
  return all;
}

TEST(OnnxFault, OperandsOfOtherShapesThanTheirOperatorTakes) {
  for (const Misshapen& each : AllMisshapen()) {
    for (const bool last_is_constant : {false, true}) {
      SCOPED_TRACE(each.type);
      ModelBuilder model(16);
      std::vector<std::string> operands;
      for (const auto& [shape, type] : each.operands) {
        const std::string name = "x" + std::to_string(operands.size());
        if (last_is_constant && operands.size() + 1 == each.operands.size()) {
          operands.push_back(model.Weight(name, shape, type));
        } else {
          operands.push_back(model.Input(name, {shape.begin(), shape.end()}, type));
        }
      }
      model.Add(each.type, operands, "y", each.attributes);
      model.Output("y", {1});
      ExpectFault(model.Bytes(), each.message, each.expected);
    }
  }
}

TEST(Dimensions, WithoutASymbolGoByTheirPlace) {
  ModelBuilder model;
  model.Add("Relu", {model.Input("x", {-1, 3})}, "y");
  model.Output("y");
  EXPECT_EQ(FaultOf(model.Bytes()).expected, "--dim x[0]=1");
  import::common::ImportOptions options;
  options.dims = {{"x[0]", 4}};
  EXPECT_EQ(Describe(MustImportGraph(model, options)), "elementwise relu (x) -> y [4, 3]\n");
}

TEST(Dimensions, OfUnknownSymbolsAreRefused) {
  ModelBuilder model;
  model.Add("Relu", {model.Input("x", {"batch"})}, "y");
  model.Output("y");
  import::common::ImportOptions options;
  options.dims = {{"batch", 2}, {"bacth", 1}};
  EXPECT_EQ(FaultOf(model.Bytes(), options).message, "there is no symbolic dimension 'bacth'");
}

}  // namespace
}  // namespace tessera::graph::onnx
