// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/rewriting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/graph/graph.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/graph/graph_builder.h"
#include "tessera/tests/hw_profiles/engines.h"
#include "tessera/tests/search/cost/small_machine.h"

namespace tessera::search {
namespace {

using base::OperatorKind;
using hw_profiles::Profile;
using testing::ElementsAre;
using testing::StartsWith;

// An operator over 100 bytes, and the sum with a table of as many.
graph::Graph WithTable(graph::Operator first) {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 100});
  const int made = builder.Add(std::move(first), {}, {x}).value();
  builder.Add(graph::OfKind(OperatorKind::kElementwise), {}, {made}).value();
  graph::Graph graph = std::move(builder).Build();
  graph::Tensor& table = graph.tensors.emplace_back();
  table.id = "table";
  table.shape = {1, 100};
  table.constant = true;
  graph.operators.back().weights = {static_cast<int>(graph.tensors.size()) - 1};
  return graph;
}

graph::Graph SoftmaxAndTable() {
  graph::Operator softmax = graph::OfKind(OperatorKind::kSoftmax);
  softmax.axes = {1};
  return WithTable(std::move(softmax));
}

TEST(Rewriting, IsOfOperatorsThatFitNowhere) {
  const graph::Graph graph = SoftmaxAndTable();
  const auto rewriting =
      partition::RewriteWhatDoesNotFit(graph, SmallMachine(hw_profiles::DmaSteps::kSerialized, 99));
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  EXPECT_EQ(rewriting->network.operators.size(), 3U);
  EXPECT_THAT(rewriting->notes,
              ElementsAre(StartsWith("constants as states that are written once, because they do "
                                     "not fit in 'sram': table;"),
                          StartsWith("in two passes, because one does not fit in 'sram': ")));
}

// As a state, the table is among the inputs. Files list inputs, constants and results; a plan of
// the rewritten network must be the same when it is read again.
TEST(Rewriting, NumbersTensorsAsFilesDo) {
  for (const graph::Graph& graph :
       {SoftmaxAndTable(), WithTable(graph::OfKind(OperatorKind::kElementwise))}) {
    const auto rewriting = partition::RewriteWhatDoesNotFit(
        graph, SmallMachine(hw_profiles::DmaSteps::kSerialized, 99));
    ASSERT_TRUE(rewriting);
    const std::vector<int> tensors = graph::TensorsByMaker(rewriting->network);
    EXPECT_TRUE(std::is_sorted(tensors.begin(), tensors.end()));
    const std::vector<graph::Tensor>& numbered = rewriting->network.tensors;
    EXPECT_TRUE(numbered[1].state) << numbered[1].id;
  }
}

// Alone, neither fits. In a longer subgraph, the operand of the softmax is a feature, and the
// result may be needed in part.
TEST(Rewriting, IsNeededOnlyIfThatIsSure) {
  const graph::Graph graph = SoftmaxAndTable();
  const auto rewriting = partition::RewriteWhatDoesNotFit(
      graph, SmallMachine(hw_profiles::DmaSteps::kSerialized, 150));
  ASSERT_TRUE(rewriting);
  EXPECT_FALSE(rewriting->is_needed);
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(
      graph, SmallMachine(hw_profiles::DmaSteps::kSerialized, 400)));
}

TEST(Rewriting, LeavesTheOperatorsOfTheHost) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, 99);
  for (hw_profiles::Engine& engine : profile.engines) {
    std::erase_if(engine.throughputs, [](const hw_profiles::Throughput& throughput) {
      return throughput.kind == OperatorKind::kSoftmax ||
             throughput.kind == OperatorKind::kElementwise;
    });
  }
  profile.engines.push_back(hw_profiles::Host("cpu"));
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(SoftmaxAndTable(), profile));
}

