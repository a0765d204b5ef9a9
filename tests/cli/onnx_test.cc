// SPDX-License-Identifier: Apache-2.0

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
using testing::Not;

struct Network {
  std::string name;
  void (*build)(ModelBuilder&);
  std::string dim;  // of its one symbol; empty: no symbol
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
  Arguments arguments = {"plan",     "net.onnx", "--hw", Profile(),         "--floats-as",
                         "int8",     "--budget", "2000", "--max-operators", "4",
                         "--output", "plan.json"};
  if (!GetParam().dim.empty()) arguments.insert(arguments.end(), {"--dim", GetParam().dim});
  const Outcome outcome = Run(arguments);
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err << outcome.out;
  const Outcome checked = Run({"check", "--execute", "plan.json"});
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
}

INSTANTIATE_TEST_SUITE_P(
    Of, OnnxPlanTest,
    testing::Values(Network{"resnet", graph::onnx::BuildResNet, "batch=1"},
                    Network{"mobilenet", graph::onnx::BuildMobileNet, "N=1"},
                    Network{"inception", graph::onnx::BuildInception, ""},
                    Network{"unet", graph::onnx::BuildUNet, ""},
                    Network{"transformer", graph::onnx::BuildTransformer, "length=16"},
                    Network{"keywords", graph::onnx::BuildKeywords, ""},
                    Network{"decoder", graph::onnx::BuildDecoderStep, "past=15"}),
    [](const auto& info) { return info.param.name; });

// With one token more, each cache has grown by a row in its place.
TEST_F(OnnxTest, ADecoderStepWritesItsCachesInPlace) {
  WriteModel(graph::onnx::BuildDecoderStep);
  const Outcome outcome =
      Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--dim", "past=15",
           "--budget", "2000", "--max-operators", "4", "--output", "plan.json"});
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

// The newest token comes first, so the whole cache would have to move.
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
              HasSubstr("state 'past_key_values.0.key' is not written in its place: the caller "
                        "must copy 'present.0.key' there after each run"));
}

TEST_F(OnnxTest, PrintsWhatItDidAndWritesItIntoThePlan) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Outcome outcome = Run({"plan", "net.onnx", "--hw", Profile(), "--dim", "N=1", "--floats-as",
                               "int8", "--max-operators", "1", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("folded constants, 4: shape, batch, listed, wanted\n"));
  EXPECT_THAT(outcome.err, HasSubstr("relu6 into block0_expand"));
  EXPECT_THAT(ReadJson("plan.json")["notes"].dump(),
              HasSubstr("folded constants, 4: shape, batch, listed, wanted"));
}

TEST_F(OnnxTest, ListsEveryNodeWhereThereIsNoPlan) {
  WriteModel(graph::onnx::BuildMobileNet);
  Arguments plan = {"plan",        "net.onnx", "--hw",    Profile(),   "--dim",       "N=1",
                    "--floats-as", "int8",     "--limit", "latency=1", "--no-reasons"};
  const Outcome text = Run(plan);
  EXPECT_EQ(text.exit_code, 20) << text.err;
  EXPECT_THAT(text.out, HasSubstr("note: 21 nodes of the file: "));
  EXPECT_THAT(text.out, HasSubstr("; .. (--format json has it all)\n"));
  plan.insert(plan.end(), {"--format", "json"});
  EXPECT_THAT(ParseJson(Run(plan).out)["notes"].dump(), HasSubstr("\"21 nodes of the file: "));
}

