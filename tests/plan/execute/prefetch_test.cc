// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base_plans.h"
#include "faults.h"
#include "plans.h"
#include "prefetch_plans.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/tests/draws.h"

// Constants that arrive while the previous subgraph runs.
namespace tessera::plan::execute {
namespace {

TEST(PrefetchedPlan, Runs) { EXPECT_THAT(MessagesOf(Prefetched()), testing::IsEmpty()); }

class RandomPrefetches : public testing::TestWithParam<int> {};

// Few draws have constants to prefetch.
TEST_P(RandomPrefetches, Run) {
  int planned = 0;
  int64_t in_slices = 0;
  for (int draw = 0; draw < 4000 && planned < DrawsOf(40); ++draw) {
    const uint64_t seed =
        uint64_t{4000} * static_cast<uint64_t>(GetParam()) + static_cast<uint64_t>(draw);
    base::Random random(seed);
    std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/draw % 10 == 0);
    if (plan) plan = DrawPrefetches(random, *plan);
    if (!plan) continue;
    ++planned;
    in_slices +=
        std::count_if(plan->subgraphs.begin(), plan->subgraphs.end(), verify::TakesSlicesAhead);
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_EQ(planned, DrawsOf(40));
  EXPECT_GE(in_slices, DrawsOf(5));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrefetches, testing::Range(0, 4));

class PrefetchPlanFault : public testing::TestWithParam<SpoiledPlan> {};

TEST_P(PrefetchPlanFault, IsFound) { ExpectFound(GetParam()); }

class PrefetchInstructionFault : public testing::TestWithParam<SpoiledProgram> {};

TEST_P(PrefetchInstructionFault, IsFound) { ExpectFound(GetParam()); }

const std::vector<SpoiledPlan> kPrefetchPlans = {
    {"NeverMoved", Prefetched, MoveOnly({1, 2, 3}, {kX, kM}), "unwritten", "'wb'"},
    {"TakenForLoadedInThePrologue", Prefetched, [](Plan& plan) { plan.subgraphs[1].prefetch = {}; },
     "control", "step 3 moves 'wb', which it has nothing to do with"},
    {"OverATileUnderWork", Prefetched, Put("s1/wb", "s0/m@0"), "arriving",
     "step 2, tile 1, operator 'a': writes 'm'"},
    {"UnderATileThatLeaves", Prefetched, Put("s0/m@0", "s1/wb"), "arriving",
     "step 1, tile 0, operator 'a': writes 'm'"},
    {"OverItsOwnSubgraphsFirstTile", Prefetched, Put("s1/m@0", "s1/wb"), "overwritten", "'wb'"},
    {"DiesBeforeTheEpilogue", Prefetched, Live("s1/wb", {{1, 3}, {4, 7}}), "forbidden",
     "'s1/wb', which does not live at step 3"},
    {"DiesBeforeItsSubgraph", Prefetched, Live("s1/wb", {{1, 4}, {5, 7}}), "lost", "'wb'"},
    {"OneByteShort", Prefetched, Grow("s1/wb", -1), "outside", "'s1/wb'"},
    {"NoBuffer", Prefetched, Without("s1/wb"), "forbidden", "'wb'"},
};

INSTANTIATE_TEST_SUITE_P(Prefetch, PrefetchPlanFault, testing::ValuesIn(kPrefetchPlans),
                         NameOfFault<SpoiledPlan>);

const std::vector<SpoiledProgram> kPrefetchPrograms = {
    {"LeftOut", Prefetched, [](Program& program) { Remove(program, TransferAt(program, kWb, 0)); },
     "unwritten", "'wb'"},
    {"StillArrivingWhenRead", Prefetched,
     [](Program& program) {
       MoveBefore(program, FinishOf(program, TransferAt(program, kWb, 0)), program.size());
     },
     "arriving", "'wb'"},
};

INSTANTIATE_TEST_SUITE_P(Prefetch, PrefetchInstructionFault, testing::ValuesIn(kPrefetchPrograms),
                         NameOfFault<SpoiledProgram>);

}  // namespace
}  // namespace tessera::plan::execute
