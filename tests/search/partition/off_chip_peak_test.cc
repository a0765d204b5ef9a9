// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <string>

#include "exhaustive.h"
#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/search/cost/small_machine.h"

// Plans whose tensors take few bytes outside the tile memory.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

partition::answer::PartitionOptions Asking(plan::Objective objective) {
  partition::answer::PartitionOptions options = KeepingNothing(std::move(objective));
  options.keeping = partition::paths::Keeping::kWherePossible;
  return options;
}

plan::Objective AtMost(int64_t bytes) {
  return {.weights = {{"latency", 1}}, .limits = {{"off_chip_peak", static_cast<double>(bytes)}}};
}

int64_t HomePeakOf(const plan::Plan& plan) {
  return std::accumulate(
      plan.homes.begin(), plan.homes.end(), int64_t{0},
      [](int64_t sum, const plan::Home& home) { return sum + plan::PeakOf(home); });
}

// 64 bytes of input or of output, and three times 12 bytes of weights, are there in every plan. A
// result of 64 bytes more is there unless it stays on chip.
TEST(OffChipPeak, IsThatOfInputAndConstantsIfAllElseStaysOnChip) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized);
  const auto found =
      partition::SearchPartition(Chain(3), profile, Asking(Minimise("off_chip_peak")));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->status, problem::Status::kOptimal);
  EXPECT_EQ(found->plan->score, 64 + 36);
  EXPECT_EQ(found->plan->lower_bounds.off_chip_peak_bytes, 64 + 36);
  EXPECT_EQ(found->plan->totals.off_chip_peak_bytes, HomePeakOf(*found->plan));
  EXPECT_TRUE(plan::verify::Validate(*found->plan).empty());
  const auto apart = partition::SearchPartition(Chain(3), SmallMachine(DmaSteps::kSerialized, 100),
                                                KeepingNothing(Minimise("off_chip_peak")));
  ASSERT_TRUE(apart && apart->plan);
  EXPECT_GE(apart->plan->score, 64 + 64 + 36);
}

// From the bound to the peak of the fastest plan: a plan is found from the least peak on, and none
// exceeds the limit, though constants of 12 bytes take 16 with their alignment.
TEST(OffChipPeak, LimitsAreKeptByAddresses) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 150);
  profile.memories.front().alignment_bytes = 16;
  const graph::Graph graph = Chain(4);
  const auto least = partition::SearchPartition(graph, profile, Asking(Minimise("off_chip_peak")));
  const auto fastest = partition::SearchPartition(graph, profile, Asking(Minimise("latency")));
  ASSERT_TRUE(least && least->plan && fastest && fastest->plan);
  ASSERT_EQ(least->status, problem::Status::kOptimal);
  const int64_t lowest = least->plan->totals.off_chip_peak_bytes;
  constexpr int64_t kSizes = 64 + 4 * 12;
  ASSERT_GT(lowest, kSizes);
  for (int64_t limit = kSizes; limit <= fastest->plan->totals.off_chip_peak_bytes + 1; ++limit) {
    SCOPED_TRACE(limit);
    const auto found = partition::SearchPartition(graph, profile, Asking(AtMost(limit)));
    ASSERT_TRUE(found) << base::Format(found.error());
    ASSERT_EQ(found->plan.has_value(), limit >= lowest) << found->reason;
    EXPECT_LE(found->plan ? HomePeakOf(*found->plan) : 0, limit);
  }
}

