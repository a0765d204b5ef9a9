// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "../execute/base_plans.h"
#include "../execute/kept_plans.h"
#include "../execute/prefetch_plans.h"
#include "../fixture.h"
#include "lowered_plans.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/lowering/lowering.h"

// Lowerings whose interesting parts are written out by hand.
namespace tessera::plan::lowering {
namespace {

using Json = nlohmann::ordered_json;
using testing::ElementsAre;
using testing::IsEmpty;

Json JsonOf(const Plan& plan) { return files::ToJson(WithLowering(plan)).at(0); }

std::vector<Json> WaitsOf(const Json& lowered, size_t job) {
  const Json& entry = lowered.at("jobs").at(job);
  return entry.value("depends_on", Json::array()).get<std::vector<Json>>();
}

std::vector<std::string> JobRunsOf(const Json& lowered) {
  std::vector<std::string> job_runs;
  for (const Json& job : lowered.at("jobs")) {
    job_runs.push_back(job.at("does").get<std::string>() + " " +
                       job.value("tensor", job.value("operator", "")));
  }
  return job_runs;
}

// The example of docs/plan-format.md: ping and pong, and three classes of five tiles.
TEST(LoweringExample, PingPongWaitsForTheTileBeforeLast) {
  Plan plan = TwoConvsPlan();
  plan.lowering = *Lower(plan);
  const Json lowered = files::ToJson(plan).at(0);
  EXPECT_EQ(lowered.at("loops"),
            Json::parse(R"([{"axis": 2, "extent": 10, "tile": 2, "trips": 5}])"));
  EXPECT_EQ(lowered.at("phases"), 2);
  EXPECT_THAT(JobRunsOf(lowered),
              ElementsAre("load x", "load wa", "load wb", "compute a", "compute b", "store y"));
  EXPECT_THAT(WaitsOf(lowered, 0),
              ElementsAre(Json::parse(R"({"job": 3, "tiles": 2, "for": "reuse"})")));
  EXPECT_THAT(WaitsOf(lowered, 3),
              ElementsAre(Json::parse(R"({"job": 0, "for": "data"})"),
                          Json::parse(R"({"job": 1, "for": "data"})"),
                          Json::parse(R"({"job": 4, "tiles": 2, "for": "reuse"})")));
  EXPECT_EQ(lowered.at("jobs").at(0).at("operands"), Json::parse(R"([
    {"as": "from", "tensor": "x", "memory": "dram", "at": [{"address": 0}], "strides": [160, 1, 16, 4]},
    {"as": "to", "tensor": "x", "memory": "sram",
     "at": [{"buffer": "s0/x@0", "address": 0}, {"phase": 1, "buffer": "s0/x@1", "address": 96}],
     "strides": [96, 1, 16, 4]}])"));
  const Json& classes = lowered.at("classes");
  ASSERT_EQ(classes.size(), 3U);
  EXPECT_EQ(classes[0].at("name"), "first");
  EXPECT_EQ(classes[1].at("name"), "steady");
  EXPECT_EQ(classes[1].at("trips"), Json::parse("[[1, 4]]"));
  EXPECT_EQ(classes[1].at("phases"), Json::parse("[0, 1]"));
  EXPECT_EQ(classes[2].at("name"), "last");
  EXPECT_EQ(classes[1].at("work").at(0), Json::parse(R"({"job": 0, "regions": [
    {"operand": 0, "begin": [0, 0, [0, 2], 0], "extent": [1, 4, 6, 4], "offset": [0, 32]},
    {"operand": 1, "fills": true, "offset": 0}]})"));
  EXPECT_EQ(classes[0].at("work").at(1).at("regions").at(0).at("pad_low"),
            Json::parse("[0, 0, 1, 1]"));
  EXPECT_EQ(classes[0].at("work").at(1).at("regions").at(0).at("pad_high"),
            Json::parse("[0, 0, 0, 1]"));
  EXPECT_EQ(classes[2].at("work").at(1).at("regions").at(0).at("pad_high"),
            Json::parse("[0, 0, 1, 1]"));
}

// Slices of two channels in two slots, round by round. Both slots are free again after the last
// round that used them.
TEST(LoweringExample, SlicesWaitRoundByRound) {
  const Json lowered = JsonOf(execute::StreamedDoubleBuffered());
  EXPECT_THAT(JobRunsOf(lowered),
              ElementsAre("load wa", "load x", "load wb", "compute a", "compute b", "store y"));
  EXPECT_EQ(lowered.at("jobs").at(0).at("rounds"), 2);
  EXPECT_EQ(lowered.at("jobs").at(3).at("rounds"), 2);
  EXPECT_THAT(WaitsOf(lowered, 3),
              testing::Contains(Json::parse(R"({"job": 0, "rounds_back": 0, "for": "data"})")));
  const Json& at = lowered.at("jobs").at(0).at("operands").at(1).at("at");
  ASSERT_EQ(at.size(), 4U);
  EXPECT_EQ(at[3].at("phase"), 1);
  EXPECT_EQ(at[3].at("slot"), 1);
}

// Five tiles in a rolling buffer: of m, tiles 1 to 3 make two rows each behind the three of tile 0.
TEST(LoweringExample, RowsOfARollingBufferTurn) {
  const Plan plan = WithLowering(execute::RollingBufferDoubleBuffered());
  const Lowered& lowered = plan.lowering->subgraphs.at(0);
  bool found = false;
  for (const TileClass& tiles : lowered.classes) {
    if (tiles.trips.at(0).begin != 1) continue;
    for (const Work& work : tiles.work) {
      const Job& job = lowered.jobs.at(static_cast<size_t>(work.job));
      if (job.does != Does::kCompute || job.op != 0) continue;
      const Region& made = work.regions.back();
      EXPECT_GT(job.operands.at(made.operand).rolling_buffer_rows, 0);
      EXPECT_EQ(made.turn, (Affine{3, {2}, 0}));
      EXPECT_EQ(made.extent.at(2), (Affine{2, {}, 0}));
      EXPECT_EQ(made.begin.at(2), (Affine{3, {2}, 0}));
      found = true;
    }
  }
  EXPECT_TRUE(found);
}

// Four tiles, each of a quarter of m: the first writes all corners, and each writes the pads of
// rows and columns that no earlier tile had.
TEST(LoweringExample, PadsOfAWholeBufferAreWrittenOnce) {
  const Json lowered = JsonOf(execute::WholeWithPads());
  const Json& made = lowered.at("jobs").at(0).at("operands").at(1);
  EXPECT_EQ(made.at("tensor"), "m");
  EXPECT_EQ(made.at("padded_around"), true);
  std::vector<Json> pads;
  for (const Json& tiles : lowered.at("classes")) {
    for (const Json& work : tiles.at("work")) {
      const Json& region = work.at("regions").back();
      if (work.at("job") == 0)
        pads.push_back(region.contains("pad_high") ? region.at("pad_high") : Json());
    }
  }
  EXPECT_THAT(pads, ElementsAre(Json::parse("[0, 0, 5, 5]"), Json::parse("[0, 0, 5, 0]"),
                                Json::parse("[0, 0, 0, 5]"), Json()));
}

TEST(LoweringExample, SubgraphsAreLoweredOneByOne) {
  const Plan plan = WithLowering(execute::TwoSubgraphs());
  ASSERT_EQ(plan.lowering->subgraphs.size(), 2U);
  EXPECT_EQ(plan.lowering->subgraphs[0].phases, 1);
  EXPECT_EQ(plan.lowering->subgraphs[1].loops.at(0).trips, 2);
}

// The weights of the second convolution arrive while the first one runs, and give way to its tiles.
TEST(LoweringExample, LoadsForALaterSubgraphGiveWay) {
  const Json lowered = files::ToJson(WithLowering(execute::Prefetched()));
  const auto loads = [&lowered](size_t subgraph, bool gives_way) {
    std::vector<std::string> tensors;
    for (const Json& job : lowered.at(subgraph).at("jobs")) {
      if (job.value("gives_way", false) == gives_way && job.at("does") == "load")
        tensors.push_back(job.at("tensor"));
    }
    return tensors;
  };
  EXPECT_THAT(loads(0, true), ElementsAre("wb"));
  EXPECT_THAT(loads(0, false), testing::Not(testing::Contains("wb")));
  EXPECT_THAT(loads(1, true), IsEmpty());
}

// Each mode of the banked memory reads one bank and writes the other.
TEST(LoweringExample, ModesAreJobs) {
  const Json lowered = JsonOf(BankedPlan());
  std::vector<std::string> before;
  for (const Json& job : lowered.at("jobs")) {
    if (job.at("does") == "mode") before.push_back(job.at("before"));
  }
  EXPECT_THAT(before, testing::Not(IsEmpty()));
  for (size_t job = 0; job < lowered.at("jobs").size(); ++job) {
    if (lowered["jobs"][job].at("does") != "compute") continue;
    EXPECT_THAT(WaitsOf(lowered, job),
                testing::Contains(
                    testing::ResultOf([](const Json& wait) { return wait.at("for"); }, "mode")));
  }
}

TEST(LoweringRefusal, ElementsOfFourBits) {
  Plan plan = TwoConvsPlan();
  plan.network.tensors[1].type = base::DataType::kInt4;
  const base::Expected<Program> program = Lower(plan);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().message,
            "the plan cannot be lowered: elements of four bits have no addresses in bytes");
}

TEST(LoweringRefusal, TensorsWithoutAnAddress) {
  Plan plan = TwoConvsPlan();
  plan.homes.clear();
  const base::Expected<Program> program = Lower(plan);
  ASSERT_FALSE(program.has_value());
  EXPECT_THAT(program.error().message, testing::HasSubstr("at which address"));
}

}  // namespace
}  // namespace tessera::plan::lowering
