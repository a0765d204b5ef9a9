// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <vector>

#include "model_builder.h"

// The translation of ONNX operators that slide no window (windows_test.cc has those). The expected
// shapes follow from the ONNX definition and are worked out by hand.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;

TEST(MatMul, OfAWeightHasOneOperand) {
  EXPECT_EQ(Describe(ImportOne("MatMul", {2, 5, 8}, {"w"}, {},
                               [](ModelBuilder& m) {
                                 m.Weight("w", {8, 3});
                               })),
            "matmul (x, w) -> y [2, 5, 3]\n");
}

TEST(MatMul, ByAWeightFromTheLeftIsMadeTransposed) {
  ModelBuilder model;
  model.Input("x", {8, 5});
  model.Weight("w", {3, 8});
  model.Add("MatMul", {"w", "x"}, "y");
  model.Output("y", {3, 5});
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "matmul (x, w) -> y/transposed [5, 3]\ntranspose (y/transposed) -> y [3, 5]\n");
}

TEST(MatMul, OfGemmMayTransposeBoth) {
  ModelBuilder model;
  model.Input("x", {8, 5});
  model.Weight("w", {3, 8});
  model.Weight("b", {3});
  model.Add("Gemm", {"x", "w", "b"}, "y", {{"transA", int64_t{1}}, {"transB", int64_t{1}}});
  model.Output("y", {5, 3});
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph), "matmul (x, w) -> y [5, 3]\n");
  EXPECT_TRUE(graph.operators[0].Own<MatmulAttributes>().transpose_first);
  EXPECT_EQ(TensorNamed(graph, "w").shape, (Shape{8, 3}));
}

TEST(MatMul, OfGemmAddsWhatIsMoreThanABias) {
  ModelBuilder model;
  model.Input("x", {5, 8});
  model.Input("c", {5, 3});
  model.Weight("w", {8, 3});
  model.Add("Gemm", {"x", "w", "c"}, "y");
  model.Output("y", {5, 3});
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "matmul (x, w) -> y/product [5, 3]\nelementwise add (y/product, c) -> y [5, 3]\n");
}

TEST(MatMul, OfGemmAddsAConstantThatIsMoreThanABias) {
  ModelBuilder model;
  model.Input("x", {5, 8});
  model.Weight("w", {8, 3});
  model.Weight("c", {5, 3});
  model.Add("Gemm", {"x", "w", "c"}, "y");
  model.Output("y", {5, 3});
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "matmul (x, w) -> y/product [5, 3]\nelementwise add (y/product, c) -> y [5, 3]\n");
}

TEST(MatMul, FusedHasAShapeRuleOfItsOwn) {
  ModelBuilder model;
  model.Input("a", {5, 2, 8});
  model.Input("b", {2, 3, 8});
  model.Add("com.microsoft:FusedMatMul", {"a", "b"}, "y",
            {{"transBatchA", int64_t{1}}, {"transB", int64_t{1}}});
  model.Output("y");
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph), "matmul (a, b) -> y [2, 5, 3]\n");
  EXPECT_EQ(graph.operators[0].Own<MatmulAttributes>().operand_axes[0], (std::vector{1, 0, 2}));
}

TEST(Elementwise, BroadcastsConstantsAsTables) {
  EXPECT_EQ(Describe(ImportOne("Mul", {1, 4, 8, 8}, {"c"}, {},
                               [](ModelBuilder& m) {
                                 m.Weight("c", {4, 1, 1});
                               })),
            "elementwise mul (x, c) -> y [1, 4, 8, 8]\n");
}

TEST(Elementwise, ScalarsAreNoTensors) {
  EXPECT_EQ(Describe(ImportOne("Add", {4, 8}, {"c"}, {}, [](ModelBuilder& m) { m.Real("c", 1); })),
            "elementwise add (x) -> y [4, 8]\n");
}

