// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "plans.h"
#include "tessera/encoder/program/home_tiles.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/home_tiles.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/off_chip/place.h"

// Tensors that share addresses tile by tile, for random programs on random accelerators: two
// derivations of the lives of all bytes agree, and every tile is intact when it is read.
namespace tessera::plan::execute {
namespace {

using problem::Bytes;
using testing::IsEmpty;

bool CoversAll(const Plan& plan) {
  return plan.subgraphs.front().interval.first == 0 &&
         plan.subgraphs.back().interval.last + 1 == static_cast<int>(plan.network.operators.size());
}

// The life of each byte, by tensor.
using Lives = std::map<int, std::vector<problem::Lifespan>>;

void Enter(Lives& lives, int tensor, problem::AddressRange bytes, problem::Lifespan life) {
  std::vector<problem::Lifespan>& of_tensor = lives[tensor];
  of_tensor.resize(std::max(of_tensor.size(), static_cast<size_t>(bytes.end)));
  for (Bytes at = bytes.begin; at < bytes.end; ++at) of_tensor[static_cast<size_t>(at)] = life;
}

struct Tally {
  int plans = 0;
  int shared = 0;  // with a peak below that of whole tensors
  int halos = 0;   // that keep rows
  int serialized = 0;
};

void Try(Plan plan, Tally& tally) {
  std::vector<encoder::program::SubgraphChoice> choices;
  for (const Subgraph& subgraph : plan.subgraphs)
    choices.push_back(search::cost::ChoiceOf(subgraph, plan.kept));
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  for (const OffChip method : {OffChip::kPaper, OffChip::kTileAware}) {
    plan.homes.clear();
    Bytes load = 0;
    Lives found;
    for (encoder::program::HomeProblem& home :
         encoder::program::BuildHomes(plan.network, plan.profile, choices)) {
      const auto tensors = encoder::program::TilesAtHome(plan.network, plan.profile, choices, home);
      ASSERT_TRUE(tensors);
      for (size_t i = 0; i < tensors->size(); ++i) {
        for (const problem::TensorChunk& chunk : ChunksOf((*tensors)[i]))
          Enter(found, home.tensors[i], chunk.bytes, chunk.life);
      }
      problem::Memory memory = home.problem.memories.front();
      memory.capacity = Bytes{1} << 40;
      memory.reserved.clear();
      search::off_chip::PlaceOptions options;
      options.method = method;
      options.engines = engines;
      options.budget = {2'000};
      const auto placed = search::off_chip::Place(*tensors, memory, {}, options);
      ASSERT_TRUE(placed);
      ASSERT_EQ(placed->reason, "");
      ASSERT_LE(placed->lower_bound, placed->peak);
      Bytes sum = 0;
      for (const problem::TiledTensor& tensor : *tensors) sum += tensor.size;
      load += placed->peak < sum ? 1 : 0;
      plan.homes.push_back({.memory = home.memory,
                            .problem = home.problem,
                            .allocation = {placed->bases, {}},
                            .tensors = home.tensors,
                            .by_tiles = true,
                            .lower_bound = placed->lower_bound});
    }
    plan.run.searched = true;  // other plans state no bounds of homes
    const verify::Derivation derivation = verify::Derive(plan);
    const auto bytes = verify::FindHomeBytes(plan, derivation);
    ASSERT_TRUE(bytes);
    Lives derived;
    for (const verify::HomeBytes& each : bytes->list)
      Enter(derived, each.tensor, each.bytes, each.slots);
    ASSERT_EQ(found.size(), derived.size());
    // Slots are numbered differently where transfers have steps of their own.
    const bool overlaps = std::all_of(
        plan.subgraphs.begin(), plan.subgraphs.end(),
        [&plan](const Subgraph& subgraph) { return verify::IsDoubleBuffered(plan, subgraph); });
    for (const auto& [tensor, lives] : found) {
      for (size_t at = 0; overlaps && at < lives.size(); ++at)
        ASSERT_EQ(lives[at], derived[tensor][at])
            << "byte " << at << " of " << plan.network.tensors[static_cast<size_t>(tensor)].id;
    }
    verify::Findings findings(5);
    verify::CheckHomesByTiles(plan, derivation, findings);
    for (const verify::Violation& violation : findings.Take()) FAIL() << violation.message;
    ASSERT_THAT(MessagesOf(plan), IsEmpty());
    tally.shared += load > 0 ? 1 : 0;
  }
  ++tally.plans;
  const auto any = [&plan](const auto& test) {
    return std::any_of(plan.subgraphs.begin(), plan.subgraphs.end(), test);
  };
  tally.halos += any([](const Subgraph& subgraph) {
    return subgraph.halo != hw_profiles::HaloStorage::kRecompute;
  });
  tally.serialized +=
      any([&plan](const Subgraph& subgraph) { return !verify::IsDoubleBuffered(plan, subgraph); });
}

TEST(OffChip, TilesAreIntactWhenTheyAreRead) {
  base::Random random(31);
  Tally tally;
  for (int draw = 0; draw < 600; ++draw) {
    const Kinds kinds = draw % 3 == 0 ? Kinds::kDepthwise : Kinds::kAll;
    const std::optional<Plan> plan = DrawPlan(random, false, kinds);
    if (!plan || !CoversAll(*plan)) continue;
    Try(*plan, tally);
    if (HasFatalFailure()) FAIL() << "draw " << draw;
  }
  EXPECT_GE(tally.plans, 100);
  EXPECT_GE(tally.shared, 60);
  EXPECT_GE(tally.halos, 20);
  EXPECT_GE(tally.serialized, 20);
}

}  // namespace
}  // namespace tessera::plan::execute
