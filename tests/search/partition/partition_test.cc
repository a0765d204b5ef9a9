// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/partition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "networks.h"
#include "search_options.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/tests/search/cost/small_machine.h"

namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using ::testing::Contains;
using ::testing::HasSubstr;

// Two operators around a tensor of 256 bytes, 64 bytes in and out.
graph::Graph WideInTheMiddle() {
  NetworkBuilder net;
  const int wide = net.Conv(net.Input({1, 2, 8, 4}), 1, 8);
  return net.Finish(net.Conv(wide, 1, 2));
}

// Tensors that cross a cut and the result lie whole in the tile memory; fused tiles need less.
Profile OneHome(int64_t capacity) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, capacity);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  LayoutIn(profile, base::TensorRole::kConstant).home = 0;
  LayoutIn(profile, base::TensorRole::kNetworkInput).home = 0;
  return profile;
}

TEST(SearchPartition, LatencyIsTheDefaultObjective) {
  const auto by_default = partition::SearchPartition(
      Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), KeepingNothing());
  const auto by_name = partition::SearchPartition(
      Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(by_default && by_default->plan && by_name && by_name->plan);
  EXPECT_EQ(by_default->plan->score, by_name->plan->score);
  EXPECT_EQ(by_default->plan->score, static_cast<double>(by_default->plan->totals.latency_cycles));
}

// In 120 bytes no tile has room for ping and pong. Where subgraphs may be serialized, one buffer of
// each kind is enough.
TEST(SearchPartition, SerializesWherePingAndPongHaveNoRoom) {
  int without = 0;
  int serialized = 0;
  for (int64_t capacity = 20; capacity <= 200; capacity += 10) {
    Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, capacity);
    const auto before = partition::SearchPartition(Chain(3), profile, KeepingNothing());
    profile.tiling.may_serialize = true;
    const auto after = partition::SearchPartition(Chain(3), profile, KeepingNothing());
    ASSERT_TRUE(before && after);
    if (before->plan) {
      ASSERT_TRUE(after->plan) << capacity;
      EXPECT_LE(after->plan->score, before->plan->score) << capacity;
    }
    if (!after->plan) continue;
    EXPECT_TRUE(plan::verify::Validate(*after->plan).empty()) << capacity;
    EXPECT_TRUE(after->plan->proven) << capacity;
    without += before->plan ? 0 : 1;
    for (const plan::Subgraph& subgraph : after->plan->subgraphs)
      serialized += subgraph.serialized ? 1 : 0;
  }
  EXPECT_GE(without, 1);
  EXPECT_GE(serialized, 3);
}

// Bytes that no buffer may touch leave two holes, so that buffers may not fit although their bytes
// do. The serialized subgraphs that were held back then count.
TEST(SearchPartition, SerializesWhereHolesAreTooSmallForPingAndPong) {
  int serialized = 0;
  for (int64_t capacity = 60; capacity <= 240; capacity += 4) {
    const auto search = [capacity](DmaSteps steps, bool may_serialize) {
      Profile profile = SmallMachine(steps, capacity);
      profile.memories[static_cast<size_t>(profile.tile_memory)].reserved = {
          {{capacity / 2, capacity / 2 + 4}, "a hole"}};
      profile.tiling.may_serialize = may_serialize;
      return partition::SearchPartition(Chain(3), profile, KeepingNothing());
    };
    const auto only = search(DmaSteps::kSerialized, false);
    const auto either = search(DmaSteps::kDoubleBuffered, true);
    ASSERT_TRUE(only && either);
    if (!only->plan) continue;
    ASSERT_TRUE(either->plan) << capacity;
    EXPECT_LE(either->plan->score, only->plan->score) << capacity;
    for (const plan::Subgraph& subgraph : either->plan->subgraphs)
      serialized += subgraph.serialized ? 1 : 0;
  }
  EXPECT_GE(serialized, 3);
}

TEST(SearchPartition, ThreadsChangeNothing) {
  partition::answer::PartitionOptions options =
      KeepingNothing({.weights = {{"latency", 1}, {"off_chip_bytes", 1}}, .limits = {}});
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 150);
  const auto one = partition::SearchPartition(Chain(6), profile, options);
  options.threads = 2;
  const auto two = partition::SearchPartition(Chain(6), profile, options);
  ASSERT_TRUE(one && one->plan && two && two->plan);
  EXPECT_EQ(one->plan->score, two->plan->score);
  EXPECT_EQ(one->plan->allocation.offsets, two->plan->allocation.offsets);
  ASSERT_EQ(one->plan->subgraphs.size(), two->plan->subgraphs.size());
  for (size_t i = 0; i < one->plan->subgraphs.size(); ++i) {
    EXPECT_EQ(one->plan->subgraphs[i].interval, two->plan->subgraphs[i].interval);
    EXPECT_EQ(one->plan->subgraphs[i].tile, two->plan->subgraphs[i].tile);
  }
}

