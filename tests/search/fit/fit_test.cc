// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/fit/fit.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <string>

#include "small_machine.h"
#include "tessera/search/cost/simulator.h"
#include "tessera/search/fit/least_squares.h"

// Measurements are made up: the simulator's own, with constants that the fit does not know.
namespace tessera::search::fit {
namespace {

using hw_profiles::DmaSteps;
using hw_profiles::Profile;

std::shared_ptr<const graph::Graph> Network() {
  NetworkBuilder builder;
  const int first = builder.Conv(builder.Input({1, 8, 24, 6}), 3, 16);
  return std::make_shared<const graph::Graph>(builder.Finish(builder.Conv(first, 1, 32)));
}

std::vector<Measurement> MeasuredOn(const Profile& profile) {
  const auto network = Network();
  const cost::Simulator simulator(*network, profile);
  std::vector<Measurement> measurements;
  for (const graph::Interval interval :
       {graph::Interval{0, 0}, graph::Interval{1, 1}, graph::Interval{0, 1}}) {
    for (const int64_t rows : {1, 2, 3, 4, 6, 8, 12, 24}) {
      Measurement each;
      each.network = network;
      each.interval = interval;
      each.tile = {1, interval.last == 0 ? 16 : 32, rows, 6};
      const auto tiling = graph::tiling::Tile(*network, interval, each.tile);
      each.cycles = static_cast<double>(
          simulator.Run(tiling, each.policy, cost::Detail::kTotals).latency_cycles);
      measurements.push_back(each);
    }
  }
  return measurements;
}

const FittedConstant& ConstantIn(const Fit& fit, const std::string& name) {
  for (const FittedConstant& each : fit.constants) {
    if (each.name == name) return each;
  }
  throw std::logic_error(name);
}

TEST(Fit, FindsTheConstantsThatMadeTheMeasurements) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  Profile truth = guess;
  for (auto& throughput : truth.engines[0].throughputs) throughput.start_cycles += 60;
  truth.memories[0].port.read_bytes_per_cycle = 2.5;
  truth.memories[0].port.write_bytes_per_cycle = 1.25;
  const base::Stop never;
  const Fit fit = FitConstants(guess, MeasuredOn(truth), never);
  EXPECT_TRUE(fit.is_complete);
  ASSERT_TRUE(fit.before && fit.after && fit.held_out);
  EXPECT_GT(fit.before->median, 0.05);
  EXPECT_LT(fit.after->most_of_ten, 0.01);
  EXPECT_LT(fit.held_out->most_of_ten, 0.02);
  EXPECT_NEAR(ConstantIn(fit, "memories.dram.port.bytes_per_cycle").after, 2.5, 0.05);
}

// A serialized program never waits for the latency of its own tile memory.
TEST(Fit, LeavesConstantsWithoutEffectAsTheyAre) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  const base::Stop never;
  const Fit fit = FitConstants(guess, MeasuredOn(guess), never);
  const FittedConstant& latency = ConstantIn(fit, "memories.sram.port.read_latency_cycles");
  EXPECT_EQ(latency.outcome, Outcome::kNoEffect);
  EXPECT_EQ(latency.after, latency.before);
  EXPECT_EQ(fit.after->most_of_ten, 0);
}

// Of two errors the median is the smaller one, and only the larger one covers nine of ten.
TEST(Fit, ErrorsOfTwoMeasurementsAreTheSmallerAndTheLargerOne) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  std::vector<Measurement> measurements = MeasuredOn(guess);
  measurements.resize(2);
  measurements[1].cycles *= 2;
  const base::Stop never;
  const Fit fit = FitConstants(guess, measurements, never);
  ASSERT_TRUE(fit.before);
  EXPECT_NEAR(fit.before->median, 0, 1e-9);
  EXPECT_NEAR(fit.before->most_of_ten, 1, 1e-9);
}

// Of whole operators alone, each has one start, one load and one store.
TEST(Fit, SaysWhichConstantsExplainTheSame) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  std::vector<Measurement> measurements = MeasuredOn(guess);
  std::erase_if(measurements, [](const Measurement& each) { return each.interval.last != 0; });
  const base::Stop never;
  const Fit fit = FitConstants(guess, measurements, never);
  int indistinct = 0;
  for (const FittedConstant& each : fit.constants) {
    if (each.outcome != Outcome::kIndistinct) continue;
    ++indistinct;
    EXPECT_FALSE(each.alike.empty());
    EXPECT_EQ(each.after, each.before);
  }
  EXPECT_GE(indistinct, 1);
  EXPECT_FALSE(fit.held_out);
}

// What a stop left out is absent, not 0; the error is that of the constants which are given.
TEST(Fit, AStopGivesTheBestSoFar) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  Profile truth = guess;
  truth.memories[0].port.read_bytes_per_cycle = 2.5;
  const std::vector<Measurement> measurements = MeasuredOn(truth);
  const base::Stop never;
  int with_after = 0;
  for (const int64_t polls : {1, 30, 200, 700, 1500, 3000}) {
    const base::Stop stop(base::Stop::AtPoll{polls});
    const Fit fit = FitConstants(guess, measurements, stop);
    EXPECT_EQ(fit.is_complete, fit.held_out.has_value()) << polls;
    EXPECT_EQ(fit.before.has_value(), polls > 1);
    if (!fit.after) continue;
    ++with_after;
    EXPECT_GT(fit.before->median, 0);
    // A fit that begins at the given constants begins with their error.
    const Fit again = FitConstants(fit.profile, measurements, never);
    EXPECT_NEAR(fit.after->median, again.before->median, 1e-9) << polls;
  }
  EXPECT_GE(with_after, 3);
  EXPECT_FALSE(FitConstants(guess, measurements, base::Stop(base::Stop::AtPoll{30})).is_complete);
}

