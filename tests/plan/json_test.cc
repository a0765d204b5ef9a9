// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "fixture.h"
#include "tessera/plan/files/plan_files.h"
#include "tessera/plan/verify/validator.h"

namespace tessera::plan {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

TEST(PlanJson, GivesTheSameBytesAfterReading) {
  for (const Plan& plan : {OneConvPlan(), TwoConvsPlan(), OneSramPlan(), BankedPlan()}) {
    const std::string text = files::WritePlanJson(plan);
    const base::Expected<Plan> read = files::ReadPlanJson(text, "plan.json");
    ASSERT_TRUE(read.has_value()) << base::Format(read.error());
    EXPECT_EQ(files::WritePlanJson(*read), text);
    EXPECT_THAT(verify::Validate(*read), IsEmpty());
  }
}

TEST(PlanJson, KeepsWhatIsOptional) {
  Plan plan = BankedPlan();
  problem::Buffer& buffer = plan.problem.buffers[1];
  buffer.name = "weights of conv";
  buffer.role = "weights";
  buffer.hint = 128;
  buffer.offset = 128;
  buffer.allowed_banks = {0};
  buffer.annotations = {{"x-note", "\"kept\""}};
  plan.seed = 0xffff'ffff'ffff'ffff;
  plan.objective.weights = {{"latency", 0.1}, {"energy", 0.2}};
  plan.objective.limits = {{"peak", 1e6}};
  plan.baseline->do_not_fit = {0};
  const base::Expected<Plan> read = files::ReadPlanJson(files::WritePlanJson(plan), "plan.json");
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(read->problem.buffers[1].name, "weights of conv");
  EXPECT_EQ(read->problem.buffers[1].role, "weights");
  EXPECT_EQ(read->problem.buffers[1].hint, 128);
  EXPECT_EQ(read->problem.buffers[1].offset, 128);
  EXPECT_EQ(read->problem.buffers[1].allowed_banks, std::vector<int>{0});
  EXPECT_EQ(read->problem.buffers[1].annotations, buffer.annotations);
  EXPECT_EQ(read->seed, plan.seed);
  EXPECT_EQ(read->objective.weights, plan.objective.weights);
  EXPECT_EQ(read->objective.limits, plan.objective.limits);
  EXPECT_EQ(read->baseline->do_not_fit, std::vector<int>{0});
  EXPECT_EQ(read->allocation.modes, plan.allocation.modes);
}

std::vector<PlanConstraint> EveryConstraint() {
  const TileConfigConstraint config = {.tile = std::vector<int64_t>{1, 4, 2, 4},
                                       .weights = hw_profiles::WeightPolicy::kResident,
                                       .in_place = false,
                                       .halo = hw_profiles::HaloStorage::kRecompute,
                                       .addresses = {{"m@1", 256}}};
  return {
      {.kind = PlanConstraintKind::kTogether, .interval = {0, 1}, .config = {}, .memory = {}},
      {.kind = PlanConstraintKind::kApart, .interval = {0, 0}, .config = {}, .memory = {}},
      {.kind = PlanConstraintKind::kSubgraph, .interval = {0, 1}, .config = config, .memory = {}},
      {.kind = PlanConstraintKind::kKeep, .interval = {}, .tensor = 3, .config = {}, .memory = {}},
      {.kind = PlanConstraintKind::kSpill, .interval = {}, .tensor = 3, .config = {}, .memory = {}},
      {.kind = PlanConstraintKind::kAddress,
       .interval = {},
       .tensor = 4,
       .config = {},
       .memory = "dram",
       .offset = 480}};
}

TEST(Digest, ChangesWithEveryChoice) {
  const std::string before = files::DigestOf(TwoConvsPlan());
  EXPECT_EQ(files::DigestOf(TwoConvsPlan()), before);
  const std::vector<std::function<void(Plan&)>> changes = {
      [](Plan& plan) { --plan.subgraphs[0].interval.last; },
      [](Plan& plan) { --plan.subgraphs[0].tile.back(); },
      [](Plan& plan) { plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kDirect; },
      [](Plan& plan) { plan.subgraphs[0].in_place = !plan.subgraphs[0].in_place; },
      [](Plan& plan) { plan.subgraphs[0].halo = hw_profiles::HaloStorage::kRollingBuffer; },
      [](Plan& plan) { ++plan.subgraphs[0].k_extent; },
      [](Plan& plan) { plan.subgraphs[0].prefetch.push_back(1); },
      [](Plan& plan) { plan.kept = {0}; },
      [](Plan& plan) { ++plan.allocation.offsets.back(); },
      [](Plan& plan) { plan.allocation.modes = {{0}}; },
      [](Plan& plan) { ++plan.seed; }};
  for (size_t i = 0; i < changes.size(); ++i) {
    Plan plan = TwoConvsPlan();
    changes[i](plan);
    EXPECT_NE(files::DigestOf(plan), before) << i;
  }
}

TEST(PlanJson, KeepsWhatWasRequired) {
  Plan plan = TwoConvsPlan();
  plan.constraints = EveryConstraint();
  EXPECT_THAT(verify::Validate(plan), IsEmpty());
  const std::string text = files::WritePlanJson(plan);
  const base::Expected<Plan> read = files::ReadPlanJson(text, "plan.json");
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(read->constraints, plan.constraints);
  EXPECT_EQ(files::WritePlanJson(*read), text);
  EXPECT_THAT(files::WritePlanJson(TwoConvsPlan()), testing::Not(HasSubstr("constraints")));
}

// Changes each constraint into one that the plan does not keep.
TEST(PlanJson, ConstraintsThatAreNotKeptAreRefused) {
  const auto text_of = [](const PlanConstraint& constraint) {
    Plan plan = TwoConvsPlan();
    plan.constraints = {constraint};
    const std::vector<verify::Violation> violations = verify::Validate(plan);
    return violations.empty() ? "" : violations.front().message;
  };
  std::vector<PlanConstraint> constraints = EveryConstraint();
  constraints[1].interval = {1, 1};
  EXPECT_EQ(text_of(constraints[1]), "not as required: a subgraph that begins with operator 'b'");
  constraints[2].config.addresses["m@1"] = 240;
  EXPECT_THAT(
      text_of(constraints[2]),
      HasSubstr("weights resident, no result in place, halo recompute, m@1 at address 240"));
  constraints[2].config = {.tile = {},
                           .weights = hw_profiles::WeightPolicy::kStreamed,
                           .in_place = {},
                           .halo = {},
                           .addresses = {}};
  EXPECT_THAT(text_of(constraints[2]), HasSubstr("weights streamed"));
  constraints[2].config = {
      .tile = {}, .weights = {}, .in_place = {}, .halo = {}, .addresses = {{"line", 0}}};
  EXPECT_THAT(text_of(constraints[2]), HasSubstr("line at address 0"));
  constraints[5].offset = 496;
  EXPECT_EQ(text_of(constraints[5]),
            "not as required: tensor 'y' at address 496 wherever it lies whole in memory dram");
}

TEST(PlanJson, KeepsRejectedAlternatives) {
  Plan plan = TwoConvsPlan();
  RejectedAlternative refused;
  refused.interval = plan.subgraphs.front().interval;
  refused.tile = plan.subgraphs.front().tile;
  refused.weights = hw_profiles::WeightPolicy::kSplitK;
  refused.k_extent = 16;
  refused.cause = RejectionCause::kRoom;
  refused.taken = 12.5;
  refused.needs_bytes = 77;
  plan.subgraphs.front().rejected_alternatives = {refused};
  const std::string text = files::WritePlanJson(plan);
  const base::Expected<Plan> read = files::ReadPlanJson(text, "plan.json");
  ASSERT_TRUE(read.has_value()) << base::Format(read.error());
  EXPECT_EQ(files::WritePlanJson(*read), text);
  const RejectedAlternative& found = read->subgraphs.front().rejected_alternatives.at(0);
  EXPECT_EQ(found.tile, refused.tile);
  EXPECT_EQ(found.k_extent, 16);
  EXPECT_EQ(found.cause, RejectionCause::kRoom);
  EXPECT_EQ(found.k_extent, 16);
  EXPECT_FALSE(found.score);
  EXPECT_EQ(found.needs_bytes, 77);
}

TEST(PlanJson, TimeStandsInNoFile) {
  const Plan plan = OneConvPlan();
  EXPECT_THAT(files::WritePlanJson(plan), testing::Not(HasSubstr("time_ms")));
  const std::string shown = files::WritePlanJson(plan, 12.5);
  EXPECT_THAT(shown, HasSubstr("\"time_ms\": 12.5"));
  EXPECT_TRUE(files::ReadPlanJson(shown, "-").has_value());
}

TEST(PlanJson, SyntaxErrorsHaveAPosition) {
  const base::Expected<Plan> read = files::ReadPlanJson("{\n  \"format\": }", "plan.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().line, 2);
  EXPECT_EQ(read.error().column, 13);
}

// A valid document with the first occurrence of `from` replaced.
struct Corruption {
  std::string name;
  Plan (*plan)();
  std::string from;
  std::string to;
  std::string pointer;
  std::string message;
};

void PrintTo(const Corruption& corruption, std::ostream* out) { *out << corruption.name; }

class CorruptDocument : public testing::TestWithParam<Corruption> {};

TEST_P(CorruptDocument, IsRefusedWhereItIsWrong) {
  const Corruption& corruption = GetParam();
  std::string text = files::WritePlanJson(corruption.plan());
  const size_t at = text.find(corruption.from);
  ASSERT_NE(at, std::string::npos) << text;
  text.replace(at, corruption.from.size(), corruption.to);
  const base::Expected<Plan> read = files::ReadPlanJson(text, "plan.json");
  ASSERT_FALSE(read.has_value());
  EXPECT_EQ(read.error().pointer, corruption.pointer) << base::Format(read.error());
  EXPECT_THAT(read.error().message, HasSubstr(corruption.message));
}

const std::vector<Corruption> kCorruptions = {
    {"OtherFormat", OneConvPlan, "tessera-plan", "tessera-problem", "/format",
     "another kind of document"},
    {"NoUnknownWork", OneConvPlan, "\"unknown_work\": 0,", "", "/totals",
     "the key 'unknown_work' is missing"},
    {"NoHaloPolicy", OneConvPlan, ", \"halo\": \"recompute\"", "", "/subgraphs/0/policies",
     "the key 'halo' is missing"},
    {"OtherVersion", OneConvPlan, "\"version\": 1", "\"version\": 2", "/version",
     "version of the format is not known"},
    {"MissingKey", OneConvPlan, "\"status\": \"optimal\",", "", "", "the key 'status' is missing"},
    {"UnknownKey", OneConvPlan,
     "\"status\": ", "\"x-mine\": 1, \"staus\": 1, \"status\": ", "/staus", "unknown key 'staus'"},
    {"UnknownMetric", OneConvPlan, "{\"off_chip_bytes\": 1.0}", "{\"area\": 1.0}",
     "/objective/weights/area", "there is no metric 'area'"},
    {"SeedBelowZero", OneConvPlan, "\"seed\": 7", "\"seed\": -7", "/seed", "this is no seed"},
    {"UnknownOperator", OneConvPlan, "\"operators\": [\"conv\"]", "\"operators\": [\"cnov\"]",
     "/subgraphs/0/operators/0", "there is no operator 'cnov'"},
    {"OperatorsOutOfOrder", TwoConvsPlan, "\"operators\": [\"a\", \"b\"]",
     "\"operators\": [\"b\", \"a\"]", "/subgraphs/0/operators/1", "follow one another"},
    {"NoTiles", OneConvPlan, "\"tiles\": 1", "\"tiles\": 0", "/subgraphs/0/tiles", ""},
    {"UnknownPolicy", OneConvPlan, "\"weights\": \"resident\"", "\"weights\": \"residant\"",
     "/subgraphs/0/policies/weights", ""},
    {"WrongFirstStep", OneSramPlan, "\"first_step\": 1", "\"first_step\": 2",
     "/subgraphs/1/first_step", "end elsewhere"},
    {"UnknownTransfer", OneConvPlan, "\"transfers\": [\"w\"]", "\"transfers\": [\"v\"]",
     "/subgraphs/0/steps/0/transfers/0", "there is no tensor 'v'"},
    {"UnknownMode", BankedPlan, "\"mode\": \"down\"", "\"mode\": \"sideways\"",
     "/subgraphs/0/steps/0/mode", ""},
    {"ModeWithoutModes", OneConvPlan, "\"kind\": \"load\",",
     "\"kind\": \"load\", \"mode\": \"up\",", "/subgraphs/0/steps/0/mode", "has no modes"},
    {"OtherMemory", OneConvPlan, "\"memory\": \"sram\"", "\"memory\": \"dram\"",
     "/subgraphs/0/buffers/0/memory", "buffers live in the tile memory"},
    {"WrongBank", BankedPlan, "\"banks\": [\"low\"]", "\"banks\": [\"high\"]",
     "/subgraphs/0/buffers/0/banks", "touches other banks"},
    {"LifespanOfThree", OneConvPlan, "\"lifespans\": [[1, 3]]", "\"lifespans\": [[1, 3, 5]]",
     "/subgraphs/0/buffers/0/lifespans/0", ""},
    {"UnknownAccess", OneConvPlan, "[1, \"dma\", \"write\"]", "[1, \"dma\", \"erase\"]",
     "/subgraphs/0/buffers/0/accesses/0/2", ""},
    {"TensorOfNoHome", OneConvPlan, "\"tensor\": \"x\",\n          \"role\"",
     "\"tensor\": \"q\",\n          \"role\"", "/homes/0/tensors/0/tensor",
     "there is no tensor 'q'"},
    {"UnknownHome", OneConvPlan, "\"memory\": \"dram\"", "\"memory\": \"drum\"", "/homes/0/memory",
     ""},
    {"HomeInTheTileMemory", OneConvPlan, "\"memory\": \"dram\"", "\"memory\": \"sram\"",
     "/homes/0/memory", "are buffers"},
    {"HomePeakInvented", OneConvPlan, "\"peak\": 288", "\"peak\": 287", "/homes/0/peak",
     "end elsewhere"},
    {"HomesLeftOut", OneConvPlan, "\"homes\"", "\"x-homes\"", "", "the key 'homes' is missing"},
    {"RelationOfNoBuffer", OneSramPlan, "\"first\": \"m\"", "\"first\": \"q\"",
     "/relations/0/first", "there is no buffer 'q'"},
    {"SameIdTwice", OneConvPlan, "\"id\": \"s0/w\"", "\"id\": \"s0/x@0\"",
     "/subgraphs/0/buffers/1/id", "another buffer has this id"},
};

INSTANTIATE_TEST_SUITE_P(PlanJson, CorruptDocument, testing::ValuesIn(kCorruptions),
                         [](const testing::TestParamInfo<Corruption>& info) {
                           return info.param.name;
                         });

}  // namespace
}  // namespace tessera::plan