// What a home holds while a subgraph runs follows from the subgraph and from what is kept.
TEST(OffChipPeak, OfSubgraphsIsWhatTheirHomesHold) {
  int found = 0;
  for (uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    const auto [graph, profile] = AnySubject(seed, {2, 6}, {60, 200});
    const auto result = partition::SearchPartition(graph, profile, Asking(Minimise("latency")));
    ASSERT_TRUE(result);
    if (!result->plan) continue;
    ++found;
    const plan::Plan& plan = *result->plan;
    const encoder::program::BytesAtHomes at_homes(plan.network, plan.profile);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const plan::Subgraph& subgraph = plan.subgraphs[i];
      const auto step = static_cast<problem::Step>(i);
      int64_t bytes = 0;
      for (const plan::Home& home : plan.homes) {
        for (const problem::Buffer& buffer : home.problem.buffers) {
          const problem::Lifespan& life = buffer.lifespans.front();
          if (life.lower <= step && step < life.upper) bytes += buffer.size;
        }
      }
      EXPECT_EQ(subgraph.metrics.off_chip_peak_bytes, bytes);
      EXPECT_EQ(at_homes.LeastPeak(subgraph.interval, plan.kept), bytes);
      EXPECT_GE(bytes, i == 0 || i + 1 == plan.subgraphs.size() ? 1 : 0);
    }
    EXPECT_LE(at_homes.LeastPeak(), plan.totals.off_chip_peak_bytes);
  }
  EXPECT_GE(found, 20);
}

// The search counts whole tensors, so a plan whose tensors share bytes is optimal at its bound
// alone, and that none keeps a limit is not known.
TEST(OffChipPeak, OfTensorsThatShareBytesIsOptimalAtItsBoundAlone) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 100);
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("off_chip_peak"));
  const auto whole = partition::SearchPartition(Chain(3), profile, options);
  options.off_chip = plan::OffChip::kTileAware;
  const auto shared = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(whole && whole->plan && shared && shared->plan);
  const plan::Plan& plan = *shared->plan;
  EXPECT_LT(plan.score, whole->plan->score);
  EXPECT_EQ(plan.score, static_cast<double>(HomePeakOf(plan)));
  EXPECT_EQ(plan.proven, plan.score <= plan.bound);
  EXPECT_EQ(shared->status, plan.proven ? problem::Status::kOptimal : problem::Status::kFeasible);
  EXPECT_TRUE(plan::verify::Validate(plan).empty());

  options.objective = AtMost(plan.totals.off_chip_peak_bytes);
  const auto limited = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(limited && limited->plan);
  EXPECT_LE(limited->plan->totals.off_chip_peak_bytes, plan.totals.off_chip_peak_bytes);
  options.off_chip = plan::OffChip::kWhole;
  const auto refused = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, problem::Status::kInfeasible);
}

// The home holds the tensors of the fastest plan whole, not those of all plans. By tiles more plans
// may fit.
TEST(OffChipPeak, OfWholeTensorsProvesNothingOfSharingWhereHomesAreSmall) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 100);
  partition::answer::PartitionOptions options = Asking(Minimise("latency"));
  const auto fastest = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(fastest && fastest->plan);
  profile.memories.front().capacity_bytes = HomePeakOf(*fastest->plan);
  const auto whole = partition::SearchPartition(Chain(3), profile, options);
  options.off_chip = plan::OffChip::kTileAware;
  const auto shared = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(whole && whole->plan && shared && shared->plan);
  EXPECT_EQ(whole->status, problem::Status::kOptimal);
  ASSERT_GT(shared->plan->score, shared->plan->bound);
  EXPECT_EQ(shared->status, problem::Status::kFeasible);
}

// A limit that the plan without it keeps changes neither the plan nor what is proven of it. Below
// the bound there is none, whatever shares bytes.
TEST(OffChipPeak, LimitsOfTensorsThatShareBytesLoseNoPlan) {
  const Profile profile = SmallMachine(DmaSteps::kSerialized, 100);
  for (const plan::OffChip method : {plan::OffChip::kPaper, plan::OffChip::kTileAware}) {
    partition::answer::PartitionOptions options = KeepingNothing(Minimise("latency"));
    options.off_chip = method;
    const auto free = partition::SearchPartition(Chain(3), profile, options);
    ASSERT_TRUE(free && free->plan);
    options.objective = AtMost(free->plan->totals.off_chip_peak_bytes);
    const auto limited = partition::SearchPartition(Chain(3), profile, options);
    ASSERT_TRUE(limited && limited->plan);
    EXPECT_EQ(limited->plan->score, free->plan->score);
    EXPECT_EQ(limited->status, free->status);
    options.objective = AtMost(free->plan->lower_bounds.off_chip_peak_bytes - 1);
    const auto none = partition::SearchPartition(Chain(3), profile, options);
    ASSERT_TRUE(none);
    EXPECT_EQ(none->status, problem::Status::kInfeasible);
  }
}