// The JSON answer lists each node of the file once; the terminal shows the begin of the list.
TEST_F(OnnxTest, ListsEveryNodeOfTheFile) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Arguments options = {"--hw", Profile(), "--dim", "N=1", "--floats-as", "int8"};
  Arguments plan = {"plan", "net.onnx", "--max-operators", "1", "--output", "plan.json"};
  plan.insert(plan.end(), options.begin(), options.end());
  const Outcome planned = Run(plan);
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_THAT(planned.out, HasSubstr("note: 21 nodes of the file: "));
  EXPECT_THAT(planned.out, HasSubstr("; .. (--format json has it all)\n"));
  EXPECT_THAT(planned.err, Not(HasSubstr("nodes of the file")));
  Arguments tile = {"tile", "net.onnx", "--ops", "block0_expand", "--format", "json"};
  tile.insert(tile.end(), options.begin(), options.end());
  const Outcome tiled = Run(tile);
  ASSERT_EQ(tiled.exit_code, 0) << tiled.err;
  const std::string in_plan = ReadJson("plan.json").at("notes").back();
  EXPECT_EQ(ParseJson(tiled.out).at("notes").back(), in_plan);
  EXPECT_THAT(in_plan, HasSubstr("block0_expand (Conv) is operator block0_expand; "));
  EXPECT_THAT(in_plan, HasSubstr("(Clip) is part of block0_expand (relu6); "));
  EXPECT_THAT(in_plan, HasSubstr("wanted (Concat) is a constant; "));
}

