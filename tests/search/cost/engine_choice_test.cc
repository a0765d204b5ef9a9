// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/cost/engine_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "small_machine.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/lower_bounds.h"

namespace tessera::search {
namespace {

using Weights = std::map<std::string, double>;

// x [1,2,4,3] --1x1--> t0 --> add, on two engines: "pe" takes 5 cycles to start and 12 steps for
// the convolution, 12 cycles for the addition; "vector" lists additions at 0.25 cycles each and
// convolutions of one multiply-accumulate at a time.
class EngineChoiceTest : public testing::Test {
 protected:
  EngineChoiceTest() {
    const int made = net_.Conv(net_.Input({1, 2, 4, 3}), 1, 2);
    network_ = net_.Finish(net_.Add(made, made));
    profile_ = SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered);
    hw_profiles::Engine vector = profile_.engines.front();
    vector.name = "vector";
    vector.mac_pj = 0.125;
    for (hw_profiles::Throughput& each : vector.throughputs) {
      each.unroll = {};
      each.start_cycles = 0;
      if (each.kind == base::OperatorKind::kElementwise) each.cycles_per_output = 0.25;
    }
    profile_.engines.push_back(vector);
  }

  std::string EngineOf(int op, const Weights& weights = {{"latency", 1}}) const {
    const graph::Graph chosen = cost::WithEngines(network_, profile_, weights);
    return chosen.operators[static_cast<size_t>(op)].engine;
  }

  NetworkBuilder net_;
  graph::Graph network_;
  hw_profiles::Profile profile_;
};

TEST_F(EngineChoiceTest, TakesTheFewestCycles) {
  EXPECT_EQ(EngineOf(0), profile_.engines[0].name);
  EXPECT_EQ(EngineOf(1), "vector");
  EXPECT_TRUE(cost::WithEngines(network_, profile_, {}).operators[0].engine_chosen);
}

TEST_F(EngineChoiceTest, TakesTheLeastEnergyIfLatencyHasNoWeight) {
  EXPECT_EQ(EngineOf(0, {{"energy", 1}}), "vector");
  EXPECT_EQ(EngineOf(0, {{"energy", 1}, {"latency", 1}}), profile_.engines[0].name);
}

TEST_F(EngineChoiceTest, TheFirstEngineWinsTies) {
  profile_.engines[1] = profile_.engines[0];
  profile_.engines[1].name = "vector";
  EXPECT_EQ(EngineOf(0), profile_.engines[0].name);
}

TEST_F(EngineChoiceTest, KeepsWhatTheNetworkNamesAndWhatWasChosen) {
  network_.operators[0].engine = "vector";
  EXPECT_EQ(EngineOf(0), "vector");
  EXPECT_FALSE(cost::WithEngines(network_, profile_, {}).operators[0].engine_chosen);
  network_.operators[0].engine_chosen = true;
  EXPECT_EQ(EngineOf(0), "vector");
}

TEST_F(EngineChoiceTest, ReplacesAChosenEngineThatCannotRunTheOperator) {
  network_.operators[0].engine = "gone";
  network_.operators[0].engine_chosen = true;
  EXPECT_EQ(EngineOf(0), profile_.engines[0].name);
}

TEST_F(EngineChoiceTest, WithoutAChoiceNothingIsNamed) {
  profile_.engines.pop_back();
  EXPECT_EQ(cost::WithEngines(network_, profile_, {}), network_);
  network_.operators[0].engine = "gone";
  network_.operators[0].engine_chosen = true;
  const graph::Operator op = cost::WithEngines(network_, profile_, {}).operators[0];
  EXPECT_EQ(op.engine, "");
  EXPECT_FALSE(op.engine_chosen);
}

// 24 outputs at a quarter of a cycle each, on the engine that was not chosen.
TEST_F(EngineChoiceTest, BoundsHoldForEveryEngine) {
  graph::Graph slow = network_;
  slow.operators[1].engine = profile_.engines[0].name;
  const int64_t named = cost::FindLowerBounds(slow, profile_).latency_cycles;
  slow.operators[1].engine_chosen = true;
  const int64_t chosen = cost::FindLowerBounds(slow, profile_).latency_cycles;
  EXPECT_LT(chosen, named);
  EXPECT_EQ(chosen, cost::FindLowerBounds(network_, profile_).latency_cycles);
  const cost::LeastWork least = cost::LeastWorkOf(
      slow, profile_, slow.operators[1], graph::ShapeOf(slow, slow.operators[1].outputs[0]),
      /*macs=*/0, /*divides_channels=*/false);
  EXPECT_EQ(least.cycles, 6);
}

}  // namespace
}  // namespace tessera::search
