// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/lower_bounds.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
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
#include "../cost/random_program.h"
#include "exhaustive.h"
#include "graph_builder.h"
#include "random_batch.h"
#include "random_graph.h"
#include "random_sum.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/encoder/program/memory_lower_bound.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
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
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_measured.h"
#include "tessera/tests/draw_prefetch.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/search/cost/simulate.h"

// No bound is above the value of any plan. Networks of every kind of operator, ranks 1 to 6, forks,
// states and several results, on machines of every kind, are cut at random: into any subgraphs with
// tiles of any extents under any policy.
namespace tessera::search {
namespace {

using base::Random;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;
using problem::Bytes;

constexpr double kRounding = 1 + 1e-12;

// Large maps first, and then small ones: the work comes early and the constants late.
graph::Graph RandomPyramid(Random& random) {
  graph::GraphBuilder builder;
  int last = builder.AddInput({1, random.Uniform(1, 3), 4 * random.Uniform(2, 3), 4});
  if (random.Chance(0.5)) last = builder.AddConv(last, random.Uniform(1, 3), 3, 1, 1);
  last = builder.AddConv(last, random.Uniform(1, 3), 4, random.Uniform(2, 4));
  std::vector<int> made = {last};
  const auto operators = static_cast<int>(random.Uniform(3, 9));
  for (int i = 0; i < operators; ++i) {
    if (random.Chance(0.2)) graph::AddRandomOperator(random, builder);
    const int from = random.Chance(0.7) ? made.back() : builder.TensorCount() - 1;
    if (builder.ShapeOf(from).size() != 4) continue;
    graph::Operator conv = graph::OfKind(base::OperatorKind::kConv);
    conv.window.stride = {random.Chance(0.8) ? 1 : 2, 1};
    conv.groups = random.Chance(0.7) ? 1 : 2;
    graph::ops::Wanted wanted;
    wanted.out_channels = random.Uniform(1, 4);
    if (const auto result = builder.Add(conv, wanted, {from})) made.push_back(*result);
  }
  return std::move(builder).Build();
}

graph::Graph AnyNetwork(Random& random) {
  const auto operators = static_cast<int>(random.Uniform(1, 7));
  switch (random.Uniform(0, 9)) {
    case 0:
      return graph::RandomBatch(random);
    case 1:
      return graph::RandomSum(random);
    case 2:
      return graph::RandomRecurrence(random, operators);
    case 3:
      return graph::RandomDepthwiseChain(random, operators);
    default:
      return graph::RandomGraph(random, operators);
  }
}

// Operators that only rearrange elements, and a slice of their result: for a box of it they read a
// box with gaps.
graph::Graph RandomRearrangement(Random& random) {
  graph::GraphBuilder builder;
  int last = builder.AddInput({1, 4 * random.Uniform(1, 2), 2 * random.Uniform(1, 3), 4});
  if (random.Chance(0.5)) last = builder.AddConv(last, 4, 1);
  for (auto moves = static_cast<int>(random.Uniform(1, 2)); moves > 0; --moves) {
    const bool deep = builder.ShapeOf(last)[1] % 4 == 0;
    graph::Operator op =
        graph::OfKind(deep ? base::OperatorKind::kDepthToSpace : base::OperatorKind::kSpaceToDepth);
    op.own = base::DepthSpaceAttributes{.block = 2};
    graph::ops::Wanted wanted;
    if (random.Chance(0.5)) {
      const graph::Shape& shape = builder.ShapeOf(last);
      op = graph::OfKind(base::OperatorKind::kReshape);
      wanted.shape = {shape[0], shape[1] * shape[2], shape[3], 1};
      if (random.Chance(0.5)) wanted.shape = {shape[0], shape[3], shape[2], shape[1]};
    }
    last = builder.Add(op, wanted, {last}).value_or(last);
  }
  graph::Operator slice = graph::OfKind(base::OperatorKind::kSlice);
  auto& [starts, steps] = slice.MakeOwn<base::SliceAttributes>();
  graph::ops::Wanted part;
  part.shape.emplace();
  for (const int64_t extent : builder.ShapeOf(last)) {
    starts.push_back(random.Uniform(0, extent / 2));
    steps.push_back(1);
    part.shape->push_back(random.Uniform(1, extent - starts.back()));
  }
  builder.Add(slice, part, {last});
  return std::move(builder).Build();
}

// Some constants take as long to arrive as operators take to run.
void EnlargeWeights(Random& random, graph::Graph& graph) {
  for (const graph::Operator& op : graph.operators) {
    if (op.kind != base::OperatorKind::kConv || op.weights.empty() || random.Chance(0.3)) continue;
    graph.tensors[static_cast<size_t>(op.weights.front())].shape.back() = random.Uniform(20, 300);
  }
}

// Inputs and outputs of the network have their home in the tile memory or elsewhere; the hardware
// has a random part of its features.
Profile AnyMachine(Random& random) {
  Profile profile = RandomMachine(random);
  DrawPaces(random, profile);
  std::erase_if(profile.tiling.halo, [&](HaloStorage) { return random.Chance(0.3); });
  std::erase_if(profile.tiling.axes,
                [&](const hw_profiles::AxisGranularity&) { return random.Chance(0.2); });
  if (random.Chance(0.5)) {
    profile.tiling.weights.push_back(WeightPolicy::kSplitK);
    profile.tiling.k_granularity = random.Uniform(1, 3);
  }
  return profile;
}

bool Offers(const Profile& profile, const graph::Shape& output,
            const encoder::program::SubgraphChoice& choice) {
  const hw_profiles::Tiling& tiling = profile.tiling;
  for (size_t axis = 0; axis < output.size(); ++axis) {
    if (choice.tile[axis] == output[axis]) continue;
    const bool named = std::any_of(tiling.axes.begin(), tiling.axes.end(),
                                   [&](const hw_profiles::AxisGranularity& cut) {
                                     return graph::tiling::AxisOf(output, cut.axis) == axis;
                                   });
    if (!named) return false;
  }
  return choice.policy.halo == HaloStorage::kRecompute ||
         std::find(tiling.halo.begin(), tiling.halo.end(), choice.policy.halo) != tiling.halo.end();
}

// Small tiles more often than large ones: they reach the bounds.
encoder::program::SubgraphChoice AnyChoice(Random& random, const graph::Graph& graph,
                                           const Profile& profile, graph::Interval interval) {
  const graph::Shape& output = encoder::program::OutputShape(graph, interval);
  encoder::program::SubgraphChoice choice;
  do {
    choice = RandomChoice(random, graph, profile, interval);
    for (size_t axis = 0; axis < output.size(); ++axis) {
      if (choice.tile[axis] < output[axis] && random.Chance(0.5)) choice.tile[axis] = 1;
    }
  } while (!Offers(profile, output, choice));
  const bool split_k = std::find(profile.tiling.weights.begin(), profile.tiling.weights.end(),
                                 WeightPolicy::kSplitK) != profile.tiling.weights.end();
  const bool alone = interval.first == interval.last && !IsHosted(graph, profile, interval.first);
  if (split_k && alone && random.Chance(0.5)) {
    choice.policy.weights = WeightPolicy::kSplitK;
    choice.policy.halo = HaloStorage::kRecompute;
  }
  return choice;
}

struct Drawn {
  graph::Graph graph;
  Profile profile;
  std::vector<encoder::program::SubgraphChoice> choices;
  plan::Plan plan;  // without addresses
};

// nullopt where that is no program.
std::optional<Drawn> DrawPlan(Random& random, bool is_pyramid, graph::Graph network) {
  Drawn drawn{std::move(network), AnyMachine(random), {}, {}};
  if (random.Chance(0.3)) graph::DrawStates(random, drawn.graph);
  DrawWeights(random, drawn.graph);
  if (is_pyramid) {
    EnlargeWeights(random, drawn.graph);
    drawn.profile.memories.front().port.read_bytes_per_cycle = 1;
  }
  if (random.Chance(0.2)) DrawMeasured(random, drawn.profile, drawn.graph);
  drawn.graph = encoder::program::WithHomes(std::move(drawn.graph), drawn.profile);
  const auto operators = static_cast<int>(drawn.graph.operators.size());
  for (int first = 0; first < operators;) {
    const int longest = is_pyramid ? std::min(first + 2, operators - 1) : operators - 1;
    const auto last =
        static_cast<int>(random.Chance(0.3) ? longest : random.Uniform(first, longest));
    const graph::Interval interval = WithoutHosted(drawn.graph, drawn.profile, {first, last});
    drawn.choices.push_back(AnyChoice(random, drawn.graph, drawn.profile, interval));
    first = interval.last + 1;
  }
  const std::vector<int> kept = random.Chance(0.5)
                                    ? std::vector<int>()
                                    : RandomKept(random, drawn.graph, drawn.profile, drawn.choices);
  for (encoder::program::SubgraphChoice& choice : drawn.choices) choice.policy.kept = kept;
  if (drawn.profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered) {
    for (size_t i = 1; i < drawn.choices.size(); ++i) {
      if (random.Chance(is_pyramid ? 0.6 : 0.2))
        drawn.choices[i].prefetch = DrawPrefetch(random, i);
      if (drawn.choices[i].prefetch.empty() ||
          encoder::program::BuildProgram(drawn.graph, drawn.profile, drawn.choices))
        continue;
      drawn.choices[i].prefetch = {};
    }
  }
  base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(drawn.graph, drawn.profile, drawn.choices);
  if (!program) return std::nullopt;
  drawn.plan = AsPlan(drawn.graph, drawn.profile, drawn.choices, *std::move(program));
  return drawn;
}

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

std::string Describe(const Drawn& drawn) {
  std::string text = "\n" + graph::import::yaml::WriteNetworkJson(drawn.graph) +
                     hw_profiles::WriteProfileJson(drawn.profile);
  for (const encoder::program::SubgraphChoice& choice : drawn.choices) {
    text += fmt::format("operators {} to {}, tile {}, weights {}, halo {}, in place {}, kept {}\n",
                        choice.interval.first, choice.interval.last, fmt::join(choice.tile, "x"),
                        hw_profiles::NameOf(choice.policy.weights),
                        hw_profiles::NameOf(choice.policy.halo), choice.policy.in_place,
                        fmt::join(choice.policy.kept, " "));
  }
  return text;
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
  const Counts counts = CheckPrograms(IsLongRun() ? 400'000 : 8'000, [&random] {
    const bool is_pyramid = random.Chance(0.3);
    return DrawPlan(random, is_pyramid, is_pyramid ? RandomPyramid(random) : AnyNetwork(random));
  });
  EXPECT_GE(counts.programs, 2000);
  EXPECT_GE(counts.shapes, 1200);
  EXPECT_GE(counts.exact, 1000);
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
