// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>

#include "model_builder.h"

// The translation of each family of ONNX operators. The expected shapes follow from the ONNX
// definition and are worked out by hand.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;

// The graph of one operator over input "x"; its result is "y".
Graph ImportOne(const std::string& type, const std::vector<Extent>& x,
                const std::vector<std::string>& others, const Attributes& attributes,
                const std::function<void(ModelBuilder&)>& constants = {}, int64_t version = 13) {
  ModelBuilder model(version);
  model.Input("x", x);
  if (constants) constants(model);
  std::vector<std::string> inputs = {"x"};
  inputs.insert(inputs.end(), others.begin(), others.end());
  model.Add(type, inputs, "y", attributes);
  model.Output("y");
  return MustImportGraph(model);
}

Graph ImportConv(const std::vector<Extent>& x, const Ints& weight, const Attributes& attributes,
                 const std::string& type = "Conv") {
  return ImportOne(type, x, {"w"}, attributes,
                   [&weight](ModelBuilder& model) { model.Weight("w", weight); });
}

TEST(Conv, ReadsStridesPadsAndDilations) {
  const Graph graph =
      ImportConv({1, 3, 20, 30}, {8, 3, 3, 5},
                 {{"strides", Ints{2, 1}}, {"pads", Ints{1, 2, 0, 3}}, {"dilations", Ints{2, 1}}});
  EXPECT_EQ(Describe(graph), "conv (x, w) -> y [1, 8, 9, 31]\n");
  const Window& window = graph.operators[0].window;
  EXPECT_EQ(window.pad_low, (std::array<int64_t, 2>{1, 2}));
  EXPECT_EQ(window.pad_high, (std::array<int64_t, 2>{0, 3}));
}

TEST(Conv, PadsTheUpperOrTheLowerEndToSame) {
  const Graph upper =
      ImportConv({1, 1, 8, 8}, {1, 1, 3, 3}, {{"auto_pad", "SAME_UPPER"}, {"strides", Ints{2, 2}}});
  EXPECT_EQ(upper.operators[0].window.pad_low, (std::array<int64_t, 2>{0, 0}));
  EXPECT_EQ(upper.operators[0].window.pad_high, (std::array<int64_t, 2>{1, 1}));
  const Graph lower =
      ImportConv({1, 1, 8, 8}, {1, 1, 3, 3}, {{"auto_pad", "SAME_LOWER"}, {"strides", Ints{2, 2}}});
  EXPECT_EQ(lower.operators[0].window.pad_low, (std::array<int64_t, 2>{1, 1}));
  EXPECT_EQ(lower.operators[0].window.pad_high, (std::array<int64_t, 2>{0, 0}));
}

TEST(Conv, IsDepthwiseWhereEachChannelIsAGroup) {
  const Graph graph = ImportConv({1, 6, 8, 8}, {12, 1, 3, 3}, {{"group", int64_t{6}}});
  EXPECT_EQ(Describe(graph), "depthwise (x, w) -> y [1, 12, 6, 6]\n");
}

TEST(Conv, KeepsItsGroups) {
  const Graph graph = ImportConv({1, 6, 8, 8}, {4, 3, 1, 1}, {{"group", int64_t{2}}});
  EXPECT_EQ(graph.operators[0].groups, 2);
}

TEST(Conv, OfSoundHasOneRow) {
  EXPECT_EQ(
      Describe(ImportConv({1, 4, 50}, {8, 4, 5}, {{"strides", Ints{2}}, {"pads", Ints{2, 2}}})),
      "reshape (x) -> y/map [1, 4, 1, 50]\n"
      "conv (y/map, w) -> y/map_out [1, 8, 1, 25]\n"
      "reshape (y/map_out) -> y [1, 8, 25]\n");
}