// No copy of the feature in the constant's shape: the operator reads the feature once for each
// element.
TEST(Elementwise, IsAsLargeAsItsConstants) {
  const auto describe = [](const std::vector<Extent>& x, const Ints& constant) {
    return Describe(
        ImportOne("Add", x, {"c"}, {}, [&constant](ModelBuilder& m) { m.Weight("c", constant); }));
  };
  EXPECT_EQ(describe({1, 8}, {5, 8}), "elementwise add (x, c) -> y [5, 8]\n");
  EXPECT_EQ(describe({1, 1, 768}, {1, 197, 768}), "elementwise add (x, c) -> y [1, 197, 768]\n");
  EXPECT_EQ(describe({8}, {2, 5, 8}), "elementwise add (x, c) -> y [2, 5, 8]\n");
  EXPECT_EQ(describe({4, 1, 6}, {3, 1, 5, 1}), "elementwise add (x, c) -> y [3, 4, 5, 6]\n");
  EXPECT_EQ(describe({}, {4, 4}), "elementwise add (x, c) -> y [4, 4]\n");
}

TEST(Elementwise, MayHaveItsConstantFirst) {
  ModelBuilder model;
  model.Input("x", {1, 8});
  model.Add("Sub", {model.Weight("c", {5, 8}), "x"}, "y");
  model.Output("y", {5, 8});
  EXPECT_EQ(Describe(MustImportGraph(model)), "elementwise sub (x, c) -> y [5, 8]\n");
}

TEST(Elementwise, TakesAxesOfScalarsAsAReshape) {
  const auto describe = [](const Ints& constant) {
    return Describe(ImportOne("Mul", {4, 8}, {"c"}, {},
                              [&constant](ModelBuilder& m) { m.Weight("c", constant); }));
  };
  EXPECT_EQ(describe({}), "elementwise mul (x) -> y [4, 8]\n");
  EXPECT_EQ(describe({1}), "elementwise mul (x) -> y [4, 8]\n");
  EXPECT_EQ(describe({1, 1, 1}),
            "reshape (x) -> y/rank [1, 4, 8]\nelementwise mul (y/rank) -> y [1, 4, 8]\n");
}

// A bias does not turn a convolution of one channel into one of four.
TEST(Elementwise, OfAConstantWithMoreChannelsIsNoBias) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Add("Conv", {"x", model.Weight("w", {1, 4, 1, 1})}, "c");
  model.Add("Add", {"c", model.Weight("b", {1, 4, 1, 1})}, "y");
  model.Output("y", {1, 4, 8, 8});
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "conv (x, w) -> c [1, 1, 8, 8]\nelementwise add (c, b) -> y [1, 4, 8, 8]\n");
}

TEST(Elementwise, ComparisonsGiveBooleans) {
  const Graph graph = ImportOne("Less", {4, 8}, {"c"}, {}, [](ModelBuilder& m) { m.Real("c", 1); });
  EXPECT_EQ(TensorNamed(graph, "y").type, base::DataType::kBool);
}

TEST(Pieces, SlicesClampAndStepBack) {
  const Graph graph = ImportOne("Slice", {1, 10, 9}, {"s", "e", "a", "t"}, {}, [](ModelBuilder& m) {
    m.Integers("s", {-3, 100});
    m.Integers("e", {INT64_MAX, INT64_MIN});
    m.Integers("a", {1, 2});
    m.Integers("t", {2, -3});
  });
  EXPECT_EQ(Describe(graph), "slice (x) -> y [1, 2, 3]\n");
  EXPECT_EQ(graph.operators[0].Own<SliceAttributes>().starts, (Ints{0, 7, 8}));
  EXPECT_EQ(graph.operators[0].Own<SliceAttributes>().steps, (Ints{1, 2, -3}));
}

TEST(Pieces, SplitsAreSlices) {
  ModelBuilder model;
  model.Input("x", {1, 7, 4});
  model.AddMany("Split", {"x", model.Integers("sizes", {3, 4})}, {"a", "b"},
                {{"axis", int64_t{1}}});
  model.Output("a");
  model.Output("b");
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph), "slice (x) -> a [1, 3, 4]\nslice (x) -> b [1, 4, 4]\n");
  EXPECT_EQ(graph.operators[1].Own<SliceAttributes>().starts, (Ints{0, 3, 0}));
}