// Measurements that no rate within the limits explains.
TEST(Fit, SaysWhereAConstantIsAtItsLimit) {
  const Profile guess = SmallMachine(DmaSteps::kSerialized);
  Profile truth = guess;
  truth.memories[0].port.read_bytes_per_cycle = 0.01;
  truth.memories[0].port.write_bytes_per_cycle = 0.005;
  const base::Stop never;
  const Fit fit = FitConstants(guess, MeasuredOn(truth), never);
  const FittedConstant& rate = ConstantIn(fit, "memories.dram.port.bytes_per_cycle");
  EXPECT_EQ(rate.outcome, Outcome::kAtLimit);
  EXPECT_NEAR(rate.after, 4.0 / 16, 1e-9);
}

// No profile may state less than 1e-9 bytes per cycle.
TEST(Fit, StaysWithinWhatAProfileMayState) {
  Profile guess = SmallMachine(DmaSteps::kSerialized);
  guess.memories[0].port.read_bytes_per_cycle = 8e-9;
  guess.memories[0].port.write_bytes_per_cycle = 4e-9;
  Profile truth = guess;
  truth.memories[0].port.read_bytes_per_cycle = 2e-9;
  truth.memories[0].port.write_bytes_per_cycle = 1e-10;
  const base::Stop never;
  const Fit fit = FitConstants(guess, MeasuredOn(truth), never);
  const hw_profiles::Port& port = fit.profile.memories[0].port;
  EXPECT_GE(port.read_bytes_per_cycle, hw_profiles::kBandwidths.least);
  EXPECT_GE(port.write_bytes_per_cycle, hw_profiles::kBandwidths.least);
  EXPECT_EQ(ConstantIn(fit, "memories.dram.port.bytes_per_cycle").outcome, Outcome::kAtLimit);
}

TEST(LeastSquares, SolvesWhatIsExact) {
  const Columns columns = {{1, 0, 2}, {0, 3, 1}};
  const Vector x = SolveLeastSquares(columns, {2, 3, 5}, 0);
  EXPECT_NEAR(x[0], 2, 1e-9);
  EXPECT_NEAR(x[1], 1, 1e-9);
  EXPECT_NEAR(OwnShare({{1, 1}, {2, 2}}, 0), 0, 1e-9);
  EXPECT_NEAR(OwnShare({{1, 0}, {0, 2}}, 1), 1, 1e-9);
}

TEST(LeastSquares, FindsAMinimumThatIsNotLinear) {
  const auto residuals = [](const Vector& at) {
    return Vector{std::exp(at[0]) - 2, 10 * (at[1] - at[0] * at[0])};
  };
  const Minimum found = Minimise(
      residuals, {0, 1}, {1e-6, 1e-6}, [](Vector&) {}, 100);
  EXPECT_TRUE(found.is_complete);
  EXPECT_NEAR(found.point[0], std::log(2), 1e-4);
  EXPECT_NEAR(found.point[1], std::log(2) * std::log(2), 1e-4);
  EXPECT_EQ(found.residuals, residuals(found.point));
}

class MeasurementsTest : public testing::Test {
 protected:
  base::Expected<std::vector<Measurement>> Read(const std::string& text) const {
    const auto load =
        [](const std::string&) -> base::Expected<std::shared_ptr<const graph::Graph>> {
      return Network();
    };
    return ReadMeasurements(text, "m.csv", profile_, load);
  }

  void ExpectFault(const std::string& text, int line, int column, const std::string& said) const {
    const auto read = Read(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().line, line) << text;
    EXPECT_EQ(read.error().column, column) << text;
    EXPECT_NE(read.error().message.find(said), std::string::npos) << read.error().message;
  }

  std::string First() const { return Network()->operators[0].id; }

  Profile profile_ = SmallMachine(DmaSteps::kSerialized);
};

TEST_F(MeasurementsTest, AreReadInAnyOrderOfColumns) {
  const auto read = Read("cycles,operators,network,rows\n\n 1e3 , " + First() + ",a.yaml,3\n");
  ASSERT_TRUE(read) << base::Format(read.error());
  ASSERT_EQ(read->size(), 1U);
  EXPECT_EQ(read->front().cycles, 1000);
  EXPECT_EQ(read->front().tile, (graph::tiling::TileShape{1, 16, 3, 6}));
  EXPECT_EQ(read->front().line, 3);
}

TEST_F(MeasurementsTest, WithAFaultSayWhere) {
  const std::string head = "network,operators,rows,weights,cycles\n";
  ExpectFault("network,operator,cycles\n", 1, 9, "unknown column");
  ExpectFault("network,operators\n", 1, 1, "no column 'cycles'");
  ExpectFault(head, 1, 1, "no measurements");
  ExpectFault(head + "a,nothing,1,,5\n", 2, 3, "no operators");
  ExpectFault(head + "a," + First() + ",0,,5\n", 2, 4 + static_cast<int>(First().size()),
              "not a number of rows");
  ExpectFault(head + "a," + First() + ",1,fast,5\n", 2, 6 + static_cast<int>(First().size()),
              "unknown policy");
  ExpectFault(head + "a," + First() + ",1,,-5\n", 2, 7 + static_cast<int>(First().size()),
              "not a number of cycles");
  ExpectFault(head + "a," + First() + ",1,5\n", 2, 1, "4 cells");
}

}  // namespace
}  // namespace tessera::search::fit
