// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>

#include "tessera/base/process.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/partition/partition.h"
#include "tessera/tests/memory/failing_new.h"
#include "tessera/tests/search/cost/small_machine.h"
#include "tessera/tests/search/partition/networks.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

// Each allocation of memory fails once. The search then gives an honest answer, throws nothing, and
// loses no memory.

namespace tessera::search {
namespace {

using problem::Engine;
using problem::Problem;
using problem::Result;
using problem::Status;

// Runs with failure k for k = 1, 2, .. until the run needs no k-th allocation. Returns the number
// of runs that failed. `may_leak`: a library in use does not free all its memory.
int64_t FailEach(bool may_leak, const std::function<void(int64_t)>& run) {
#ifdef __SANITIZE_ADDRESS__
  std::optional<__lsan::ScopedDisabler> no_report;
  if (may_leak) no_report.emplace();
#endif
  run(0);  // makes allocations that happen once and stay
  int64_t failures = 0;
  for (int64_t k = 1;; ++k) {
    UntilFailure() = k;
    const int64_t before = Blocks();
    run(k);
    const bool failed = UntilFailure() == 0;
    UntilFailure() = 0;
    EXPECT_TRUE(may_leak || Blocks() == before) << "allocation " << k;
    if (!failed) return failures;
    ++failures;
    if (testing::Test::HasFailure()) return failures;
  }
}

class EnginesUnderFailure : public testing::TestWithParam<const Engine*> {};

// Without the failure the Problem has a placement within the capacity, so kInfeasible is never
// right.
TEST_P(EnginesUnderFailure, AnswerHonestlyAndLoseNothing) {
  const Problem problem = problem::generate::MakeFlat(10, 3);
  const std::vector<const Engine*> engines = {GetParam()};
  const int64_t failures = FailEach(GetParam()->Name() == "cadical", [&](int64_t k) {
    allocate::AllocateOptions options;
    options.minimize = true;
    options.budget.units = 2'000;
    const base::Expected<Result> result = allocate::Allocate(problem, nullptr, 0, engines, options);
    const int64_t left = UntilFailure().exchange(0);
    ASSERT_TRUE(result) << "allocation " << k;
    EXPECT_NE(result->status, Status::kInfeasible) << "allocation " << k;
    if (result->allocation) {
      EXPECT_TRUE(problem::Validate(problem, *result->allocation, *result->peak, 1).empty());
    }
    UntilFailure() = left;
  });
  EXPECT_GT(failures, 50);
}

// There are too many allocations to let each fail: the first 100, then 400 spread over the rest.
// The search finds the layer-by-layer plan whatever fails, or the failure comes before there is any
// result.
TEST(PlanUnderFailure, AnswersHonestlyAndLosesNothing) {
  constexpr int64_t kFailures = 400;
  const graph::Graph graph = Chain(3);
  const hw_profiles::Profile profile = SmallMachine(hw_profiles::DmaSteps::kDoubleBuffered, 200);
  const engines::canonical::CanonicalEngine canonical;
  const engines::greedy::GreedyEngine greedy;
  partition::answer::PartitionOptions options;
  const std::vector<const Engine*> engines = {&canonical, &greedy};
  options.engines = engines;
  const auto run = [&](int64_t k) {
    const base::Expected<partition::answer::PartitionResult> result =
        partition::SearchPartition(graph, profile, options);
    const int64_t left = UntilFailure().exchange(0);
    ASSERT_TRUE(result) << "allocation " << k;
    EXPECT_NE(result->status, Status::kInfeasible) << "allocation " << k;
    if (result->plan) {
      EXPECT_TRUE(plan::verify::Validate(*result->plan).empty()) << "allocation " << k;
    }
    UntilFailure() = left;
  };
  constexpr int64_t kNever = std::numeric_limits<int64_t>::max();
  run(0);
  UntilFailure() = kNever;
  run(kNever);
  const int64_t allocations = kNever - UntilFailure();
  ASSERT_GT(allocations, kFailures);
  int64_t failures = 0;
  for (int64_t k = 1; k <= allocations; k += k < 100 ? 1 : allocations / kFailures) {
    UntilFailure() = k;
    const int64_t before = Blocks();
    run(k);
    failures += UntilFailure() == 0 ? 1 : 0;
    UntilFailure() = 0;
    ASSERT_EQ(Blocks(), before) << "allocation " << k;
  }
  EXPECT_GT(failures, kFailures);
}

class EnginesUnderALimit : public testing::TestWithParam<const Engine*> {
 protected:
  const engines::greedy::GreedyEngine greedy_{};
};

// Two million pairs of buffers that live together need more than a share of the limit. Greedy
// orders need no memory for pairs.
TEST_P(EnginesUnderALimit, DeclineWhatExceedsTheirMemory) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].capacity = int64_t{1} << 40;
  for (int i = 0; i < 2000; ++i) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = std::to_string(i);
    buffer.size = 1 + i % 7;
    buffer.lifespans = {{0, 1 + i % 3}};
  }
  base::Stop stop;
  stop.LimitMemory(base::ResidentBytes() + (100 << 20));
  const int64_t before = Blocks();
  const Result result =
      GetParam()->Open(problem, nullptr)->Solve(0, int64_t{1} << 30, {1'000}, stop);
  EXPECT_FALSE(stop.IsOutOfMemory());
  EXPECT_FALSE(result.allocation);
  EXPECT_NE(result.status, Status::kInfeasible);
  EXPECT_THAT(result.reason, testing::HasSubstr("pairs of buffers"));
  EXPECT_LE(Blocks() - before, 10);
  const std::vector<const Engine*> engines = {GetParam(), &greedy_};
  allocate::AllocateOptions options;
  options.stop = &stop;
  EXPECT_TRUE(allocate::Allocate(problem, nullptr, 0, engines, options)->allocation);
}

const engines::greedy::GreedyEngine kGreedy;
const engines::canonical::CanonicalEngine kCanonical;
const engines::local_search::LocalSearchEngine kLocalSearch;
const engines::lazy::LazyEngine kLazy;
const encoder::sat::SatEngine kCadical;

INSTANTIATE_TEST_SUITE_P(Engines, EnginesUnderALimit,
                         testing::Values(&kCanonical, &kLocalSearch, &kLazy, &kCadical),
                         [](const auto& info) {
                           std::string name(info.param->Name());
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

INSTANTIATE_TEST_SUITE_P(Engines, EnginesUnderFailure,
                         testing::Values(&kGreedy, &kCanonical, &kLocalSearch, &kLazy, &kCadical),
                         [](const auto& info) {
                           std::string name(info.param->Name());
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace tessera::search
