// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/greedy/greedy.h"

#include <gmock/gmock.h>

#include "random_instance.h"
#include "tessera/problem/validator.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::Result;
using problem::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Optional;

Result DecideGreedily(const Problem& problem, problem::Bytes capacity) {
  const base::Stop stop;
  return engines::greedy::GreedyEngine().Open(problem, nullptr)->Solve(0, capacity, {}, stop);
}

TEST(Greedy, FirstFitInBirthOrderFailsOnThePatentsFigure) {
  const Problem problem = MakeProblem({MakeBuffer("A", 1, 3, 4), MakeBuffer("B", 1, 4, 3),
                                       MakeBuffer("C", 2, 4, 2), MakeBuffer("D", 3, 4, 5)},
                                      10);
  const base::Stop stop;
  const engines::greedy::GreedyPlacement placement(problem, 0);
  const auto offsets =
      placement.Place(engines::greedy::GreedyOrder::kBirth, allocate::Fit::kFirst, false, 14, stop);
  EXPECT_THAT(offsets, Optional(ElementsAre(0, 4, 7, 9)));  // D from 9 to 14
  EXPECT_FALSE(
      placement.Place(engines::greedy::GreedyOrder::kBirth, allocate::Fit::kFirst, false, 13, stop)
          .has_value());
}

TEST(Greedy, AllocationsAreRightAndRefusalsTrue) {
  base::Random random(41);
  int placed = 0;
  for (int round = 0; round < 3000; ++round) {
    const Problem problem = RandomInstance(random);
    const problem::Bytes capacity = problem.memories[0].capacity;
    const Result result = DecideGreedily(problem, capacity);
    if (result.status == Status::kInfeasible) {
      ASSERT_FALSE(FitsByBruteForce(problem, capacity)) << "round " << round;
    } else if (result.allocation) {
      const auto violations = Validate(problem, *result.allocation, capacity);
      ASSERT_TRUE(violations.empty()) << "round " << round << ": " << violations.front().message;
      ++placed;
    }
  }
  EXPECT_GE(placed, 1000);
}

// A pass that a small capacity cut short runs again for a larger capacity.
TEST(Greedy, CapacitiesAskedForBeforeDoNotMatter) {
  base::Random random(42);
  for (int round = 0; round < 500; ++round) {
    const Problem problem = RandomInstance(random);
    const auto session = engines::greedy::GreedyEngine().Open(problem, nullptr);
    const base::Stop stop;
    for (const problem::Bytes capacity : {4, 9, 6, 16, 8, 12}) {
      ASSERT_EQ(session->Solve(0, capacity, {}, stop).status,
                DecideGreedily(problem, capacity).status)
          << "round " << round << ", capacity " << capacity;
    }
  }
}

TEST(Greedy, TriesAHintFirst) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4)}, 16);
  problem.buffers[0].hint = 7;
  EXPECT_EQ(DecideGreedily(problem, 16).allocation->offsets[0], 7);
  EXPECT_EQ(DecideGreedily(problem, 8).status, Status::kFeasible);  // without it
}

TEST(Greedy, KeepsInsideAllowedBanks) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 3), MakeBuffer("c", 0, 2, 3)}, 12);
  problem.memories[0].banks = {{"0", {0, 4}, {}}, {"1", {4, 8}, {}}, {"2", {8, 12}, {}}};
  for (auto& buffer : problem.buffers) buffer.span = problem::Span::kSingle;
  problem.buffers[2].allowed_banks = {0};
  problem.buffers[0].allowed_banks = {1, 2};
  problem.buffers[1].allowed_banks = {1, 2};
  const Result result = DecideGreedily(problem, 12);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(Validate(problem, *result.allocation, 12).empty());
  EXPECT_EQ(result.allocation->offsets[2], 0);
}

TEST(Greedy, CallsInfeasibleOnlyWhatABoundRefutes) {
  const Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 5), MakeBuffer("b", 1, 3, 5),
                                       MakeBuffer("c", 2, 4, 5), MakeBuffer("d", 0, 4, 1)},
                                      11);
  EXPECT_NE(DecideGreedily(problem, 11).status, Status::kInfeasible);
  EXPECT_EQ(DecideGreedily(problem, 10).status, Status::kInfeasible);
  EXPECT_THAT(DecideGreedily(problem, 10).reason, HasSubstr("need 11 bytes together"));
}

TEST(Greedy, RefusesRelationsItCannotHonour) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4)}, 16);
  problem.relations = {{problem::RelationKind::kAdjacent, 0, 1, 0}};
  EXPECT_EQ(DecideGreedily(problem, 16).status, Status::kUnsupported);
}

TEST(Greedy, PlacesTensOfThousandsOfBuffers) {
  base::Random random(42);
  std::vector<problem::Buffer> buffers;
  for (int i = 0; i < 20'000; ++i) {
    const auto lower = random.Uniform(0, 40'000);
    buffers.push_back(MakeBuffer("b" + std::to_string(i), lower, lower + random.Uniform(1, 400),
                                 random.Uniform(1, 4096)));
  }
  const Problem problem = MakeProblem(std::move(buffers), 1 << 20);
  const Result result = DecideGreedily(problem, 1 << 20);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(Validate(problem, *result.allocation, 1 << 20).empty());
}

}  // namespace
}  // namespace tessera::search
