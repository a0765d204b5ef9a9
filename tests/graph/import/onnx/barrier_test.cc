// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "model_builder.h"

// Operators that the importer does not know: they become barriers with a reason, or the user
// describes them.
namespace tessera::graph::onnx {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

using Descriptions = import::common::Descriptions;

Descriptions Describing(const std::string& text) {
  const base::Expected<Descriptions> read = import::yaml::ReadDescriptions(text, "ops.yaml");
  EXPECT_TRUE(read.has_value()) << (read ? "" : base::Format(read.error()));
  return read.value_or(Descriptions{});
}

TEST(Barrier, IsWhatDependsOnData) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "r");
  model.Input("at", {4, 3}, kInt64);
  model.Add("GatherElements", {"r", "at"}, "y", {{"axis", int64_t{1}}});
  model.Output("y");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph),
            "elementwise relu (x) -> r [4, 8]\nopaque (r, at) -> y [4, 3]\n");
  EXPECT_THAT(import.notes,
              Contains("barrier y: GatherElements: which elements it reads depends on data"));
  EXPECT_EQ(import.graph.operators[1].annotations.at("x-op_type"), "GatherElements");
}

TEST(Barrier, IsARecurrentOperator) {
  ModelBuilder model;
  model.Input("x", {5, 1, 8});
  model.Weight("w", {1, 64, 8});
  model.Weight("r", {1, 64, 16});
  model.AddMany("LSTM", {"x", "w", "r"}, {"y"}, {{"hidden_size", int64_t{16}}});
  model.Output("y");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph), "opaque (x, w, r) -> y [5, 1, 1, 16]\n");
  EXPECT_THAT(import.notes,
              ElementsAre("barrier y: LSTM: a recurrent operator: each step needs the one before"));
}

TEST(Barrier, ReadsWhatGraphsInsideCapture) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Input("condition", {}, kBool);
  model.Add("Relu", {"x"}, "r");
  model.AddIf("condition", "r", "y");
  model.Declare("y", {4, 8});
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)),
            "elementwise relu (x) -> r [4, 8]\nopaque (condition, r) -> y [4, 8]\n");
}

TEST(Barrier, ReadsOnceWhatItIsGivenAndItsGraphsCapture) {
  ModelBuilder model;
  model.Input("condition", {}, kBool);
  model.AddIf("condition", "condition", "y");
  model.Declare("y", {}, kBool);
  model.Output("y");
  EXPECT_EQ(Describe(MustImportGraph(model)), "opaque (condition) -> y []\n");
}

// Without a ratio, or where the mode is not that of training, it does nothing.
TEST(Barrier, IsADropoutInTrainingMode) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "r");
  const auto dropped = [&model](const std::string& name, double ratio, double trains) {
    return model.Add("Dropout",
                     {"r", model.Real(name + ".ratio", ratio),
                      model.Values(name + ".trains", {}, kBool, {trains})},
                     name);
  };
  model.Add("Add", {dropped("d0", 0.5, 0), dropped("d1", 0, 1)}, "s");
  model.Add("Add", {"s", dropped("d2", 0.5, 1)}, "y");
  model.Output("y");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph),
            "elementwise relu (x) -> r [4, 8]\nelementwise add (r, r) -> s [4, 8]\n"
            "opaque (r) -> d2 [4, 8]\nelementwise add (s, d2) -> y [4, 8]\n");
  EXPECT_THAT(import.notes, Contains("barrier d2: Dropout: it works in training mode"));
}

// Before version 7 the attribute 'is_test' states the mode; without it the mode is training.
TEST(Barrier, IsAnOperatorOfOldFilesWithoutTestMode) {
  const auto import_with = [](const std::string& type, const Attributes& attributes) {
    ModelBuilder model(6);
    std::vector<std::string> operands = {model.Input("x", {4, 8})};
    for (const char* name : {"scale", "shift", "mean", "variance"}) {
      if (type == "BatchNormalization") operands.push_back(model.Weight(name, {8}));
    }
    model.Output(model.Add(type, operands, "y", attributes));
    return MustImport(model);
  };
  for (const char* type : {"Dropout", "BatchNormalization"}) {
    const std::string reason = "it works in training mode, because 'is_test' is 0";
    for (const Attributes& attributes : {Attributes{}, Attributes{{"is_test", int64_t{0}}}}) {
      EXPECT_THAT(import_with(type, attributes).notes,
                  Contains("barrier y: " + std::string(type) + ": " + reason));
    }
    EXPECT_THAT(import_with(type, {{"is_test", int64_t{1}}}).notes,
                Not(Contains(HasSubstr("barrier"))));
  }
}

