// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "model_builder.h"

// The importer computes shapes that the file derives by operators.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;

// A Reshape of x [2, 3, 4] to the shape that `compute` names.
Graph ReshapeBy(const std::function<std::string(ModelBuilder&)>& compute) {
  ModelBuilder model;
  model.Input("x", {2, 3, 4});
  const std::string shape = compute(model);
  model.Add("Reshape", {"x", shape}, "y");
  model.Output("y");
  return MustImportGraph(model);
}

TEST(Fold, ShapeGatherAndConcat) {
  const Graph graph = ReshapeBy([](ModelBuilder& m) {
    const std::string shape = m.Add("Shape", {"x"}, "shape");
    const std::string rows = m.Add("Gather", {shape, m.Integers("first", {0})}, "rows");
    return m.Add("Concat", {rows, m.Integers("rest", {-1})}, "wanted", {{"axis", int64_t{0}}});
  });
  EXPECT_EQ(Describe(graph), "reshape (x) -> y [2, 12]\n");
}

TEST(Fold, SliceMulAndCastThroughFloats) {
  const Graph graph = ReshapeBy([](ModelBuilder& m) {
    const std::string shape = m.Add("Shape", {"x"}, "shape");
    const std::string last =
        m.Add("Slice", {shape, m.Integers("s", {1}), m.Integers("e", {3})}, "last");
    const std::string reals = m.Add("Cast", {last}, "reals", {{"to", int64_t{kFloat}}});
    const std::string scaled = m.Add("Mul", {reals, m.Reals("factors", {2, 0.5})}, "scaled");
    const std::string whole =
        m.Add("Cast", {m.Add("Floor", {scaled}, "floor")}, "whole", {{"to", int64_t{kInt64}}});
    return m.Add("Concat", {m.Integers("two", {2}), whole}, "wanted", {{"axis", int64_t{0}}});
  });
  EXPECT_EQ(Describe(graph), "reshape (x) -> y [2, 6, 2]\n");
}

TEST(Fold, SizeDivAndRange) {
  const Graph graph = ReshapeBy([](ModelBuilder& m) {
    const std::string size = m.Add("Size", {"x"}, "size");                             // 24
    const std::string half = m.Add("Div", {size, m.Scalar("five", 5)}, "quotient");    // 4
    return m.Add("Range", {half, m.Scalar("end", 8), m.Scalar("step", 2)}, "wanted");  // 4, 6
  });
  EXPECT_EQ(Describe(graph), "reshape (x) -> y [4, 6]\n");
}

TEST(Fold, ConstantOfShapeWhereAndEqual) {
  // As PyTorch writes expand(-1, ...): where(shape == -1, ones, shape).
  ModelBuilder model;
  model.Input("x", {1, 4});
  const std::string wanted = model.Integers("wanted", {3, -1});
  const std::string ones = model.Add("ConstantOfShape", {model.Integers("two", {2})}, "zeros");
  const std::string cast = model.Add("Cast", {ones}, "zeros_int", {{"to", int64_t{kInt64}}});
  const std::string one = model.Add("Add", {cast, model.Scalar("one", 1)}, "ones");
  const std::string minus = model.Add("Mul", {one, model.Scalar("minus", -1)}, "minus_ones");
  const std::string open = model.Add("Equal", {wanted, minus}, "open");
  model.Add("Expand", {"x", model.Add("Where", {open, one, wanted}, "shape")}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "gather (x) -> y [3, 4]\n");
}

// The least integer has no opposite. The greatest means "to the end", and some exporters compute
// with it.
TEST(Fold, ExtremesAreNoValuesOfArithmetic) {
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t greatest = std::numeric_limits<int64_t>::max();
  const struct {
    std::string type;
    std::vector<Ints> operands;
  } cases[] = {{"Neg", {{least, 6}}},
               {"Abs", {{least, 6}}},
               {"Div", {{least, 6}, {-1, 1}}},
               {"Sub", {{0, 6}, {least, 0}}},
               {"Add", {{greatest, 6}, {1, 0}}},
               {"Div", {{4, 6}, {0, 1}}},
               {"Mod", {{4, 6}, {0, 1}}}};
  for (const auto& [type, operands] : cases) {
    ModelBuilder model;
    model.Input("x", {4, 6});
    std::vector<std::string> names;
    for (const Ints& operand : operands)
      names.push_back(model.Integers("operand" + std::to_string(names.size()), operand));
    model.Add("Reshape", {"x", model.Add(type, names, "wanted")}, "y");
    model.Output("y");
    EXPECT_NE(FaultOf(model.Bytes()).message.find("the shape of its output 'y' is not known"),
              std::string::npos)
        << type;
  }
}

