// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "constraint_words.h"
#include "networks.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/tests/hw_profiles/engines.h"
#include "tessera/tests/search/cost/small_machine.h"

// Constraints that no plan can keep are refused before any search.
namespace tessera::search {
namespace {

using hw_profiles::DmaSteps;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FaultIn(const graph::Graph& graph, const std::vector<plan::PlanConstraint>& constraints,
                    std::optional<int> most = {},
                    const hw_profiles::Profile& profile = SmallMachine(DmaSteps::kSerialized)) {
  const auto fault = partition::constraints::CheckWellFormed(graph, profile, constraints, most);
  return fault ? fmt::format("{}: {}", fault->constraint, fault->diagnostic.message) : "";
}

TEST(ConstraintFaults, AreConstraintsThatContradictEachOther) {
  const graph::Graph graph = Chain(5);
  const int boundary = ResultOf(graph, 1);
  EXPECT_EQ(FaultIn(graph, {Together(1, 3), Apart(1), Apart(4), Keep(boundary), Together(2, 3)}),
            "");
  EXPECT_EQ(FaultIn(graph, {Apart(2), Together(1, 3)}),
            "1: operators 'conv1' to 'conv3' in one subgraph contradicts what else is required");
  EXPECT_THAT(FaultIn(graph, {Subgraph(1, 2), Subgraph(2, 3)}), StartsWith("1: "));
  EXPECT_THAT(FaultIn(graph, {Subgraph(1, 2), Subgraph(1, 2)}), StartsWith("1: "));
  EXPECT_THAT(FaultIn(graph, {Together(0, 1), Subgraph(1, 2)}), StartsWith("1: "));
  EXPECT_THAT(FaultIn(graph, {Apart(0), Subgraph(1, 2), Apart(2)}), StartsWith("2: "));
  EXPECT_THAT(FaultIn(graph, {Spill(boundary), Keep(boundary)}), StartsWith("1: "));
  EXPECT_EQ(FaultIn(graph, {Subgraph(1, 2), Together(1, 2), Apart(1), Apart(3)}), "");
}

TEST(ConstraintFaults, AreConstraintsThatTheHostDoesNotKeep) {
  const graph::Graph graph = Chain(3);
  hw_profiles::Profile profile = SmallMachine(DmaSteps::kSerialized);
  profile.engines[0].throughputs.erase(profile.engines[0].throughputs.begin());
  profile.engines.push_back(hw_profiles::Host("cpu"));
  const auto fault_in = [&](const plan::PlanConstraint& constraint) {
    return FaultIn(graph, {constraint}, {}, profile);
  };
  const plan::TileConfigConstraint rows = {
      .tile = {{1, 2, 3, 4}}, .weights = {}, .in_place = {}, .halo = {}, .addresses = {}};
  EXPECT_THAT(fault_in(Together(0, 1)), HasSubstr("'conv0' runs on 'cpu', the host"));
  EXPECT_THAT(fault_in(Subgraph(0, 1)), HasSubstr("'conv0' runs on 'cpu', the host"));
  EXPECT_THAT(fault_in(Subgraph(1, 1, rows)), HasSubstr("required of an operator on the host"));
  EXPECT_EQ(fault_in(Subgraph(1, 1)), "");
}

TEST(ConstraintFaults, AreConstraintsThatNoPlanCouldKeep) {
  const graph::Graph graph = Chain(3);
  const auto tiles = [](graph::tiling::TileShape tile) {
    return plan::TileConfigConstraint{
        .tile = std::move(tile), .weights = {}, .in_place = {}, .halo = {}, .addresses = {}};
  };
  const plan::TileConfigConstraint direct = {.tile = {},
                                             .weights = hw_profiles::WeightPolicy::kDirect,
                                             .in_place = {},
                                             .halo = {},
                                             .addresses = {}};
  EXPECT_THAT(FaultIn(graph, {Together(1, 1)}), HasSubstr("no operators to put together"));
  EXPECT_THAT(FaultIn(graph, {Together(0, 2)}, 2),
              HasSubstr("a subgraph of 3 operators is required"));
  EXPECT_THAT(FaultIn(graph, {Subgraph(0, 1, tiles({1, 2, 9, 4}))}),
              HasSubstr("is no tile of an output"));
  EXPECT_THAT(FaultIn(graph, {Subgraph(0, 1, direct)}),
              HasSubstr("the profile has no such policy"));
  EXPECT_THAT(FaultIn(graph, {Subgraph(0, 1, tiles({1, 2, 8, 2}))}),
              HasSubstr("tiles of 1x2x8x2 cut axis 3, along which the profile cuts no tiles"));
  EXPECT_EQ(FaultIn(graph, {Subgraph(0, 1, tiles({1, 2, 3, 4}))}), "");
  EXPECT_THAT(FaultIn(graph, {Keep(ResultOf(graph, 2))}),
              HasSubstr("has its home whatever the subgraphs"));
  EXPECT_THAT(FaultIn(graph, {Spill(0)}), HasSubstr("has its home whatever the subgraphs"));
  EXPECT_EQ(FaultIn(graph, {Subgraph(0, 1, At("t7@0", 0))}),
            "0: the subgraph has no buffer 't7@0'");
  EXPECT_EQ(FaultIn(graph, {Subgraph(0, 1, At("t1@0", 0)), Address(2, "dram", 64)}), "");
  EXPECT_THAT(FaultIn(graph, {Address(0, "sram", 0)}),
              HasSubstr("tensor 'x' never lies whole in memory 'sram'"));
  EXPECT_THAT(FaultIn(graph, {Address(0, "dram", 0), Address(0, "dram", 64)}), StartsWith("1: "));
  EXPECT_THAT(FaultIn(graph, {Keep(99)}), HasSubstr("there is no such tensor"));
}

}  // namespace
}  // namespace tessera::search