TEST(Pieces, PadsMayCut) {
  const Graph graph =
      ImportOne("Pad", {1, 2, 8, 8}, {"p"}, {{"mode", "reflect"}}, [](ModelBuilder& m) {
        m.Integers("p", {0, 0, 2, -1, 0, 0, 1, 0});
      });
  EXPECT_EQ(Describe(graph), "slice (x) -> y/cut [1, 2, 8, 7]\npad (y/cut) -> y [1, 2, 11, 7]\n");
  EXPECT_EQ(graph.operators[1].Own<PadAttributes>().mode, PadMode::kReflect);
}

TEST(Pieces, ConstantsAtTheEndsOfAConcatFillPads) {
  ModelBuilder model;
  model.Input("x", {1, 16, 8});
  model.Weight("class_token", {1, 1, 8});
  model.Add("Concat", {"class_token", "x"}, "y", {{"axis", int64_t{1}}});
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "pad (x, class_token) -> y [1, 17, 8]\n");
}

TEST(Pieces, GathersByConstantIndices) {
  EXPECT_EQ(Describe(ImportOne("Gather", {2, 5, 3}, {"i"}, {{"axis", int64_t{1}}},
                               [](ModelBuilder& m) { m.Scalar("i", -1); })),
            "gather (x) -> y [2, 3]\n");
  EXPECT_EQ(Describe(ImportOne("Gather", {2, 5, 3}, {"i"}, {{"axis", int64_t{1}}},
                               [](ModelBuilder& m) {
                                 m.Integers("i", {4, 0});
                               })),
            "gather (x) -> y [2, 2, 3]\n");
}

TEST(Pieces, ExpandRepeats) {
  EXPECT_EQ(Describe(ImportOne("Expand", {3, 1}, {"s"}, {},
                               [](ModelBuilder& m) {
                                 m.Integers("s", {2, 1, 4});
                               })),
            "reshape (x) -> y/rank [1, 3, 1]\ngather (y/rank) -> y/axis0 [2, 3, 1]\ngather "
            "(y/axis0) -> y "
            "[2, 3, 4]\n");
}

// A gather with 2^40 indices is not written out.
TEST(Pieces, ExpandBeyondAllMemoryIsABarrier) {
  EXPECT_THAT(Describe(ImportOne("Expand", {3, 1}, {"s"}, {},
                                 [](ModelBuilder& m) {
                                   m.Integers("s", {3, int64_t{1} << 40});
                                 })),
              HasSubstr("opaque (x"));
}

TEST(Shapes, FollowReshapeFlattenSqueezeAndTranspose) {
  EXPECT_EQ(Describe(ImportOne("Reshape", {2, 3, 4}, {"s"}, {},
                               [](ModelBuilder& m) {
                                 m.Integers("s", {0, -1});
                               })),
            "reshape (x) -> y [2, 12]\n");
  EXPECT_EQ(Describe(ImportOne("Flatten", {2, 3, 4}, {}, {{"axis", int64_t{-1}}})),
            "reshape (x) -> y [6, 4]\n");
  EXPECT_EQ(Describe(ImportOne("Squeeze", {2, 1, 4}, {"a"}, {},
                               [](ModelBuilder& m) { m.Integers("a", {1}); })),
            "reshape (x) -> y [2, 4]\n");
  EXPECT_EQ(Describe(ImportOne("Unsqueeze", {2, 4}, {"a"}, {},
                               [](ModelBuilder& m) {
                                 m.Integers("a", {0, -1});
                               })),
            "reshape (x) -> y [1, 2, 4, 1]\n");
  EXPECT_EQ(Describe(ImportOne("Transpose", {2, 3, 4}, {}, {})), "transpose (x) -> y [4, 3, 2]\n");
}