// Several in a row stay on the map with one row.
TEST(Conv, OfSoundHandsOnItsMap) {
  ModelBuilder model;
  model.Input("x", {1, 4, 50});
  model.Weight("w", {8, 4, 5});
  model.Weight("v", {8, 8, 1});
  model.Add("Relu", {model.Add("Conv", {"x", "w"}, "a")}, "r");
  model.Add("MaxPool", {"r"}, "p", {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}});
  model.Add("Conv", {"p", "v"}, "y");
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "reshape (x) -> a/map [1, 4, 1, 50]\n"
            "conv then relu (a/map, w) -> a/map_out [1, 8, 1, 46]\n"
            "pool max (a/map_out) -> p/map_out [1, 8, 1, 23]\n"
            "conv (p/map_out, v) -> y/map_out [1, 8, 1, 23]\n"
            "reshape (y/map_out) -> y [1, 8, 23]\n");
}

TEST(Conv, OfVolumesIsABarrier) {
  const Graph graph = ImportConv({1, 4, 8, 8, 8}, {8, 4, 3, 3, 3}, {});
  EXPECT_EQ(Describe(graph), "opaque (x, w) -> y [1, 8, 6, 6, 6]\n");
  EXPECT_EQ(graph.operators[0].annotations.at("x-barrier"),
            "it slides over 3 axes; known are 1 and 2");
}

TEST(Conv, OfIntegersGivesTheTypesThatItStates) {
  ModelBuilder model(13);
  model.Input("x", {1, 3, 8, 8}, kUint8);
  model.Weight("w", {4, 3, 3, 3}, kUint8);
  model.Add("ConvInteger", {"x", "w"}, "y");
  model.Output("y", {}, kInt32);
  EXPECT_EQ(TensorNamed(MustImportGraph(model), "y").type, base::DataType::kInt32);
}

TEST(Conv, QLinearHasItsWeightsFourth) {
  ModelBuilder model(13);
  model.Input("x", {1, 3, 8, 8}, kUint8);
  for (const char* scale : {"xs", "ws", "ys"}) model.Weight(scale, {});
  for (const char* zero : {"xz", "yz"}) model.Weight(zero, {}, kUint8);
  model.Weight("wz", {}, kInt8);
  model.Weight("w", {4, 3, 3, 3}, kInt8);
  model.Add("QLinearConv", {"x", "xs", "xz", "w", "ws", "wz", "ys", "yz"}, "y");
  model.Output("y", {}, kUint8);
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(Describe(graph), "conv (x, w) -> y [1, 4, 6, 6]\n");
  EXPECT_EQ(TensorNamed(graph, "y").type, base::DataType::kUint8);
  EXPECT_EQ(TensorNamed(graph, "w").type, base::DataType::kInt8);
}

TEST(TransposedConv, GrowsByItsStride) {
  EXPECT_EQ(
      Describe(ImportConv(
          {1, 6, 8, 8}, {6, 4, 3, 3},
          {{"strides", Ints{2, 2}}, {"pads", Ints{1, 1, 1, 1}}, {"output_padding", Ints{1, 1}}},
          "ConvTranspose")),
      "transposed_conv (x, w) -> y [1, 4, 16, 16]\n");
}

TEST(TransposedConv, TakesItsPadsFromTheOutputThatItStates) {
  const Graph graph =
      ImportConv({1, 6, 8, 8}, {6, 4, 3, 3},
                 {{"strides", Ints{2, 2}}, {"output_shape", Ints{16, 14}}}, "ConvTranspose");
  EXPECT_EQ(Describe(graph), "transposed_conv (x, w) -> y [1, 4, 16, 14]\n");
  // In all (8 - 1) * 2 + 3 - 16 = 1 of rows, and 3 of columns; the low end gets the odd one.
  EXPECT_EQ(graph.operators[0].window.pad_low, (std::array<int64_t, 2>{1, 2}));
  EXPECT_EQ(graph.operators[0].window.pad_high, (std::array<int64_t, 2>{0, 1}));
}