// A Pad, and a space_to_batch in the three operators that ONNX has for it.
TEST_F(OnnxTest, SpaceToBatchIsPlannedAndExecuted) {
  ModelBuilder model;
  model.Input("x", {1, 3, 7, 8});
  model.Integers("pads", {0, 0, 1, 0, 0, 0, 0, 0});
  model.Add("Pad", {"x", "pads"}, "padded");
  model.Integers("parts", {1, 3, 4, 2, 4, 2});
  model.Add("Reshape", {"padded", "parts"}, "split");
  model.Add("Transpose", {"split"}, "turned", {{"perm", std::vector<int64_t>{3, 5, 0, 1, 2, 4}}});
  model.Integers("images", {4, 3, 4, 4});
  model.Add("Reshape", {"turned", "images"}, "y");
  model.Output("y");
  Write("net.onnx", model.Bytes());
  const Outcome planned =
      Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--output", "plan.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_EQ(ReadJson("plan.json")["network"]["operators"][1]["kind"], "space_to_batch");
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

TEST_F(OnnxTest, SumsAndTheGreatestValuesArePlannedAndExecuted) {
  ModelBuilder model;
  model.Input("x", {1, 6, 20});
  model.Scalar("axis", 1);
  model.Add("CumSum", {"x", "axis"}, "sums", {{"reverse", int64_t{1}}});
  model.AddMany("TopK", {"sums", model.Integers("k", {5})}, {"values", "indices"});
  model.Output("values");
  model.Output("indices");
  Write("net.onnx", model.Bytes());
  const Outcome planned =
      Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--output", "plan.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  const auto plan = ReadJson("plan.json");
  EXPECT_EQ(plan["network"]["operators"][0]["kind"], "cumsum");
  EXPECT_EQ(plan["network"]["operators"][1]["kind"], "top_k");
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

TEST_F(OnnxTest, WhatIsComputedForAnOperandIsPlanned) {
  ModelBuilder model;
  model.Input("x", {1, 8, 16, 16});
  model.Add("ReduceMean", {"x"}, "bias",
            {{"axes", std::vector<int64_t>{0, 2, 3}}, {"keepdims", int64_t{0}}});
  model.Add("Conv", {"x", model.Weight("w", {8, 8, 3, 3}), "bias"}, "y");
  model.Output("y");
  Write("net.onnx", model.Bytes());
  const Outcome outcome =
      Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--output", "plan.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("barrier y: Conv: operand 2, 'bias', is computed"));
  const auto plan = ReadJson("plan.json");
  EXPECT_EQ(plan.at("network").at("operators").size(), 2U);
  EXPECT_EQ(plan.at("totals").at("macs"), 8 * 14 * 14 * 8 * 9);
  EXPECT_EQ(plan.at("totals").at("unknown_work"), 0);
  EXPECT_EQ(Run({"check", "--execute", "plan.json"}).exit_code, 0);
}

// An operator that does not state its MACs.
class UnknownWorkTest : public OnnxTest {
 protected:
  UnknownWorkTest() {
    ModelBuilder model;
    model.Input("x", {1, 4, 8, 8});
    model.Add("my.domain:Warp", {model.Add("Relu", {"x"}, "r")}, "y");
    model.Output("y", {1, 4, 8, 8});
    Write("net.onnx", model.Bytes());
  }

  Outcome Plan(const Arguments& more) const {
    Arguments arguments = {"plan",        "net.onnx", "--hw",     Profile(),
                           "--floats-as", "int8",     "--output", "plan.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(UnknownWorkTest, ProvesNoPlanBestInWhatItIsPartOf) {
  const struct {
    Arguments objective;
    std::string status;
  } cases[] = {{{}, "feasible"},
               {{"--minimize", "energy"}, "feasible"},
               {{"--minimize", "macs"}, "feasible"},
               {{"--score", "latency=1,peak=1"}, "feasible"},
               {{"--minimize", "peak", "--limit", "latency=1000000"}, "feasible"},
               {{"--transfers", "program"}, "feasible"},
               {{"--minimize", "peak"}, "optimal"},
               {{"--minimize", "off_chip_bytes"}, "optimal"}};
  for (const auto& [objective, status] : cases) {
    const Outcome outcome = Plan(objective);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto plan = ReadJson("plan.json");
    EXPECT_EQ(plan.at("status"), status) << testing::PrintToString(objective);
    for (const char* part : {"totals", "lower_bounds"})
      EXPECT_EQ(plan.at(part).at("unknown_work"), 1) << part;
    EXPECT_EQ(plan.at("baseline").at("totals").at("unknown_work"), 1);
    EXPECT_THAT(
        plan.at("notes").dump(),
        HasSubstr(
            "the work of 1 operator is unknown: y (my.domain:Warp); latency, energy and MACs are "
            "lower bounds"));
    EXPECT_THAT(outcome.out, HasSubstr("operators of unknown work"));
    EXPECT_THAT(outcome.out, HasSubstr("latency, cycles, at least"));
    EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  }
}

// Known work keeps each of these limits. Bytes per cycle only fall with more cycles.
TEST_F(UnknownWorkTest, ClaimsNoLimitAsKeptThatItMayExceed) {
  const struct {
    std::string limits;
    std::string uncertain;
  } cases[] = {{"latency=1000000", "latency"},
               {"energy=1e12,macs=1000000,peak=1000000", "energy, macs"},
               {"power=1e9,bandwidth_average=1e9", "power"},
               {"bandwidth_average=1e9,bandwidth_peak=1e9,off_chip_bytes=1000000", ""}};
  for (const auto& [limits, uncertain] : cases) {
    SCOPED_TRACE(limits);
    const Outcome outcome = Plan({"--minimize", "peak", "--limit", limits});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    const auto plan = ReadJson("plan.json");
    EXPECT_EQ(plan.at("status"), "feasible");
    const std::string notes = plan.at("notes").dump();
    const auto says = HasSubstr("whether the limit on " + uncertain + " is kept is not known");
    if (uncertain.empty()) {
      EXPECT_THAT(notes, testing::Not(HasSubstr("is kept is not known")));
    } else {
      EXPECT_THAT(notes, says);
      EXPECT_THAT(outcome.out + outcome.err, says);
    }
    EXPECT_EQ(Run({"check", "plan.json"}).exit_code, 0);
  }
}

TEST_F(UnknownWorkTest, ReportsCallNoRatioALowerBound) {
  const Outcome outcome =
      Plan({"--minimize", "peak", "--limit", "power=1e9,latency=1000000", "--report", "plan.html"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("power, mW, without unknown work"));
  const std::string page = Read("plan.html");
  EXPECT_THAT(page,
              testing::ContainsRegex(
                  R"("key": ?"latency"[^}]*"counts_work": ?true, ?"grows_with_work": ?true)"));
  EXPECT_THAT(page, testing::ContainsRegex(
                        R"("key": ?"power"[^}]*"counts_work": ?true, ?"grows_with_work": ?false)"));
}

// The known latency is a lower bound, so a plan may keep these limits.
TEST_F(UnknownWorkTest, NoLimitOfARatioIsCalledImpossible) {
  for (const std::string metric : {"power", "bandwidth_average", "bandwidth_peak"}) {
    const Outcome outcome = Plan({"--limit", metric + "=1e-9"});
    EXPECT_EQ(outcome.exit_code, 10) << metric << outcome.out << outcome.err;
  }
  EXPECT_EQ(Plan({"--limit", "latency=1"}).exit_code, 20);
}

TEST_F(UnknownWorkTest, IsNotDenied) {
  ASSERT_EQ(Plan({}).exit_code, 0);
  const auto plan = ReadJson("plan.json");
  auto claims = plan;
  claims["status"] = "optimal";
  Write("claims.json", claims.dump());
  const Outcome refused = Run({"check", "claims.json"});
  EXPECT_EQ(refused.exit_code, 5);
  EXPECT_THAT(refused.out + refused.err,
              HasSubstr("called optimal in what 1 operators of unknown work"));
  for (const char* part : {"totals", "lower_bounds"}) {
    auto silent = plan;
    silent[part]["unknown_work"] = 0;
    Write("silent.json", silent.dump());
    EXPECT_EQ(Run({"check", "silent.json"}).exit_code, 5) << part;
    silent[part].erase("unknown_work");
    Write("silent.json", silent.dump());
    EXPECT_EQ(Run({"check", "silent.json"}).exit_code, 3) << part;
  }
  auto elsewhere = plan;
  elsewhere["subgraphs"][0]["metrics"]["unknown_work"] = 0;
  Write("elsewhere.json", elsewhere.dump());
  EXPECT_EQ(Run({"check", "elsewhere.json"}).exit_code, 5);
}

TEST_F(UnknownWorkTest, IsStatedByTilesAndFronts) {
  const Outcome tile = Run({"tile", "net.onnx", "--hw", Profile(), "--floats-as", "int8", "--ops",
                            "y", "--format", "json"});
  ASSERT_EQ(tile.exit_code, 0) << tile.err;
  EXPECT_THAT(tile.out, HasSubstr("\"unknown_work\": 1"));
  EXPECT_THAT(ParseJson(tile.out).at("notes").dump(),
              HasSubstr("the work of 1 operator is unknown: y"));
  const Outcome front = Run({"plan", "net.onnx", "--hw", Profile(), "--floats-as", "int8",
                             "--pareto", "--format", "json"});
  ASSERT_EQ(front.exit_code, 0) << front.err;
  EXPECT_EQ(ParseJson(front.out).at("complete"), false);
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
      Run({"tile", "-", "--hw", Profile(), "--ops", "block0_1x1", "--floats-as", "int8"},
          model.Bytes());
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("largest tile that fits"));
}

TEST_F(OnnxTest, TileGivesItsNotesToProgramsToo) {
  WriteModel(graph::onnx::BuildMobileNet);
  const Arguments tile = {"tile",        "net.onnx",      "--hw",     Profile(),
                          "--ops",       "block0_expand", "--dim",    "N=1",
                          "--floats-as", "int8",          "--format", "json"};
  Arguments why_not = tile;
  why_not.insert(why_not.end(), {"--why-not", "7x7"});
  for (const Arguments& arguments : {tile, why_not}) {
    const Outcome outcome = Run(arguments);
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_THAT(ParseJson(outcome.out).at("notes").get<std::vector<std::string>>(),
                testing::Contains("folded constants, 4: shape, batch, listed, wanted"));
  }
  const Outcome yaml = Run({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                            Profile(), "--format", "json"});
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
  EXPECT_THAT(execution.err,
              HasSubstr("the bytes of constant 'stem.weight' have no known elements"));
  Write("sizes.csv", "tensor,bytes\nstem.wieght,100\n");
  const Outcome refused =
      Run({"plan", "net.onnx", "--hw", Profile(), "--dim", "batch=1", "--sizes", "sizes.csv"});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_THAT(refused.err, HasSubstr("sizes.csv:2:1: error: there is no constant 'stem.wieght'"));
  EXPECT_THAT(refused.err, HasSubstr("did you mean 'stem.weight'?"));
}

}  // namespace
}  // namespace tessera::cli