TEST(Shapes, MoveBetweenDepthAndSpace) {
  const Graph graph =
      ImportOne("DepthToSpace", {1, 12, 4, 5}, {}, {{"blocksize", int64_t{2}}, {"mode", "CRD"}});
  EXPECT_EQ(Describe(graph), "depth_to_space (x) -> y [1, 3, 8, 10]\n");
  EXPECT_EQ(graph.operators[0].Own<DepthSpaceAttributes>().order, DepthOrder::kCrd);
  EXPECT_EQ(Describe(ImportOne("SpaceToDepth", {1, 3, 4, 6}, {}, {{"blocksize", int64_t{2}}})),
            "space_to_depth (x) -> y [1, 12, 2, 3]\n");
}

TEST(Resize, KnowsTheModesOfItsVersions) {
  const auto scales = [](ModelBuilder& m) { m.Reals("s", {1, 1, 2, 1.5}); };
  const Graph newer =
      ImportOne("Resize", {1, 2, 4, 4}, {"", "s"},
                {{"mode", "cubic"}, {"coordinate_transformation_mode", "align_corners"}}, scales);
  EXPECT_EQ(Describe(newer), "resize (x) -> y [1, 2, 8, 6]\n");
  EXPECT_EQ(newer.operators[0].Own<ResizeAttributes>().mode, ResizeMode::kCubic);
  EXPECT_EQ(newer.operators[0].Own<ResizeAttributes>().coordinates,
            ResizeCoordinates::kAlignCorners);
  const Graph older = ImportOne("Resize", {1, 2, 4, 4}, {"s"}, {}, scales, 10);
  EXPECT_EQ(older.operators[0].Own<ResizeAttributes>().coordinates, ResizeCoordinates::kAsymmetric);
  EXPECT_EQ(older.operators[0].Own<ResizeAttributes>().rounding, NearestRounding::kFloor);
}

TEST(Resize, KeepsAScaleThatIsNotTheRatioOfTheExtents) {
  const Graph graph = ImportOne("Resize", {1, 2, 5, 4}, {"", "s"}, {}, [](ModelBuilder& m) {
    m.Reals("s", {1, 1, 1.5, 1});
  });
  EXPECT_EQ(Describe(graph), "resize (x) -> y [1, 2, 7, 4]\n");
  EXPECT_EQ(graph.operators[0].Own<ResizeAttributes>().scales.at(2), (Ratio{3, 2}));
}

Graph ImportCumSum(const Attributes& attributes, int64_t axis) {
  return ImportOne("CumSum", {2, 3, 4}, {"axis"}, attributes,
                   [axis](ModelBuilder& m) { m.Scalar("axis", axis); });
}

TEST(CumSum, HasAnAxisAndADirection) {
  const Graph graph = ImportCumSum({}, -1);
  EXPECT_EQ(Describe(graph), "cumsum (x) -> y [2, 3, 4]\n");
  EXPECT_EQ(graph.operators[0].axis, 2);
  EXPECT_EQ(graph.operators[0].own, base::KindAttributes(base::CumsumAttributes{}));
  const Attributes both = {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}};
  const base::KindAttributes expected = base::CumsumAttributes{.exclusive = true, .reverse = true};
  EXPECT_EQ(ImportCumSum(both, 1).operators[0].own, expected);
}

TEST(CumSum, AlongAComputedAxisIsABarrier) {
  const Graph graph = ImportOne("CumSum", {2, 3}, {"axis"}, {},
                                [](ModelBuilder& m) { m.Input("axis", {}, kInt64); });
  EXPECT_EQ(Describe(graph), "opaque (x, axis) -> y [2, 3]\n");
}

// The three greatest of each of 4 rows.
Graph ImportTopK(const std::vector<std::string>& used, const Attributes& attributes = {}) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.AddMany("TopK", {"x", model.Integers("k", {3})}, {"values", "indices"}, attributes);
  for (const std::string& output : used) model.Output(output);
  return MustImportGraph(model);
}

