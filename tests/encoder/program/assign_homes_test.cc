// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "random_graph.h"
#include "small_networks.h"
#include "tessera/base/random.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/graph/graph.h"

// Tests docs/program.md, "Several homes".
namespace tessera::encoder {
namespace {

using base::TensorRole;
using hw_profiles::Profile;
using testing::ElementsAre;

// TwoLevels with a memory "tcm" of that size, which comes before "dram" in the roles' lists.
Profile WithTcm(int64_t capacity, const std::vector<TensorRole>& roles) {
  Profile profile = TwoLevels(hw_profiles::DmaSteps::kSerialized);
  hw_profiles::Memory tcm;
  tcm.name = "tcm";
  tcm.capacity_bytes = capacity;
  profile.memories.push_back(tcm);
  hw_profiles::Link link;
  link.name = "tcm_dma";
  link.first = 2;
  link.second = profile.tile_memory;
  profile.links.push_back(link);
  for (const TensorRole role : roles) {
    hw_profiles::RoleLayout& layout = Layout(profile, role);
    layout.next_homes = {layout.home};
    layout.home = 2;
  }
  return profile;
}

// The ids of the tensors in "tcm", in the order of the network.
std::vector<std::string> InTcm(const graph::Graph& graph, const Profile& profile) {
  std::vector<std::string> ids;
  const graph::Graph placed = program::WithHomes(graph, profile);
  for (int tensor = 0; tensor < static_cast<int>(placed.tensors.size()); ++tensor) {
    if (program::HomeOf(placed, profile, tensor, program::RoleAtHome(placed, tensor)) == 2)
      ids.push_back(placed.tensors[static_cast<size_t>(tensor)].id);
  }
  return ids;
}

// x -> a -> b -> .., each of so many bytes; the last one is the output.
graph::Graph Chain(const std::vector<int64_t>& bytes) {
  Network net;
  int last = net.Input("x", {1, 1, 1, 1});
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string id(1, static_cast<char>('a' + i));
    const int next = net.Tensor(id, {1, 1, 1, bytes[i]});
    net.Elementwise("make_" + id, {last}, next);
    last = next;
  }
  net.Output(last);
  return net.graph;
}

// One operator that reads constants of so many bytes: w0, w1, ...
graph::Graph Reading(const std::vector<int64_t>& bytes) {
  Network net;
  const int x = net.Input("x", {1, 1, 1, 4});
  const int y = net.Tensor("y", {1, 1, 1, 4});
  net.Elementwise("op", {x}, y);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const int w = net.Constant("w" + std::to_string(i), {bytes[i]});
    net.graph.operators.back().weights.push_back(w);
  }
  net.Output(y);
  return net.graph;
}

TEST(WithHomes, FillsTheFirstHomeWithTheLargestConstantsThatFit) {
  const graph::Graph graph = Reading({10, 60, 30, 50, 20});
  const std::vector<TensorRole> roles = {TensorRole::kConstant};
  EXPECT_THAT(InTcm(graph, WithTcm(170, roles)), ElementsAre("w0", "w1", "w2", "w3", "w4"));
  EXPECT_THAT(InTcm(graph, WithTcm(169, roles)), ElementsAre("w1", "w2", "w3", "w4"));
  EXPECT_THAT(InTcm(graph, WithTcm(100, roles)), ElementsAre("w0", "w1", "w2"));
  EXPECT_THAT(InTcm(graph, WithTcm(9, roles)), ElementsAre());
}

// Ten of 100 bytes: each fits in 256, all together do not.
TEST(WithHomes, OfEqualOnesPutsAsManyAsFit) {
  const graph::Graph graph = Reading(std::vector<int64_t>(10, 100));
  EXPECT_THAT(InTcm(graph, WithTcm(256, {TensorRole::kConstant})), ElementsAre("w0", "w1"));
}

