// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "tessera/encoder/program/build_program.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/infeasibility/least_metrics.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/partition_paths.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/plan/verify/tiles.h"
#include "tessera/tests/audit/draw_network.h"
#include "tessera/tests/audit/draw_profile.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/plan/fixture.h"

// The bounds of the judge, on drawn networks with every kind of operator and drawn machines with
// every feature. The judge never rules out a choice that the encoder accepts.
namespace tessera::plan::refutation {
namespace {

const base::Stop kNoStop;
constexpr int64_t kEndless = int64_t{1} << 50;
// Tile shapes times operators of an interval whose configurations are listed.
constexpr int64_t kMostWork = 300;

Plan DrawQuestion(base::Random& random) {
  Plan question;
  question.network = audit::DrawNetwork(random, static_cast<int>(random.Uniform(1, 6)));
  question.profile = audit::DrawProfile(random, question.network);
  verify::AssignHomes(question);
  return question;
}

std::vector<int> OrderOf(const Plan& question) {
  std::vector<int> order(question.network.operators.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

graph::Interval DrawInterval(base::Random& random, const Plan& question) {
  const auto operators = static_cast<int64_t>(question.network.operators.size());
  const int64_t first = random.Uniform(0, operators - 1);
  return {static_cast<int>(first), static_cast<int>(random.Uniform(first, operators - 1))};
}

std::vector<verify::infeasibility::SubgraphConfig> FindAll(
    verify::infeasibility::SubgraphConfigs& configs, graph::Interval interval) {
  int64_t work = kEndless;
  return configs.Find(interval, {}, work).value();
}

TEST(CutRule, AllowsEveryCutOfTheEncoder) {
  base::Random random(1);
  int cut = 0;
  int uncut = 0;
  for (int i = 0; i < DrawsOf(4000); ++i) {
    const Plan question = DrawQuestion(random);
    const graph::Interval interval = DrawInterval(random, question);
    const graph::Operator& last = question.network.operators[static_cast<size_t>(interval.last)];
    const graph::Shape& output =
        question.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    const std::vector<verify::Users> users = verify::FindUsers(question.network);
    for (size_t axis = 0; axis < output.size(); ++axis) {
      const bool may = verify::MayCut(question.network, users, interval, axis);
      const bool can = graph::tiling::CanCut(question.network, interval, axis);
      EXPECT_TRUE(may || !can) << "draw " << i << ", operators " << interval.first << " to "
                               << interval.last << ", axis " << axis;
      (can ? cut : uncut) += may == can ? 1 : 0;
    }
  }
  ExpectEnough(cut, DrawsOf(1000));
  ExpectEnough(uncut, DrawsOf(1000));
}

// The draw and the interval, as text.
std::string Of(int draw, graph::Interval interval) {
  return fmt::format("draw {}, operators {} to {}", draw, interval.first, interval.last);
}

// Counts the compared bounds, and those of them that are near the true value.
struct Compared {
  int all = 0;
  int tight = 0;
  void Add(bool is_tight) {
    ++all;
    tight += is_tight ? 1 : 0;
  }
};

// Calls `visit` with the draw's text, the SubgraphConfigs of the draw, an interval, and all its
// configurations.
template <typename Visit>
void ForDrawnIntervals(uint64_t seed, int draws, const Visit& visit) {
  base::Random random(seed);
  for (int i = 0; i < DrawsOf(draws); ++i) {
    const Plan question = DrawQuestion(random);
    const graph::Interval interval = DrawInterval(random, question);
    verify::infeasibility::SubgraphConfigs configs(question, OrderOf(question), kEndless, kNoStop);
    if (configs.WorkOf(interval) <= kMostWork)
      visit(Of(i, interval), configs, interval, FindAll(configs, interval));
  }
}

TEST(MemoryLowerBounds, AreBelowEveryConfig) {
  Compared compared;
  ForDrawnIntervals(2, 1500,
                    [&](const std::string& draw, verify::infeasibility::SubgraphConfigs& configs,
                        graph::Interval interval, const auto& all) {
                      if (all.empty()) return;
                      int64_t least = std::numeric_limits<int64_t>::max();
                      for (const verify::infeasibility::SubgraphConfig& config : all)
                        least = std::min(least, verify::LeastLoad(configs.ProblemOf(config, {})));
                      const int64_t floor = verify::infeasibility::FloorOf(
                          configs.InOrder(), configs.UsersOf(), interval);
                      EXPECT_LE(floor, least) << draw;
                      compared.Add(2 * floor >= least);
                    });
  ExpectEnough(compared.all, DrawsOf(400));
  ExpectEnough(compared.tight, DrawsOf(150));
}

// The bound of a tile shape is at most the load of each configuration with that shape.
TEST(MemoryLowerBounds, OfTilesAreBelowTheirConfigs) {
  Compared compared;
  ForDrawnIntervals(
      4, 1000,
      [&](const std::string& draw, verify::infeasibility::SubgraphConfigs& configs,
          graph::Interval interval, const auto& all) {
        for (const verify::infeasibility::SubgraphConfig& config : all) {
          const bool keeps_rows = config.subgraph.halo != hw_profiles::HaloStorage::kRecompute;
          const int64_t load = verify::LeastLoad(configs.ProblemOf(config, {}));
          const int64_t floor = verify::infeasibility::FloorOf(
              configs.InOrder(), configs.UsersOf(), interval, config.subgraph.tile, keeps_rows);
          EXPECT_LE(floor, load) << draw;
          compared.Add(2 * floor >= load);
        }
      });
  ExpectEnough(compared.all, DrawsOf(2000));
  ExpectEnough(compared.tight, DrawsOf(500));
}

// The bytes that its tiles and halo need are at most the load too.
TEST(ShapeLoad, IsBelowEveryConfig) {
  Compared compared;
  ForDrawnIntervals(5, 1000,
                    [&](const std::string& draw, verify::infeasibility::SubgraphConfigs& configs,
                        graph::Interval interval, const auto& all) {
                      for (const verify::infeasibility::SubgraphConfig& config : all) {
                        if (config.subgraph.weights == hw_profiles::WeightPolicy::kSplitK) continue;
                        const int64_t load = verify::LeastLoad(configs.ProblemOf(
                            config, {}));  // without the tensors that surround the subgraph
                        const int64_t least = verify::infeasibility::LoadOfShape(
                            configs.InOrder(), configs.UsersOf(), interval.first > 0 ? 1 : 0);
                        EXPECT_LE(least, load) << draw;
                        compared.Add(4 * least >= 3 * load);
                      }
                    });
  ExpectEnough(compared.all, DrawsOf(2000));
  ExpectEnough(compared.tight, DrawsOf(1000));
}

// Tiles of one element where possible need least.
TEST(LeastMetrics, AreBelowEveryTiling) {
  base::Random random(6);
  Compared compared;
  int several_tiles = 0;
  for (int i = 0; i < DrawsOf(3000); ++i) {
    const Plan question = DrawQuestion(random);
    const int64_t least =
        verify::infeasibility::LeastMetrics(question, verify::FindUsers(question.network)).macs;
    const int last = static_cast<int>(question.network.operators.size()) - 1;
    const graph::Operator& end = question.network.operators[static_cast<size_t>(last)];
    graph::tiling::TileShape tile =
        question.network.tensors[static_cast<size_t>(end.outputs.front())].shape;
    for (size_t axis = 0; axis < tile.size(); ++axis) {
      if (random.Chance(0.8) && graph::tiling::CanCut(question.network, {0, last}, axis))
        tile[axis] = random.Chance(0.7) ? 1 : random.Uniform(1, tile[axis]);
    }
    const graph::tiling::TiledSubgraph tiles =
        graph::tiling::Tile(question.network, {0, last}, tile);
    int64_t macs = 0;
    for (const graph::tiling::TileClass& each : tiles.classes)
      macs += each.count * std::accumulate(each.macs.begin(), each.macs.end(), int64_t{0});
    EXPECT_LE(least, macs) << "draw " << i;
    several_tiles += tiles.tiles > 1 ? 1 : 0;
    if (macs > 0) compared.Add(2 * least >= macs);
  }
  ExpectEnough(several_tiles, DrawsOf(500));
  ExpectEnough(compared.all, DrawsOf(1000));
  ExpectEnough(compared.tight, DrawsOf(600));
}

// Bounds are not above what tiles of a row take where rates are no binary fractions.
TEST(LeastMetrics, HoldForRatesThatAreNoBinaryFractions) {
  int reached = 0;
  for (const double rate : {0.1, 0.3, 0.7, 1.1, 2.3, 8.7}) {
    for (int64_t rows = 2; rows <= 12; ++rows) {
      for (const std::string op : {"kind: conv, inputs: [x], out_channels: 1, kernel: 1",
                                   "kind: elementwise, function: relu, inputs: [x]"}) {
        Plan plan;
        plan.network =
            graph::import::yaml::ReadNetwork(
                fmt::format("schema: 1\nname: n\ndtype: int8\ninputs: [{{id: x, shape: "
                            "[1, 1, {}, 10]}}]\noperators: [{{id: c, {}}}]\noutputs: [c]\n",
                            rows, op),
                "n.yaml")
                .value();
        plan.profile = SmallProfile();
        for (hw_profiles::RoleLayout& layout : plan.profile.roles)
          layout.home = plan.profile.tile_memory;
        hw_profiles::Port& port =
            plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)].port;
        port = {.read_bytes_per_cycle = 1 / rate, .write_bytes_per_cycle = 1e9, .shared = false};
        for (hw_profiles::Throughput& each : plan.profile.engines[0].throughputs)
          each = {each.kind, std::nullopt, {}, rate, 0, 0};
        verify::AssignHomes(plan);
        const std::vector<verify::Users> users = verify::FindUsers(plan.network);
        const int64_t bound = verify::infeasibility::LeastMetrics(plan, users).latency_cycles;
        Subgraph subgraph;
        subgraph.interval = {0, 0};
        for (int64_t tile = 1; tile <= rows; ++tile) {
          subgraph.tile = {1, 1, tile, 10};
          subgraph.tiles = (rows + tile - 1) / tile;
          plan.subgraphs = {subgraph};
          const int64_t cycles = verify::CostOf(plan, users, 0).latency_cycles;
          EXPECT_LE(bound, cycles) << rate << " for " << rows << " rows, " << tile << ", " << op;
          reached += bound == cycles ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GE(reached, 100);
}

// The Problem of a configuration is the one that the encoder builds, without the tensors that
// surround the subgraph.
TEST(SubgraphConfigs, HaveTheLoadOfTheEncodersProblem) {
  base::Random random(3);
  int checked = 0;
  for (int i = 0; i < DrawsOf(800); ++i) {
    const Plan question = DrawQuestion(random);
    const auto operators = static_cast<int>(question.network.operators.size());
    const graph::Interval interval = {0, operators - 1};
    verify::infeasibility::SubgraphConfigs configs(question, OrderOf(question), kEndless, kNoStop);
    if (configs.WorkOf(interval) > kMostWork) continue;
    for (const verify::infeasibility::SubgraphConfig& config : FindAll(configs, interval)) {
      const encoder::program::SubgraphChoice choice{interval,
                                                    config.subgraph.tile,
                                                    {config.subgraph.weights,
                                                     config.subgraph.in_place,
                                                     config.subgraph.halo,
                                                     {},
                                                     config.subgraph.k_extent,
                                                     config.subgraph.serialized}};
      const auto program =
          encoder::program::BuildProgram(question.network, question.profile, {&choice, 1});
      if (!program) continue;
      EXPECT_EQ(verify::LeastLoad(configs.ProblemOf(config, {})),
                verify::LeastLoad(program->problem))
          << "draw " << i;
      ++checked;
    }
  }
  ExpectEnough(checked, DrawsOf(1000));
}

graph::Tensor MapTensor(const std::string& id) {
  graph::Tensor tensor;
  tensor.id = id;
  tensor.shape = {1, 2, 2, 2};
  return tensor;
}

// x -> y0, x -> y1, ..
graph::Graph Parallel(int operators) {
  graph::Graph network;
  network.tensors = {MapTensor("x")};
  network.tensors.front().network_input = true;
  for (int i = 0; i < operators; ++i) {
    const std::string id = "y" + std::to_string(i);
    network.tensors.push_back(MapTensor(id));
    network.tensors.back().network_output = true;
    graph::Operator op;
    op.id = id;
    op.kind = base::OperatorKind::kElementwise;
    op.inputs = {0};
    op.outputs = {i + 1};
    network.operators.push_back(op);
  }
  return network;
}

TEST(Orders, AreAllThatKeepWhatIsRead) {
  EXPECT_EQ(verify::infeasibility::OrdersOf(Parallel(4), 24)->size(), 24U);
  EXPECT_FALSE(verify::infeasibility::OrdersOf(Parallel(4), 23));
  graph::Graph chain = Parallel(3);
  chain.operators[1].inputs = {1};
  chain.operators[2].inputs = {2};
  EXPECT_EQ(*verify::infeasibility::OrdersOf(chain, 1), (std::vector<std::vector<int>>{{0, 1, 2}}));
  chain.operators[2].inputs = {1};
  EXPECT_EQ(verify::infeasibility::OrdersOf(chain, 9)->size(), 2U);
}

}  // namespace
}  // namespace tessera::plan::refutation
