// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "stops_at_polls.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/orders/low_memory_orders.h"
#include "tessera/search/partition/answer/refusal.h"
#include "tessera/search/partition/partition.h"
#include "tessera/search/tiling/feasible_frontier.h"
#include "tessera/tests/search/cost/small_machine.h"

// Cuts off, at each of several polls, the searches that a search for a plan consists of: for tiles,
// addresses, orders, and a proof that there is no plan.
namespace tessera::search {
namespace {

using problem::Status;

TEST(Stops, EndASearchForTilesAtEachPoll) {
  const Subject subject{Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 250)};
  tiling::TileOptions options;
  const auto engines = KeepingNothing().engines;
  options.engines = tiling::Engines(engines.begin(), engines.end());
  const base::Stop never(base::Stop::AtPoll{kNever});
  const auto whole = tiling::FindStaircase(subject.graph, subject.profile, {0, 2}, options, never);
  ASSERT_TRUE(whole && whole->largest);
  const int64_t most = graph::ElementsOf(whole->tiles.Candidates()[*whole->largest].choice.tile);
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    const auto cut_off =
        tiling::FindStaircase(subject.graph, subject.profile, {0, 2}, options, stop);
    ASSERT_TRUE(cut_off) << cut_off.error().message;
    if (!cut_off->largest_proven) return;
    ASSERT_TRUE(cut_off->largest);
    EXPECT_EQ(graph::ElementsOf(cut_off->tiles.Candidates()[*cut_off->largest].choice.tile), most);
  });
}

TEST(Stops, EndAnAllocationAtEachPoll) {
  const auto plan = partition::SearchPartition(
      Chain(5), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200), KeepingNothing());
  ASSERT_TRUE(plan && plan->plan);
  const problem::Problem& problem = plan->plan->problem;
  const auto listed = KeepingNothing().engines;
  const tiling::Engines engines(listed.begin(), listed.end());
  allocate::AllocateOptions options;
  options.minimize = true;
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  const auto whole = allocate::Allocate(problem, nullptr, 0, engines, options);
  ASSERT_TRUE(whole && whole->peak);
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
    ASSERT_TRUE(result) << result.error().message;
    EXPECT_NE(result->status, Status::kInfeasible);
    if (result->status == Status::kOptimal) {
      EXPECT_EQ(result->peak, whole->peak);
    }
  });
}

TEST(Stops, EndAJudgementAtEachPoll) {
  const Subject subject{Chain(3), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 60)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  const base::Stop never(base::Stop::AtPoll{kNever});
  options.stop = &never;
  const bool refuted = partition::answer::JudgeWhetherNone(subject.graph, subject.profile, options)
                           .refutation.has_value();
  ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    options.stop = &stop;
    const plan::verify::infeasibility::RefutationResult judgement =
        partition::answer::JudgeWhetherNone(subject.graph, subject.profile, options);
    if (judgement.refutation) {
      EXPECT_TRUE(refuted);
    } else {
      EXPECT_FALSE(judgement.gap.empty());
    }
  });
}

// Independent operators: every order is legal, and there are as many cuts as sets of operators.
graph::Graph Parallel(int operators) {
  NetworkBuilder net;
  const int input = net.Input({1, 1, 4, 4});
  int last = 0;
  for (int i = 0; i < operators; ++i) last = net.Conv(input, 1, 1);
  return net.Finish(last);
}

TEST(Stops, EndASearchForOrdersAtEachPoll) {
  const graph::Graph graph = Parallel(24);
  const orders::Precedence precedence(graph);
  const orders::LiveBytes live(graph, precedence, std::vector<int64_t>(graph.tensors.size(), 16));
  const base::Stop never(base::Stop::AtPoll{kNever});
  ASSERT_TRUE(orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kPeak, never));
  const int runs = ForEachPoll(never.Polls(), [&](const base::Stop& stop) {
    EXPECT_FALSE(orders::FindLeastLiveOrder(precedence, live, orders::LiveGoal::kPeak, stop));
  });
  EXPECT_GE(runs, kLeastRuns);
  EXPECT_FALSE(orders::FindEveryOrder(precedence, 1'000, base::Stop(base::Stop::AtPoll{40})));
}

// 400 parallel operators: the work between two polls is a node and a cut, whatever the number of
// nodes.
TEST(Stops, OfManyParallelOperatorsEndImmediately) {
  const Subject subject{Parallel(100), SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 400)};
  partition::answer::PartitionOptions options = KeepingWherePossible();
  for (const int64_t k : {1, 500, 5'000}) {
    const base::Stop stop(base::Stop::AtPoll{k});
    options.stop = &stop;
    const auto result = partition::SearchPartition(subject.graph, subject.profile, options);
    ASSERT_TRUE(result && result->plan);
    ExpectRight(*result->plan);
    EXPECT_TRUE(result->plan->run.cut_off);
    EXPECT_LE(stop.Polls() - k, 20'000);  // intervals that are no longer bounded
  }
}

}  // namespace
}  // namespace tessera::search
