// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "files.h"
#include "networks.h"
#include "search_options.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/search/partition/analysis/remedies.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/search/cost/small_machine.h"

// The obstacle of a plan, by name and number. The proposed remedies must help.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;
using problem::Bytes;
using problem::Status;
using testing::Each;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A question without a plan, and the explanation for it.
struct Refused {
  partition::answer::PartitionResult result;
  std::vector<partition::analysis::Remedy> remedies;
};

Refused Ask(const graph::Graph& graph, const Profile& profile,
            const partition::answer::PartitionOptions& options) {
  base::Expected<partition::answer::PartitionResult> result =
      partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result.has_value());
  const base::Stop never;
  std::vector<partition::analysis::Remedy> remedies =
      partition::analysis::FindRemedies(graph, profile, options, *result, never);
  return {*std::move(result), std::move(remedies)};
}

const partition::analysis::Remedy* Find(const Refused& refused,
                                        partition::analysis::RemedyKind kind) {
  const auto found =
      std::find_if(refused.remedies.begin(), refused.remedies.end(),
                   [kind](const partition::analysis::Remedy& each) { return each.kind == kind; });
  return found == refused.remedies.end() ? nullptr : &*found;
}

hw_profiles::Memory& MemoryIn(Profile& profile, const std::string& name) {
  const auto found =
      std::find_if(profile.memories.begin(), profile.memories.end(),
                   [&name](const hw_profiles::Memory& memory) { return memory.name == name; });
  EXPECT_NE(found, profile.memories.end());
  return *found;
}

bool HasPlan(const graph::Graph& graph, const Profile& profile,
             const partition::answer::PartitionOptions& options) {
  const auto result = partition::SearchPartition(graph, profile, options);
  EXPECT_TRUE(result.has_value());
  return result && result->plan.has_value();
}

TEST(Obstacles, AnOperatorIsNamedWithItsTensorsAndTheBytesOfEach) {
  const Refused refused =
      Ask(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 10), KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kInfeasible);
  ASSERT_TRUE(refused.result.obstacle);
  const partition::placement::Obstacle& obstacle = *refused.result.obstacle;
  EXPECT_EQ(obstacle.kind, partition::placement::ObstacleKind::kOperator);
  EXPECT_EQ(obstacle.op, 0);
  EXPECT_EQ(obstacle.memory, "sram");
  EXPECT_EQ(obstacle.available, 10);
  EXPECT_GT(obstacle.needed, 10);
  EXPECT_TRUE(obstacle.step);
  ASSERT_THAT(obstacle.tensors, Not(IsEmpty()));
  Bytes total = 0;
  for (const partition::placement::HeldPart& held_part : obstacle.tensors) total += held_part.bytes;
  EXPECT_EQ(total, obstacle.needed);
  EXPECT_THAT(obstacle.blocked, ElementsAre(0, 1, 2));
  EXPECT_THAT(refused.result.reason, HasSubstr("operator 'conv0'"));
  EXPECT_THAT(refused.result.reason,
              HasSubstr(std::to_string(obstacle.needed) + " bytes of 'sram'"));
  EXPECT_THAT(refused.result.reason, HasSubstr("10 are there"));
}

// Undecided subgraphs next to operators that do not fit lead to no plan.
TEST(Obstacles, WhereSubgraphsLeadNoFurtherTheOperatorBehindThemIsNamed) {
  const Refused refused =
      Ask(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 40), KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kInfeasible);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_EQ(refused.result.obstacle->kind, partition::placement::ObstacleKind::kCover);
  const std::string id = Chain(3).operators[static_cast<size_t>(refused.result.obstacle->op)].id;
  EXPECT_THAT(refused.result.reason, HasSubstr("goes on from '" + id + "'"));
  EXPECT_THAT(refused.result.reason,
              HasSubstr("'" + id + "' needs 76 bytes of 'sram' at step 1; 40 are there"));
}

TEST(Obstacles, TheCapacityThatIsNamedIsEnough) {
  for (const Bytes capacity : {10, 40, 60, 75}) {
    Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, capacity);
    const Refused refused = Ask(Chain(3), profile, KeepingNothing());
    ASSERT_FALSE(refused.result.plan) << capacity;
    const partition::analysis::Remedy* remedy =
        Find(refused, partition::analysis::RemedyKind::kCapacity);
    ASSERT_NE(remedy, nullptr) << capacity;
    EXPECT_EQ(remedy->subject, "sram");
    EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
    MemoryIn(profile, "sram").capacity_bytes = std::stoll(remedy->value);
    EXPECT_TRUE(HasPlan(Chain(3), profile, KeepingNothing())) << capacity;
  }
}

