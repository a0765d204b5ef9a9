// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/order_search.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "random_instance.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/order_search/instance.h"
#include "tessera/search/engines/order_search/quick_placements.h"

namespace tessera::search {
namespace {

using engines::order_search::Instance;
using engines::order_search::MakeInstance;
using engines::order_search::OrderSearchEngine;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
using testing::HasSubstr;

constexpr Bytes kAnyPeak = Bytes{1} << 40;

Result DecideInOrder(const Problem& problem, Bytes capacity, int64_t units, uint64_t seed = 0) {
  const base::Stop stop;
  return OrderSearchEngine(seed)
      .Open(problem, nullptr)
      ->Solve(0, capacity, base::Budget{units}, stop);
}

Result Lower(const Problem& problem, Bytes target, int64_t units, size_t strand = 0) {
  const base::Stop stop;
  problem::PeakQuery query;
  query.target = target;
  query.capacity = kAnyPeak;
  query.strand = strand;
  return OrderSearchEngine(0).Open(problem, nullptr)->LowerPeak(query, base::Budget{units}, stop);
}

Problem DrawBuffers(base::Random& random, int64_t count, problem::Step steps, Bytes largest,
                    problem::Step longest) {
  Problem problem = MakeProblem({}, kAnyPeak);
  for (int64_t i = 0; i < count; ++i) {
    const problem::Step lower = random.Uniform(0, steps);
    problem.buffers.push_back(MakeBuffer("b" + std::to_string(i), lower,
                                         lower + random.Uniform(1, longest),
                                         random.Uniform(1, largest)));
  }
  return problem;
}

void ExpectAnswer(const Problem& problem, const Result& result, Bytes capacity) {
  ASSERT_TRUE(result.allocation) << result.reason;
  const auto violations = Validate(problem, *result.allocation, capacity);
  ASSERT_TRUE(violations.empty()) << violations.front().message;
  EXPECT_EQ(result.peak, PeakOf(problem, *result.allocation));
}

TEST(OrderSearchEngineTest, FindsWhatBruteForceFindsAndNothingElse) {
  base::Random random(71);
  int fitting = 0, found = 0, unsupported = 0;
  for (int round = 0; round < 2000; ++round) {
    const Problem problem = RandomInstance(random);
    const Bytes capacity = problem.memories[0].capacity;
    const Result result = DecideInOrder(problem, capacity, 2000);
    if (result.status == Status::kUnsupported) {
      EXPECT_THAT(result.reason, HasSubstr("does not support"));
      ++unsupported;
      continue;
    }
    const bool fits = FitsByBruteForce(problem, capacity);
    fitting += fits ? 1 : 0;
    if (!fits || !result.allocation) {
      ASSERT_EQ(result.status, Status::kUnknown) << "round " << round;
      continue;
    }
    ExpectAnswer(problem, result, capacity);
    ++found;
  }
  EXPECT_GE(fitting, 300);
  EXPECT_GE(found * 100, fitting * 97);
  EXPECT_GE(unsupported, 500);
}

TEST(OrderSearchEngineTest, LowersPeaksTowardsTheLoad) {
  base::Random random(72);
  for (int round = 0; round < 40; ++round) {
    const Problem problem = DrawBuffers(random, 300, 1000, 50, 100);
    const Bytes load = allocate::FindBound(problem, 0).bytes;
    const Result result = Lower(problem, load, 20'000);
    ExpectAnswer(problem, result, kAnyPeak);
    EXPECT_GE(*result.peak, load);
    EXPECT_LE(static_cast<double>(*result.peak), 1.03 * static_cast<double>(load));
  }
}

TEST(OrderSearchEngineTest, KeepsAlignments) {
  base::Random random(73);
  for (int round = 0; round < 40; ++round) {
    Problem problem = DrawBuffers(random, 60, 100, 50, 30);
    for (problem::Buffer& buffer : problem.buffers) buffer.alignment = random.Uniform(1, 12);
    problem.memories[0].alignment = random.Uniform(1, 3);
    ExpectAnswer(problem, Lower(problem, 0, 2000), kAnyPeak);
  }
}

TEST(OrderSearchEngineTest, PlacesSeveralMemories) {
  base::Random random(74);
  for (int round = 0; round < 40; ++round) {
    Problem problem = DrawBuffers(random, 60, 100, 50, 30);
    problem.memories.push_back(problem.memories[0]);
    problem.memories[1].name = "other";
    for (problem::Buffer& buffer : problem.buffers)
      buffer.memory = static_cast<int>(random.Uniform(0, 1));
    ExpectAnswer(problem, Lower(problem, 0, 2000), kAnyPeak);
  }
}

// The load of these is always met, without search.
TEST(OrderSearchEngineTest, SolvesElementaryCases) {
  base::Random random(75);
  for (int round = 0; round < 200; ++round) {
    const bool equal_sizes = random.Chance(0.5);
    Problem problem = DrawBuffers(random, random.Uniform(1, 200), 300, equal_sizes ? 1 : 50, 60);
    if (equal_sizes) {
      for (problem::Buffer& buffer : problem.buffers) buffer.size = 24;
    } else {
      problem::Step at = 0;
      for (problem::Buffer& buffer : problem.buffers) {
        buffer.lifespans = {{at, at + random.Uniform(1, 5)}};
        at = buffer.lifespans.back().upper;
      }
    }
    const Instance instance = MakeInstance(problem, 0);
    EXPECT_TRUE(PlaceElementary(instance));
    const Bytes load = allocate::FindBound(problem, 0).bytes;
    const Result result = DecideInOrder(problem, load, 1);
    ExpectAnswer(problem, result, load);
    EXPECT_EQ(*result.peak, load);
  }
}

// The sweep places buffers in the order of birth, which must be right for any alignment.
TEST(OrderSearchEngineTest, ASweepPlacesEverything) {
  base::Random random(21);
  for (int round = 0; round < 200; ++round) {
    Problem problem = DrawBuffers(random, random.Uniform(1, 60), 30, 50, 12);
    const bool aligned = random.Chance(0.5);
    for (problem::Buffer& buffer : problem.buffers) {
      if (aligned) buffer.alignment = Bytes{1} << random.Uniform(0, 4);
    }
    const Instance instance = MakeInstance(problem, 0);
    const base::Stop stop;
    engines::order_search::Effort effort(1, stop);
    const auto offsets = PlaceBySweep(instance, effort);
    ASSERT_TRUE(offsets);
    problem::Allocation allocation;
    allocation.offsets.resize(problem.buffers.size());
    for (size_t i = 0; i < offsets->size(); ++i)
      allocation.offsets[static_cast<size_t>(instance.origin[i])] = (*offsets)[i];
    const auto violations = Validate(problem, allocation, kAnyPeak);
    ASSERT_TRUE(violations.empty()) << round << ": " << violations.front().message;
  }
}

TEST(OrderSearchEngineTest, ASweepUsesTheSmallestGapAgain) {
  const Problem problem =
      MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("wall", 0, 9, 1), MakeBuffer("b", 0, 3, 6),
                   MakeBuffer("top", 0, 9, 1), MakeBuffer("fits_a", 3, 9, 4)},
                  kAnyPeak);
  const base::Stop stop;
  engines::order_search::Effort effort(1, stop);
  const Instance instance = MakeInstance(problem, 0);
  const auto offsets = PlaceBySweep(instance, effort);
  ASSERT_TRUE(offsets);
  EXPECT_EQ(TopOf(instance, *offsets), instance.greatest_load);
}

// Beyond 200 000 buffers a sweep gives the first answer, and one unit of work is enough for it.
TEST(OrderSearchEngineTest, AnswersAtOnceForVeryManyBuffers) {
  base::Random random(23);
  const Problem problem = DrawBuffers(random, 210'000, 400'000, 1'000, 60);
  ExpectAnswer(problem, Lower(problem, 1, 1), kAnyPeak);
}

TEST(OrderSearchEngineTest, DependsOnSeedAndWorkAndNotOnThreads) {
  base::Random random(76);
  const Problem problem = DrawBuffers(random, 900, 3000, 1000, 300);
  const OrderSearchEngine engine(5);
  const std::vector<const problem::Engine*> engines = {&engine};
  std::optional<std::vector<Bytes>> offsets;
  for (const int threads : {1, 2, 4}) {
    allocate::AllocateOptions options;
    options.minimize = true;
    options.threads = threads;
    options.budget = base::Budget{20'000};
    const auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
    ASSERT_TRUE(result && result->allocation);
    if (offsets) {
      EXPECT_EQ(result->allocation->offsets, *offsets);
    }
    offsets = result->allocation->offsets;
  }
}

TEST(OrderSearchEngineTest, RefusesByNameWhatItDoesNotHonour) {
  base::Random random(77);
  const Problem plain = DrawBuffers(random, 6, 10, 5, 5);
  Problem fixed = plain;
  fixed.buffers[2].offset = 0;
  EXPECT_EQ(DecideInOrder(fixed, 100, 100).status, Status::kUnsupported);
  Problem gap = plain;
  gap.buffers[1].lifespans = {{0, 1}, {4, 5}};
  EXPECT_EQ(DecideInOrder(gap, 100, 100).status, Status::kUnsupported);
  Problem reserved = plain;
  reserved.memories[0].reserved.push_back({{0, 4}, "stack"});
  EXPECT_EQ(DecideInOrder(reserved, 100, 100).status, Status::kUnsupported);
  Problem related = plain;
  related.relations.push_back({problem::RelationKind::kSeparate, 0, 1, 0});
  EXPECT_EQ(DecideInOrder(related, 100, 100).status, Status::kUnsupported);
}

TEST(OrderSearchEngineTest, EndsAtAStop) {
  base::Random random(78);
  const Problem problem = DrawBuffers(random, 2000, 5000, 1000, 500);
  base::Stop stop;
  stop.Request();
  const Result result =
      OrderSearchEngine().Open(problem, nullptr)->Solve(0, 1, base::Budget{}, stop);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_FALSE(result.allocation);
}

}  // namespace
}  // namespace tessera::search
