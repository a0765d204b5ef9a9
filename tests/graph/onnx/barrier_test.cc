#include <gmock/gmock.h>

#include "model_builder.h"

// Operators that nobody here knows: fenced with a reason, or described by the user.
namespace tessera::graph::onnx {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

Descriptions Describing(const std::string& text) {
  const base::Expected<Descriptions> read = ReadDescriptions(text, "ops.yaml");
  EXPECT_TRUE(read.has_value()) << (read ? "" : base::Format(read.error()));
  return read.value_or(Descriptions{});
}

TEST(Barrier, IsWhatDependsOnData) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("Relu", {"x"}, "r");
  model.AddMany("TopK", {"r", model.Integers("k", {3})}, {"values", "indices"});
  model.Output("values");
  const Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph), "elementwise relu (x) -> r [4, 8]\nopaque (r) -> values [4, 3]\n");
  EXPECT_THAT(import.notes, Contains("barrier values: TopK: which elements it reads depends on data"));
  EXPECT_EQ(import.graph.operators[1].annotations.at("x-op_type"), "TopK");
}

TEST(Barrier, IsARecurrentOperator) {
  ModelBuilder model;
  model.Input("x", {5, 1, 8});
  model.Weight("w", {1, 64, 8});
  model.Weight("r", {1, 64, 16});
  model.AddMany("LSTM", {"x", "w", "r"}, {"y"}, {{"hidden_size", int64_t{16}}});
  model.Output("y");
  const Import import = MustImport(model);
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

TEST(Barrier, OfAnotherDomainNeedsADeclaredShape) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("my.domain:Warp", {"x"}, "y");
  model.Output("y");
  const base::Diagnostic fault = FaultOf(model.Bytes());
  EXPECT_EQ(
      fault.message,
      "operator 'y' (Warp): the shape of its output 'y' is not known (an operator of domain 'my.domain')");
  EXPECT_EQ(fault.hint, "or describe operator my.domain:Warp under 'ops'");
}

TEST(Description, MakesAnUnknownOperatorTileable) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Weight("table", {16});
  model.Add("my.domain:Blur", {"x", "table"}, "y", {{"strength", 0.5}});
  model.Output("y");
  ImportOptions options;
  options.descriptions = Describing(
      "ops:\n"
      "  my.domain:Blur:\n"
      "    accesses: [{kernel: 3, pads: [1, 1]}]\n"
      "    shape_of: 0\n"
      "    macs_per_output: 9\n"
      "    scratch_bytes: 64\n"
      "    engine: npu\n");
  const Import import = MustImport(model, options);
  EXPECT_EQ(Describe(import.graph), "opaque (x, table) -> y [1, 4, 8, 8]\n");
  const Operator& op = import.graph.operators[0];
  EXPECT_FALSE(IsBarrier(op));
  EXPECT_EQ(op.accesses[0].kind, AccessKind::kWindow);
  EXPECT_EQ(op.macs, 9 * 4 * 8 * 8);
  EXPECT_EQ(op.scratch_bytes, 64);
  EXPECT_EQ(op.engine, "npu");
  EXPECT_EQ(op.annotations.at("x-strength"), "0.5");
  EXPECT_THAT(import.notes, ElementsAre("assumed of y: my.domain:Blur is as described under 'ops'"));
}

TEST(Description, MustFitTheOperands) {
  ModelBuilder model;
  model.Input("x", {4, 8});
  model.Add("my.domain:Blur", {"x"}, "y");
  model.Output("y");
  ImportOptions options;
  options.descriptions = Describing("ops: {\"my.domain:Blur\": {accesses: [{kernel: 3}], shape_of: 0}}");
  EXPECT_THAT(FaultOf(model.Bytes(), options).message,
              HasSubstr("operator 'y' (Blur): its description does not fit"));
}

TEST(Description, IsReadStrictly) {
  const auto read = ReadDescriptions("ops:\n  Blur: {accesses: [full], macs_per_outptu: 9}\n", "ops.yaml");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().line, 2);
  EXPECT_EQ(read.error().hint, "did you mean 'macs_per_output'?");
}

TEST(Tables, OfAnEmbeddingAreFetchedByIndex) {
  ModelBuilder model;
  model.Input("ids", {1, 6}, kInt64);
  model.Add("Gather", {model.Weight("embedding", {1000, 8}), "ids"}, "y");
  model.Output("y");
  const Import import = MustImport(model);
  EXPECT_EQ(Describe(import.graph),
            "reshape (ids) -> y/places [1, 6, 1]\nopaque (y/places) -> y [1, 6, 8]\n");
  EXPECT_FALSE(IsBarrier(import.graph.operators[1]));
  EXPECT_THAT(import.notes, ElementsAre(HasSubstr("rows of table 'embedding' are fetched by index")));
}

TEST(State, IsACacheThatGoesInAsPastAndOutAsPresent) {
  ModelBuilder model;
  model.Input("past_key_values.0.key", {1, 2, 7, 4});
  model.Input("k", {1, 2, 1, 4});
  model.Add("Concat", {"past_key_values.0.key", "k"}, "present.0.key", {{"axis", int64_t{2}}});
  model.Output("present.0.key");
  const Import import = MustImport(model);
  EXPECT_TRUE(TensorNamed(import.graph, "past_key_values.0.key").state);
  EXPECT_FALSE(TensorNamed(import.graph, "k").state);
  EXPECT_EQ(TensorNamed(import.graph, "present.0.key").next_of,
            FindTensor(import.graph, "past_key_values.0.key"));
  EXPECT_THAT(import.notes, ElementsAre("state past_key_values.0.key: handed on as 'present.0.key'"));
}

TEST(State, MayBeStated) {
  ModelBuilder model;
  model.Input("h", {1, 8});
  model.Input("x", {1, 8});
  model.Add("Add", {"h", "x"}, "h_next");
  model.Output("h_next");
  ImportOptions options;
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