TEST(WithHomes, OfEqualOnesTakesWhatIsReadFirst) {
  Network net;
  int last = net.Input("x", {1, 1, 1, 4});
  for (const std::string id : {"z", "y", "a"}) {
    const int next = net.Tensor("t" + id, {1, 1, 1, 4});
    net.Elementwise("op" + id, {last}, next);
    net.graph.operators.back().weights = {net.Constant(id, {20})};
    last = next;
  }
  net.Output(last);
  EXPECT_THAT(InTcm(net.graph, WithTcm(40, {TensorRole::kConstant})), ElementsAre("z", "y"));
}

TEST(WithHomes, CountsBytesRoundedUpToAlignments) {
  Profile profile = WithTcm(32, {TensorRole::kConstant});
  const graph::Graph graph = Reading({9, 9, 9, 9});
  EXPECT_EQ(InTcm(graph, profile).size(), 3U);
  profile.memories[2].alignment_bytes = 16;
  EXPECT_EQ(InTcm(graph, profile).size(), 2U);
  profile.links[1].alignment_bytes = 32;
  EXPECT_EQ(InTcm(graph, profile).size(), 1U);
  profile.memories[2].reserved = {{{8, 9}, "flag"}};
  EXPECT_EQ(InTcm(graph, profile).size(), 0U);
}

// At most two of the boundary tensors a, b, c and d are there at a time, at worst the two largest.
TEST(WithHomes, BoundariesOfAChainTakeTurns) {
  const graph::Graph graph = Chain({40, 30, 20, 10, 5});
  const std::vector<TensorRole> roles = {TensorRole::kBoundary};
  EXPECT_THAT(InTcm(graph, WithTcm(70, roles)), ElementsAre("a", "b", "c", "d"));
  EXPECT_THAT(InTcm(graph, WithTcm(69, roles)), ElementsAre("a", "c", "d"));
  EXPECT_THAT(InTcm(graph, WithTcm(39, roles)), ElementsAre("b"));
}

// a is there until its last reader has run, so its bytes are not reused before that.
TEST(WithHomes, WhatSkipsOthersTakesNoTurnsWithThem) {
  graph::Graph graph = Chain({10, 10, 10, 10});
  const std::vector<TensorRole> roles = {TensorRole::kBoundary};
  EXPECT_THAT(InTcm(graph, WithTcm(20, roles)), ElementsAre("a", "b", "c"));
  graph.operators[3].inputs.push_back(*graph::FindTensor(graph, "a"));
  EXPECT_THAT(InTcm(graph, WithTcm(20, roles)), ElementsAre("a", "b"));
  EXPECT_THAT(InTcm(graph, WithTcm(30, roles)), ElementsAre("a", "b", "c"));
}

TEST(WithHomes, WhatHasOneHomeComesFirstAndBoundariesLast) {
  graph::Graph graph = Chain({40, 30, 4});
  graph.operators[0].weights = {static_cast<int>(graph.tensors.size())};
  graph::Tensor& weights = graph.tensors.emplace_back();
  weights.id = "w";
  weights.shape = {25};
  weights.constant = true;
  Profile profile = WithTcm(60, {TensorRole::kBoundary, TensorRole::kConstant});
  EXPECT_THAT(InTcm(graph, profile), ElementsAre("b", "w"));
  Layout(profile, TensorRole::kNetworkOutput).home = 2;
  EXPECT_THAT(InTcm(graph, profile), ElementsAre("b", "c", "w"));
  profile.memories[2].capacity_bytes = 55;
  EXPECT_THAT(InTcm(graph, profile), ElementsAre("c", "w"));
}

TEST(WithHomes, TheLastHomeTakesTheRestWhateverItsCapacity) {
  const graph::Graph graph = Reading({10, 60});
  Profile profile = WithTcm(10, {TensorRole::kConstant});
  profile.memories[0].capacity_bytes = 50;
  EXPECT_THAT(InTcm(graph, profile), ElementsAre("w0"));
  const auto overflow = program::FindConstantOverflow(program::WithHomes(graph, profile), profile);
  ASSERT_TRUE(overflow);
  EXPECT_EQ(overflow->message,
            "memory 'dram' of profile 'small' has room for 50 bytes, and is home to 60, constants "
            "and state "
            "alone");
}