TEST(Pool, MayReachBeyondThePadding) {
  const Attributes attributes = {
      {"kernel_shape", Ints{3, 3}}, {"strides", Ints{2, 2}}, {"ceil_mode", int64_t{1}}};
  EXPECT_EQ(Describe(ImportOne("MaxPool", {1, 4, 8, 8}, {}, attributes)),
            "pool max (x) -> y [1, 4, 4, 4]\n");
}

// The begin of a window, by the definition. Without ceil_mode a window ends in the padded input.
// With it there is a further window as long as the one before leaves a rest, and it begins before
// the padding behind the input.
struct Line {
  int64_t extent = 1;
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t dilation = 1;
  int64_t low = 0;
  int64_t high = 0;
};

int64_t CountWindows(const Line& line, bool ceil_mode) {
  const int64_t reach = (line.kernel - 1) * line.dilation + 1;
  const int64_t end = line.extent + line.low + line.high;
  int64_t count = 0;
  while (count * line.stride + reach <= end) ++count;
  if (!ceil_mode) return count;
  const bool rest =
      count == 0 ? reach < end + line.stride : (count - 1) * line.stride + reach < end;
  return rest && count * line.stride < line.extent + line.low ? count + 1 : count;
}

TEST(Pool, HasTheWindowsOfTheDefinition) {
  int reaching = 0;
  for (int code = 0; code < 7 * 4 * 3 * 2 * 3 * 3 * 2; ++code) {
    int rest = code;
    const auto next = [&rest](int choices) {
      return std::exchange(rest, rest / choices) % choices;
    };
    const Line line = {.extent = 1 + next(7),
                       .kernel = 1 + next(4),
                       .stride = 1 + next(3),
                       .dilation = 1 + next(2),
                       .low = next(3),
                       .high = next(3)};
    const bool ceil_mode = next(2) == 1;
    if (line.low >= line.kernel || line.high >= line.kernel) continue;
    const int64_t windows = CountWindows(line, ceil_mode);
    if (windows == 0) continue;
    SCOPED_TRACE(testing::Message()
                 << "extent " << line.extent << ", kernel " << line.kernel << ", stride "
                 << line.stride << ", dilation " << line.dilation << ", pads " << line.low
                 << " and " << line.high << ", ceil_mode " << ceil_mode);
    const Graph graph = ImportOne("MaxPool", {1, 2, line.extent, 5}, {},
                                  {{"kernel_shape", Ints{line.kernel, 1}},
                                   {"strides", Ints{line.stride, 1}},
                                   {"dilations", Ints{line.dilation, 1}},
                                   {"pads", Ints{line.low, 0, line.high, 0}},
                                   {"ceil_mode", int64_t{ceil_mode}}});
    EXPECT_EQ(TensorNamed(graph, "y").shape, (Shape{1, 2, windows, 5}));
    // The last window lies in the padding that the operator states, so a plan that stores padding
    // holds it.
    const Window& window = graph.operators[0].window;
    const int64_t last_end =
        (windows - 1) * line.stride + (line.kernel - 1) * line.dilation + 1 - line.low;
    EXPECT_LE(last_end, line.extent + window.pad_high[0]);
    reaching += last_end > line.extent + line.high ? 1 : 0;
  }
  EXPECT_GT(reaching, 50);
}

TEST(Pool, WithAutomaticPadsRoundsUpInsideTheInput) {
  const auto import = [](const std::string& type, const std::string& pads, int64_t extent) {
    return TensorNamed(ImportOne(type, {1, 2, extent, extent}, {},
                                 {{"kernel_shape", Ints{2, 2}},
                                  {"strides", Ints{3, 3}},
                                  {"auto_pad", pads},
                                  {"ceil_mode", int64_t{1}}}),
                       "y")
        .shape[2];
  };
  for (const char* type : {"MaxPool", "AveragePool"}) {
    for (int64_t extent = 2; extent < 12; ++extent) {
      EXPECT_EQ(import(type, "SAME_UPPER", extent), (extent + 2) / 3) << type << extent;
      EXPECT_EQ(import(type, "SAME_LOWER", extent), (extent + 2) / 3) << type << extent;
      EXPECT_EQ(import(type, "VALID", extent), CountWindows({extent, 2, 3, 1, 0, 0}, true))
          << type << extent;
    }
  }
}

