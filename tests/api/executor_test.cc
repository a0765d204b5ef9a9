// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "fixture.h"

// Threads of the caller.
namespace tessera::tests {
namespace {

using Work = std::function<void()>;

// Runs work on threads of its own, and counts the calls.
struct Pool {
  void operator()(int count, const Work& work) const {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(count));
    for (int i = 0; i < count; ++i) {
      threads.emplace_back([&] {
        ++*calls;
        work();
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  std::atomic<int>* calls;
};

TEST(Executors, ProvideTheThreadsAndChangeNoPlan) {
  const Network network =
      Must(Network::Load(TESSERA_SOURCE_DIR "/examples/networks/mobilenet_v2_035.yaml"));
  std::atomic<int> calls = 0;
  PlanOptions options;
  options.budget = 2000;
  const std::string expected = Json(PlanOf(network, Npu(), options));
  options.threads = 3;
  options.executor = Pool{&calls};
  EXPECT_EQ(Json(PlanOf(network, Npu(), options)), expected);
  EXPECT_GT(calls, 0);
  // One that runs nothing, and one that runs everything in a row: the call does the work.
  options.executor = [](int, const Work&) {};
  EXPECT_EQ(Json(PlanOf(network, Npu(), options)), expected);
  options.executor = [](int count, const Work& work) {
    for (int i = 0; i < count; ++i) work();
  };
  EXPECT_EQ(Json(PlanOf(network, Npu(), options)), expected);
}

TEST(Executors, AreAskedForAllocationsAndExplorations) {
  ListRequest request;
  request.family = "perfect";
  request.buffers = 40;
  request.parameters = {{"steps", 30}};
  const Problem problem = Must(GenerateList(request)).problem;
  std::atomic<int> calls = 0;
  AllocateOptions options;
  options.minimize = true;
  const std::int64_t peak = Must(Allocate(problem, options)).allocation->Peak();
  options.threads = 2;
  options.executor = Pool{&calls};
  EXPECT_EQ(Must(Allocate(problem, options)).allocation->Peak(), peak);

  ExploreOptions explore;
  explore.threads = 2;
  explore.executor = Pool{&calls};
  calls = 0;
  const ExploreAnswer answer =
      Must(ExploreText("schema: 1\nnetworks: [" TESSERA_SOURCE_DIR
                       "/examples/networks/patent_chain.yaml]\n"
                       "profile: " TESSERA_SOURCE_DIR "/hw_profiles/edge_npu_64kib.yaml\n"
                       "vary: {memories.sram.capacity_bytes: [32Ki, 64Ki]}\nminimize: [latency]\n",
                       explore));
  EXPECT_GT(calls, 0);
  EXPECT_FALSE(answer.stopped);
}

TEST(Executors, ThatThrowEndTheCall) {
  PlanOptions options;
  options.threads = 2;
  options.executor = [](int, const Work&) { throw std::runtime_error("no threads today"); };
  const Result<PlanAnswer> answer =
      MakePlan(Must(Network::Load(TESSERA_SOURCE_DIR "/examples/networks/mobilenet_v2.yaml")),
               Npu(), options);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.Error().status, CallStatus::kInternal);
  EXPECT_EQ(answer.Error().message, "no threads today");
}

}  // namespace
}  // namespace tessera::tests