// 10 bytes at 0.75 are 8; constants that state their bytes keep them.
TEST(WithHomes, SetsTheBytesThatARatioGives) {
  Profile profile = WithTcm(1, {});
  profile.roles[static_cast<size_t>(base::TensorRole::kConstant)].stored_ratio = 0.75;
  graph::Graph graph;
  for (const problem::Bytes stored : {0, 3}) {
    graph::Tensor& tensor = graph.tensors.emplace_back();
    tensor.constant = true;
    tensor.shape = {10};
    tensor.stored_bytes = stored;
  }
  const graph::Graph placed = program::WithHomes(graph, profile);
  EXPECT_EQ(placed.tensors[0].stored_bytes, 8);
  EXPECT_EQ(placed.tensors[1].stored_bytes, 3);
}

TEST(WithHomes, OneHomeForEachRoleIsTheFirst) {
  graph::Graph graph = Reading({10, 60});
  for (graph::Tensor& tensor : graph.tensors) tensor.home = 3;
  for (const graph::Tensor& tensor : program::WithHomes(graph, WithTcm(1, {})).tensors)
    EXPECT_EQ(tensor.home, 0);
}

// h0, h1, .. with next values y0, y1, ..: each y is made from h by an elementwise operator, so that
// it may take the place of h; or, if `looked_at`, another operator reads h and y, so that it may
// not.
graph::Graph States(const std::vector<int64_t>& bytes, bool looked_at = false) {
  Network net;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string number = std::to_string(i);
    const int h = net.State("h" + number, {1, 1, 1, bytes[i]});
    const int y = net.Tensor("y" + number, {1, 1, 1, bytes[i]});
    net.Output(y);
    net.graph.tensors[static_cast<size_t>(y)].next_of = h;
    net.Elementwise("make" + number, {h}, y);
    if (!looked_at) continue;
    const int seen = net.Tensor("seen" + number, {1, 1, 1, bytes[i]});
    net.Output(seen);
    net.Elementwise("look" + number, {h, y}, seen);
  }
  return net.graph;
}

// The ids of states and their next values in the tile memory of that capacity.
std::vector<std::string> InTileMemory(const graph::Graph& graph, Profile profile,
                                      int64_t capacity) {
  profile.memories[static_cast<size_t>(profile.tile_memory)].capacity_bytes = capacity;
  std::vector<std::string> ids;
  const graph::Graph placed = program::WithHomes(graph, profile);
  for (int tensor = 0; tensor < static_cast<int>(placed.tensors.size()); ++tensor) {
    const TensorRole role = program::RoleAtHome(placed, tensor);
    if (role == TensorRole::kState &&
        program::HomeOf(placed, profile, tensor, role) == profile.tile_memory)
      ids.push_back(placed.tensors[static_cast<size_t>(tensor)].id);
  }
  return ids;
}

// TwoLevels with the tile memory and then DRAM as homes of states.
Profile StatesFirstInTileMemory() {
  Profile profile = TwoLevels(hw_profiles::DmaSteps::kSerialized);
  profile.tiling.in_place = {base::OperatorKind::kElementwise};
  hw_profiles::RoleLayout& layout = Layout(profile, TensorRole::kState);
  layout.next_homes = {layout.home};
  layout.home = profile.tile_memory;
  return profile;
}

TEST(WithHomes, StatesTakeHalfOfTheTileMemory) {
  const Profile profile = StatesFirstInTileMemory();
  const graph::Graph graph = States({40, 30, 20});
  EXPECT_THAT(InTileMemory(graph, profile, 180), ElementsAre("h0", "y0", "h1", "y1", "h2", "y2"));
  EXPECT_THAT(InTileMemory(graph, profile, 179), ElementsAre("h0", "y0", "h1", "y1"));
  EXPECT_THAT(InTileMemory(graph, profile, 120), ElementsAre("h0", "y0", "h2", "y2"));
  EXPECT_THAT(InTileMemory(graph, profile, 79), ElementsAre("h1", "y1"));
  EXPECT_THAT(InTileMemory(graph, profile, 39), ElementsAre());
}