// An engine that runs the softmax need not run its two passes.
TEST(Rewriting, DropsEnginesThatDoNotRunTheOtherForm) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, 99);
  hw_profiles::Engine special;
  special.name = "special";
  special.throughputs.emplace_back().kind = OperatorKind::kSoftmax;
  profile.engines.push_back(special);
  graph::Graph graph = SoftmaxAndTable();
  for (graph::Operator& op : graph.operators) {
    if (op.kind == OperatorKind::kSoftmax) op.engine = "special";
  }
  const auto rewriting = partition::RewriteWhatDoesNotFit(graph, profile);
  ASSERT_TRUE(rewriting);
  for (const graph::Operator& op : rewriting->network.operators) {
    EXPECT_NE(op.kind, OperatorKind::kSoftmax);
    EXPECT_EQ(op.engine, "") << op.id;
  }
}

graph::Graph WholePool() {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 4, 10, 10});
  graph::Operator pool = graph::OfKind(OperatorKind::kPool);
  pool.function = "average";
  pool.window.kernel = {10, 10};
  builder.Add(std::move(pool), {}, {x}).value();
  return std::move(builder).Build();
}

// A window is 100 bytes of one channel. As a global pool it takes some rows at a time.
TEST(Rewriting, PoolsOverWholeMapsTakeSlices) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, 90);
  for (const OperatorKind kind : {OperatorKind::kPool, OperatorKind::kGlobalPool}) {
    hw_profiles::Throughput pools;
    pools.kind = kind;
    profile.engines.front().throughputs.push_back(pools);
  }
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident};
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(WholePool(), profile));
  profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kSplitK);
  profile.tiling.k_granularity = 1;
  const auto rewriting = partition::RewriteWhatDoesNotFit(WholePool(), profile);
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  EXPECT_EQ(rewriting->network.operators.front().kind, OperatorKind::kGlobalPool);
  EXPECT_EQ(rewriting->network.operators.front().function, "average");
  const auto result =
      partition::SearchPartition(WholePool(), profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(result && result->plan);
  EXPECT_LE(result->plan->totals.peak_bytes, 90);
  graph::Graph narrower = WholePool();
  narrower.operators.front().window.kernel = {10, 9};
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(narrower, profile));
  Profile large = profile;
  large.memories[static_cast<size_t>(large.tile_memory)].capacity_bytes = 1000;
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(WholePool(), large));
}

Profile SmallMachineInSlices(problem::Bytes capacity) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, capacity);
  hw_profiles::Throughput reduce;
  reduce.kind = OperatorKind::kReduce;
  profile.engines.front().throughputs.push_back(reduce);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident,
                            hw_profiles::WeightPolicy::kSplitK};
  profile.tiling.k_granularity = 1;
  profile.tiling.axes = {
      {base::Axis::kRows, 1}, {base::Axis::kColumns, 1}, {base::Axis::kChannels, 1}};
  return profile;
}

// A slice has one index of the first axis and 120 of the others. Axis by axis, it has one element.
TEST(Rewriting, ReductionsOverSeveralAxesGoAxisByAxis) {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 4, 12, 10});
  graph::Operator sum = graph::OfKind(OperatorKind::kReduce);
  sum.function = "mean";
  sum.axes = {1, 2, 3};
  builder.Add(std::move(sum), {}, {x}).value();
  const graph::Graph graph = std::move(builder).Build();
  const auto rewriting = partition::RewriteWhatDoesNotFit(graph, SmallMachineInSlices(110));
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  EXPECT_THAT(rewriting->notes, ElementsAre(StartsWith("reduced axis by axis, because slices of "
                                                       "all axes do not fit in 'sram': ")));
  EXPECT_EQ(rewriting->network.operators.size(), 3U);
  const auto result = partition::SearchPartition(graph, SmallMachineInSlices(110),
                                                 KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(result && result->plan);
  EXPECT_LE(result->plan->totals.peak_bytes, 110);
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, SmallMachineInSlices(125)));
}

