// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "command_line.h"

// The same input, options and seed give the same bytes, on every run and with any number of
// threads.
namespace tessera::cli {
namespace {

class DeterminismTest : public CommandLineTest {};

struct Job {
  std::string network;
  std::string profile;
};

void PrintTo(const Job& job, std::ostream* out) { *out << job.network << " on " << job.profile; }

class PlanDeterminismTest : public DeterminismTest, public testing::WithParamInterface<Job> {};

TEST_P(PlanDeterminismTest, FilesDoNotDependOnThreadsOrRepetition) {
  const auto plan = [&](const std::string& threads, const std::string& name) {
    const Outcome outcome =
        Run({"plan", Shipped("examples/networks/" + GetParam().network + ".yaml"), "--hw",
             Shipped("hw_profiles/" + GetParam().profile + ".yaml"), "--threads", threads, "--seed",
             "5", "--budget", "50000", "--output", name + ".json", "--output", name + ".svg",
             "--report", name + ".html"});
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  };
  plan("1", "once");
  plan("2", "again");
  for (const std::string suffix : {".json", ".svg", ".html"}) {
    EXPECT_TRUE(Read("once" + suffix) == Read("again" + suffix)) << suffix;
  }
  plan("2", "third");
  EXPECT_TRUE(Read("again.json") == Read("third.json"));
}

INSTANTIATE_TEST_SUITE_P(Of, PlanDeterminismTest,
                         testing::Values(Job{"mobilenet_v2", "ethos_u65_256"},
                                         Job{"transformer_encoder", "tpu_like"},
                                         Job{"vgg_classifier", "edge_npu_64kib"},
                                         Job{"patent_chain", "three_bank_two_mode"}),
                         [](const auto& info) {
                           return info.param.network + "_on_" + info.param.profile;
                         });

TEST_F(DeterminismTest, AnAllocationIsTheSameForASeed) {
  std::string buffers = "id,lower,upper,size\n";
  for (int i = 0; i < 60; ++i) {
    buffers += "b" + std::to_string(i) + "," + std::to_string(i * 7 % 40) + "," +
               std::to_string(i * 7 % 40 + 3 + i % 11) + "," +
               std::to_string(1000 + i * i * 37 % 4001) + "\n";
  }
  Write("buffers.csv", buffers);
  for (const std::string seed : {"0", "9"}) {
    for (const std::string name : {"once", "again"}) {
      const Outcome outcome =
          Run({"alloc", "buffers.csv", "--seed", seed, "--budget", "50000", "--output",
               name + ".json", "--output", name + ".csv", "--output", name + ".svg"});
      ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    }
    for (const std::string suffix : {".json", ".csv", ".svg"}) {
      EXPECT_TRUE(Read("once" + suffix) == Read("again" + suffix)) << suffix;
    }
  }
}

TEST_F(DeterminismTest, ABudgetCutsAtTheSamePlaceEveryTime) {
  const auto tile = [&] {
    return Run({"tile", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                Shipped("hw_profiles/three_bank_two_mode.yaml"), "--budget", "40", "--format",
                "json"});
  };
  const Outcome once = tile();
  EXPECT_EQ(tile().out, once.out);
  EXPECT_EQ(tile().exit_code, once.exit_code);
}

}  // namespace
}  // namespace tessera::cli