TEST(WithHomes, OtherTensorsInTheTileMemoryDoNotCount) {
  Profile profile = StatesFirstInTileMemory();
  graph::Graph graph = States({40});
  graph::Tensor& result = graph.tensors.emplace_back(graph.tensors[1]);
  result.id = "result";
  result.next_of = -1;
  graph.operators.push_back(graph.operators[0]);
  graph.operators[1].id = "other";
  graph.operators[1].outputs = {2};
  Layout(profile, TensorRole::kNetworkOutput).home = profile.tile_memory;
  EXPECT_THAT(InTileMemory(graph, profile, 80), ElementsAre("h0", "y0"));
}

TEST(WithHomes, StatesThatStayApartCountTwice) {
  Profile profile = StatesFirstInTileMemory();
  const graph::Graph apart = States({40}, /*looked_at=*/true);
  EXPECT_THAT(InTileMemory(apart, profile, 160), ElementsAre("h0", "y0"));
  EXPECT_THAT(InTileMemory(apart, profile, 159), ElementsAre());
  profile.tiling.in_place = {};
  EXPECT_THAT(InTileMemory(States({40}), profile, 159), ElementsAre());
}

// A growing cache counts with its next value. Reserved bytes and alignments count too.
TEST(WithHomes, StatesInTheTileMemoryCountTheLargerOfAPair) {
  Profile profile = StatesFirstInTileMemory();
  graph::Graph graph = States({40});
  graph.tensors[1].shape = {1, 1, 2, 40};
  graph::Tensor more = graph.tensors[0];
  more.id = "x";
  more.state = false;
  more.network_input = true;
  graph.tensors.push_back(more);
  graph.operators[0].kind = base::OperatorKind::kConcat;
  graph.operators[0].axis = 2;
  graph.operators[0].inputs = {0, 2};
  EXPECT_THAT(InTileMemory(graph, profile, 160), ElementsAre("h0", "y0"));
  EXPECT_THAT(InTileMemory(graph, profile, 159), ElementsAre());
  hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  memory.reserved = {{{0, 8}, "flag"}};
  EXPECT_THAT(InTileMemory(graph, profile, 167), ElementsAre());
  EXPECT_THAT(InTileMemory(graph, profile, 168), ElementsAre("h0", "y0"));
  memory.alignment_bytes = 32;
  EXPECT_THAT(InTileMemory(graph, profile, 199), ElementsAre());
  EXPECT_THAT(InTileMemory(graph, profile, 200), ElementsAre("h0", "y0"));
}

std::vector<problem::Bank> BanksOf(const std::vector<problem::Bytes>& lengths) {
  std::vector<problem::Bank> banks;
  problem::Bytes end = 0;
  for (const problem::Bytes length : lengths) {
    problem::Bank& bank = banks.emplace_back();
    bank.range = {end, end + length};
    end += length;
  }
  return banks;
}

TEST(WithHomes, StatesFitInOneBankEach) {
  Profile profile = StatesFirstInTileMemory();
  hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  memory.banks = BanksOf({40, 360});
  memory.span = problem::Span::kSingle;
  EXPECT_THAT(InTileMemory(States({40}), profile, 400), ElementsAre("h0", "y0"));
  memory.banks = BanksOf({39, 39, 39});
  EXPECT_THAT(InTileMemory(States({40, 39}), profile, 400), ElementsAre("h1", "y1"));
  memory.span = problem::Span::kAny;
  EXPECT_THAT(InTileMemory(States({40}), profile, 400), ElementsAre("h0", "y0"));
}