// The convolution alone needs its whole result, 15 MiB, twice; only a part of that is read.
TEST(Obstacles, TheCapacityThatIsNamedIsThatOfOperatorsTogether) {
  const graph::Graph graph = NetworkIn("tests/search/partition/bounds/crop.yaml");
  Profile profile = ProfileIn("hw_profiles/ethos_u55_256.yaml");
  const Refused refused = Ask(graph, profile, KeepingNothing());
  ASSERT_FALSE(refused.result.plan);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kCapacity);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  EXPECT_LE(std::stoll(remedy->value), 18 << 20);
  MemoryIn(profile, remedy->subject).capacity_bytes = std::stoll(remedy->value);
  EXPECT_TRUE(HasPlan(graph, profile, KeepingNothing()));
}

TEST(Obstacles, WherePeaksAreLimitedTheLimitIsWhatRises) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  partition::answer::PartitionOptions options =
      KeepingNothing({.weights = {{"latency", 1}}, .limits = {{"peak", 40}}});
  const Refused refused = Ask(Chain(3), profile, options);
  EXPECT_FALSE(refused.result.plan);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kLimit);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->subject, "peak");
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  options.objective.limits["peak"] = std::stod(remedy->value);
  EXPECT_TRUE(HasPlan(Chain(3), profile, options));
}

TEST(Obstacles, FloatingPointThatDoesNotFitIsSaidToFitAsInt8) {
  graph::Graph graph = Chain(3);
  for (graph::Tensor& tensor : graph.tensors) tensor.type = base::DataType::kFloat32;
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 100);
  ASSERT_TRUE(HasPlan(Chain(3), profile, KeepingNothing()));
  const Refused refused = Ask(graph, profile, KeepingNothing());
  EXPECT_FALSE(refused.result.plan);
  ASSERT_THAT(refused.remedies, Not(IsEmpty()));
  EXPECT_EQ(refused.remedies.front().kind, partition::analysis::RemedyKind::kFloatsAs);
  EXPECT_EQ(refused.remedies.front().value, "int8");
  EXPECT_EQ(refused.remedies.front().evidence, partition::analysis::Evidence::kPlan);
}

TEST(Obstacles, WithoutFloatingPointInt8IsNotProposed) {
  const Refused refused =
      Ask(Chain(3), SmallMachine(DmaSteps::kDoubleBuffered, 40), KeepingNothing());
  EXPECT_EQ(Find(refused, partition::analysis::RemedyKind::kFloatsAs), nullptr);
}

// 4 channels out of 64: 512 bytes of weights, or 64 in slices of 8.
graph::Graph HeavyWeights() {
  NetworkBuilder net;
  return net.Finish(net.Conv(net.Input({1, 64, 4, 1}), 1, 64));
}

TEST(Obstacles, WeightsThatDoNotFitMayBeStreamed) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 1000);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kResident};
  profile.tiling.weight_granularity_channels = 2;
  const Refused refused = Ask(HeavyWeights(), profile, KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kInfeasible);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_EQ(refused.result.obstacle->tensors.front().part, "whole");
  EXPECT_EQ(refused.result.obstacle->tensors.front().bytes, 64 * 64);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kPolicy);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->subject, "tiling.weights");
  EXPECT_THAT(remedy->value, HasSubstr("streamed"));
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  profile.tiling.weights.push_back(hw_profiles::WeightPolicy::kStreamed);
  EXPECT_TRUE(HasPlan(HeavyWeights(), profile, KeepingNothing()));
}

// Slices of 5 channels are 320 bytes, and a row of operand and of result 64 each.
TEST(Obstacles, SlicesThatAreTooLargeMayBeSmaller) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 440);
  profile.tiling.weights = {hw_profiles::WeightPolicy::kStreamed};
  profile.tiling.weight_granularity_channels = 5;
  const Refused refused = Ask(HeavyWeights(), profile, KeepingNothing());
  ASSERT_FALSE(refused.result.plan);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kPolicy);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->subject, "tiling.weight_granularity_channels");
  profile.tiling.weight_granularity_channels = std::stoll(remedy->value);
  EXPECT_TRUE(HasPlan(HeavyWeights(), profile, KeepingNothing()));
}