TEST(Pool, OfVolumesRoundsUpInsideTheInputToo) {
  EXPECT_EQ(Describe(ImportOne("MaxPool", {1, 2, 3, 3, 4}, {},
                               {{"kernel_shape", Ints{2, 2, 2}},
                                {"strides", Ints{2, 2, 2}},
                                {"pads", Ints{1, 1, 1, 1, 1, 1}},
                                {"ceil_mode", int64_t{1}}})),
            "opaque (x) -> y [1, 2, 2, 2, 3]\n");
}

// Older runtimes also computed a window that begins in the padding.
TEST(Pool, HasTheWindowsThatTheFileDeclares) {
  for (const int64_t windows : {2, 3}) {
    ModelBuilder model;
    model.Input("x", {1, 8, 3, 3});
    model.Add("AveragePool", {"x"}, "y",
              {{"kernel_shape", Ints{2, 2}},
               {"strides", Ints{2, 2}},
               {"pads", Ints{1, 1, 1, 1}},
               {"count_include_pad", int64_t{1}},
               {"ceil_mode", int64_t{1}}});
    model.Output("y", {1, 8, windows, windows});
    EXPECT_EQ(TensorNamed(MustImportGraph(model), "y").shape, (Shape{1, 8, windows, windows}));
  }
}

TEST(Pool, OfSoundHasOneRow) {
  EXPECT_EQ(Describe(ImportOne("AveragePool", {1, 4, 50}, {},
                               {{"kernel_shape", Ints{2}}, {"strides", Ints{2}}})),
            "reshape (x) -> y/map [1, 4, 1, 50]\n"
            "pool average (y/map) -> y/map_out [1, 4, 1, 25]\n"
            "reshape (y/map_out) -> y [1, 4, 25]\n");
  EXPECT_EQ(Describe(ImportOne("GlobalMaxPool", {1, 4, 50}, {}, {})),
            "reduce max (x) -> y [1, 4, 1]\n");
}

TEST(Pool, OfVolumesIsABarrierButOverAll) {
  const Graph graph = ImportOne("MaxPool", {1, 4, 8, 8, 8}, {}, {{"kernel_shape", Ints{2, 2, 2}}});
  EXPECT_EQ(Describe(graph), "opaque (x) -> y [1, 4, 7, 7, 7]\n");
  EXPECT_EQ(graph.operators[0].annotations.at("x-barrier"),
            "it slides over 3 axes; known are 1 and 2");
  EXPECT_EQ(Describe(ImportOne("GlobalAveragePool", {1, 4, 8, 8, 8}, {}, {})),
            "reduce mean (x) -> y [1, 4, 1, 1, 1]\n");
}

TEST(Pool, OfAllIsGlobal) {
  EXPECT_EQ(Describe(ImportOne("GlobalAveragePool", {1, 4, 8, 8}, {}, {})),
            "global_pool average (x) -> y [1, 4, 1, 1]\n");
  EXPECT_EQ(Describe(ImportOne("ReduceMean", {1, 4, 8, 8}, {},
                               {{"axes", Ints{2, 3}}, {"keepdims", int64_t{0}}})),
            "global_pool average (x) -> y [1, 4]\n");
}

TEST(Pool, OfPowersIsItsOwnFunction) {
  EXPECT_EQ(Describe(ImportOne("LpPool", {1, 4, 8, 8}, {},
                               {{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}})),
            "pool lp (x) -> y [1, 4, 4, 4]\n");
}

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
