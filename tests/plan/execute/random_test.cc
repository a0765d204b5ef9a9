// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "plans.h"
#include "tessera/tests/draws.h"

// Every plan of the planner for a random network on a random accelerator runs.
namespace tessera::plan::execute {
namespace {

bool IsDepthwise(const Plan& plan, int result) {
  const std::vector<graph::Operator>& operators = plan.network.operators;
  return std::any_of(operators.begin(), operators.end(), [result](const graph::Operator& op) {
    return op.kind == base::OperatorKind::kDepthwise && op.outputs.front() == result;
  });
}

bool IsReplacedByTiles(const Plan& plan, int next) {
  if (plan.network.tensors[static_cast<size_t>(next)].next_of < 0) return false;
  return std::any_of(plan.subgraphs.begin(), plan.subgraphs.end(), [&](const Subgraph& subgraph) {
    for (int op = subgraph.interval.first; op <= subgraph.interval.last; ++op) {
      if (plan.network.operators[static_cast<size_t>(op)].outputs.front() == next)
        return subgraph.tiles > 1;
    }
    return false;
  });
}

// Whether a window reads stored pads of a tensor that its own subgraph makes tile by tile, in a
// whole buffer.
bool ReadsPadsOfParts(const Plan& plan) {
  if (plan.profile.tiling.implicit_padding) return false;
  const auto is_whole = [&plan](int tensor) {
    return std::any_of(plan.buffers.begin(), plan.buffers.end(), [tensor](const BufferUse& use) {
      return use.kind == BufferKind::kWhole && use.tensor == tensor;
    });
  };
  for (const Subgraph& subgraph : plan.subgraphs) {
    std::set<int> made;
    for (int i = subgraph.interval.first; i <= subgraph.interval.last && subgraph.tiles > 1; ++i) {
      const graph::Operator& op = plan.network.operators[static_cast<size_t>(i)];
      const bool pads = op.window.pad_low != std::array<int64_t, 2>{} ||
                        op.window.pad_high != std::array<int64_t, 2>{};
      if (pads && made.contains(op.inputs.front()) && is_whole(op.inputs.front())) return true;
      made.insert(op.outputs.begin(), op.outputs.end());
    }
  }
  return false;
}

// The features of which a plan is an example.
std::set<std::string> TraitsOf(const Plan& plan) {
  static constexpr std::array kKinds = {"tile",    "whole",          "resident", "slice",
                                        "scratch", "rolling_buffer", "line",     "halo"};
  std::set<std::string> traits;
  const bool double_buffered = plan.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered;
  for (const Subgraph& subgraph : plan.subgraphs) {
    traits.insert((subgraph.serialized ? "serialized here "
                   : double_buffered   ? "double_buffered "
                                       : "serialized ") +
                  std::to_string(std::min<int64_t>(subgraph.tiles, 6)));
  }
  for (const BufferUse& use : plan.buffers) {
    traits.insert(kKinds.at(static_cast<size_t>(use.kind)));
    if (use.slot == 1) traits.insert("two slots");
  }
  for (const problem::Relation& relation : plan.problem.relations) {
    if (relation.kind != problem::RelationKind::kColocate) continue;
    const BufferUse& result = plan.buffers[static_cast<size_t>(relation.second)];
    traits.insert(IsDepthwise(plan, result.tensor) ? "by channel" : "in place");
    if (IsReplacedByTiles(plan, result.tensor)) traits.insert("replaced by tiles");
  }
  for (const Subgraph& subgraph : plan.subgraphs) {
    const bool keeps = subgraph.halo != hw_profiles::HaloStorage::kRecompute;
    const graph::Operator& last =
        plan.network.operators[static_cast<size_t>(subgraph.interval.last)];
    const graph::Shape& output =
        plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    if (keeps && output.size() == 4 && subgraph.tile[3] < output[3])
      traits.insert("keeps rows in strips");
  }
  for (const char* kept : {"rolling_buffer", "line", "halo"}) {
    if (!traits.contains(kept)) continue;
    traits.insert("keeps rows");
    if (!plan.profile.tiling.implicit_padding)
      traits.insert(std::string(kept) + " with stored pads");
    if (traits.contains("slice")) traits.insert("keeps rows with slices");
  }
  if (!plan.profile.tiling.implicit_padding) traits.insert("stored pads");
  if (plan.subgraphs.size() > 1) traits.insert("boundaries");
  if (plan.subgraphs.front().interval.first > 0) traits.insert("part of the network");
  for (const graph::Tensor& tensor : plan.network.tensors) {
    if (tensor.state) traits.insert("state");
  }
  return traits;
}

class RandomPlans : public testing::TestWithParam<int> {
 protected:
  static uint64_t SeedOf(int draw) {
    return uint64_t{1000} * static_cast<uint64_t>(GetParam()) + static_cast<uint64_t>(draw);
  }
};

TEST_P(RandomPlans, OfTwoStagesRun) {
  int staged = 0;
  for (int draw = 0; draw < std::max(DrawsOf(200), 20); ++draw) {
    const uint64_t seed = 700'000 + SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/false, Kinds::kStaged);
    if (!plan) continue;
    staged += static_cast<int>(
        std::count_if(plan->subgraphs.begin(), plan->subgraphs.end(),
                      [](const Subgraph& subgraph) { return subgraph.second_stage > 0; }));
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(staged, LeastOf(5));
}

TEST_P(RandomPlans, Run) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(100); ++draw) {
    const uint64_t seed = SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(80));
}

TEST_P(RandomPlans, RunInModes) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(20); ++draw) {
    const uint64_t seed = 100'000 + SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/true);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(9));
}

