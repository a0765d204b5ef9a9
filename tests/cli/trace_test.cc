// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <map>
#include <set>

#include "command_line.h"

// `tessera plan --trace` writes Chrome's trace event format.
namespace tessera::cli {
namespace {

class TraceTest : public CommandLineTest {
 protected:
  // The trace; the plan's latency goes to `latency_`.
  nlohmann::ordered_json Trace(const std::string& network, const std::string& profile) {
    const Outcome outcome = Run({"plan", Shipped("examples/networks/" + network + ".yaml"), "--hw",
                                 Shipped("hw_profiles/" + profile + ".yaml"), "--trace",
                                 "trace.json", "--format", "json"});
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    latency_ = ParseJson(outcome.out).at("totals").at("latency_cycles");
    return ReadJson("trace.json");
  }

  int64_t latency_ = 0;
};

TEST_F(TraceTest, EveryTrackMovesForwardAndTheLastEndsAtTheLatency) {
  for (const char* profile : {"three_bank_two_mode", "ethos_u65_256"}) {
    const auto trace = Trace("patent_chain", profile);
    std::map<int, int64_t> latest;
    int64_t end = 0;
    for (const auto& event : trace.at("traceEvents")) {
      if (event.at("ph") == "M") continue;
      ASSERT_EQ(event.at("ph"), "X");
      ASSERT_GT(event.at("dur"), 0) << event;
      const auto begin = event.at("ts").get<int64_t>();
      const int track = event.at("tid");
      if (event.at("cat") != "omission") {
        ASSERT_GE(begin, latest[track]) << event;
        latest[track] = begin + event.at("dur").get<int64_t>();
      }
      end = std::max(end, latest[track]);
    }
    EXPECT_EQ(end, latency_) << profile;
    EXPECT_EQ(trace.at("otherData").at("latency_cycles"), latency_);
  }
}

TEST_F(TraceTest, NamesItsTracksAndWhatHappensOnThem) {
  const auto trace = Trace("patent_chain", "ethos_u65_256");
  std::set<std::string> tracks;
  std::set<std::string> names;
  for (const auto& event : trace.at("traceEvents")) {
    if (event.at("ph") == "M") {
      tracks.insert(event.at("args").at("name"));
    } else {
      names.insert(event.at("name"));
    }
  }
  EXPECT_TRUE(tracks.contains("subgraphs"));
  EXPECT_TRUE(tracks.contains("npu"));
  for (const char* name : {"conv1", "conv2", "conv3", "0: conv1..conv3"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(TraceTest, DoesNotDependOnThreads) {
  const Arguments plan = {"plan", Shipped("examples/networks/patent_chain.yaml"), "--hw",
                          Shipped("hw_profiles/ethos_u65_256.yaml")};
  for (const char* threads : {"1", "2"}) {
    Arguments arguments = plan;
    arguments.insert(arguments.end(),
                     {"--threads", threads, "--trace", std::string(threads) + ".json"});
    ASSERT_EQ(Run(arguments).exit_code, 0);
  }
  EXPECT_EQ(Read("1.json"), Read("2.json"));
}

}  // namespace
}  // namespace tessera::cli