TEST(Fold, RemaindersTakeTheSignOfTheDivisor) {
  const Graph graph = ReshapeBy([](ModelBuilder& m) {
    return m.Add("Mod", {m.Integers("a", {-8, -6, 27}), m.Integers("b", {5, 10, 24})},
                 "wanted");  // 2, 4, 3
  });
  EXPECT_EQ(Describe(graph), "reshape (x) -> y [2, 4, 3]\n");
}

TEST(Fold, ReductionsOfNothingAndSplitsOfTooMuchAreNotFolded) {
  ModelBuilder reduced;
  reduced.Input("x", {4, 6});
  reduced.Add("Reshape", {"x", reduced.Add("ReduceMax", {reduced.Integers("none", {})}, "wanted")},
              "y");
  reduced.Output("y");
  EXPECT_FALSE(FaultOf(reduced.Bytes()).message.empty());
  ModelBuilder split;
  split.Input("x", {4, 6});
  split.AddMany("Split",
                {split.Integers("all", {4, 6, 2}),
                 split.Integers("sizes", {2, std::numeric_limits<int64_t>::max()})},
                {"wanted", "rest"});
  split.Add("Reshape", {"x", "wanted"}, "y");
  split.Output("y");
  EXPECT_FALSE(FaultOf(split.Bytes()).message.empty());
}

TEST(Fold, TransposedWeightsStayWeights) {
  ModelBuilder model;
  model.Input("x", {5, 8});
  model.Weight("w", {3, 8});
  model.Add("MatMul", {"x", model.Add("Transpose", {"w"}, "turned")}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "matmul (x, turned) -> y [5, 3]\n");
}

TEST(Fold, SaysWhatItFolded) {
  ModelBuilder model;
  model.Input("x", {2, 12});
  model.Add("Reshape", {"x", model.Add("Neg", {model.Integers("minus", {-4, -6})}, "wanted")}, "y");
  model.Output("y");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(import.notes, (std::vector<std::string>{"folded constants, 1: wanted"}));
}

TEST(Fold, SparseConstantsHaveExtentsAndNoValues) {
  ModelBuilder model;
  model.Input("x", {2, 12});
  model.Add("Reshape", {"x", model.Add("Neg", {model.Sparse("wanted", {-24}, {2})}, "positive")},
            "y");
  model.Output("y");
  EXPECT_NE(FaultOf(model.Bytes()).message.find("the shape of its output 'y' is not known"),
            std::string::npos);
  ModelBuilder impossible;
  impossible.Input("x", {5, 8});
  impossible.Add("MatMul", {"x", impossible.Sparse("w", {1}, {8, -3})}, "y");
  impossible.Output("y");
  EXPECT_NE(FaultOf(impossible.Bytes()).message.find("constant 'w' has the extents"),
            std::string::npos);
}

TEST(Fold, AShapeWithoutValuesMakesABarrierOrIsDeclared) {
  const auto build = [](ModelBuilder& model) {
    model.Input("x", {2, 12});
    model.Weight("wanted", {2}, kInt64);  // dims only
    model.Add("Reshape", {"x", "wanted"}, "y");
    model.Output("y");
  };
  ModelBuilder open;
  build(open);
  EXPECT_NE(FaultOf(open.Bytes()).message.find("the shape of its output 'y' is not known"),
            std::string::npos);
  ModelBuilder declared;
  build(declared);
  declared.Declare("y", {4, 6});
  EXPECT_EQ(Describe(MustImportGraph(declared)), "reshape (x) -> y [4, 6]\n");
}

}  // namespace
}  // namespace tessera::graph::onnx
