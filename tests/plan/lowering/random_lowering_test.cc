// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "../execute/plans.h"
#include "../execute/prefetch_plans.h"
#include "../execute/split_k_plans.h"
#include "lowered_plans.h"
#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/plan/files/json_sections.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/tests/draws.h"

// The lowering of every plan that runs can run too: in any order that it permits, and after writing
// and reading plan.json.
namespace tessera::plan::lowering {
namespace {

using testing::IsEmpty;

std::optional<Plan> LowerDrawn(std::optional<Plan> plan, uint64_t seed) {
  if (!plan) return std::nullopt;
  plan = WithHomes(std::move(*plan));
  const base::Expected<Program> program = Lower(*plan);
  if (!program) {
    EXPECT_THAT(program.error().message, testing::HasSubstr("elements of four bits"))
        << "seed " << seed;
    return std::nullopt;
  }
  plan->lowering = *program;
  return plan;
}

std::optional<Plan> DrawLowered(uint64_t seed, bool with_modes,
                                execute::Kinds kinds = execute::Kinds::kAll) {
  base::Random random(seed);
  return LowerDrawn(execute::DrawPlan(random, with_modes, kinds), seed);
}

class RandomLowering : public testing::TestWithParam<int> {
 protected:
  static uint64_t SeedOf(int draw) {
    return uint64_t{1000} * static_cast<uint64_t>(GetParam()) + static_cast<uint64_t>(draw);
  }
};

TEST_P(RandomLowering, Runs) {
  int lowered = 0;
  for (int draw = 0; draw < DrawsOf(100); ++draw) {
    const uint64_t seed = SeedOf(draw);
    const std::optional<Plan> plan = DrawLowered(seed, /*with_modes=*/false);
    if (!plan) continue;
    ++lowered;
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
  }
  EXPECT_GT(lowered, DrawsOf(100) / 10);
}

TEST_P(RandomLowering, RunsInModes) {
  int checked = 0;
  for (int draw = 0; draw < std::max(DrawsOf(40), 16); ++draw) {
    const uint64_t seed = 100'000 + SeedOf(draw);
    const std::optional<Plan> plan = DrawLowered(seed, /*with_modes=*/true);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(10));
}

TEST_P(RandomLowering, RunsInTwoStages) {
  int staged = 0;
  for (int draw = 0; draw < std::max(20, DrawsOf(200)); ++draw) {
    const uint64_t seed = 800'000 + SeedOf(draw);
    const std::optional<Plan> plan =
        DrawLowered(seed, /*with_modes=*/false, execute::Kinds::kStaged);
    if (!plan) continue;
    staged += static_cast<int>(
        std::count_if(plan->subgraphs.begin(), plan->subgraphs.end(),
                      [](const Subgraph& subgraph) { return subgraph.second_stage > 0; }));
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(staged, LeastOf(5));
}

TEST_P(RandomLowering, RunsWithStoredPads) {
  int checked = 0;
  for (int draw = 0; draw < std::max(20, DrawsOf(40)); ++draw) {
    const uint64_t seed = 300'000 + SeedOf(draw);
    const std::optional<Plan> plan =
        DrawLowered(seed, /*with_modes=*/false, execute::Kinds::kPadded);
    if (!plan) continue;
    ++checked;
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
  }
  ExpectEnough(checked, DrawsOf(4));
}

TEST_P(RandomLowering, RunsSplitK) {
  int lowered = 0;
  for (int draw = 0; draw < DrawsOf(100); ++draw) {
    const uint64_t seed = SeedOf(draw);
    base::Random random(seed);
    const std::optional<Plan> plan = LowerDrawn(execute::DrawSplitKPlan(random), seed);
    if (!plan) continue;
    ++lowered;
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
    base::JsonReader reader(base::WriteJson(files::ToJson(*plan)), "lowering");
    EXPECT_EQ(*reader.Finish(files::ReadProgram(reader.Root().Items(), *plan)), *plan->lowering)
        << "seed " << seed;
  }
  EXPECT_GT(lowered, DrawsOf(100) / 10);
}

// Few draws have constants to prefetch.
TEST_P(RandomLowering, RunsWithPrefetchedConstants) {
  int lowered = 0;
  for (int draw = 0; draw < 1000 && lowered < DrawsOf(10); ++draw) {
    const uint64_t seed = SeedOf(draw);
    base::Random random(seed);
    std::optional<Plan> plan = execute::DrawPlan(random, /*with_modes=*/draw % 10 == 0);
    if (plan) plan = LowerDrawn(execute::DrawPrefetches(random, *plan), seed);
    if (!plan) continue;
    ++lowered;
    ASSERT_THAT(FindingsIn(*plan, seed), IsEmpty()) << "seed " << seed;
    base::JsonReader reader(base::WriteJson(files::ToJson(*plan)), "lowering");
    EXPECT_EQ(*reader.Finish(files::ReadProgram(reader.Root().Items(), *plan)), *plan->lowering)
        << "seed " << seed;
  }
  EXPECT_EQ(lowered, DrawsOf(10));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomLowering, testing::Range(0, 4));

// Cases that are rare among the draws above: a tile that loads no rows, with an address behind the
// memory's last byte; and modes for steps that copy rows before and after one operator.
TEST(RareLowering, Runs) {
  for (const auto& [seed, with_modes] : {std::pair(221'001, false), std::pair(154'025, true)}) {
    const std::optional<Plan> plan = DrawLowered(static_cast<uint64_t>(seed), with_modes);
    ASSERT_TRUE(plan.has_value());
    EXPECT_THAT(FindingsIn(*plan), IsEmpty()) << "seed " << seed;
  }
}

TEST_P(RandomLowering, PassesThroughJson) {
  int checked = 0;
  for (int draw = 0; draw < DrawsOf(20); ++draw) {
    const uint64_t seed = SeedOf(draw);
    const std::optional<Plan> plan = DrawLowered(seed, /*with_modes=*/draw % 4 == 0);
    if (!plan) continue;
    ++checked;
    base::JsonReader reader(base::WriteJson(files::ToJson(*plan)), "lowering");
    const base::Expected<Program> read =
        reader.Finish(files::ReadProgram(reader.Root().Items(), *plan));
    ASSERT_TRUE(read.has_value()) << read.error().pointer << ": " << read.error().message
                                  << ", seed " << seed;
    EXPECT_EQ(*read, *plan->lowering) << "seed " << seed;
  }
  ExpectEnough(checked, LeastOf(5));
}

class EveryKind : public testing::TestWithParam<NamedPlan> {};

TEST_P(EveryKind, RunsInAnyOrder) {
  const Plan plan = WithLowering(GetParam().plan());
  for (uint64_t seed = 0; seed < 10; ++seed)
    EXPECT_THAT(FindingsIn(plan, seed), IsEmpty()) << "seed " << seed;
}

// Calls `run` with a Stop at each of some polls up to the last, which another call counts, and
// `check` with its result. At most `further` polls follow until the end is noticed everywhere.
template <typename Run, typename Check>
void StopAtSomePolls(int64_t further, const Run& run, const Check& check) {
  constexpr int64_t kStops = 20;
  const base::Stop never(base::Stop::AtPoll{1'000'000'000});
  run(never);
  const int64_t polls = never.Polls();
  ASSERT_GE(polls, 2);
  for (int64_t i = 0; i < kStops; ++i) {
    const int64_t k = 1 + i * (polls - 1) / kStops;
    SCOPED_TRACE(testing::Message() << "poll " << k << " of " << polls);
    const base::Stop stop(base::Stop::AtPoll{k});
    check(run(stop));
    EXPECT_LE(stop.Polls(), k + further);
  }
}

// A stop at any poll ends both runs soon, and finds no fault that is none.
TEST_P(EveryKind, EndsAtAStop) {
  const Plan plan = WithLowering(GetParam().plan());
  const auto runs = {
      +[](const Plan& some, const base::Stop& stop) { return Execute(some, stop); },
      +[](const Plan& some, const base::Stop& stop) { return Interpret(some, /*seed=*/1, stop); }};
  for (const auto& run : runs) {
    EXPECT_FALSE(run(plan, base::Stop()).is_cut_off);
    StopAtSomePolls(
        8, [&](const base::Stop& stop) { return run(plan, stop); },
        [](const Report& report) {
          EXPECT_TRUE(report.is_cut_off);
          EXPECT_EQ(report.found, 0);
        });
  }
}

// A stop at any poll ends the lowering soon, without a program that lacks something.
TEST_P(EveryKind, IsNotLoweredAfterAStop) {
  const Plan plan = WithHomes(GetParam().plan());
  const base::Expected<Program> whole = Lower(plan);
  ASSERT_TRUE(whole);
  StopAtSomePolls(
      4, [&](const base::Stop& stop) { return Lower(plan, stop); },
      [&](const base::Expected<Program>& program) {
        if (program)
          EXPECT_THAT(FindDifferences(*program, *whole), IsEmpty());
        else
          EXPECT_THAT(program.error().message, testing::HasSubstr("stopped"));
      });
}

INSTANTIATE_TEST_SUITE_P(Plans, EveryKind, testing::ValuesIn(PlansOfEveryKind()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace tessera::plan::lowering
