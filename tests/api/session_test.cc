// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/session.h>
#include <tessera/tessera.h>

#include <atomic>
#include <ctime>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

// Sessions: the same answers as without one, in less time.
namespace tessera::tests {
namespace {

using testing::ElementsAreArray;

// Profiles of a sweep over the capacity of the tile memory.
std::vector<Profile> Sweep() {
  std::vector<Profile> profiles;
  for (const int kib : {96, 128, 192, 256, 384, 512, 768, 1024}) {
    profiles.push_back(
        Must(Npu().With("/memories/sram/capacity_bytes", std::to_string(kib * 1024))));
  }
  return profiles;
}

std::vector<std::string> PlansWithout(const Network& network, const std::vector<Profile>& sweep) {
  std::vector<std::string> plans;
  plans.reserve(sweep.size());
  for (const Profile& profile : sweep) plans.push_back(Json(PlanOf(network, profile)));
  return plans;
}

TEST(Sessions, ChangeNoPlan) {
  const Network network =
      Must(Network::Load(TESSERA_SOURCE_DIR "/examples/networks/mobilenet_v2_035.yaml"));
  const std::vector<Profile> all = Sweep();
  const std::vector<Profile> sweep = {all[1], all[3], all[5], all[7]};
  const std::vector<std::string> expected = PlansWithout(network, sweep);
  const Session session;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::string> plans;
    plans.reserve(sweep.size());
    for (const Profile& profile : sweep)
      plans.push_back(Json(*Must(session.MakePlan(network, profile)).plan));
    EXPECT_THAT(plans, ElementsAreArray(expected));
  }
  const SessionCounts counts = session.Count();
  EXPECT_EQ(counts.misses, 4);
  EXPECT_EQ(counts.hits, 4);
  EXPECT_GT(counts.known, 0);  // profiles share questions to engines
  EXPECT_GT(counts.bytes, 0U);
}

// A chain of blocks; one of them is wider than the others.
Network Blocks(size_t wide, std::int64_t width) {
  std::string text =
      "schema: 1\nname: blocks\ndtype: int8\ninputs:\n"
      "  - {id: x, shape: [1, 16, 28, 28]}\noperators:\n";
  std::string last = "x";
  for (size_t i = 0; i < 6; ++i) {
    const std::string at = std::to_string(i);
    text.append("  - {id: a").append(at).append(", kind: conv, inputs: [").append(last);
    text.append("], out_channels: ").append(std::to_string(i == wide ? width : 32));
    text.append(", kernel: 3, pads: same}\n  - {id: b").append(at);
    text.append(", kind: conv, inputs: [a").append(at).append("], out_channels: 16, kernel: 1}\n");
    last = "b" + at;
  }
  return Must(Network::Parse(text + "outputs: [" + last + "]\n"));
}

// Costs of intervals that an edit does not touch are kept. They change no plan, whatever options
// and profiles other calls of the session have.
TEST(Sessions, ChangeNoPlanOfSimilarNetworks) {
  const Session session;
  const Profile small = Must(Npu().With("/memories/sram/capacity_bytes", "65536"));
  std::vector<PlanOptions> choices(5);
  choices[1].minimize = {{"energy", 1}};
  choices[2].transfers = Transfers::kPerSubgraph;
  choices[3].max_operators = 2;
  choices[4].constraints = "schema: 1\napart: [b2]\n";
  for (const size_t wide : {1, 2, 4}) {
    const Network network = Blocks(wide, 40 + static_cast<std::int64_t>(wide) * 8);
    for (const PlanOptions& options : choices) {
      for (const Profile& profile : {Npu(), small}) {
        EXPECT_EQ(Json(*Must(session.MakePlan(network, profile, options)).plan),
                  Json(PlanOf(network, profile, options)));
      }
    }
  }
  EXPECT_EQ(session.Count().hits, 0);
}

TEST(Sessions, AreSharedByThreads) {
  const Network network = Chain();
  const std::vector<Profile> sweep = Sweep();
  const std::vector<std::string> expected = PlansWithout(network, sweep);
  const Session session;
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < sweep.size(); ++i) {
        const size_t at = (thread + i) % sweep.size();
        const Result<PlanAnswer> answer = session.MakePlan(network, sweep[at]);
        if (answer && answer->plan && *answer->plan->Render("json") == expected[at]) ++equal;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 64);
  const SessionCounts counts = session.Count();
  EXPECT_EQ(counts.hits + counts.misses, 64);
  EXPECT_GE(counts.misses, 8);
}