// Two banks; in either mode the engine has one of them and the link the other.
Profile PingPong(DmaSteps dma, Bytes bank) {
  Profile profile = SmallMachine(dma, 2 * bank);
  hw_profiles::Memory& sram = MemoryIn(profile, "sram");
  sram.banks = {{"low", {0, bank}, {}}, {"high", {bank, 2 * bank}, {}}};
  sram.span = problem::Span::kSingle;
  const auto both = [](const std::string& name) {
    return problem::BankMode{
        false, {{name, problem::AccessKind::kRead}, {name, problem::AccessKind::kWrite}}};
  };
  sram.modes = {{"ping", {both("pe"), both("dma")}}, {"pong", {both("dma"), both("pe")}}};
  return profile;
}

// An engine that knows banks and modes.
partition::answer::PartitionOptions WithModes() {
  static const encoder::sat::SatEngine engine;
  static const std::vector<const problem::Engine*> engines = {&engine};
  partition::answer::PartitionOptions options = KeepingNothing();
  options.engines = engines;
  return options;
}

TEST(Obstacles, AModeThatLacksALinkIsNamedWithThePermissionThatHelps) {
  Profile profile = PingPong(DmaSteps::kSerialized, 200);
  ASSERT_TRUE(HasPlan(Chain(2), profile, WithModes()));
  for (problem::Mode& mode : MemoryIn(profile, "sram").modes) {
    for (problem::BankMode& bank : mode.banks)
      std::erase_if(bank.allowed,
                    [](const problem::Permission& each) { return each.engine == "dma"; });
  }
  const Refused refused = Ask(Chain(2), profile, WithModes());
  ASSERT_FALSE(refused.result.plan);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_EQ(refused.result.obstacle->op, 0);
  EXPECT_FALSE(refused.result.obstacle->LacksBytes());
  EXPECT_TRUE(refused.result.obstacle->problem);
  const partition::analysis::Remedy* remedy = Find(refused, partition::analysis::RemedyKind::kMode);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->value, "dma");
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  EXPECT_THAT(remedy->what, HasSubstr("also letting 'dma' read and write"));
}

TEST(Obstacles, ABankThatIsTooShortIsNamedAndHowLongItWouldHaveToBe) {
  const Profile profile = PingPong(DmaSteps::kSerialized, 8);
  const Refused refused = Ask(Chain(2), profile, WithModes());
  ASSERT_FALSE(refused.result.plan);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_TRUE(refused.result.obstacle->in_one_bank);
  EXPECT_EQ(refused.result.obstacle->available, 8);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kBanks);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  EXPECT_TRUE(HasPlan(Chain(2), PingPong(DmaSteps::kSerialized, std::stoll(remedy->value) / 2),
                      WithModes()));
}

TEST(Obstacles, AHomeThatHoldsTooLittleIsNamedWithWhatItHolds) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  hw_profiles::Memory small = profile.memories[0];
  small.name = "l2";
  small.capacity_bytes = 100;
  profile.memories.push_back(small);
  profile.links.push_back(profile.links[0]);
  profile.links.back().name = "dma2";
  profile.links.back().first = 2;
  LayoutIn(profile, base::TensorRole::kBoundary).home = 2;
  NetworkBuilder net;
  const int x = net.Conv(net.Input({1, 2, 8, 8}), 1, 2);
  const graph::Graph graph = net.Finish(net.Add(net.Conv(net.Conv(x, 1, 2), 1, 2), x));
  partition::answer::PartitionOptions options = KeepingNothing();
  options.max_operators = 1;
  const Refused refused = Ask(graph, profile, options);
  ASSERT_FALSE(refused.result.plan);
  ASSERT_TRUE(refused.result.obstacle);
  const partition::placement::Obstacle& obstacle = *refused.result.obstacle;
  EXPECT_EQ(obstacle.kind, partition::placement::ObstacleKind::kHome);
  EXPECT_EQ(obstacle.memory, "l2");
  EXPECT_EQ(obstacle.available, 100);
  EXPECT_GE(obstacle.needed, 128);
  Bytes total = 0;
  for (const partition::placement::HeldPart& held_part : obstacle.tensors) total += held_part.bytes;
  EXPECT_EQ(total, obstacle.needed);
  const partition::analysis::Remedy* larger =
      Find(refused, partition::analysis::RemedyKind::kCapacity);
  ASSERT_NE(larger, nullptr);
  EXPECT_EQ(larger->subject, "l2");
  EXPECT_EQ(larger->evidence, partition::analysis::Evidence::kPlan);
  Profile enough = profile;
  MemoryIn(enough, "l2").capacity_bytes = std::stoll(larger->value);
  EXPECT_TRUE(HasPlan(graph, enough, options));
  const partition::analysis::Remedy* elsewhere =
      Find(refused, partition::analysis::RemedyKind::kHome);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_EQ(elsewhere->subject, "roles.boundary");
  EXPECT_EQ(elsewhere->value, "dram");
  EXPECT_EQ(elsewhere->evidence, partition::analysis::Evidence::kPlan);
}

