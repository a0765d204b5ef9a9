// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/plan/verify/work_count.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

verify::Work CountWork(const Plan& plan) {
  const std::vector<verify::Users> users = verify::FindUsers(plan.network);
  verify::WorkCount count(plan, users, plan.subgraphs.front());
  verify::ForEachTile(plan.network, users, plan.subgraphs.front(),
                      [&](const verify::Tile& tile) { count.Add(tile); });
  return count.Finish();
}

TEST(Traffic, HaloRowsAreFetchedAndComputedAgain) {
  const verify::Work work = CountWork(TwoConvsPlan());
  EXPECT_EQ(work.macs, (18 + 10) * 16 * 36);  // a makes 3 + 4 + 4 + 4 + 3 rows of 4 x 4, b makes 10
  EXPECT_EQ(work.recomputed_macs, 8 * 16 * 36);
  EXPECT_THAT(work.off_chip, ElementsAre(Pair("inputs", (4 + 6 + 6 + 6 + 4) * 16),
                                         Pair("outputs", 10 * 16), Pair("weights", 304)));
}

TEST(Traffic, StreamedWeightsAreFetchedForEveryTile) {
  Plan plan = TwoConvsPlan();
  plan.subgraphs[0].weights = hw_profiles::WeightPolicy::kStreamed;
  EXPECT_EQ(CountWork(plan).off_chip.at("weights"), 5 * 304);
}

TEST(Traffic, DirectWeightsAreReadForEveryTile) {
  Plan plan = OneSramPlan();
  plan.subgraphs[0].tile = {1, 4, 2, 4};
  EXPECT_THAT(CountWork(plan).off_chip, ElementsAre(Pair("weights", 2 * 152)));
}

TEST(Traffic, ChannelBlocksTravelAndRowPitchesDoNot) {
  Plan plan = OneConvPlan();
  for (hw_profiles::RoleLayout& layout : plan.profile.roles) {
    layout.channel_block = 16;
    layout.row_pitch_bytes = 128;
  }
  EXPECT_EQ(CountWork(plan).off_chip.at("inputs"), 4 * 4 * 16);
}

TEST(Traffic, NothingTravelsInOneMemory) {
  Plan plan = OneSramPlan();
  plan.profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].home = 0;
  EXPECT_THAT(CountWork(plan).off_chip, IsEmpty());
}

}  // namespace
}  // namespace tessera::plan
