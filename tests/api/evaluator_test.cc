// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>

#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fixture.h"

// Evaluators: the answers of MakePlan and LowerBounds, whatever was evaluated before.
namespace tessera::tests {
namespace {

using testing::HasSubstr;

// Inverted residual blocks without residuals, and what an edit may change in each.
struct Genes {
  struct Block {
    int kernel = 3;
    int expansion = 2;
  };
  int width = 8;
  std::array<Block, 3> blocks;

  std::string Text() const {
    std::string text =
        "schema: 1\nname: drawn\ninputs:\n  - {id: x, shape: [1, 3, 24, 24]}\noperators:\n"
        "  - {id: stem, kind: conv, inputs: [x], out_channels: " +
        std::to_string(width) + ", kernel: 3, stride: 2, pads: same}\n";
    std::string before = "stem";
    for (size_t i = 0; i < blocks.size(); ++i) {
      const std::string name = "b" + std::to_string(i);
      text += "  - {id: " + name + "e, kind: conv, inputs: [" + before +
              "], out_channels: " + std::to_string(width * blocks[i].expansion) + ", kernel: 1}\n";
      text += "  - {id: " + name + "d, kind: depthwise, inputs: [" + name +
              "e], kernel: " + std::to_string(blocks[i].kernel) + ", pads: same}\n";
      text += "  - {id: " + name + "p, kind: conv, inputs: [" + name +
              "d], out_channels: " + std::to_string(width) + ", kernel: 1}\n";
      before = name + "p";
    }
    return text + "outputs: [" + before + "]\n";
  }