TEST(Barrier, OfAnotherDomainNeedsADeclaredShape) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("my.domain:Warp", {"x"}, "y");
  model.Output("y");
  const base::Diagnostic fault = FaultOf(model.Bytes());
  EXPECT_EQ(fault.message,
            "operator 'y' (Warp): the shape of its output 'y' is not known (an operator of domain "
            "'my.domain')");
  EXPECT_EQ(fault.hint, "or describe operator my.domain:Warp under 'ops'");
}

TEST(Barrier, LeavesOutWhatIsNotReadIfItsShapeIsNotKnown) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Input("k", {1}, kInt64);
  model.AddMany("TopK", {"x", "k"}, {"values", "indices"});
  model.Output("values", {4, 3});
  EXPECT_EQ(Describe(MustImportGraph(model)), "opaque (x, k) -> values [4, 3]\n");
  model.Output("indices");
  EXPECT_THAT(FaultOf(model.Bytes()).message, HasSubstr("its output 'indices' is not known"));
}

TEST(Description, MakesAnUnknownOperatorTileable) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Weight("table", {16});
  model.Add("my.domain:Blur", {"x", "table"}, "y", {{"strength", 0.5}});
  model.Output("y");
  import::common::ImportOptions options;
  options.descriptions = Describing(
      "ops:\n"
      "  my.domain:Blur:\n"
      "    accesses: [{kernel: 3, pads: [1, 1]}]\n"
      "    shape_of: 0\n"
      "    macs_per_output: 9\n"
      "    scratch_bytes: 64\n"
      "    engine: npu\n");
  const import::common::Import import = MustImport(model, options);
  EXPECT_EQ(Describe(import.graph), "opaque (x, table) -> y [1, 4, 8, 8]\n");
  const Operator& op = import.graph.operators[0];
  EXPECT_FALSE(IsBarrier(op));
  EXPECT_EQ(op.accesses[0].kind, ReadPattern::kWindow);
  EXPECT_EQ(op.macs, 9 * 4 * 8 * 8);
  EXPECT_EQ(op.scratch_bytes, 64);
  EXPECT_EQ(op.engine, "npu");
  EXPECT_EQ(op.annotations.at("x-strength"), "0.5");
  EXPECT_THAT(import.notes,
              ElementsAre("assumed of y: my.domain:Blur is as described under 'ops'"));
}

TEST(Description, MustFitTheOperands) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("my.domain:Blur", {"x"}, "y");
  model.Output("y");
  import::common::ImportOptions options;
  options.descriptions =
      Describing("ops: {\"my.domain:Blur\": {accesses: [{kernel: 3}], shape_of: 0}}");
  EXPECT_THAT(FaultOf(model.Bytes(), options).message,
              HasSubstr("operator 'y' (Blur): its description does not fit"));
}

TEST(Description, IsReadStrictly) {
  const auto read = import::yaml::ReadDescriptions(
      "ops:\n  Blur: {accesses: [full], macs_per_outptu: 9}\n", "ops.yaml");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().line, 2);
  EXPECT_EQ(read.error().hint, "did you mean 'macs_per_output'?");
}

