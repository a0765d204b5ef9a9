// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/plan/verify/costs.h"
#include "tessera/plan/verify/in_place.h"
#include "tessera/tests/audit/draw_network.h"
#include "tessera/tests/audit/draw_profile.h"
#include "tessera/tests/draw_host.h"
#include "tessera/tests/draw_prefetch.h"
#include "tessera/tests/draws.h"
#include "tessera/tests/graph/random_sum.h"
#include "tessera/tests/search/cost/disagreements.h"
#include "tessera/tests/search/cost/random_program.h"

// Two implementations compute the costs of subgraphs: search::cost::Simulator from classes of
// tiles, and plan::verify::CostOf tile by tile. The test draws networks with every kind of operator
// and machines with every feature, cuts them at random and runs them under any policies. Both
// implementations must agree.
namespace tessera::plan {
namespace {

using base::Random;
using hw_profiles::DmaSteps;
using hw_profiles::HaloStorage;
using hw_profiles::Profile;
using hw_profiles::WeightPolicy;

// Counts of compared subgraphs, by their features.
using Tally = std::map<std::string, int>;

// cache [1, channels, past, columns] and x -> the cache of the next run, with more rows.
graph::Graph DrawCache(Random& random) {
  graph::Graph network;
  network.name = "cache";
  const int64_t channels = random.Uniform(1, 4);
  const int64_t columns = random.Uniform(1, 3);
  const int64_t past = random.Uniform(1, 6);
  const int64_t fresh = random.Uniform(1, 4);
  const auto add = [&](const std::string& id, int64_t rows) {
    graph::Tensor& tensor = network.tensors.emplace_back();
    tensor.id = id;
    tensor.shape = {1, channels, rows, columns};
    return &tensor;
  };
  add("cache", past)->state = true;
  add("x", fresh)->network_input = true;
  graph::Tensor* all = add("all", past + fresh);
  all->network_output = true;
  all->next_of = 0;
  graph::Operator concat;
  concat.id = "concat";
  concat.kind = base::OperatorKind::kConcat;
  concat.axis = 2;
  concat.inputs = {0, 1};
  concat.outputs = {2};
  network.operators = {concat};
  return network;
}

graph::Graph DrawGraph(Random& random) {
  const double kind = random.Real();
  if (kind < 0.25)
    return graph::RandomSum(random,
                            random.Chance(0.3) ? base::DataType::kInt4 : base::DataType::kInt8);
  if (kind < 0.32) return DrawCache(random);
  graph::Graph network = audit::DrawNetwork(random, static_cast<int>(random.Uniform(1, 7)));
  if (random.Chance(0.1)) {
    for (graph::Tensor& tensor : network.tensors) tensor.type = base::DataType::kInt4;
  }
  return network;
}

// The machine has space for everything, any axis may be cut and any policy chosen. Requirements of
// rules and banks have no cost.
Profile DrawMachine(Random& random, const graph::Graph& network) {
  Profile profile = audit::DrawProfile(random, network);
  for (hw_profiles::Memory& memory : profile.memories) {
    memory.capacity_bytes = int64_t{1} << 40;
    memory.reserved.clear();
    memory.banks.clear();
    memory.modes.clear();
    memory.transitions.reset();
  }
  profile.rules.clear();
  for (hw_profiles::RoleLayout& layout : profile.roles) {
    if (random.Chance(0.1)) layout.channel_block = 3;
  }
  hw_profiles::Tiling& tiling = profile.tiling;
  tiling.axes = {{base::Axis::kRows, 1},
                 {base::Axis::kColumns, 1},
                 {base::Axis::kChannels, 1},
                 {base::Axis::kBatch, 1}};
  tiling.halo = {HaloStorage::kRecompute, HaloStorage::kRollingBuffer, HaloStorage::kLineBuffer,
                 HaloStorage::kAdjacent};
  tiling.weights = {WeightPolicy::kResident, WeightPolicy::kStreamed, WeightPolicy::kDirect,
                    WeightPolicy::kSplitK};
  return profile;
}

std::vector<encoder::program::SubgraphChoice> DrawChoices(Random& random,
                                                          const graph::Graph& network,
                                                          const Profile& profile) {
  std::vector<encoder::program::SubgraphChoice> choices;
  const auto operators = static_cast<int>(network.operators.size());
  for (int first = 0; first < operators;) {
    const int last = std::min(operators - 1, first + static_cast<int>(random.Uniform(0, 3)));
    const graph::Interval interval = WithoutHosted(network, profile, {first, last});
    encoder::program::SubgraphChoice choice =
        search::RandomChoice(random, network, profile, interval);
    const bool alone = interval.first == interval.last;
    if (alone && !IsHosted(network, profile, first) && random.Chance(0.5)) {
      choice.policy.weights = WeightPolicy::kSplitK;
      choice.policy.halo = HaloStorage::kRecompute;
      choice.policy.k_extent = profile.tiling.k_granularity * random.Uniform(0, 2);
    }
    choices.push_back(std::move(choice));
    first = interval.last + 1;
  }
  const std::vector<int> kept = search::RandomKept(random, network, profile, choices);
  for (encoder::program::SubgraphChoice& choice : choices) choice.policy.kept = kept;
  return choices;
}

// Changes drawn choices of a subgraph that are not possible, and prefetches many constants where
// possible. Returns whether the choices are then a program.
bool MakeBuildable(Random& random, const graph::Graph& network, const Profile& profile,
                   std::vector<encoder::program::SubgraphChoice>& choices) {
  const auto refused = [&] { return !encoder::program::BuildProgram(network, profile, choices); };
  for (encoder::program::SubgraphChoice& choice : choices) {
    if (!refused()) break;
    if (choice.policy.weights != WeightPolicy::kSplitK &&
        choice.policy.weights != WeightPolicy::kDirect)
      continue;
    if (IsHosted(network, profile, choice.interval.first)) continue;
    choice.policy.weights = WeightPolicy::kResident;
    choice.policy.k_extent = 0;
  }
  if (refused()) return false;
  for (size_t i = 1; i < choices.size(); ++i) {
    if (profile.tiling.dma != DmaSteps::kDoubleBuffered || !random.Chance(0.7)) continue;
    const encoder::program::SubgraphChoice before = choices[i];
    choices[i].prefetch = DrawPrefetch(random, i);
    if (choices[i].policy.weights == WeightPolicy::kStreamed) {
      choices[i].tile = encoder::program::OutputShape(network, choices[i].interval);
      choices[i].policy.halo = HaloStorage::kRecompute;
    }
    if (refused()) choices[i] = before;
  }
  return true;
}

bool GrowsState(const Plan& plan, const std::vector<verify::Users>& users,
                const graph::Operator& op) {
  const int state = plan.network.tensors[static_cast<size_t>(op.outputs.front())].next_of;
  return op.kind == base::OperatorKind::kConcat && state >= 0 && op.inputs.front() == state &&
         verify::HomeOf(plan, state) == plan.profile.tile_memory &&
         MayTakePlaceOfState(plan, users, op.outputs.front());
}

void Count(const Plan& plan, const std::vector<verify::Users>& users, const Subgraph& subgraph,
           Tally& tally) {
  const std::string dma =
      std::string(subgraph.serialized ? "serialized here"
                                      : hw_profiles::NameOf(plan.profile.tiling.dma)) +
      " ";
  ++tally[dma + std::string(hw_profiles::NameOf(subgraph.weights))];
  if (subgraph.tiles > 1) ++tally[dma + std::string(hw_profiles::NameOf(subgraph.halo))];
  ++tally[dma + "tiles " + std::to_string(std::min<int64_t>(4, subgraph.tiles))];
  tally["in_place"] += subgraph.in_place ? 1 : 0;
  tally["prefetch"] += subgraph.prefetch.empty() ? 0 : 1;
  tally["slices ahead"] += verify::TakesSlicesAhead(subgraph) ? 1 : 0;
  tally["kept"] += plan.kept.empty() ? 0 : 1;
  tally["host"] += IsHosted(plan.network, plan.profile, subgraph.interval.first) ? 1 : 0;
  for (int i = subgraph.interval.first; i <= subgraph.interval.last; ++i) {
    const graph::Operator& op = plan.network.operators[static_cast<size_t>(i)];
    tally["growing state"] += GrowsState(plan, users, op) ? 1 : 0;
    ++tally[std::string(base::NameOf(op.kind))];
  }
}

TEST(CostsOfDraws, AreWhatTheSimulationSays) {
  Random random(2041);
  Tally tally;
  int compared = 0;
  for (int round = 0; round < DrawsOf(5000); ++round) {
    const graph::Graph network = DrawGraph(random);
    const Profile profile = DrawMachine(random, network);
    std::vector<encoder::program::SubgraphChoice> choices = DrawChoices(random, network, profile);
    if (!MakeBuildable(random, network, profile, choices)) continue;
    const Plan plan = search::AsPlan(network, profile, choices, {});
    const std::vector<verify::Users> users = verify::FindUsers(plan.network);
    for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
      const Metrics found = verify::CostOf(plan, users, static_cast<int>(i));
      ASSERT_EQ(search::CostDifference(plan.subgraphs[i].metrics, found), "")
          << "round " << round << ", subgraph " << i;
      ++compared;
      Count(plan, users, plan.subgraphs[i], tally);
    }
  }
  ExpectEnough(compared, DrawsOf(5000));
  for (const auto& [dma, least, least_sums] :
       {std::tuple{"serialized ", 200, 80}, std::tuple{"serialized here ", 60, 30},
        std::tuple{"double_buffered ", 200, 80}}) {
    for (const char* what : {"resident", "streamed", "direct", "recompute", "rolling_buffer",
                             "line_buffer", "adjacent", "tiles 1", "tiles 2", "tiles 3", "tiles 4"})
      EXPECT_GE(tally[std::string(dma) + what], LeastOf(least)) << dma << what;
    EXPECT_GE(tally[std::string(dma) + "split_k"], LeastOf(least_sums)) << dma;
  }
  for (const char* what : {"in_place", "prefetch", "kept", "growing state", "host"})
    EXPECT_GE(tally[what], LeastOf(150)) << what;
  EXPECT_GE(tally["slices ahead"], LeastOf(50));
  for (const std::string_view kind : base::OperatorKindNames())
    EXPECT_GE(tally[std::string(kind)], LeastOf(50)) << kind;
}

}  // namespace
}  // namespace tessera::plan