TEST(Obstacles, StatesThatFillTheTileMemoryMayLiveElsewhere) {
  Profile profile = SmallMachine(DmaSteps::kSerialized, 600);
  LayoutIn(profile, base::TensorRole::kState).home = profile.tile_memory;
  NetworkBuilder net;
  const int state = net.Input({1, 2, 16, 16});
  const int y = net.Conv(state, 1, 2);
  graph::Graph graph = net.Finish(y);
  graph.tensors[static_cast<size_t>(state)].network_input = false;
  graph.tensors[static_cast<size_t>(state)].state = true;
  graph.tensors[static_cast<size_t>(y)].next_of = state;
  const Refused refused = Ask(graph, profile, KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kInfeasible);
  const partition::analysis::Remedy* elsewhere =
      Find(refused, partition::analysis::RemedyKind::kHome);
  ASSERT_NE(elsewhere, nullptr);
  EXPECT_EQ(elsewhere->subject, "roles.state");
  EXPECT_EQ(elsewhere->value, "dram");
  LayoutIn(profile, base::TensorRole::kState).home = 0;
  EXPECT_TRUE(HasPlan(graph, profile, KeepingNothing()));
}

TEST(Obstacles, ConstantsThatTheirHomeDoesNotHoldAreListed) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  profile.memories[0].capacity_bytes = 30;  // three times 12 bytes of weights
  const Refused refused = Ask(Chain(3), profile, KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kInfeasible);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_EQ(refused.result.obstacle->needed, 36);
  EXPECT_EQ(refused.result.obstacle->tensors.size(), 3U);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kCapacity);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
  MemoryIn(profile, "dram").capacity_bytes = std::stoll(remedy->value);
  EXPECT_TRUE(HasPlan(Chain(3), profile, KeepingNothing()));
}

// "latency=100,peak=40" as limits.
std::map<std::string, double> LimitsOf(const std::string& text) {
  std::map<std::string, double> limits;
  std::istringstream stream(text);
  for (std::string entry; std::getline(stream, entry, ',');)
    limits[entry.substr(0, entry.find('='))] = std::stod(entry.substr(entry.find('=') + 1));
  return limits;
}

TEST(Obstacles, LimitsAreNamedWithTheirBoundsAndTheValuesThatWouldDo) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  for (const std::map<std::string, double>& limits :
       {std::map<std::string, double>{{"latency", 10}},
        {{"off_chip_bytes", 100}},
        {{"macs", 5}},
        {{"latency", 10}, {"energy", 10}},
        {{"latency", 10}, {"off_chip_bytes", 100000}}}) {
    partition::answer::PartitionOptions options =
        KeepingNothing({.weights = {{"latency", 1}}, .limits = limits});
    const Refused refused = Ask(Chain(3), profile, options);
    EXPECT_EQ(refused.result.status, Status::kInfeasible);
    ASSERT_TRUE(refused.result.obstacle);
    EXPECT_EQ(refused.result.obstacle->kind, partition::placement::ObstacleKind::kLimit);
    for (const partition::placement::BrokenLimit& limit : refused.result.obstacle->limits) {
      EXPECT_GT(limit.bound, limit.most);
      EXPECT_GE(limit.op, 0);
      EXPECT_GT(limit.part, 0);
      EXPECT_THAT(refused.result.reason, HasSubstr(limit.metric + " is "));
    }
    const partition::analysis::Remedy* remedy =
        Find(refused, partition::analysis::RemedyKind::kLimit);
    ASSERT_NE(remedy, nullptr);
    EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
    options.objective.limits = LimitsOf(remedy->value);
    EXPECT_EQ(options.objective.limits.size(), limits.size());
    EXPECT_TRUE(HasPlan(Chain(3), profile, options)) << remedy->value;
  }
}