TEST(SearchPartition, FusesWhatFitsAndSaysWhatAloneWouldCost) {
  const auto result = partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered),
                                                 KeepingNothing(Minimise("off_chip_bytes")));
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(result->plan->subgraphs.size(), 1U);
  EXPECT_EQ(result->plan->totals.off_chip_bytes, 2 * 64 + 3 * 12);
  EXPECT_TRUE(result->plan->baseline->complete);
  EXPECT_EQ(result->plan->baseline->totals.off_chip_bytes, 6 * 64 + 3 * 12);
}

TEST(SearchPartition, BaselineNamesWhatDoesNotFitAlone) {
  const auto result = partition::SearchPartition(WideInTheMiddle(), OneHome(140), KeepingNothing());
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 1U);
  EXPECT_FALSE(result->plan->baseline->complete);
  EXPECT_EQ(result->plan->baseline->do_not_fit, (std::vector<int>{0, 1}));
}

TEST(SearchPartition, CapOnOperatorsIsKeptAndReported) {
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("off_chip_bytes"));
  options.max_operators = 2;
  const auto result =
      partition::SearchPartition(Chain(4), SmallMachine(DmaSteps::kDoubleBuffered), options);
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(result->plan->subgraphs.size(), 2U);
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  EXPECT_TRUE(result->plan->proven);
  EXPECT_EQ(result->plan->scope.cuts, "subgraphs of more than 2 operators, as asked");
}

TEST(SearchPartition, WhatOnlyTheCapRulesOutIsNotCalledInfeasible) {
  partition::answer::PartitionOptions options = KeepingNothing();
  options.max_operators = 1;
  const auto result = partition::SearchPartition(WideInTheMiddle(), OneHome(140), options);
  ASSERT_TRUE(result) << base::Format(result.error());
  EXPECT_EQ(result->status, problem::Status::kUnknown);
  EXPECT_THAT(result->reason, HasSubstr("fits in no subgraph of at most 1 operators"));
  EXPECT_THAT(result->reason, HasSubstr("longer subgraphs were not tried, try --max-operators 2"));
}

TEST(SearchPartition, WhatNoSubgraphCanHoldIsInfeasibleForEveryCap) {
  partition::answer::PartitionOptions options = KeepingNothing();
  options.max_operators = 1;
  const auto result =
      partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 10), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_THAT(result->reason, HasSubstr("fits in no subgraph: it needs"));
}

TEST(SearchPartition, TheLowerBoundOfThePeakHoldsForLongerSubgraphsToo) {
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("peak"));
  const auto fused = partition::SearchPartition(WideInTheMiddle(), OneHome(400), options);
  options.max_operators = 1;
  const auto apart = partition::SearchPartition(WideInTheMiddle(), OneHome(400), options);
  ASSERT_TRUE(fused && fused->plan && apart && apart->plan);
  EXPECT_EQ(fused->plan->lower_bounds.peak_bytes, apart->plan->lower_bounds.peak_bytes);
  EXPECT_LE(apart->plan->lower_bounds.peak_bytes, fused->plan->totals.peak_bytes);
  EXPECT_LT(fused->plan->totals.peak_bytes, apart->plan->totals.peak_bytes);
}

TEST(SearchPartition, FitsTheSmallestTilesOfALargeMap) {
  // 96 MiB in and out; tiles of a row and up to eight columns fit twice. Single pixels would be
  // 2^21 tiles.
  NetworkBuilder net;
  const int x = net.Input({1, 16, 2048, 1024});
  const graph::Graph graph = net.Finish(net.Add(x, x));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 512);
  profile.tiling.axes = {{base::Axis::kRows, 1}, {base::Axis::kColumns, 1}};
  const auto result = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_LE(graph::ElementsOf(result->plan->subgraphs[0].tile), 16 * 8);
}

TEST(SearchPartition, ATileIsProvenLargestOnlyAmongAllShapes) {
  NetworkBuilder net;
  const graph::Graph graph = net.Finish(net.Conv(net.Input({1, 2, 36, 30}), 1, 2));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 900);
  const auto by_rows = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(by_rows && by_rows->plan);
  EXPECT_EQ(by_rows->plan->subgraphs[0].tile, (std::vector<int64_t>{1, 2, 3, 30}));
  EXPECT_TRUE(by_rows->plan->subgraphs[0].largest_proven);  // four rows take 960 bytes

  profile.tiling.axes.push_back({base::Axis::kColumns, 1});
  const auto by_both = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(by_both && by_both->plan);
  EXPECT_FALSE(by_both->plan->subgraphs[0].largest_proven);
}

