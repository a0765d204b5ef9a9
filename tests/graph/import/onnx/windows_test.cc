// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "model_builder.h"

// The translation of convolutions and pools. The expected shapes and windows follow from the ONNX
// definition and are worked out by hand.
namespace tessera::graph::onnx {
namespace {

using Ints = std::vector<int64_t>;

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

}  // namespace
}  // namespace tessera::graph::onnx
