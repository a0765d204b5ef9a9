// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "fixture.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/validator.h"

// Addresses outside the tile memory: the tensors that must be there at each subgraph, and every
// kind of fault of a plan about them.
namespace tessera::plan {
namespace {

using testing::Contains;
using testing::HasSubstr;

// OneSramPlan with its maps in the second memory.
Plan SplitPlan() {
  Plan plan = OneSramPlan();
  plan.profile = SmallProfile();
  return plan;
}

std::string TextOf(const verify::HomeStay& stay, const Plan& plan) {
  return plan.network.tensors[static_cast<size_t>(stay.tensor)].id + " " +
         std::to_string(stay.size) + " [" + std::to_string(stay.subgraphs.lower) + ", " +
         std::to_string(stay.subgraphs.upper) + ")";
}

TEST(HomeStays, LastFromTheMakerToTheLastReader) {
  const Plan plan = SplitPlan();
  std::vector<std::string> stays;
  for (const verify::HomeStay& stay : verify::FindHomeStays(plan)) {
    EXPECT_EQ(stay.memory, 1);
    EXPECT_EQ(stay.alignment, 16);
    stays.push_back(TextOf(stay, plan));
  }
  EXPECT_THAT(stays,
              testing::ElementsAre("x 64 [0, 1)", "w 152 [0, 2)", "m 64 [0, 2)", "y 64 [1, 2)"));
}

TEST(HomeStays, OfWhatIsKeptOnChipAreInTheTileMemory) {
  Plan plan = SplitPlan();
  plan.kept = {2};
  for (const verify::HomeStay& stay : verify::FindHomeStays(plan))
    EXPECT_EQ(stay.memory, stay.tensor == 2 ? plan.profile.tile_memory : 1) << TextOf(stay, plan);
}

TEST(HomeStays, LeaveOutWhatNeverLeavesItsSubgraph) {
  const Plan plan = TwoConvsPlan();
  for (const verify::HomeStay& stay : verify::FindHomeStays(plan)) EXPECT_NE(stay.tensor, 3);
}

struct HomeFault {
  std::string name;
  std::function<void(Home&)> spoil;
  std::string message;
};

void PrintTo(const HomeFault& fault, std::ostream* out) { *out << fault.name; }

class SeededHomeFault : public testing::TestWithParam<HomeFault> {};

TEST_P(SeededHomeFault, IsNamed) {
  Plan plan = OneConvPlan();
  GetParam().spoil(plan.homes.at(0));
  std::vector<std::string> messages;
  for (const verify::Violation& violation : verify::Validate(plan))
    messages.push_back(std::string(verify::NameOf(violation.kind)) + ": " + violation.message);
  EXPECT_THAT(messages, Contains(HasSubstr(GetParam().message)));
}

// OneConvPlan: x 64 bytes at 0, w 152 at 64, y 64 at 224.
const std::vector<HomeFault> kHomeFaults = {
    {"Overlap", [](Home& home) { home.allocation.offsets[1] = 48; },
     "allocation: home 'dram': overlap: "},
    {"Misaligned", [](Home& home) { home.allocation.offsets[2] = 232; },
     "allocation: home 'dram': alignment: "},
    {"BeyondTheEnd", [](Home& home) { home.allocation.offsets[2] = 1 << 20; },
     "allocation: home 'dram': bounds: "},
    {"TooSmall", [](Home& home) { home.problem.buffers[1].size = 144; },
     "size: tensor 'w' in its home 'dram' has 144 bytes but needs 152"},
    {"AlignedToLess", [](Home& home) { home.problem.buffers[0].alignment = 8; },
     "alignment: tensor 'x' in its home 'dram' is aligned to 8 bytes instead of 16"},
    {"GoneTooEarly",
     [](Home& home) {
       home.problem.buffers[0].lifespans = {{0, 0}};
     },
     "lifespan: tensor 'x' in its home 'dram' should be there for subgraphs [0, 1)"},
    {"Missing",
     [](Home& home) {
       home.problem.buffers.pop_back();
       home.allocation.offsets.pop_back();
       home.tensors.pop_back();
     },
     "buffer: tensor 'y' has no address in its home 'dram'"},
    {"Twice", [](Home& home) { home.tensors[2] = 0; },
     "buffer: tensor 'y' is not in its home 'dram', or there twice"},
    {"InTheTileMemory", [](Home& home) { home.memory = 0; },
     "memory: the plan has a home that holds nothing"},
    {"FewerOffsets", [](Home& home) { home.allocation.offsets.pop_back(); },
     "allocation: home 'dram': "},
};

INSTANTIATE_TEST_SUITE_P(Plan, SeededHomeFault, testing::ValuesIn(kHomeFaults),
                         [](const testing::TestParamInfo<HomeFault>& info) {
                           return info.param.name;
                         });

TEST(PlanHomes, MustAllBeThereOnce) {
  Plan plan = OneConvPlan();
  plan.homes.push_back(plan.homes[0]);
  EXPECT_THAT(verify::Validate(plan).at(0).message, HasSubstr("home 'dram' is there twice"));
  plan.homes.clear();
  EXPECT_THAT(verify::Validate(plan).at(0).message, HasSubstr("home 'dram' has no addresses"));
}

}  // namespace
}  // namespace tessera::plan