// The scale of a normalisation is as large as the memory. In two passes, tiles read parts of it.
TEST(Rewriting, TablesOfNormalisationsBecomeStates) {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 100});
  graph::Operator norm = graph::OfKind(OperatorKind::kLayerNorm);
  norm.axes = {1};
  builder.Add(std::move(norm), {}, {x}).value();
  graph::Graph graph = std::move(builder).Build();
  graph::Tensor& scale = graph.tensors.emplace_back();
  scale.id = "scale";
  scale.shape = {1, 100};
  scale.constant = true;
  graph.operators.back().weights = {static_cast<int>(graph.tensors.size()) - 1};
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, SmallMachineInSlices(320)));
  // In two passes, the scale fits next to small tiles.
  const auto two_passes = partition::RewriteWhatDoesNotFit(graph, SmallMachineInSlices(250));
  ASSERT_TRUE(two_passes);
  EXPECT_FALSE(two_passes->is_needed);
  EXPECT_THAT(two_passes->notes, ElementsAre(StartsWith("in two passes, ")));
  const auto rewriting = partition::RewriteWhatDoesNotFit(graph, SmallMachineInSlices(90));
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  EXPECT_THAT(rewriting->notes,
              ElementsAre(StartsWith("constants as states that are written once, because they do "
                                     "not fit in 'sram': scale;"),
                          StartsWith("in two passes, because one does not fit in 'sram': ")));
}

TEST(Rewriting, SumsGoInPartsIfNothingElseHelps) {
  const auto [graph, profile] = WideSum();
  const auto rewriting = partition::RewriteWhatDoesNotFit(graph, profile);
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  // One element of the result needs less than a row of it, which is the smallest tile.
  const auto tight = partition::RewriteWhatDoesNotFit(graph, WideSum(1750).profile);
  ASSERT_TRUE(tight);
  EXPECT_FALSE(tight->is_needed);
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, WideSum(2500).profile));
  const auto result =
      partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_LE(result->plan->totals.peak_bytes, 900);
  EXPECT_GT(result->plan->network.operators.size(), 4U);
  EXPECT_THAT(result->plan->notes,
              testing::Contains(StartsWith("sums of products in parts, because they do not fit")));
  partition::answer::PartitionOptions limited = KeepingNothing(Minimise("latency"));
  limited.objective.limits = {{"latency", 1e12}};
  const auto same = partition::SearchPartition(graph, profile, limited);
  ASSERT_TRUE(same && same->plan);
  EXPECT_EQ(same->plan->score, result->plan->score);
}

// Constants are as large as the profile stores them, yet not compressed before they are rewritten.
TEST(Rewriting, KnowsTheRatioOfStoredConstants) {
  const graph::Graph graph = WithTable(graph::OfKind(OperatorKind::kElementwise));
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, 250);
  EXPECT_TRUE(partition::RewriteWhatDoesNotFit(graph, profile));
  LayoutIn(profile, base::TensorRole::kConstant).stored_ratio = 0.25;
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, profile));
  const auto rewrites_at = [&](std::optional<double> ratio) {
    Profile small = SmallMachine(hw_profiles::DmaSteps::kSerialized, 99);
    LayoutIn(small, base::TensorRole::kConstant).stored_ratio = ratio;
    return partition::RewriteWhatDoesNotFit(graph, small);
  };
  ASSERT_TRUE(rewrites_at(std::nullopt) && rewrites_at(0.25));
  EXPECT_TRUE(rewrites_at(std::nullopt)->is_needed);
  EXPECT_FALSE(rewrites_at(0.25)->is_needed);
}

TEST(Rewriting, FiltersOfSumsInPartsAreCompressed) {
  auto [graph, profile] = WideSum();
  LayoutIn(profile, base::TensorRole::kConstant).stored_ratio = 0.9;
  const auto result =
      partition::SearchPartition(graph, profile, KeepingNothing(Minimise("latency")));
  ASSERT_TRUE(result);
  ASSERT_TRUE(result->plan) << result->reason;
  EXPECT_THAT(result->plan->notes,
              testing::Contains(StartsWith("sums of products in parts, because they do not fit")));
  for (const graph::Tensor& tensor : result->plan->network.tensors)
    EXPECT_EQ(tensor.constant, tensor.stored_bytes > 0) << tensor.id;
}