TEST(SearchPartition, LaterAxesAreCutWhereAnOperatorFitsNoOtherWay) {
  NetworkBuilder net;
  const int x = net.Input({1, 16, 4, 64});
  const graph::Graph graph = net.Finish(net.Add(x, x));
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 1024);
  const auto by_rows = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(by_rows);
  EXPECT_EQ(by_rows->status, problem::Status::kInfeasible);

  profile.tiling.axes.push_back({.axis = base::Axis::kColumns, .later = true});
  const auto later = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(later && later->plan);
  EXPECT_LT(later->plan->subgraphs[0].tile[3], 64);
}

TEST(SearchPartition, LaterAxesAreNotForgottenInTheScope) {
  NetworkBuilder net;
  int x = net.Input({1, 2, 36, 30});
  for (int i = 0; i < 6; ++i) x = net.Conv(x, 3, 4);
  const graph::Graph graph = net.Finish(x);
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 2000);
  const auto by_rows = partition::SearchPartition(graph, profile, KeepingNothing());
  profile.tiling.axes.push_back({.axis = base::Axis::kColumns, .later = true});
  const auto later = partition::SearchPartition(graph, profile, KeepingNothing());
  profile.tiling.axes.back().later = false;
  const auto at_once = partition::SearchPartition(graph, profile, KeepingNothing());
  ASSERT_TRUE(by_rows && by_rows->plan && later && later->plan && at_once && at_once->plan);
  EXPECT_LE(later->plan->score, by_rows->plan->score);
  EXPECT_LT(at_once->plan->score, by_rows->plan->score);
  if (later->plan->score > at_once->plan->score) {
    EXPECT_EQ(later->plan->status, "feasible");
    EXPECT_NE(later->plan->scope.tile_extents, "");
  }
}

TEST(SearchPartition, TooLittleMemoryIsProvenAndExplained) {
  const auto result = partition::SearchPartition(
      Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 10), KeepingNothing());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_FALSE(result->plan);
  EXPECT_THAT(result->reason, HasSubstr("operator 'conv0' fits in no subgraph"));
  EXPECT_THAT(result->reason, HasSubstr("needs 76 bytes of 'sram' at step 1; 10 are there"));
}

TEST(SearchPartition, WithoutBudgetThePlanIsLayerByLayerAndUnproven) {
  partition::answer::PartitionOptions options = KeepingNothing();
  options.budget.units = 0;
  const auto result =
      partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 3U);
  EXPECT_FALSE(result->plan->proven);
}

TEST(SearchPartition, WithoutEnginesOnlyBoundsSpeak) {
  partition::answer::PartitionOptions options = KeepingNothing();
  options.engines = {};
  const auto roomy =
      partition::SearchPartition(Chain(2), SmallMachine(DmaSteps::kDoubleBuffered, 200), options);
  ASSERT_TRUE(roomy);
  EXPECT_EQ(roomy->status, problem::Status::kUnknown);
  const auto tight =
      partition::SearchPartition(Chain(2), SmallMachine(DmaSteps::kDoubleBuffered, 10), options);
  ASSERT_TRUE(tight);
  EXPECT_EQ(tight->status, problem::Status::kInfeasible);
}

TEST(SearchPartition, AStopIsNoProof) {
  base::Stop stop;
  stop.Request();
  partition::answer::PartitionOptions options = KeepingNothing();
  options.stop = &stop;
  const auto result =
      partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 3U);
  EXPECT_FALSE(result->plan->proven);
}

TEST(SearchPartition, AStopAfterTheBaselineLeavesAPlan) {
  base::Stop stop;
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("off_chip_bytes"));
  options.stop = &stop;
  options.progress = [&stop](std::string_view) { stop.Request(); };
  const auto result =
      partition::SearchPartition(Chain(4), SmallMachine(DmaSteps::kDoubleBuffered, 200), options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  EXPECT_EQ(result->plan->subgraphs.size(), 4U);
  EXPECT_TRUE(result->plan->baseline->complete);
  EXPECT_THAT(result->plan->notes, Contains(HasSubstr("stopped")));
}

TEST(SearchPartition, AMemoryLimitLeavesAPlanThatSaysSo) {
  base::Stop stop;
  stop.LimitMemory(1);
  partition::answer::PartitionOptions options = KeepingNothing();
  options.stop = &stop;
  const auto result =
      partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), options);
  ASSERT_TRUE(result && result->plan);
  EXPECT_EQ(result->status, problem::Status::kFeasible);
  EXPECT_THAT(result->plan->notes, Contains(HasSubstr("the memory limit was reached")));
  EXPECT_TRUE(plan::verify::Validate(*result->plan).empty());
  const auto none =
      partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 10), options);
  ASSERT_TRUE(none);
  EXPECT_NE(none->status, problem::Status::kOptimal);
  EXPECT_FALSE(none->plan);
}