// One step would read the state and write its next value in the same bank.
TEST(WithHomes, StatesThatAreReplacedNeedABankOfOneMode) {
  Profile profile = StatesFirstInTileMemory();
  hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  memory.modes.resize(2);
  graph::Graph graph = States({40});
  EXPECT_THAT(InTileMemory(graph, profile, 400), ElementsAre());
  graph.tensors[1].next_of = -1;
  EXPECT_THAT(InTileMemory(graph, profile, 400), ElementsAre("h0"));
}

std::vector<int> AnyOrder(base::Random& random, const graph::Graph& graph) {
  const std::vector<std::vector<int>> before = graph::DependenciesOf(graph);
  std::vector<int> order;
  std::vector<char> done(before.size(), 0);
  while (order.size() < before.size()) {
    const auto op = static_cast<size_t>(random.Uniform(0, static_cast<int64_t>(before.size()) - 1));
    const bool ready = std::all_of(before[op].begin(), before[op].end(),
                                   [&](int each) { return done[static_cast<size_t>(each)] != 0; });
    if (done[op] != 0 || !ready) continue;
    done[op] = 1;
    order.push_back(static_cast<int>(op));
  }
  return order;
}

// In every order and every partition, the memory before the last holds the tensors that the rule
// puts there. Bounds depend on this claim.
TEST(WithHomes, NoOrderAndNoPartitionOverflowsAHomeBeforeTheLast) {
  base::Random random(17);
  int full = 0;    // where a few bytes less would give other homes
  int shared = 0;  // where the sum of all tensors would be too much
  for (int round = 0; round < 4000; ++round) {
    graph::Graph graph = graph::RandomGraph(random, static_cast<int>(random.Uniform(2, 9)));
    if (random.Chance(0.3)) graph::DrawStates(random, graph);
    Profile profile =
        WithTcm(random.Uniform(8, 600),
                {TensorRole::kBoundary, TensorRole::kNetworkInput, TensorRole::kNetworkOutput});
    profile.memories[0].capacity_bytes = int64_t{1} << 40;
    Layout(profile, TensorRole::kState).home = profile.tile_memory;
    if (random.Chance(0.5)) {
      Layout(profile, TensorRole::kState).next_homes = {2, 0};
      profile.memories[1].capacity_bytes = random.Uniform(8, 600);
      profile.tiling.in_place = {base::OperatorKind::kElementwise};
    }
    const graph::Graph placed = program::WithHomes(graph, profile);
    const std::vector<std::string> in_tcm = InTcm(graph, profile);
    if (in_tcm.empty()) continue;
    int64_t sum = 0;
    const std::vector<graph::Usage> usages = graph::UsagesOf(placed);
    for (const std::string& id : in_tcm) {
      const int tensor = *graph::FindTensor(placed, id);
      sum += program::BytesAtHome(placed, profile, usages[static_cast<size_t>(tensor)], tensor,
                                  program::RoleAtHome(placed, tensor));
    }
    shared += sum > profile.memories[2].capacity_bytes ? 1 : 0;
    for (int attempt = 0; attempt < 5; ++attempt) {
      const graph::Graph ordered = graph::Reordered(placed, AnyOrder(random, placed));
      ASSERT_EQ(InTcm(ordered, profile), in_tcm) << "round " << round;
      std::vector<program::SubgraphChoice> choices;
      const int last = static_cast<int>(ordered.operators.size()) - 1;
      for (int first = 0; first <= last; first = choices.back().interval.last + 1)
        choices.emplace_back().interval = {first, static_cast<int>(random.Uniform(first, last))};
      const auto overflow = program::FindHomeOverflow(ordered, profile, choices);
      ASSERT_FALSE(overflow) << "round " << round << ": " << overflow->message;
      Profile smaller = profile;
      smaller.memories[2].capacity_bytes =
          std::max<int64_t>(1, profile.memories[2].capacity_bytes * 9 / 10);
      full += program::FindHomeOverflow(ordered, smaller, choices) ? 1 : 0;
    }
  }
  EXPECT_GE(full, 300);
  EXPECT_GE(shared, 300);
}

}  // namespace
}  // namespace tessera::encoder
