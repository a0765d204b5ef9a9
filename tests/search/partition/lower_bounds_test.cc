// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/lower_bounds.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../cost/disagreements.h"
#include "drawn_plan.h"
#include "exhaustive.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/axis_sums.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/cost/shape_bounds.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/simulate.h"

// No bound is above the value of any plan. Networks of every kind of operator, ranks 1 to 6, forks,
// states and several results, on machines of every kind, are cut at random: into any subgraphs with
// tiles of any extents under any policy.
namespace tessera::search {
namespace {

using base::Random;
using hw_profiles::HaloStorage;
using problem::Bytes;

constexpr double kRounding = 1 + 1e-12;

// The most bytes of one step, where buffers in one place count once. No placement has a lower peak.
Bytes LoadOf(const problem::Problem& problem, problem::Step steps) {
  std::vector<int> place(problem.buffers.size());
  std::iota(place.begin(), place.end(), 0);
  const auto find = [&place](int i) {
    while (place[static_cast<size_t>(i)] != i) i = place[static_cast<size_t>(i)];
    return i;
  };
  for (const problem::Relation& relation : problem.relations) {
    if (relation.kind == problem::RelationKind::kColocate)
      place[static_cast<size_t>(find(relation.first))] = find(relation.second);
  }
  Bytes most = 0;
  for (problem::Step step = 0; step < steps; ++step) {
    std::map<int, Bytes> largest;
    for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
      const problem::Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
      if (!problem::LivesAt(buffer, step)) continue;
      Bytes& there = largest[find(i)];
      there = std::max(there, buffer.size);
    }
    Bytes load = 0;
    for (const auto& [where, bytes] : largest) load += bytes;
    most = std::max(most, load);
  }
  return most;
}

int FailuresSoFar() {
  return testing::UnitTest::GetInstance()->current_test_info()->result()->total_part_count();
}

// Metrics that add up.
constexpr std::array<std::string_view, 4> kSums = {"latency", "energy", "off_chip_bytes", "macs"};

void ExpectBelow(const plan::Metrics& bound, const plan::Metrics& found, std::string_view what) {
  for (const std::string_view metric : kSums)
    EXPECT_LE(plan::ValueOf(bound, metric), plan::ValueOf(found, metric) * kRounding)
        << what << ": " << metric;
  for (const auto& [cause, bytes] : bound.off_chip_by_cause) {
    const auto there = found.off_chip_by_cause.find(cause);
    EXPECT_LE(bytes, there == found.off_chip_by_cause.end() ? 0 : there->second)
        << what << ": " << cause;
  }
}

// The bound of one tile shape, for each metric alone. Returns whether there is one.
bool CheckShape(const Drawn& drawn, const encoder::program::SubgraphChoice& choice,
                const std::vector<graph::Usage>& usages, const plan::Metrics& interval,
                const plan::Metrics& found) {
  cost::AxisSums sums(drawn.graph, drawn.profile, choice.interval);
  cost::ShapeBounds bounds(drawn.graph, drawn.profile, usages, choice.interval, {&choice.policy, 1},
                           sums);
  if (!bounds.AreOfUse()) return false;
  for (const std::string metric : {"latency", "energy", "off_chip_bytes"}) {
    const auto scale = cost::Scale::Make({.weights = {{metric, 1}}, .limits = {}}, interval);
    if (!scale) return false;
    EXPECT_LE(bounds.Find(choice.tile, scale->CostOf(interval).tie, *scale),
              plan::ValueOf(found, metric))
        << "shape: " << metric;
  }
  return true;
}

// The bounds of an interval alone, and as part of a network. Counts bounds of shapes.
void CheckSubgraph(const Drawn& drawn, size_t number, int& shapes) {
  const encoder::program::SubgraphChoice& choice = drawn.choices[number];
  const plan::Metrics& found = drawn.plan.subgraphs[number].metrics;
  const std::vector<int>& kept = choice.policy.kept;
  if (!choice.prefetch.empty()) return;  // part of its work is in earlier subgraphs
  const std::vector<graph::Usage> usages = graph::UsagesOf(drawn.graph);
  const cost::SubgraphBounds bounds(drawn.graph, drawn.profile, usages, choice.interval);
  ExpectBelow(bounds.Find(kept), found, "subgraph");
  shapes += CheckShape(drawn, choice, usages, bounds.Find(kept), found) ? 1 : 0;
  if (kept.empty())
    ExpectBelow(cost::LowerBound(drawn.graph, drawn.profile, choice.interval), found, "interval");
}

// The need of the choice alone in the tile memory.
void CheckRoom(const Drawn& drawn, const encoder::program::SubgraphChoice& choice) {
  const std::vector<graph::Usage> usages = graph::UsagesOf(drawn.graph);
  auto tiles = encoder::program::PolicyTiles::Make(drawn.graph, usages, drawn.profile,
                                                   choice.interval, choice.policy);
  ASSERT_TRUE(tiles);
  const encoder::program::RoomLowerBound floor(drawn.graph, usages, drawn.profile, tiles->Uses(),
                                               choice.policy.in_place);
  encoder::program::SharedTilings tilings(drawn.graph, choice.interval);
  const auto tiling =
      tiles->Cut(choice.tile, [&](const graph::tiling::TileShape& tile, HaloStorage halo) {
        return tilings.Cut(tile, halo);
      });
  if (tiling == nullptr) return;  // keeps no rows
  encoder::program::SubgraphChoice alone = choice;
  alone.prefetch = {};
  const base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(drawn.graph, drawn.profile, {&alone, 1});
  ASSERT_TRUE(program);
  const Bytes load = LoadOf(program->problem, static_cast<problem::Step>(program->steps.size()));
  EXPECT_LE(floor.Find(*tiling), load);
  allocate::AllocateOptions options;
  options.capacity = program->problem.memories[0].capacity;
  options.minimize = true;
  options.budget = base::Budget{2'000};
  auto placed = allocate::Allocate(program->problem, nullptr, 0, TestEngines(), options);
  if (placed && !placed->peak) {  // rare
    options.budget = base::Budget{100'000};
    placed = allocate::Allocate(program->problem, nullptr, 0, TestEngines(), options);
  }
  ASSERT_TRUE(placed && placed->peak);
  EXPECT_LE(allocate::FindBound(program->problem, 0).bytes, *placed->peak);
  EXPECT_LE(floor.Find(*tiling), *placed->peak);
}

struct Counts {
  int programs = 0;
  int shapes = 0;
  int exact = 0;  // subgraphs whose traffic is what the judge's bound states
  int judged = 0;
};

// A plan is not refuted by limits that are its own metrics. The homes of its tensors are those that
// the profile gives them.
void CheckLimits(const Drawn& drawn, plan::Plan question, const plan::Metrics& totals) {
  question.profile = drawn.profile;
  for (const std::string_view metric : kSums)
    question.objective.limits[std::string(metric)] = plan::ValueOf(totals, metric);
  const auto find_no_proof = [](const problem::Problem&, Bytes) -> std::optional<std::string> {
    return std::nullopt;
  };
  const auto judged =
      plan::verify::infeasibility::Judge(question, find_no_proof, base::Stop(), {.work = 20'000});
  EXPECT_FALSE(judged.refutation) << judged.refutation->argument;
}

// A prefetched constant may arrive in a subgraph that does not use it.
void CheckJudge(const Drawn& drawn, const plan::Plan& question, Counts& counts) {
  using plan::verify::infeasibility::LeastOfIntervals;
  const std::vector<plan::verify::Users> users = plan::verify::FindUsers(question.network);
  plan::Metrics totals;
  for (const plan::Subgraph& subgraph : drawn.plan.subgraphs)
    plan::Accumulate(totals, subgraph.metrics);
  ExpectBelow(plan::verify::infeasibility::LeastMetrics(question, users), totals, "judge");
  if (std::any_of(drawn.choices.begin(), drawn.choices.end(),
                  [](const auto& choice) { return !choice.prefetch.empty(); }))
    return;
  const LeastOfIntervals least(question, users);
  for (size_t i = 0; i < drawn.choices.size(); ++i) {
    const plan::Metrics& found = drawn.plan.subgraphs[i].metrics;
    const plan::Metrics bound = least.Of(drawn.choices[i].interval, drawn.choices[i].policy.kept);
    ExpectBelow(bound, found, "judge, subgraph");
    counts.exact += found.off_chip_bytes > 0 && found.off_chip_bytes == bound.off_chip_bytes;
  }
  if (++counts.judged % 40 == 0) CheckLimits(drawn, question, totals);
}

// The tile memory holds what the program needs at one time. The program is not placed.
void CheckProgram(const Drawn& drawn, Counts& counts) {
  const Bytes load =
      LoadOf(drawn.plan.problem, static_cast<problem::Step>(drawn.plan.steps.size()));
  hw_profiles::Profile profile = drawn.profile;
  profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes = load;
  const plan::Metrics bounds = cost::FindLowerBounds(drawn.graph, profile);
  plan::Metrics totals;
  for (const plan::Subgraph& subgraph : drawn.plan.subgraphs)
    plan::Accumulate(totals, subgraph.metrics);
  EXPECT_LE(bounds.peak_bytes, load);
  ExpectBelow(bounds, totals, "network");
  plan::Plan question;
  question.network = drawn.graph;
  question.profile = profile;
  question.run.keeps_boundaries = true;
  CheckJudge(drawn, question, counts);
  for (size_t i = 0; i < drawn.choices.size(); ++i) {
    CheckSubgraph(drawn, i, counts.shapes);
    CheckRoom(drawn, drawn.choices[i]);
  }
}

template <typename Draw>
Counts CheckPrograms(int rounds, const Draw& draw) {
  Counts counts;
  int failures = 0;
  for (int round = 0; round < rounds && failures < 20; ++round) {
    const std::optional<Drawn> drawn = draw();
    if (!drawn) continue;
    ++counts.programs;
    const int failures_before = FailuresSoFar();
    CheckProgram(*drawn, counts);
    if (FailuresSoFar() == failures_before) continue;
    ADD_FAILURE() << "round " << round << Describe(*drawn);
    ++failures;
  }
  return counts;
}

TEST(LowerBounds, ArePassedByNoProgram) {
  Random random(2041);
  const Counts counts = CheckPrograms(IsLongRun() ? 400'000 : DrawsOf(8'000), [&random] {
    const bool is_pyramid = random.Chance(0.3);
    return DrawPlan(random, is_pyramid, is_pyramid ? RandomPyramid(random) : AnyNetwork(random));
  });
  EXPECT_GE(counts.programs, LeastOf(2000));
  EXPECT_GE(counts.shapes, LeastOf(1200));
  EXPECT_GE(counts.exact, LeastOf(1000));
}

TEST(LowerBounds, CountNoGapsInWhatARearrangementReads) {
  Random random(77);
  const Counts counts = CheckPrograms(IsLongRun() ? 40'000 : 1'000, [&random] {
    return DrawPlan(random, false, RandomRearrangement(random));
  });
  EXPECT_GE(counts.programs, 300);
  EXPECT_GE(counts.shapes, 100);
}

}  // namespace
}  // namespace tessera::search