// The MACs of the only operator of a model, as the graph counts them; nullopt where they are
// unknown.
std::optional<int64_t> WorkOf(const std::string& type,
                              const std::vector<std::vector<int64_t>>& operands,
                              const std::vector<int64_t>& result, const Attributes& attributes = {},
                              const std::vector<int64_t>& lengths = {}) {
  ModelBuilder model;
  std::vector<std::string> names;
  for (const std::vector<int64_t>& shape : operands) {
    names.push_back("operand" + std::to_string(names.size()));
    model.Input(names.back(), {shape.begin(), shape.end()});
  }
  if (!lengths.empty()) {
    names.emplace_back();
    names.push_back(model.Values("lengths", {static_cast<int64_t>(lengths.size())}, kInt32,
                                 {lengths.begin(), lengths.end()}));
  }
  model.Add(type, names, "y", attributes);
  model.Declare("y", {result.begin(), result.end()});
  model.Output("y");
  const Graph graph = MustImportGraph(model);
  EXPECT_TRUE(IsBarrier(graph.operators.at(0))) << Describe(graph);
  EXPECT_EQ(HasUnknownWork(graph.operators.at(0)), !graph.operators.at(0).macs.has_value());
  return graph.operators.at(0).macs;
}

TEST(Work, OfConvolutionsIsCountedForAllAxes) {
  EXPECT_EQ(WorkOf("Conv", {{1, 4, 8, 8, 8}, {8, 4, 3, 3, 3}}, {1, 8, 6, 6, 6}),
            8 * 6 * 6 * 6 * 4 * 27);
  EXPECT_EQ(
      WorkOf("Conv", {{1, 4, 8, 8}, {8, 2, 3, 3}, {8}}, {1, 8, 6, 6}, {{"group", int64_t{2}}}),
      8 * 6 * 6 * 2 * 9);
  EXPECT_EQ(WorkOf("ConvTranspose", {{1, 4, 8, 8}, {4, 6, 2, 2}, {6}}, {1, 6, 16, 16},
                   {{"strides", std::vector<int64_t>{2, 2}}}),
            6 * 16 * 16 * 4 * 4 / 4);
}

TEST(Work, OfProductsIsCounted) {
  EXPECT_EQ(WorkOf("MatMul", {{8}, {2, 8, 3}}, {2, 3}), 2 * 3 * 8);
  EXPECT_EQ(WorkOf("Einsum", {{2, 8, 16}, {2, 16, 4}}, {2, 8, 4}, {{"equation", "bij,bjk->bik"}}),
            2 * 8 * 16 * 4);
  EXPECT_EQ(WorkOf("Einsum", {{5, 2, 8, 16}, {2, 16, 4}}, {5, 2, 8, 4},
                   {{"equation", "...ij,...jk->...ik"}}),
            5 * 2 * 8 * 16 * 4);
  EXPECT_EQ(WorkOf("Einsum", {{6, 6}}, {6}, {{"equation", "ii->i"}}), 0);
  EXPECT_EQ(WorkOf("Einsum", {{2, 3}, {3, 4}, {4, 5}}, {2, 5}, {{"equation", "ij,jk,kl->il"}}),
            std::nullopt);
}

TEST(Work, OfRecurrentOperatorsIsThatOfTheirGates) {
  const Attributes hidden = {{"hidden_size", int64_t{16}}};
  EXPECT_EQ(WorkOf("LSTM", {{10, 3, 8}, {1, 64, 8}, {1, 64, 16}}, {10, 1, 3, 16}, hidden),
            10 * 3 * 64 * (8 + 16));
  Attributes both = hidden;
  both["direction"] = "bidirectional";
  EXPECT_EQ(WorkOf("GRU", {{10, 3, 8}, {2, 48, 8}, {2, 48, 16}}, {10, 2, 3, 16}, both),
            10 * 3 * 2 * 48 * (8 + 16));
  EXPECT_EQ(
      WorkOf("RNN", {{10, 3, 8}, {1, 16, 8}, {1, 16, 16}}, {10, 1, 3, 16}, hidden, {10, 4, 0}),
      14 * 16 * (8 + 16));
}

TEST(Work, OfWhatOnlyMovesElementsIsNone) {
  ModelBuilder model;
  model.Input("x", {2, 8});
  model.Input("target", {1}, kInt64);
  model.Add("Reshape", {"x", "target"}, "y");
  model.Declare("y", {16});
  model.Output("y");
  EXPECT_EQ(MustImportGraph(model).operators[0].macs, 0);
}