// The greedy engine stacks the result first, and the input behind it has to be aligned. It proves
// nothing, so that the plan is not optimal; the one of all engines is.
TEST(OffChipPeak, IsNotProvenByAddressesThatNoEngineProved) {
  const std::string folder = "tests/search/partition/off_chip/";
  partition::answer::PartitionOptions options = Asking(Minimise("off_chip_peak"));
  const auto plan = [&] {
    return partition::SearchPartition(NetworkIn(folder + "aligned_input_network.json"),
                                      ProfileIn(folder + "aligned_input_profile.json"), options);
  };
  const auto least = plan();
  ASSERT_TRUE(least && least->plan);
  EXPECT_EQ(least->status, problem::Status::kOptimal);
  EXPECT_EQ(least->plan->score, 56 + 84 + 21);
  const engines::greedy::GreedyEngine greedy;
  const std::array<const problem::Engine*, 1> alone = {&greedy};
  options.engines = alone;
  const auto found = plan();
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->plan->score, 96 + 56 + 21);
  EXPECT_EQ(found->status, problem::Status::kFeasible);
  options.objective = AtMost(56 + 84 + 21);
  const auto limited = plan();
  ASSERT_TRUE(limited) << base::Format(limited.error());
  EXPECT_FALSE(limited->plan);
  EXPECT_EQ(limited->status, problem::Status::kUnknown);
}

// The best tiles that are cut along the first axes keep t3 and t4 on chip, and exceed the peak that
// their intervals promise. Tiles cut along the later axis exceed it as much, and cost less.
TEST(OffChipPeak, OfTheFirstAxesExcludesNoTilesOfTheLaterOnes) {
  const auto found = partition::SearchPartition(
      NetworkIn("tests/data/faults/later_axes.net.json"),
      ProfileIn("tests/data/faults/later_axes.hw.json"),
      Asking({.weights = {{"latency", 0.5}, {"off_chip_bytes", 1}, {"off_chip_peak", 0.25}},
              .limits = {}}));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->status, problem::Status::kOptimal);
  EXPECT_EQ(found->plan->totals.latency_cycles, 1215);
  EXPECT_EQ(found->plan->totals.off_chip_bytes, 120);
  EXPECT_EQ(found->plan->totals.off_chip_peak_bytes, 282);
}

// Each plan takes four bytes more off chip than its intervals promise, so the search excludes it.
// The search with later axes continues from that, and has to find the best of these plans again.
TEST(OffChipPeak, OfAPlanThatExceedsItsPromiseLeavesTiesToTheBest) {
  const auto found = partition::SearchPartition(
      NetworkIn("tests/data/faults/ties_at_home.net.json"),
      ProfileIn("tests/data/faults/ties_at_home.hw.json"), Asking(Minimise("off_chip_peak")));
  ASSERT_TRUE(found && found->plan);
  EXPECT_EQ(found->status, problem::Status::kOptimal);
  EXPECT_EQ(found->plan->totals.off_chip_peak_bytes, 149);
  EXPECT_EQ(found->plan->totals.latency_cycles, 1404);
}

// The next value of a state lies at home from the subgraph on that makes it, not before.
TEST(OffChipPeak, ANextStateMayLieWhereAnInputOfBeforeLay) {
  const std::string folder = "tests/search/partition/off_chip/";
  partition::answer::PartitionOptions options = Asking(Minimise("bandwidth_peak"));
  options.off_chip = plan::OffChip::kTileAware;
  const auto found =
      partition::SearchPartition(NetworkIn(folder + "next_state_network.json"),
                                 ProfileIn(folder + "next_state_profile.json"), options);
  ASSERT_TRUE(found) << base::Format(found.error());
  ASSERT_TRUE(found->plan);
  EXPECT_TRUE(plan::verify::Validate(*found->plan).empty());
  EXPECT_EQ(HomePeakOf(*found->plan), 121);
}

}  // namespace
}  // namespace tessera::search
