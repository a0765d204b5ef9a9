// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string_view>

#include "random_graph.h"
#include "random_program.h"
#include "tessera/base/random.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/search/cost/simulate.h"

namespace tessera::search {
namespace {

// No program costs less than the bound of its subgraph. This bound is often closer than the bound
// that holds for every cut.
TEST(SubgraphBound, HoldsForEveryProgram) {
  base::Random random(2027);
  int programs = 0;
  int closer = 0;
  for (int round = 0; round < 1500; ++round) {
    graph::Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(1, 6)));
    DrawWeights(random, graph);
    hw_profiles::Profile profile = RandomMachine(random);
    DrawPaces(random, profile);
    graph = encoder::program::WithHomes(std::move(graph), profile);
    const auto last = static_cast<int>(graph.operators.size()) - 1;
    const graph::Interval interval =
        WithoutHosted(graph, profile, {static_cast<int>(random.Uniform(0, last)), last});
    encoder::program::SubgraphChoice choice = RandomChoice(random, graph, profile, interval);
    choice.policy.kept = RandomKept(random, graph, profile, {choice});
    if (!encoder::program::BuildProgram(graph, profile, {&choice, 1})) continue;
    ++programs;
    const plan::Metrics cost =
        cost::Simulate(graph, profile,
                       encoder::program::CutTiles(graph, interval, choice.tile, choice.policy.halo),
                       choice.policy);
    const plan::Metrics any_cut = cost::LowerBound(graph, profile, interval);
    const plan::Metrics bound = cost::SubgraphBound(graph, profile, interval, choice.policy.kept);
    for (const std::string_view metric : {"latency", "energy", "off_chip_bytes"}) {
      const double found = plan::ValueOf(bound, metric);
      EXPECT_LE(found, plan::ValueOf(cost, metric) * (1 + 1e-12)) << metric << ", round " << round;
      if (!choice.policy.kept.empty()) continue;
      EXPECT_LE(plan::ValueOf(any_cut, metric), found * (1 + 1e-12))
          << metric << ", round " << round;
    }
    closer += bound.latency_cycles > any_cut.latency_cycles ? 1 : 0;
  }
  EXPECT_GE(programs, 500);
  EXPECT_GE(closer, 100);
}

}  // namespace
}  // namespace tessera::search