TEST(Work, OfAllElseIsUnknown) {
  EXPECT_EQ(WorkOf("my.domain:Warp", {{2, 3}}, {2, 3}), std::nullopt);
  EXPECT_EQ(WorkOf("MaxPool", {{1, 4, 8, 8, 8}}, {1, 4, 4, 4, 4},
                   {{"kernel_shape", std::vector<int64_t>{2, 2, 2}},
                    {"strides", std::vector<int64_t>{2, 2, 2}}}),
            std::nullopt);
  EXPECT_EQ(WorkOf("Clip", {{2, 3}, {}}, {2, 3}), std::nullopt);
  ModelBuilder model;
  model.Input("x", {4});
  model.Add("my.domain:Blur", {"x"}, "y");
  model.Output("y");
  import::common::ImportOptions options;
  options.descriptions =
      Describing("ops: {\"my.domain:Blur\": {accesses: [elementwise], shape_of: 0}}");
  EXPECT_TRUE(HasUnknownWork(MustImportGraph(model, options).operators[0]));
}

TEST(Work, BeyondMeasureIsRefused) {
  ModelBuilder model;
  const int64_t large = int64_t{1} << 22;
  model.Input("a", {large, large});
  model.Input("b", {large, large});
  model.Add("Einsum", {"a", "b"}, "y", {{"equation", "ij,jk->ik"}});
  model.Output("y", {large, large});
  EXPECT_THAT(FaultOf(model.Bytes()).message, HasSubstr("more than 2^62 multiply-accumulates"));
}

TEST(Tables, OfAnEmbeddingAreFetchedByIndex) {
  ModelBuilder model;
  model.Input("ids", {1, 6}, kInt64);
  model.Add("Gather", {model.Weight("embedding", {1000, 8}), "ids"}, "y");
  model.Output("y");
  const import::common::Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph),
            "reshape (ids) -> y/places [1, 6, 1]\nopaque (y/places) -> y [1, 6, 8]\n");
  EXPECT_FALSE(IsBarrier(import.graph.operators[1]));
  EXPECT_THAT(import.notes,
              ElementsAre(HasSubstr("rows of table 'embedding' are fetched by index")));
}

TEST(State, IsACacheThatGoesInAsPastAndOutAsPresent) {
  ModelBuilder model;
  model.Input("past_key_values.0.key", {1, 2, 7, 4});
  model.Input("k", {1, 2, 1, 4});
  model.Add("Concat", {"past_key_values.0.key", "k"}, "present.0.key", {{"axis", int64_t{2}}});
  model.Output("present.0.key");
  const import::common::Import import = MustImport(model);
  EXPECT_TRUE(TensorNamed(import.graph, "past_key_values.0.key").state);
  EXPECT_FALSE(TensorNamed(import.graph, "k").state);
  EXPECT_EQ(TensorNamed(import.graph, "present.0.key").next_of,
            FindTensor(import.graph, "past_key_values.0.key"));
  EXPECT_THAT(import.notes,
              ElementsAre("state past_key_values.0.key: aliased with 'present.0.key'"));
}

TEST(State, MayBeStated) {
  ModelBuilder model;
  model.Input("h", {1, 8});
  model.Input("x", {1, 8});
  model.Add("Add", {"h", "x"}, "h_next");
  model.Output("h_next");
  import::common::ImportOptions options;
  options.states = {{"h", "h_next"}};
  const Graph graph = MustImportGraph(model, options);
  EXPECT_TRUE(TensorNamed(graph, "h").state);
  EXPECT_EQ(TensorNamed(graph, "h_next").next_of, FindTensor(graph, "h"));
  options.states = {{"hh", "h_next"}};
  EXPECT_EQ(FaultOf(model.Bytes(), options).message, "--state: there is no network input 'hh'");
}

TEST(Annotations, ComeBack) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "y", {{"layer_colour", "blue"}});
  model.Document("y", "the only one");
  model.Metadata("author", "somebody");
  model.Output("y");
  const Graph graph = MustImportGraph(model);
  EXPECT_EQ(graph.annotations.at("x-author"), "somebody");
  EXPECT_EQ(graph.operators[0].annotations.at("x-doc_string"), "the only one");
  EXPECT_EQ(graph.operators[0].annotations.at("x-layer_colour"), "blue");
}

}  // namespace
}  // namespace tessera::graph::onnx
