#include <gmock/gmock.h>

#include <map>

#include "command_line.h"
#include "networks.h"

// From an ONNX file to a plan that `tessera check` accepts.
namespace tessera::cli {
namespace {

using graph::onnx::ModelBuilder;
using testing::HasSubstr;
using testing::IsEmpty;

struct Network {
  std::string name;
  void (*build)(ModelBuilder&);
  std::string dim;  // of its one symbol; empty: none
};

class OnnxTest : public CommandLineTest {
 protected:
  void WriteModel(void (*build)(ModelBuilder&)) const {
    ModelBuilder model;
    build(model);
    Write("net.onnx", model.Bytes());
  }

  static std::string Profile() { return Shipped("hw_profiles/edge_npu_1mib.yaml"); }
};

class OnnxPlanTest : public OnnxTest, public testing::WithParamInterface<Network> {};

TEST_P(OnnxPlanTest, IsPlannedFromEndToEnd) {
  WriteModel(GetParam().build);
  Arguments arguments = {"plan", "net.onnx",        "--hw", Profile(),  "--floats-as", "int8", "--budget",
                         "2000", "--max-operators", "4",    "--output", "plan.json"};
  if (!GetParam().dim.empty()) arguments.insert(arguments.end(), {"--dim", GetParam().dim});
  const Outcome outcome = Run(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  const Outcome checked = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

INSTANTIATE_TEST_SUITE_P(Of, OnnxPlanTest,
                         testing::Values(Network{"resnet", graph::onnx::BuildResNet, "batch=1"},
                                         Network{"mobilenet", graph::onnx::BuildMobileNet, "N=1"},
                                         Network{"inception", graph::onnx::BuildInception, ""},
                                         Network{"unet", graph::onnx::BuildUNet, ""},
                                         Network{"transformer", graph::onnx::BuildTransformer, "length=16"},
                                         Network{"keywords", graph::onnx::BuildKeywords, ""},
                                         Network{"decoder", graph::onnx::BuildDecoderStep, "past=15"}),
                         [](const auto& info) { return info.param.name; });

// One token more, and the caches have grown by a row each where they lie.
TEST_F(OnnxTest, ADecoderStepWritesItsCachesInPlace) {
  WriteModel(graph::onnx::BuildDecoderStep);
  const Outcome outcome =
      Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--dim", "past=15", "--budget",
           "2000", "--max-operators", "4", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  std::map<std::string, int64_t> offsets;
  const auto plan = ReadJson("plan.json");
  for (const auto& buffer : plan.at("buffers")) offsets[buffer.at("id")] = buffer.at("offset");
  for (const char* cache : {"key", "value"}) {
    EXPECT_EQ(offsets.at(std::string("past_key_values.0.") + cache),
              offsets.at(std::string("present.0.") + cache));
  }
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

// The newest token in front: all of the cache would have to move.
TEST_F(OnnxTest, ACacheThatCannotStayIsNoted) {
  ModelBuilder model;
  model.Input("past_key_values.0.key", {1, 2, 7, 4});
  model.Input("k", {1, 2, 1, 4});
  model.Add("Concat", {"k", "past_key_values.0.key"}, "present.0.key", {{"axis", int64_t{2}}});
  model.Output("present.0.key");
  Write("net.onnx", model.Bytes());
  const Outcome outcome = Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("state 'past_key_values.0.key' is not written in its place: whoever runs "
                        "the program copies 'present.0.key' there"));
}

TEST_F(OnnxTest, PrintsWhatItDidAndWritesItIntoThePlan) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Outcome outcome = Run({"plan", "net.onnx", "--hw", Profile(), "--dim", "N=1", "--floats-as", "int8",
                               "--max-operators", "1", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("folded constants, 4: shape, batch, listed, wanted\n"));
  EXPECT_THAT(outcome.err, HasSubstr("relu6 into block0_expand"));
  EXPECT_THAT(ReadJson("plan.json")["notes"].dump(),
              HasSubstr("folded constants, 4: shape, batch, listed, wanted"));
}

TEST_F(OnnxTest, ASymbolWithoutAnExtentIsBadInput) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Outcome outcome = Run({"tile", "net.onnx", "--hw", Profile()});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, HasSubstr("expected: --dim N=1"));
}

TEST_F(OnnxTest, IsKnownByContentOnStandardInput) {
  ModelBuilder model;
  graph::onnx::BuildInception(model);
  const Outcome outcome =
      Run({"tile", "-", "--hw", Profile(), "--ops", "block0_1x1", "--floats-as", "int8"}, model.Bytes());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("largest tile that fits"));
}

TEST_F(OnnxTest, TileGivesItsNotesToProgramsToo) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Arguments tile = {"tile",  "net.onnx", "--hw",        Profile(), "--ops",    "block0_expand",
                          "--dim", "N=1",      "--floats-as", "int8",    "--format", "json"};
  Arguments why_not = tile;
  why_not.insert(why_not.end(), {"--why-not", "7x7"});
  for (const Arguments& arguments : {tile, why_not}) {
    const Outcome outcome = Run(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(ParseJson(outcome.out).at("notes").get<std::vector<std::string>>(),
                testing::Contains("folded constants, 4: shape, batch, listed, wanted"));
  }
  const Outcome yaml =
      Run({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw", Profile(), "--format", "json"});
  EXPECT_EQ(ParseJson(yaml.out).at("notes").size(), 0U);
}

TEST_F(OnnxTest, AProfileMayDescribeOperators) {
  ModelBuilder model;
  model.Input("x", {1, 4, 8, 8});
  model.Add("my.domain:Blur", {"x"}, "y");
  model.Output("y");
  Write("net.onnx", model.Bytes());
  const Arguments plan = {"plan", "net.onnx", "--hw", "chip.yaml", "--floats-as", "int8"};
  const std::string parent = "schema: 1\nextends: " + Profile() + "\n";
  Write("chip.yaml", parent);
  EXPECT_EQ(Run(plan).exit_code, 3);
  Write("chip.yaml",
        parent + "ops:\n  my.domain:Blur: {accesses: [{kernel: 3, pads: [1, 1]}], shape_of: 0}\n");
  const Outcome outcome = Run(plan);
  EXPECT_THAT(outcome.err, HasSubstr("assumed of y: my.domain:Blur is as described under 'ops'"));
}

TEST_F(OnnxTest, ConstantsMayBeStoredInFewerBytes) {
  WriteModel(graph::onnx::BuildResNet);
  Write("sizes.csv", "tensor,bytes\nstem.weight,100\n");
  const Outcome outcome =
      Run({"plan", "net.onnx", "--hw", Profile(), "--dim", "batch=1", "--floats-as", "int8",
           "--max-operators", "1", "--sizes", "sizes.csv", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  EXPECT_THAT(Read("plan.json"), HasSubstr("\"stored_bytes\": 100"));
  const Outcome execution = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(execution.exit_code, 4);
  EXPECT_THAT(execution.err, HasSubstr("which bytes of constant 'stem.weight' hold which element"));
  Write("sizes.csv", "tensor,bytes\nstem.wieght,100\n");
  const Outcome refused =
      Run({"plan", "net.onnx", "--hw", Profile(), "--dim", "batch=1", "--sizes", "sizes.csv"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("sizes.csv:2:1: error: there is no constant 'stem.wieght'"));
  EXPECT_THAT(refused.err, HasSubstr("did you mean 'stem.weight'?"));
}

}  // namespace
}  // namespace tessera::cli