// Every option that may change an answer is part of its key.
TEST(Sessions, TellOptionsApart) {
  const Network network = Chain();
  const Session session;
  std::int64_t asked = 0;
  const auto is_new = [&](auto change) {
    PlanOptions options;
    change(options);
    EXPECT_TRUE(session.MakePlan(network, Npu(), options));
    EXPECT_EQ(session.Count().misses, ++asked);
    EXPECT_TRUE(session.MakePlan(network, Npu(), options));
    EXPECT_EQ(session.Count().hits, asked);
  };
  const Plan old = PlanOf(network, Npu());
  is_new([](PlanOptions&) {});
  is_new([](PlanOptions& o) { o.minimize = {{"energy", 1}}; });
  is_new([](PlanOptions& o) { o.minimize = {{"energy", 1}, {"latency", 1}}; });
  is_new([](PlanOptions& o) { o.minimize = {{"energy", 1}, {"latency", 2}}; });
  is_new([](PlanOptions& o) { o.limits = {{"energy", 1e12}}; });
  is_new([](PlanOptions& o) { o.max_operators = 1; });
  is_new([](PlanOptions& o) { o.keep_order = true; });
  is_new([](PlanOptions& o) { o.keep_boundaries = false; });
  is_new([](PlanOptions& o) { o.transfers = Transfers::kPerSubgraph; });
  is_new([](PlanOptions& o) { o.off_chip = OffChip::kTileAware; });
  is_new([](PlanOptions& o) { o.sensitivity = true; });
  is_new([](PlanOptions& o) { o.lowering = true; });
  is_new([](PlanOptions& o) { o.constraints = "schema: 1\napart: [b]\n"; });
  is_new([](PlanOptions& o) { o.explain = true; });
  is_new([](PlanOptions& o) { o.certify = true; });
  is_new([](PlanOptions& o) { o.seed = 1; });
  is_new([](PlanOptions& o) { o.budget = 1'000'000; });
  is_new([](PlanOptions& o) { o.engine = "canonical"; });
  is_new([](PlanOptions& o) { o.switched_off = {"mirror"}; });
  is_new([&](PlanOptions& o) { o.previous = &old; });
  PlanOptions options;
  options.threads = 2;
  options.timeout_s = 1000;
  EXPECT_TRUE(session.MakePlan(network, Npu(), options));
  EXPECT_EQ(session.Count().misses, asked);
  EXPECT_TRUE(session.MakePlan(Must(Network::Parse(std::string(kChain) + "\n")), Npu()));
  EXPECT_EQ(session.Count().misses, asked);  // the same network, read again
  options.threads = 0;
  EXPECT_EQ(session.MakePlan(network, Npu(), options).Error().status, CallStatus::kBadInput);
}

TEST(Sessions, DoNotKeepWhatWasCutOff) {
  const Network network = Must(Network::Load(kNetwork));
  const Session session;
  PlanOptions options;
  options.canceller.emplace();
  options.canceller->Cancel();
  EXPECT_TRUE(Must(session.MakePlan(network, Npu(), options)).stopped);
  EXPECT_FALSE(Must(session.MakePlan(network, Npu())).stopped);
  EXPECT_EQ(session.Count().hits, 0);
}

TEST(Sessions, KeepWithinTheirLimit) {
  const Network network = Chain();
  SessionOptions small;
  small.most_bytes = 100'000;
  const Session session(small);
  for (const Profile& profile : Sweep()) EXPECT_TRUE(session.MakePlan(network, profile));
  const SessionCounts counts = session.Count();
  EXPECT_GT(counts.dropped, 0);
  EXPECT_LE(counts.bytes, small.most_bytes);
  session.Clear();
  EXPECT_EQ(session.Count().bytes, 0U);
  EXPECT_TRUE(session.MakePlan(network, Npu()));
}

TEST(Sessions, KnowAllocationsAndTiles) {
  const Session session;
  const Problem problem = ThreeBuffers();
  AllocateOptions options;
  const AllocateAnswer first = Must(session.Allocate(problem, options));
  const AllocateAnswer again = Must(session.Allocate(ThreeBuffers(), options));
  EXPECT_EQ(first.allocation->Offsets(), again.allocation->Offsets());
  options.capacity = 11;
  EXPECT_EQ(Must(session.Allocate(problem, options)).outcome, Outcome::kInfeasible);
  TileOptions tiles;
  tiles.operators = "a";
  const std::string json = Must(session.FindTiles(Chain(), Npu(), tiles)).json;
  EXPECT_EQ(Must(session.FindTiles(Chain(), Npu(), tiles)).json, json);
  EXPECT_EQ(Must(FindTiles(Chain(), Npu(), tiles)).json, json);
  EXPECT_EQ(session.Count().hits, 2);
  EXPECT_EQ(session.Count().misses, 3);
}

}  // namespace
}  // namespace tessera::tests