Profile SmallMachineForOpaque(problem::Bytes capacity) {
  Profile profile = SmallMachine(hw_profiles::DmaSteps::kSerialized, capacity);
  hw_profiles::Throughput any;
  any.kind = OperatorKind::kOpaque;
  profile.engines.front().throughputs.push_back(any);
  profile.engines.push_back(hw_profiles::Host("cpu"));
  return profile;
}

// An operator of unknown regions is in the tile memory as a whole.
TEST(Rewriting, LeavesOperatorsOfUnknownRegionsToTheHost) {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 100});
  builder.Add(graph::OfKind(OperatorKind::kOpaque), {}, {x}).value();
  graph::Graph graph = std::move(builder).Build();
  graph.tensors.back().shape = {1, 100};
  const Profile with_host = SmallMachineForOpaque(199);
  Profile small = with_host;
  small.engines.pop_back();
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, small));
  const auto rewriting = partition::RewriteWhatDoesNotFit(graph, with_host);
  ASSERT_TRUE(rewriting);
  EXPECT_TRUE(rewriting->is_needed);
  EXPECT_EQ(rewriting->network.operators.front().engine, "cpu");
  EXPECT_THAT(rewriting->notes, ElementsAre(StartsWith("on the host, because ")));
  Profile large = with_host;
  large.memories[static_cast<size_t>(large.tile_memory)].capacity_bytes = 200;
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, large));
}

// The profile cuts no axis of these 100 bytes.
TEST(Rewriting, LeavesDescribedOperatorsToTheHostIfTheirSmallestTileDoesNotFit) {
  graph::GraphBuilder builder;
  const int x = builder.AddInput({1, 100});
  graph::Operator op = graph::OfKind(OperatorKind::kOpaque);
  op.macs = 100;
  op.scratch_bytes = 10;
  op.accesses = {{.kind = graph::ReadPattern::kFull, .window = {}, .every_channel = false}};
  builder.Add(std::move(op), {}, {x}).value();
  graph::Graph graph = std::move(builder).Build();
  graph.tensors.back().shape = {1, 100};
  const auto small = partition::RewriteWhatDoesNotFit(graph, SmallMachineForOpaque(109));
  ASSERT_TRUE(small);
  EXPECT_TRUE(small->is_needed);
  EXPECT_EQ(small->network.operators.front().engine, "cpu");
  // Only a part of the result may be needed.
  const auto tight = partition::RewriteWhatDoesNotFit(graph, SmallMachineForOpaque(209));
  ASSERT_TRUE(tight);
  EXPECT_FALSE(tight->is_needed);
  EXPECT_FALSE(partition::RewriteWhatDoesNotFit(graph, SmallMachineForOpaque(210)));
  graph.operators.front().accesses.front().kind = graph::ReadPattern::kElementwise;
  const auto aligned = partition::RewriteWhatDoesNotFit(graph, SmallMachineForOpaque(109));
  ASSERT_TRUE(aligned);
  EXPECT_FALSE(aligned->is_needed);
}

// A limit below the least peak of its own plans refutes the network, though in two passes it would
// be kept. With less memory the network has no plan, and is rewritten.
TEST(Rewriting, IsNotForLimits) {
  const graph::Graph graph = NetworkIn("tests/search/partition/rewriting/softmax_network.json");
  Profile profile = ProfileIn("tests/search/partition/rewriting/softmax_profile.json");
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("peak"));
  const auto least = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(least && least->plan);
  EXPECT_EQ(least->status, problem::Status::kOptimal);
  EXPECT_EQ(least->plan->totals.peak_bytes, 420);
  options.objective.limits = {{"peak", 419}};
  const auto limited = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(limited) << base::Format(limited.error());
  EXPECT_EQ(limited->status, problem::Status::kInfeasible);
  profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes = 419;
  const auto rewritten = partition::SearchPartition(graph, profile, options);
  ASSERT_TRUE(rewritten && rewritten->plan);
  EXPECT_GT(rewritten->plan->network.operators.size(), graph.operators.size());
  EXPECT_EQ(rewritten->plan->totals.peak_bytes, 240);
}

}  // namespace
}  // namespace tessera::search