  template <typename Random>
  void Edit(Random& random) {
    Block& block = blocks[random() % blocks.size()];
    switch (random() % 8) {
      case 0:
        width = 4 + 4 * static_cast<int>(random() % 3);
        break;
      case 1:
      case 2:
      case 3:
        block.kernel = 3 + 2 * static_cast<int>(random() % 3);
        break;
      default:
        block.expansion = 1 + static_cast<int>(random() % 4);
        break;
    }
  }
};

Profile Small() { return Must(Npu().With("/memories/sram/capacity_bytes", "16384")); }

void ExpectEqual(const Evaluation& found, const PlanAnswer& fresh) {
  EXPECT_EQ(found.outcome, fresh.outcome);
  EXPECT_EQ(found.reason, fresh.reason);
  ASSERT_EQ(found.metrics.size(), fresh.plan ? fresh.plan->Metrics().size() : 0U);
  for (size_t i = 0; i < found.metrics.size(); ++i) {
    EXPECT_EQ(found.metrics[i].name, fresh.plan->Metrics()[i].name);
    EXPECT_EQ(found.metrics[i].value, fresh.plan->Metrics()[i].value);
    EXPECT_EQ(found.metrics[i].lower_bound, fresh.plan->Metrics()[i].lower_bound);
  }
}

TEST(Evaluators, AnswerAsFreshPlansDoOnDrawnEdits) {
  EvaluatorOptions options;
  options.plan.max_operators = 2;
  options.plan.budget = 500;
  const std::vector<Profile> profiles = {Npu(), Small()};
  const Evaluator evaluator = Must(Evaluator::Make(profiles, options));
  std::mt19937 random(28);
  Genes genes;
  for (int edit = 0; edit < 8; ++edit) {
    const Network network = Must(Network::Parse(genes.Text()));
    const std::vector<Evaluation> found = Must(evaluator.Evaluate(network));
    ASSERT_EQ(found.size(), 2U);
    for (size_t i = 0; i < profiles.size(); ++i)
      ExpectEqual(found[i], Must(MakePlan(network, profiles[i], options.plan)));
    genes.Edit(random);
  }
  EXPECT_GT(evaluator.Count().known, 0);
}

// The time is over before the second profile, whatever the first one takes.
TEST(Evaluators, HaveOneTimeoutForAllProfiles) {
  EvaluatorOptions options;
  options.plan.max_operators = 1;
  options.plan.budget = 200;
  const Evaluator evaluator = Must(Evaluator::Make({Npu(), Small()}, options));
  CallOptions call;
  call.timeout_s = 1;
  bool has_waited = false;
  call.progress = [&](std::string_view) {
    if (!has_waited) std::this_thread::sleep_for(std::chrono::duration<double>(*call.timeout_s));
    has_waited = true;
  };
  const std::vector<Evaluation> found = Must(evaluator.Evaluate(Chain(), call));
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[1].stopped);
}

TEST(Evaluators, KeepLimitsAsPlansDo) {
  EvaluatorOptions options;
  options.plan.max_operators = 1;
  options.plan.budget = 200;
  const Evaluator evaluator = Must(Evaluator::Make({Npu()}, options));
  const Network network = Chain();
  const Evaluation free = Must(evaluator.Evaluate(network)).front();
  ASSERT_FALSE(free.metrics.empty());
  for (const PlanMetric& metric : free.metrics) {
    if (metric.name != "latency" && metric.name != "peak") continue;
    for (const double share : {0.1, 1.0, 1.1}) {
      PlanOptions limited = options.plan;
      limited.limits = {{metric.name, metric.value * share}};
      const Evaluation found = Must(evaluator.EvaluateAtMost(network, {limited.limits})).front();
      const PlanAnswer fresh = Must(MakePlan(network, Npu(), limited));
      if (found.searched) {
        ExpectEqual(found, fresh);
      } else {
        EXPECT_EQ(found.outcome, Outcome::kInfeasible);
        EXPECT_FALSE(fresh.plan) << metric.name << " " << share;
      }
    }
  }
}

// A bound that exceeds a limit ends the call before any search, on whichever profile it is.
TEST(Evaluators, RefuseByBoundsWithoutASearch) {
  const Evaluator evaluator = Must(Evaluator::Make({Npu(), Small()}));
  const Network network = Must(Network::Parse(Genes().Text()));
  const double least = Must(LowerBounds(network, Small())).front().second;
  const auto found = Must(evaluator.EvaluateAtMost(network, {{}, {{"latency", least - 1}}}));
  EXPECT_EQ(found[1].outcome, Outcome::kInfeasible);
  EXPECT_THAT(found[1].reason, HasSubstr("latency is at least "));
  EXPECT_FALSE(found[1].searched);
  EXPECT_EQ(found[0].outcome, Outcome::kUnknown);
  EXPECT_THAT(found[0].reason, HasSubstr("not planned"));
  EXPECT_EQ(evaluator.Count().misses, 0);
}

// A search without an answer proves nothing, and no reason says that it does.
TEST(Evaluators, SayThatNoPlanWasFoundWhereNoneIsRefuted) {
  EvaluatorOptions options;
  options.plan.budget = 1;
  const Evaluator evaluator = Must(Evaluator::Make({Npu(), Small()}, options));
  const Network network = Must(Network::Parse(Genes().Text()));
  const double least = Must(LowerBounds(network, Npu())).front().second;
  const auto found = Must(evaluator.EvaluateAtMost(network, {{{"latency", least * 1.01}}, {}}));
  ASSERT_EQ(found[0].outcome, Outcome::kUnknown);
  EXPECT_TRUE(found[0].searched);
  EXPECT_EQ(found[1].outcome, Outcome::kUnknown);
  EXPECT_THAT(found[1].reason, HasSubstr("not planned: no plan was found on "));
}

TEST(Evaluators, AreSharedByThreads) {
  EvaluatorOptions options;
  options.plan.max_operators = 1;
  options.plan.budget = 300;
  const Evaluator evaluator = Must(Evaluator::Make({Npu()}, options));
  std::vector<Network> networks;
  std::vector<double> expected;
  for (int kernel : {3, 5, 7}) {
    Genes genes;
    genes.blocks[1].kernel = kernel;
    networks.push_back(Must(Network::Parse(genes.Text())));
    expected.push_back(PlanOf(networks.back(), Npu(), options.plan).Score());
  }
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (size_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      for (size_t i = 0; i < networks.size(); ++i) {
        const size_t at = (thread + i) % networks.size();
        const auto found = evaluator.Evaluate(networks[at]);
        if (found && (*found)[0].metrics.front().value == expected[at]) ++equal;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 12);
}

TEST(Evaluators, RefuseBadArguments) {
  EXPECT_EQ(Evaluator::Make({}).Error().status, CallStatus::kBadInput);
  EvaluatorOptions options;
  options.plan.explain = true;
  EXPECT_EQ(Evaluator::Make({Npu()}, options).Error().status, CallStatus::kBadInput);
  const Evaluator evaluator = Must(Evaluator::Make({Npu()}));
  EXPECT_THAT(evaluator.EvaluateAtMost(Chain(), {{{"speed", 1}}}).Error().message,
              HasSubstr("speed"));
  EXPECT_EQ(evaluator.EvaluateAtMost(Chain(), {{}, {}}).Error().status, CallStatus::kBadInput);
}

TEST(Evaluators, GiveWhatACancelledSearchHas) {
  const Evaluator evaluator = Must(Evaluator::Make({Npu()}));
  CallOptions call;
  call.canceller.emplace();
  call.canceller->Cancel();
  EXPECT_TRUE(Must(evaluator.Evaluate(Chain(), call)).front().stopped);
  EXPECT_FALSE(Must(evaluator.Evaluate(Chain())).front().stopped);
}

}  // namespace
}  // namespace tessera::tests