TEST(TopK, MakesWhatIsUsed) {
  const Graph values = ImportTopK({"values"}, {{"largest", int64_t{0}}, {"sorted", int64_t{0}}});
  EXPECT_EQ(Describe(values), "top_k (x) -> values [4, 3]\n");
  EXPECT_EQ(values.operators[0].axes, std::vector<int>{1});
  const base::KindAttributes least =
      base::TopKAttributes{.k = 3, .largest = false, .sorted = false};
  EXPECT_EQ(values.operators[0].own, least);
  const Graph indices = ImportTopK({"indices"});
  EXPECT_EQ(Describe(indices), "top_k (x) -> indices [4, 3]\n");
  EXPECT_EQ(indices.operators[0].Own<base::TopKAttributes>().result, "indices");
  EXPECT_EQ(indices.tensors.back().type, base::DataType::kInt64);
}

TEST(TopK, MakesEachOfTwoResultsByAnOperator) {
  EXPECT_EQ(Describe(ImportTopK({"values", "indices"})),
            "top_k (x) -> values [4, 3]\ntop_k (x) -> indices [4, 3]\n");
}

TEST(TopK, StatesItsKAsAnAttributeInOldOperatorSets) {
  ModelBuilder model(9);
  model.Input("x", {4, 8});
  model.AddMany("TopK", {"x"}, {"values", "indices"}, {{"k", int64_t{2}}, {"axis", int64_t{0}}});
  model.Output("values");
  EXPECT_EQ(Describe(MustImportGraph(model)), "top_k (x) -> values [2, 8]\n");
}

TEST(TopK, OfAComputedKIsABarrier) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Input("k", {1}, kInt64);
  model.AddMany("TopK", {"x", "k"}, {"values", "indices"});
  model.Declare("values", {4, 3});
  model.Declare("indices", {4, 3}, kInt64);
  model.Output("values");
  EXPECT_EQ(Describe(MustImportGraph(model)), "opaque (x, k) -> values [4, 3]\n");
}

TEST(Reduce, DropsOrKeepsItsAxes) {
  EXPECT_EQ(Describe(ImportOne("ReduceMax", {2, 3, 4}, {}, {{"axes", Ints{-1}}})),
            "reduce max (x) -> y [2, 3, 1]\n");
  EXPECT_EQ(Describe(ImportOne("ArgMax", {2, 3, 4}, {},
                               {{"axis", int64_t{1}}, {"keepdims", int64_t{0}}})),
            "reduce arg_max (x) -> y [2, 4]\n");
}

TEST(Reduce, OfLaterVersionsHasItsAxesAsAnOperand) {
  EXPECT_EQ(
      Describe(ImportOne(
          "ReduceSum", {2, 3, 4}, {"a"}, {}, [](ModelBuilder& m) { m.Integers("a", {0}); }, 18)),
      "reduce sum (x) -> y [1, 3, 4]\n");
}

TEST(Softmax, TookBlocksOfAxesUpToVersion12) {
  EXPECT_EQ(ImportOne("Softmax", {2, 3, 4}, {}, {{"axis", int64_t{1}}}, {}, 11).operators[0].axes,
            (std::vector<int>{1, 2}));
  EXPECT_EQ(ImportOne("Softmax", {2, 3, 4}, {}, {{"axis", int64_t{1}}}, {}, 13).operators[0].axes,
            (std::vector<int>{1}));
}

TEST(Normalization, ReducesTheAxesOfItsKind) {
  const auto tables = [](ModelBuilder& m) {
    m.Weight("scale", {4});
    m.Weight("bias", {4});
  };
  EXPECT_EQ(ImportOne("LayerNormalization", {2, 3, 4}, {"scale", "bias"}, {}, tables, 17)
                .operators[0]
                .axes,
            (std::vector<int>{2}));
  EXPECT_EQ(ImportOne("InstanceNormalization", {2, 4, 6, 6}, {"scale", "bias"}, {}, tables)
                .operators[0]
                .axes,
            (std::vector<int>{2, 3}));
}

}  // namespace
}  // namespace tessera::graph::onnx
