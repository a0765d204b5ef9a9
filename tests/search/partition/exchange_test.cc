// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "exhaustive.h"
#include "files.h"
#include "tessera/base/random.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/search/cost/simulate.h"

// After the search, no tile of a plan can be exchanged for one that makes the plan better, within
// what the joint placement of all other subgraphs leaves. Networks and profiles are those of the
// examples, for which the search leaves out tile extents for want of effort.
namespace tessera::search {
namespace {

using encoder::program::Policy;
using encoder::program::SubgraphChoice;
using graph::tiling::ShapeGrid;
using graph::tiling::TileShape;
using hw_profiles::Profile;

std::vector<SubgraphChoice> ChoicesOf(const plan::Plan& plan) {
  std::vector<SubgraphChoice> choices;
  for (const plan::Subgraph& subgraph : plan.subgraphs) {
    SubgraphChoice choice;
    choice.interval = subgraph.interval;
    choice.tile = subgraph.tile;
    choice.policy = {.weights = subgraph.weights,
                     .in_place = subgraph.in_place,
                     .halo = subgraph.halo,
                     .kept = plan.kept,
                     .k_extent = subgraph.k_extent,
                     .serialized = subgraph.serialized};
    choices.push_back(std::move(choice));
  }
  return choices;
}

bool FitsJointly(const plan::Plan& plan, const std::vector<SubgraphChoice>& choices) {
  const auto program = encoder::program::BuildProgram(plan.network, plan.profile, choices);
  if (!program) return false;
  allocate::AllocateOptions options;
  options.budget = base::Budget{20'000};
  const auto placed = allocate::Allocate(program->problem, nullptr, 0, TestEngines(), options);
  return placed && placed->allocation.has_value();
}

// Tiles of one subgraph of a plan under all policies, drawn from all extents of the profile's axes.
class Exchanges {
 public:
  Exchanges(const plan::Plan& plan, size_t number)
      : plan_(plan),
        number_(number),
        choices_(ChoicesOf(plan)),
        simulator_(plan.network, plan.profile) {
    std::vector<graph::tiling::CutAxis> axes;
    for (const hw_profiles::AxisGranularity& each : plan.profile.tiling.axes)
      axes.push_back({each.axis, each.granularity});
    const graph::Interval interval = choices_[number].interval;
    grid_ = graph::tiling::WithEveryExtent(graph::tiling::TileShapes(plan.network, interval, axes));
    policies_ = encoder::program::AllowedPolicies(plan.network, plan.profile, interval, plan.kept);
  }

  // Whether some of `count` draws makes the plan faster, and fits.
  bool FindBetter(base::Random& random, int count) {
    const int64_t now = CyclesOf(choices_[number_]);
    EXPECT_EQ(now, plan_.subgraphs[number_].metrics.latency_cycles);
    for (int i = 0; i < count; ++i) {
      std::vector<SubgraphChoice> changed = choices_;
      SubgraphChoice& choice = changed[number_];
      for (size_t axis = 0; axis < choice.tile.size(); ++axis) {
        const std::vector<int64_t>& extents = grid_.extents[axis];
        if (random.Chance(0.5))
          choice.tile[axis] = extents[static_cast<size_t>(
              random.Uniform(0, static_cast<int64_t>(extents.size()) - 1))];
      }
      choice.policy = policies_[static_cast<size_t>(
          random.Uniform(0, static_cast<int64_t>(policies_.size()) - 1))];
      const bool keeps_rows = choice.policy.halo != hw_profiles::HaloStorage::kRecompute;
      const graph::Shape& output = encoder::program::OutputShape(plan_.network, choice.interval);
      if (graph::tiling::MakesTooManyTiles(grid_, choice.tile) ||
          (keeps_rows && !encoder::program::MayKeepRows(plan_.profile, output, choice.tile)))
        continue;
      ++compared_;
      if (CyclesOf(choice) < now && FitsJointly(plan_, changed)) return true;
    }
    return false;
  }

  int Compared() const { return compared_; }

 private:
  int64_t CyclesOf(const SubgraphChoice& choice) const {
    return simulator_
        .Run(encoder::program::CutTiles(plan_.network, choice.interval, choice.tile,
                                        choice.policy.halo),
             choice.policy, cost::Detail::kTotals, {})
        .latency_cycles;
  }

  const plan::Plan& plan_;
  size_t number_;
  std::vector<SubgraphChoice> choices_;
  cost::Simulator simulator_;
  ShapeGrid grid_;
  std::vector<Policy> policies_;
  int compared_ = 0;
};

struct Pair {
  std::string network;
  std::string profile;
};

class ExchangeTest : public testing::TestWithParam<Pair> {};

TEST_P(ExchangeTest, NoTileOfAPlanHasABetterOneThatFits) {
  partition::answer::PartitionOptions options;
  options.engines = TestEngines();
  const auto found =
      partition::SearchPartition(NetworkIn("examples/networks/" + GetParam().network + ".yaml"),
                                 ProfileIn("hw_profiles/" + GetParam().profile + ".yaml"), options);
  ASSERT_TRUE(found && found->plan);
  base::Random random(17);
  int compared = 0;
  for (size_t number = 0; number < found->plan->subgraphs.size(); ++number) {
    Exchanges exchanges(*found->plan, number);
    EXPECT_FALSE(exchanges.FindBetter(random, 300)) << "subgraph " << number;
    compared += exchanges.Compared();
  }
  EXPECT_GE(compared, 500);
}

INSTANTIATE_TEST_SUITE_P(Of, ExchangeTest,
                         testing::Values(Pair{"mobilenet_v2_035", "edge_npu_64kib"},
                                         Pair{"resnet_18", "edge_npu_1mib"},
                                         Pair{"mobilenet_v2", "edge_npu_1mib"},
                                         Pair{"mobilenet_v2_035", "ethos_u55_256"}),
                         [](const auto& info) {
                           return info.param.network + "_on_" + info.param.profile;
                         });

}  // namespace
}  // namespace tessera::search