TEST_P(RandomPlans, RunWithDepthwiseResultsInPlace) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(40); ++draw) {
    const uint64_t seed = 200'000 + SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/false, Kinds::kDepthwise);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(30));
}

TEST_P(RandomPlans, RunWithStatesThatAreReplaced) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(40); ++draw) {
    const uint64_t seed = 300'000 + SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/false, Kinds::kRecurrent);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(20));
}

TEST_P(RandomPlans, RunWithStoredPads) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(40); ++draw) {
    const uint64_t seed = 400'000 + SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = DrawPlan(random, /*with_modes=*/false, Kinds::kPadded);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(30));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPlans, testing::Range(0, 8));

// Nothing lives at the first step: the modes begin with the second.
TEST(RandomPlan, RunsInModesThatBeginLater) {
  int later = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    base::Random random(seed);
    const auto plan = DrawPlan(random, /*with_modes=*/true, Kinds::kFewElements);
    if (!plan || problem::Horizon(plan->problem).lower == 0) continue;
    ++later;
    EXPECT_THAT(MessagesOf(*plan), testing::IsEmpty()) << "seed " << seed;
  }
  EXPECT_GE(later, 2);
}

TEST(RandomPlanDraws, AreOfEveryKind) {
  std::multiset<std::string> traits;
  int planned = 0;
  int in_modes = 0;
  int by_channel = 0;
  int replaced = 0;
  int pads_of_parts = 0;
  for (int draw = 0; draw < 300; ++draw) {
    const auto draw_plan = [draw](bool with_modes, Kinds kinds, int series = 0) {
      base::Random random(static_cast<uint64_t>(draw + 1000 * series));
      return DrawPlan(random, with_modes, kinds);
    };
    if (const std::optional<Plan> plan = draw_plan(false, Kinds::kAll)) {
      ++planned;
      const std::set<std::string> shown = TraitsOf(*plan);
      traits.insert(shown.begin(), shown.end());
    }
    for (int series = 0; series < 3; ++series) {  // few of them work by channel
      if (const auto depthwise = draw_plan(false, Kinds::kDepthwise, series))
        by_channel += TraitsOf(*depthwise).contains("by channel") ? 1 : 0;
    }
    if (const auto recurrent = draw_plan(false, Kinds::kRecurrent))
      replaced += TraitsOf(*recurrent).contains("replaced by tiles") ? 1 : 0;
    if (const auto padded = draw_plan(false, Kinds::kPadded))
      pads_of_parts += ReadsPadsOfParts(*padded) ? 1 : 0;
    if (draw % 4 == 0 && draw_plan(true, Kinds::kAll)) ++in_modes;
  }
  EXPECT_GT(replaced, 6);
  EXPECT_GT(planned, 150);
  EXPECT_GT(in_modes, 6);
  EXPECT_GT(by_channel, 6);
  EXPECT_GT(pads_of_parts, 6);
  EXPECT_GT(static_cast<int>(traits.count("keeps rows")), planned / 10);
  for (const char* trait : {"tile",
                            "whole",
                            "resident",
                            "slice",
                            "scratch",
                            "two slots",
                            "in place",
                            "stored pads",
                            "boundaries",
                            "part of the network",
                            "state",
                            "serialized 1",
                            "serialized 2",
                            "serialized 3",
                            "serialized 4",
                            "serialized 6",
                            "double_buffered 1",
                            "double_buffered 2",
                            "double_buffered 3",
                            "double_buffered 4",
                            "double_buffered 5",
                            "double_buffered 6",
                            "rolling_buffer",
                            "line",
                            "halo",
                            "rolling_buffer with stored pads",
                            "line with stored pads",
                            "halo with stored pads",
                            "keeps rows in strips",
                            "keeps rows with slices"}) {
    EXPECT_GE(traits.count(trait), 3U) << trait;
  }
}

}  // namespace
}  // namespace tessera::plan::execute
