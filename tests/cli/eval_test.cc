// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <fstream>
#include <map>

#include "command_line.h"

// `tessera eval` and `tessera diff`: editing a plan and completing it.
namespace tessera::cli {
namespace {

using nlohmann::ordered_json;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class EvalTest : public CommandLineTest {
 protected:
  EvalTest() {
    const Outcome outcome =
        PlanPatentChain("edge_npu_1mib", {"--transfers", "per-subgraph", "--output", "plan.json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    plan_ = ReadJson("plan.json");
  }

  // Only the entries that a person has to write.
  ordered_json Bare() const {
    ordered_json bare;
    for (const char* key : {"format", "version", "network", "profile"}) bare[key] = plan_.at(key);
    for (const ordered_json& subgraph : plan_.at("subgraphs")) {
      bare["subgraphs"].push_back({{"operators", subgraph.at("operators")},
                                   {"tile", subgraph.at("tile")},
                                   {"policies", subgraph.at("policies")}});
    }
    return bare;
  }

  Outcome Eval(const ordered_json& edited, const Arguments& more = {}) const {
    Write("edited.json", edited.dump());
    Arguments arguments = {"eval", "edited.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }

  ordered_json plan_;
};

TEST_F(EvalTest, ThePlanAsItWasKeepsEveryAddressAndPrice) {
  const Outcome outcome = Eval(plan_, {"--output", "again.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const ordered_json again = ReadJson("again.json");
  for (const char* key :
       {"totals", "lower_bounds", "baseline", "score", "homes", "loops", "relations"})
    EXPECT_EQ(again.at(key), plan_.at(key)) << key;
  EXPECT_EQ(Run({"check", "again.json"}).exit_code, 0);
  const auto difference =
      ParseJson(Run({"diff", "plan.json", "again.json", "--format", "json"}).out);
  EXPECT_EQ(difference.at("same"), true) << difference;
  EXPECT_THAT(Run({"diff", "plan.json", "again.json"}).out,
              HasSubstr("same subgraphs, same addresses\n"));
}

// Where banks have modes, engines with a cache of answers place buffers differently from engines
// without one. The former find the baseline.
TEST_F(EvalTest, ItsBaselineIsTheOneThatCheckFinds) {
  ASSERT_EQ(PlanPatentChain("three_bank_two_mode", {"--output", "banked.json"}).exit_code, 0);
  ASSERT_EQ(Run({"eval", "banked.json", "--output", "given.json"}).exit_code, 0);
  const Outcome outcome = Run({"check", "given.json"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
}

TEST_F(EvalTest, APartitionAloneBecomesAWholePlan) {
  ASSERT_EQ(Eval(Bare(), {"--output", "whole.json"}).exit_code, 0);
  EXPECT_EQ(Run({"check", "whole.json"}).exit_code, 0);
  const ordered_json whole = ReadJson("whole.json");
  EXPECT_EQ(whole.at("totals").at("latency_cycles"), plan_.at("totals").at("latency_cycles"));
  EXPECT_EQ(whole.at("status"), "feasible");
}

TEST_F(EvalTest, AnAddressThatIsGivenStays) {
  ordered_json edited = Bare();
  edited["subgraphs"][0]["buffers"] = {{{"id", "s0/conv1@0"}, {"offset", 65536}}};
  edited["homes"] = {{{"memory", "dram"}, {"tensors", {{{"tensor", "image"}, {"offset", 4096}}}}}};
  const Outcome outcome = Eval(edited, {"--format", "json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto answer = ParseJson(outcome.out);
  std::map<std::string, int64_t> offsets;
  for (const auto& buffer : answer.at("subgraphs")[0].at("buffers"))
    offsets[buffer.at("id")] = buffer.at("offset");
  EXPECT_EQ(offsets.at("s0/conv1@0"), 65536);
  for (const auto& tensor : answer.at("homes")[0].at("tensors"))
    offsets[tensor.at("tensor")] = tensor.at("offset");
  EXPECT_EQ(offsets.at("image"), 4096);
}

TEST_F(EvalTest, AddressesThatCollideAreNamedAndMayMove) {
  ordered_json edited = plan_;
  for (ordered_json& buffer : edited["subgraphs"][0]["buffers"]) buffer["offset"] = 0;
  const Outcome kept = Eval(edited, {"--output", "no.json"});
  EXPECT_EQ(kept.exit_code, 20) << kept.out << kept.err;
  EXPECT_THAT(kept.out, StartsWith("infeasible: "));
  EXPECT_THAT(kept.err, HasSubstr("--move lets them change\n"));
  EXPECT_THAT(Files(), testing::Not(testing::Contains("no.json")));
  const Outcome moved = Eval(edited, {"--move", "--output", "yes.json"});
  EXPECT_EQ(moved.exit_code, 0) << moved.out << moved.err;
  EXPECT_EQ(Run({"check", "yes.json"}).exit_code, 0);
}

// The message of a fault, and its place.
TEST_F(EvalTest, SaysPreciselyWhatIsWrong) {
  ordered_json edited = Bare();
  edited["subgraphs"][0]["operators"] = {"conv1", "conv2"};
  Outcome outcome = Eval(edited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(
      outcome.err,
      StartsWith("edited.json: at /subgraphs: error: operator 'conv3' is in no subgraph\n"));

  edited = Bare();
  edited["subgraphs"][0]["tile"] = {1, 4, 400, 14};
  outcome = Eval(edited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("[1, 4, 400, 14] is no tile of an output [1, 4, 4, 14]"));

  edited = Bare();
  edited["subgraphs"][0]["buffers"] = {{{"id", "s0/conv1@O"}, {"offset", 0}}};
  outcome = Eval(edited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(
      outcome.err,
      StartsWith(
          "edited.json: at /subgraphs/0/buffers/0: error: this partition has no 's0/conv1@O'\n"));
  EXPECT_THAT(outcome.err, HasSubstr("did you mean 's0/conv1@0'?"));

  edited = Bare();
  edited["homes"] = {{{"memory", "moon"}, {"tensors", {{{"tensor", "image"}, {"offset", 0}}}}}};
  outcome = Eval(edited);
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("memory 'moon' is home to nothing"));
}

TEST_F(EvalTest, WhatTheObjectiveForbidsIsRefused) {
  ordered_json edited = Bare();
  edited["objective"] = {{"weights", {{"latency", 1}}}, {"limits", {{"latency", 1}}}};
  const Outcome outcome = Eval(edited, {"--output", "no.json"});
  EXPECT_EQ(outcome.exit_code, 5) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("beyond the limit of 1"));
  EXPECT_THAT(Files(), testing::Not(testing::Contains("no.json")));
}

TEST_F(EvalTest, ASmallerTileCostsWhatDiffSays) {
  ordered_json edited = Bare();
  edited["subgraphs"][0]["tile"] = {1, 4, 2, 14};
  const Outcome outcome = Eval(edited, {"--output", "smaller.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const auto difference =
      ParseJson(Run({"diff", "plan.json", "smaller.json", "--format", "json"}).out);
  EXPECT_EQ(difference.at("same"), false);
  ASSERT_EQ(difference.at("parts").size(), 1U);
  const auto& part = difference.at("parts")[0];
  EXPECT_EQ(part.at("second")[0].at("tile"), ordered_json({1, 4, 2, 14}));
  const double change = part.at("costs").at("latency").at("change");
  EXPECT_EQ(change, ReadJson("smaller.json").at("totals").at("latency_cycles").get<double>() -
                        plan_.at("totals").at("latency_cycles").get<double>());
  EXPECT_NE(change, 0);
  const std::string text = Run({"diff", "plan.json", "smaller.json"}).out;
  EXPECT_THAT(text, HasSubstr("\noperators conv1 to conv3:\n  - [conv1..conv3] tile 1x4x4x14"));
  EXPECT_THAT(text, HasSubstr("  + [conv1..conv3] tile 1x4x2x14, 2 tiles"));
}

// One subgraph for each convolution, so that the first two results cross a cut.
TEST_F(EvalTest, BoundariesThatAreKeptStayOnChip) {
  Write("machine.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                            "\ntiling: {halo: [recompute]}\n");
  const Arguments plan = {"plan",
                          Shipped("examples/networks/patent_chain.yaml"),
                          "--hw",
                          "machine.yaml",
                          "--max-operators",
                          "1",
                          "--output"};
  const auto planned_as = [&](Arguments arguments, const std::string& name, const Arguments& more) {
    arguments.push_back(name);
    arguments.insert(arguments.end(), more.begin(), more.end());
    EXPECT_EQ(Run(arguments).exit_code, 0);
    return ReadJson(name);
  };
  plan_ = planned_as(plan, "plan.json", {"--no-keep"});
  const ordered_json searched = planned_as(plan, "searched.json", {});
  EXPECT_EQ(searched.at("kept"), ordered_json({"conv1", "conv2"}));
  EXPECT_THAT(Run({"check", "--execute", "searched.json"}).out, HasSubstr("\nexecuted: "));

  ordered_json edited = Bare();
  edited["kept"] = {"conv2", "conv1"};
  const Outcome outcome = Eval(edited, {"--output", "kept.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("kept on chip from subgraph to subgraph: conv1 conv2\n"));
  const Outcome executed = Run({"check", "--execute", "kept.json"});
  EXPECT_EQ(executed.exit_code, 0) << executed.out << executed.err;
  const ordered_json kept = ReadJson("kept.json");
  EXPECT_EQ(kept.at("kept"), ordered_json({"conv1", "conv2"}));
  EXPECT_LT(kept.at("totals").at("off_chip_bytes"), plan_.at("totals").at("off_chip_bytes"));
  EXPECT_THAT(Run({"diff", "plan.json", "kept.json"}).out, HasSubstr("\n+ kept on chip: conv1\n"));

  edited["kept"] = {"conv3"};
  EXPECT_THAT(Eval(edited).err,
              StartsWith("edited.json: at /kept: error: tensor 'conv3' cannot be kept on "
                         "chip between subgraphs\n"));
  edited["kept"] = {"cnov1"};
  EXPECT_THAT(Eval(edited).err, HasSubstr("did you mean 'conv1'?"));
}

// Found by the audit: the best combinations of subgraphs fit one by one but not jointly, and the
// search ends before it finds this one.
TEST_F(EvalTest, APreviousPlanIsNotLost) {
  const std::string files = Shipped("tests/cli/drawn/previous_plan");
  const auto read = [](const std::string& path) {
    return ordered_json::parse(std::ifstream(path));
  };
  const ordered_json policies = {
      {"weights", "resident"}, {"in_place", false}, {"halo", "recompute"}};
  ordered_json given = {
      {"format", "tessera-plan"},
      {"version", 1},
      {"network", read(files + ".yaml")},
      {"profile", read(files + ".hw.yaml")},
      {"objective",
       {{"weights", {{"latency", 0.5}, {"macs", 1}}}, {"limits", ordered_json::object()}}}};
  given["subgraphs"] = {
      {{"operators", {"t1", "t2"}}, {"tile", {1, 4, 5, 4}}, {"policies", policies}},
      {{"operators", {"t3", "t4", "t5", "t6", "t7", "t8"}},
       {"tile", {1, 3, 2, 2}},
       {"policies", policies}}};
  const Outcome evaluated = Eval(given, {"--output", "given.json"});
  ASSERT_EQ(evaluated.exit_code, 0) << evaluated.err;
  const Outcome planned =
      Run({"plan", files + ".yaml", "--hw", files + ".hw.yaml", "--score", "latency=0.5,macs=1",
           "--previous", "given.json", "--output", "new.json"});
  ASSERT_EQ(planned.exit_code, 0) << planned.err;
  EXPECT_LE(ReadJson("new.json").at("score"), ReadJson("given.json").at("score"));
}

TEST_F(EvalTest, DiffComparesTheAreasOfTheHardware) {
  Write("sized.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                          "\nschema: 1\nname: sized\nmemories: {sram: {area_mm2: 1.25}}\n"
                          "engines: {npu: {area_mm2: 0.5}}\n");
  ASSERT_EQ(Run({"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw", "sized.yaml",
                 "--output", "sized.json"})
                .exit_code,
            0);
  const std::string text = Run({"diff", "plan.json", "sized.json"}).out;
  EXPECT_THAT(text, testing::ContainsRegex("area of the hardware, mm2 +0 +1.75 +\\+1.75"));
  const auto difference =
      ParseJson(Run({"diff", "sized.json", "plan.json", "--format", "json"}).out);
  EXPECT_EQ(difference.at("profile_totals").at("area_mm2"),
            ordered_json({{"first", 1.75}, {"second", 0.0}, {"change", -1.75}}));
  EXPECT_THAT(Run({"diff", "sized.json", "sized.json"}).out,
              testing::ContainsRegex("area of the hardware, mm2 +1.75 +1.75 +same"));
  EXPECT_THAT(Run({"diff", "plan.json", "plan.json"}).out, testing::Not(HasSubstr("area")));
}

TEST_F(EvalTest, DiffRefusesWhatIsNoPlan) {
  Write("other.json", "{}");
  const Outcome outcome = Run({"diff", "plan.json", "other.json"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(outcome.err, StartsWith("other.json: "));
}

TEST_F(EvalTest, AnotherProfilePricesTheSamePartition) {
  Write("slow.yaml", "extends: " + Shipped("hw_profiles/edge_npu_1mib.yaml") +
                         "\nschema: 1\nname: slow\nclock_hz: 500e6\nmemories:\n"
                         "  dram: {port: {bytes_per_cycle: 0.5}}\n");
  const Outcome outcome = Eval(plan_, {"--hw", "slow.yaml", "--output", "again.json"});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.out << outcome.err;
  const ordered_json again = ReadJson("again.json");
  EXPECT_EQ(again.at("profile").at("name"), "slow");
  EXPECT_GT(again.at("totals").at("latency_cycles"), plan_.at("totals").at("latency_cycles"));
  EXPECT_EQ(again.at("totals").at("macs"), plan_.at("totals").at("macs"));
  EXPECT_EQ(Run({"check", "again.json"}).exit_code, 0);
}

// There, one SRAM is the home of all that is in DRAM here.
TEST_F(EvalTest, AnotherProfileMayHaveOtherHomes) {
  const Arguments other = {"--hw", Shipped("hw_profiles/ethos_u55_128.yaml")};
  const Outcome kept = Eval(plan_, other);
  EXPECT_EQ(kept.exit_code, 3);
  EXPECT_THAT(kept.err, HasSubstr("--move"));
  const Outcome moved = Eval(plan_, {other[0], other[1], "--move", "--output", "moved.json"});
  ASSERT_EQ(moved.exit_code, 0) << moved.out << moved.err;
  EXPECT_EQ(Run({"check", "moved.json"}).exit_code, 0);
}

TEST_F(EvalTest, AddressesAtHomeThatCollideAreNamed) {
  ordered_json edited = plan_;
  ordered_json& tensors = edited["homes"][0]["tensors"];
  ASSERT_GE(tensors.size(), 2U);
  for (ordered_json& tensor : tensors) tensor["offset"] = 0;
  const Outcome outcome = Eval(edited);
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("the addresses that the file gives in memory 'dram' collide: "
                                     "'image' at 0 with "));
  EXPECT_THAT(outcome.err, HasSubstr("--move"));
  EXPECT_EQ(Eval(edited, {"--move"}).exit_code, 0);
}

TEST_F(EvalTest, AnEmptyNameIsNoProfile) { EXPECT_EQ(Eval(plan_, {"--hw", ""}).exit_code, 3); }

TEST_F(EvalTest, AProfileThatCannotRunThePlanIsRefused) {
  const Outcome outcome = Eval(plan_, {"--hw", "missing.yaml"});
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("missing.yaml"));
}

}  // namespace
}  // namespace tessera::cli
