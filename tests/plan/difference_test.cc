// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/plan/files/plan_files.h"

namespace tessera::plan {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Five operators in a row, cut after those operators. Each subgraph costs the square of its number
// of operators in cycles.
Plan CutAfter(const std::vector<int>& lasts) {
  Plan plan = OneConvPlan();
  const graph::Operator op = plan.network.operators[0];
  plan.network.operators.clear();
  for (const char* id : {"a", "b", "c", "d", "e"}) {
    plan.network.operators.push_back(op);
    plan.network.operators.back().id = id;
  }
  const Subgraph subgraph = plan.subgraphs[0];
  plan.subgraphs.clear();
  int first = 0;
  for (const int last : lasts) {
    plan.subgraphs.push_back(subgraph);
    plan.subgraphs.back().interval = {first, last};
    plan.subgraphs.back().metrics.latency_cycles = (last - first + 1) * (last - first + 1);
    first = last + 1;
  }
  return plan;
}

TEST(Difference, OfAPlanAndItselfIsNone) {
  const files::Difference difference = files::FindDifference(TwoConvsPlan(), TwoConvsPlan());
  EXPECT_THAT(difference.circumstances, IsEmpty());
  EXPECT_TRUE(difference.comparable);
  EXPECT_THAT(difference.parts, IsEmpty());
  EXPECT_THAT(difference.shifts, IsEmpty());
}

// The planner may choose other engines for the same network; its author may not.
TEST(Difference, OfChosenEnginesIsNoneOfTheNetwork) {
  Plan chosen = OneConvPlan();
  chosen.network.operators[0].engine = "npu";
  EXPECT_THAT(files::FindDifference(OneConvPlan(), chosen).circumstances, ElementsAre("network"));
  chosen.network.operators[0].engine_chosen = true;
  EXPECT_THAT(files::FindDifference(OneConvPlan(), chosen).circumstances, IsEmpty());
}

// a | b c | d e   and   a | b c d | e: the cut after a is shared, and the rest is one part.
TEST(Difference, IsCountedBetweenSharedCuts) {
  const files::Difference difference =
      files::FindDifference(CutAfter({0, 2, 4}), CutAfter({0, 3, 4}));
  ASSERT_EQ(difference.parts.size(), 1U);
  const files::DifferingPart& part = difference.parts[0];
  EXPECT_EQ(part.interval, (graph::Interval{1, 4}));
  EXPECT_THAT(part.first, ElementsAre(1, 2));
  EXPECT_THAT(part.second, ElementsAre(1, 2));
  EXPECT_EQ(part.first_costs.latency_cycles, 4 + 4);
  EXPECT_EQ(part.second_costs.latency_cycles, 9 + 1);
}

TEST(Difference, OfTilesAndPoliciesConcernsTheirSubgraphAlone) {
  const Plan first = CutAfter({0, 2, 4});
  Plan second = first;
  second.subgraphs[1].tile = {1, 4, 2, 4};
  second.subgraphs[2].weights = hw_profiles::WeightPolicy::kStreamed;
  const files::Difference difference = files::FindDifference(first, second);
  ASSERT_EQ(difference.parts.size(), 2U);
  EXPECT_THAT(difference.parts[0].second, ElementsAre(1));
  EXPECT_THAT(difference.parts[1].second, ElementsAre(2));
}

TEST(Difference, IsNoneBetweenSlicesOfTheGranularityThatAreStatedAndNot) {
  Plan first = CutAfter({4});
  first.subgraphs[0].weights = hw_profiles::WeightPolicy::kSplitK;
  Plan second = first;
  second.subgraphs[0].k_extent = second.profile.tiling.k_granularity;
  EXPECT_THAT(files::FindDifference(first, second).parts, IsEmpty());
  second.subgraphs[0].k_extent *= 2;
  EXPECT_EQ(files::FindDifference(first, second).parts.size(), 1U);
}

TEST(Difference, NamesWhatMovedOnChipAndOff) {
  const Plan first = OneConvPlan();
  Plan second = first;
  second.allocation.offsets[2] = 512;
  second.homes[0].allocation.offsets[0] = 1024;
  second.problem.buffers[1].size = 160;
  const files::Difference difference = files::FindDifference(first, second);
  EXPECT_THAT(difference.parts, IsEmpty());
  std::vector<std::string> shifts;
  for (const files::Shift& shift : difference.shifts) {
    shifts.push_back(shift.memory + " " + shift.id + " " + std::to_string(shift.first_offset) +
                     "+" + std::to_string(shift.first_size) + " " +
                     std::to_string(shift.second_offset) + "+" + std::to_string(shift.second_size));
  }
  EXPECT_THAT(shifts, ElementsAre("sram s0/y@0 64+64 512+64", "sram s0/w 128+152 128+160",
                                  "dram x 0+64 1024+64"));
}

TEST(Difference, OfOtherOperatorsIsNotComparable) {
  Plan second = OneConvPlan();
  second.network.operators[0].id = "other";
  second.seed = 8;
  const files::Difference difference = files::FindDifference(OneConvPlan(), second);
  EXPECT_FALSE(difference.comparable);
  EXPECT_FALSE(difference.reordered);
  EXPECT_THAT(difference.circumstances, ElementsAre("network", "seed"));
}

TEST(Difference, OfTheSameOperatorsInAnotherOrderIsNotComparableEither) {
  Plan second = CutAfter({0, 2, 4});
  std::swap(second.network.operators[1], second.network.operators[2]);
  const files::Difference difference = files::FindDifference(CutAfter({0, 2, 4}), second);
  EXPECT_FALSE(difference.comparable);
  EXPECT_TRUE(difference.reordered);
}

}  // namespace
}  // namespace tessera::plan