// Power alone falls with every idle cycle. The remedy is the power of a plan that is not slower
// than one of single operators.
TEST(Obstacles, ALimitOnPowerRisesToThatOfAGoodPlan) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  partition::answer::PartitionOptions options = KeepingNothing(Minimise("latency"));
  options.max_operators = 1;
  const auto single = partition::SearchPartition(Chain(3), profile, options);
  ASSERT_TRUE(single && single->plan);
  options = KeepingNothing({.weights = {{"latency", 1}}, .limits = {{"power", 1e-6}}});
  const Refused refused = Ask(Chain(3), profile, options);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kLimit);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->subject, "power");
  options.objective.limits = LimitsOf(remedy->value);
  EXPECT_LT(options.objective.limits.at("power"), plan::ValueOf(single->plan->totals, "power"));
  EXPECT_TRUE(HasPlan(Chain(3), profile, options)) << remedy->value;
}

TEST(Obstacles, AKindWithoutAnEngineIsNamed) {
  Profile profile = SmallMachine(DmaSteps::kDoubleBuffered);
  profile.engines[0].throughputs.pop_back();
  NetworkBuilder net;
  const int x = net.Input({1, 2, 4, 4});
  const Refused refused = Ask(net.Finish(net.Add(net.Conv(x, 1, 2), x)), profile, KeepingNothing());
  EXPECT_EQ(refused.result.status, Status::kUnsupported);
  ASSERT_TRUE(refused.result.obstacle);
  EXPECT_EQ(refused.result.obstacle->kind, partition::placement::ObstacleKind::kEngine);
  EXPECT_EQ(refused.result.obstacle->op, 1);
  const partition::analysis::Remedy* remedy =
      Find(refused, partition::analysis::RemedyKind::kEngine);
  ASSERT_NE(remedy, nullptr);
  EXPECT_EQ(remedy->value, "elementwise");
  EXPECT_EQ(remedy->evidence, partition::analysis::Evidence::kPlan);
}

TEST(Obstacles, AfterAStopNothingIsTriedAndNothingIsClaimed) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 40);
  const auto result = partition::SearchPartition(Chain(3), profile, KeepingNothing());
  ASSERT_TRUE(result && result->obstacle);
  base::Stop stop;
  stop.Request();
  const std::vector<partition::analysis::Remedy> remedies =
      partition::analysis::FindRemedies(Chain(3), profile, KeepingNothing(), *result, stop);
  EXPECT_THAT(remedies, Not(IsEmpty()));
  EXPECT_THAT(remedies, Each(Field(&partition::analysis::Remedy::evidence,
                                   partition::analysis::Evidence::kBound)));
}

TEST(Obstacles, APlanHasNoRemedies) {
  const Profile profile = SmallMachine(DmaSteps::kDoubleBuffered, 200);
  const Refused found = Ask(Chain(3), profile, KeepingNothing());
  EXPECT_TRUE(found.result.plan);
  EXPECT_FALSE(found.result.obstacle);
  EXPECT_THAT(found.remedies, IsEmpty());
}

// Draws machines that are too small in one respect or another. Every change that is said to lead to
// a plan does so.
TEST(Obstacles, WhatIsSaidToLeadToAPlanDoes) {
  int refused_draws = 0;
  int applied = 0;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Subject subject = AnySubject(seed, {2, 5}, {8, 90});
    const partition::answer::PartitionOptions options = KeepingNothing();
    const Refused refused = Ask(subject.graph, subject.profile, options);
    if (refused.result.plan) continue;
    ++refused_draws;
    SCOPED_TRACE("seed " + std::to_string(seed) + ": " + refused.result.reason);
    EXPECT_TRUE(refused.result.obstacle);
    for (const partition::analysis::Remedy& remedy : refused.remedies) {
      if (remedy.evidence != partition::analysis::Evidence::kPlan ||
          remedy.kind != partition::analysis::RemedyKind::kCapacity)
        continue;
      ++applied;
      Profile profile = subject.profile;
      MemoryIn(profile, remedy.subject).capacity_bytes = std::stoll(remedy.value);
      EXPECT_TRUE(HasPlan(subject.graph, profile, options)) << remedy.what;
    }
  }
  EXPECT_GE(refused_draws, 30);
  EXPECT_GE(applied, 20);
}

}  // namespace
}  // namespace tessera::search