TEST(SearchPartition, AStopLeavesAPlanEvenWhereAddressesMustAgree) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 400);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  base::Stop stop;
  partition::answer::PartitionOptions options = KeepingNothing();
  options.stop = &stop;
  options.progress = [&stop](std::string_view) { stop.Request(); };
  const auto result = partition::SearchPartition(Chain(4), profile, options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->score, result->plan->bound);
}

TEST(SearchPartition, ALimitThatNoPlanKeepsIsInfeasible) {
  const plan::Objective objective = {.weights = {{"latency", 1}},
                                     .limits = {{"off_chip_bytes", 100}}};
  const auto result = partition::SearchPartition(
      Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 200), KeepingNothing(objective));
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kInfeasible);
  EXPECT_THAT(result->reason, HasSubstr("keeps the limits: off_chip_bytes at most 100"));
}

TEST(SearchPartition, AnOperatorWithoutAnEngineIsUnsupported) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.engines[0].throughputs.pop_back();
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 4});
  const auto result = partition::SearchPartition(net.Finish(net.Add(net.Conv(x, 1, 2), x)), profile,
                                                 KeepingNothing());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnsupported);
  EXPECT_THAT(result->reason, HasSubstr("'add1'"));
}

TEST(SearchPartition, NoOperatorWithAnEngineIsUnsupportedToo) {
  // The search refuses layer by layer and then looks at few of the longer subgraphs.
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.engines[0].throughputs.clear();
  const auto result = partition::SearchPartition(Chain(3), profile, KeepingNothing());
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, problem::Status::kUnsupported);
  EXPECT_THAT(result->reason, HasSubstr("'conv0'"));
}

TEST(SearchPartition, WholeBuffersKeepOneAddressThroughout) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 400);
  for (hw_profiles::RoleLayout& role : profile.roles) role.home = profile.tile_memory;
  partition::answer::PartitionOptions options = KeepingNothing();
  options.max_operators = 1;
  const auto result = partition::SearchPartition(Chain(4), profile, options);
  ASSERT_TRUE(result) << base::Format(result.error());
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_EQ(result->plan->subgraphs.size(), 4U);
  EXPECT_LE(result->plan->totals.peak_bytes, 400);
}

TEST(SearchPartition, BadObjectivesAreRefused) {
  const auto misspelt = partition::SearchPartition(
      Chain(1), SmallMachine(DmaSteps::kDoubleBuffered), KeepingNothing(Minimise("latncy")));
  ASSERT_FALSE(misspelt);
  EXPECT_EQ(misspelt.error().hint, "did you mean 'latency'?");
  EXPECT_FALSE(
      partition::SearchPartition(Chain(1), SmallMachine(DmaSteps::kDoubleBuffered),
                                 KeepingNothing({.weights = {{"latency", -1}}, .limits = {}})));
  EXPECT_FALSE(
      partition::SearchPartition(Chain(1), SmallMachine(DmaSteps::kDoubleBuffered),
                                 KeepingNothing({.weights = {{"latency", 0}}, .limits = {}})));
  EXPECT_FALSE(partition::SearchPartition(graph::Graph{}, SmallMachine(DmaSteps::kDoubleBuffered),
                                          KeepingNothing()));
}

// Two convolutions of 8 rows. Tiles of 2 rows do not fit if rows are recomputed; tiles of 1 row
// load each row of the input up to five times.
TEST(SearchPartition, KeepsRowsWhereThatFetchesLess) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 100);
  const auto again =
      partition::SearchPartition(Chain(2), profile, KeepingNothing(Minimise("off_chip_bytes")));
  profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute,
                         hw_profiles::HaloStorage::kRollingBuffer};
  const auto kept =
      partition::SearchPartition(Chain(2), profile, KeepingNothing(Minimise("off_chip_bytes")));
  ASSERT_TRUE(again && again->plan && kept && kept->plan);
  EXPECT_GT(again->plan->totals.off_chip_bytes, 64 + 64 + 24);
  EXPECT_EQ(kept->plan->totals.off_chip_bytes, 64 + 64 + 24);
  EXPECT_EQ(kept->plan->totals.recomputed_macs, 0);
  ASSERT_EQ(kept->plan->subgraphs.size(), 1U);
  EXPECT_EQ(kept->plan->subgraphs[0].halo, hw_profiles::HaloStorage::kRollingBuffer);
  EXPECT_TRUE(plan::verify::Validate(*kept->plan).empty());
}

}  // namespace
}  // namespace tessera::search
