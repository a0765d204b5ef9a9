// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/contraction.h"

#include <gmock/gmock.h>

#include "random_instance.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"

namespace tessera::search {
namespace {

using problem::Lifespan;
using problem::Problem;
using problem::RelationKind;
using problem::Result;
using problem::Status;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

Result DecideWith(const problem::Engine& engine, const Problem& problem, problem::Bytes capacity) {
  const base::Stop stop;
  return engine.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
}

// y overwrites x at step 2, z overwrites y at step 4; a lives at the same time as all of them.
Problem Chain() {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 7, 3), MakeBuffer("x", 0, 3, 4),
                                 MakeBuffer("y", 2, 5, 4), MakeBuffer("z", 4, 7, 4)},
                                7);
  problem.relations = {{RelationKind::kColocate, 1, 2, 0}, {RelationKind::kColocate, 3, 2, 0}};
  return problem;
}

TEST(Contraction, MakesAChainOfInPlaceOperatorsOneBuffer) {
  const auto contraction = allocate::ContractColocated(Chain(), nullptr);
  ASSERT_TRUE(contraction.has_value());
  EXPECT_THAT(contraction->image, ElementsAre(0, 1, 1, 1));
  ASSERT_THAT(contraction->problem.buffers, SizeIs(2));
  EXPECT_EQ(contraction->problem.buffers[1].id, "x=y=z");
  EXPECT_THAT(contraction->problem.buffers[1].lifespans, ElementsAre(Lifespan{0, 7}));
  EXPECT_THAT(contraction->problem.relations, IsEmpty());
  EXPECT_THAT(contraction->contradiction, IsEmpty());
  EXPECT_THAT(allocate::Expand(*contraction, {{4, 0}, {}}).offsets, ElementsAre(4, 0, 0, 0));
}

TEST(Contraction, NothingColocatedNothingToDo) {
  Problem problem = Chain();
  problem.relations.clear();
  EXPECT_FALSE(allocate::ContractColocated(problem, nullptr).has_value());
}

TEST(Contraction, LeavesDistancesAndUnequalSizesToOthers) {
  Problem apart = Chain();
  apart.relations[0].delta = 4;
  EXPECT_FALSE(allocate::ContractColocated(apart, nullptr).has_value());
  Problem unequal = Chain();
  unequal.buffers[2].size = 3;
  EXPECT_FALSE(allocate::ContractColocated(unequal, nullptr).has_value());
  EXPECT_EQ(DecideWith(engines::canonical::CanonicalEngine(), unequal, 7).status,
            Status::kFeasible);
}

TEST(Contraction, LooksAtTheSizesOfEveryCandidate) {
  const Problem problem = Chain();
  const problem::Ladder equal{{{"small", {1, 2, 2, 2}}, {"large", {3, 4, 4, 4}}}};
  const auto contraction = allocate::ContractColocated(problem, &equal);
  ASSERT_TRUE(contraction.has_value());
  EXPECT_THAT(contraction->ladder.candidates[0].sizes, ElementsAre(1, 2));
  EXPECT_THAT(contraction->ladder.candidates[1].sizes, ElementsAre(3, 4));
  const problem::Ladder unequal{{{"small", {1, 2, 2, 2}}, {"large", {3, 4, 4, 5}}}};
  EXPECT_FALSE(allocate::ContractColocated(problem, &unequal).has_value());
}

TEST(Contraction, TheJoinedBufferObeysEachMember) {
  Problem problem = Chain();
  problem.buffers[1].alignment = 4;
  problem.buffers[2].alignment = 6;
  problem.buffers[3].offset = 12;
  problem.buffers[1].lifespans = {{0, 1}, {2, 3}};
  problem.buffers[1].accesses = {{0, "dma", problem::AccessKind::kWrite}};
  problem.buffers[3].accesses = {{6, "pe", problem::AccessKind::kRead}};
  const auto contraction = allocate::ContractColocated(problem, nullptr);
  ASSERT_TRUE(contraction.has_value());
  const problem::Buffer& joined = contraction->problem.buffers[1];
  EXPECT_EQ(joined.alignment, 12);
  EXPECT_EQ(joined.offset, 12);
  EXPECT_THAT(joined.lifespans, ElementsAre(Lifespan{0, 1}, Lifespan{2, 7}));
  EXPECT_THAT(joined.accesses, SizeIs(2));
}

TEST(Contraction, JoinsTheBanksThatAllMembersMayTouch) {
  Problem problem = Chain();
  problem.memories[0].capacity = 8;
  problem.memories[0].banks = {{"low", {0, 4}, {}}, {"high", {4, 8}, {}}};
  problem.buffers[1].allowed_banks = {0, 1};
  problem.buffers[2].allowed_banks = {1};
  problem.buffers[3].span = problem::Span::kSingle;
  const auto contraction = allocate::ContractColocated(problem, nullptr);
  ASSERT_TRUE(contraction.has_value());
  EXPECT_THAT(contraction->problem.buffers[1].allowed_banks, ElementsAre(1));
  EXPECT_EQ(contraction->problem.buffers[1].span, problem::Span::kSingle);
  problem.buffers[1].allowed_banks = {0};
  EXPECT_FALSE(allocate::ContractColocated(problem, nullptr).has_value());
}

struct Contradiction {
  const char* words;
  std::function<void(Problem&)> state;
};

TEST(Contraction, ReportsWhatContradictsIt) {
  const std::vector<Contradiction> cases = {
      {"y and z are colocated but live together",
       [](Problem& p) {
         p.relations[1] = {RelationKind::kColocate, 1, 3, 0};
       }},
      {"x and z are colocated but fixed at different offsets",
       [](Problem& p) {
         p.buffers[1].offset = 0;
         p.buffers[3].offset = 3;
       }},
      {"x and z are colocated but separate",
       [](Problem& p) {
         p.relations.push_back({RelationKind::kSeparate, 1, 3, 0});
       }},
      {"z and x are colocated but adjacent",
       [](Problem& p) {
         p.relations.push_back({RelationKind::kAdjacent, 3, 1, 0});
       }},
  };
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  for (const Contradiction& contradiction : cases) {
    Problem problem = Chain();
    contradiction.state(problem);
    for (const problem::Engine* engine : engines) {
      const Result result = DecideWith(*engine, problem, 7);
      EXPECT_EQ(result.status, Status::kInfeasible) << contradiction.words;
      EXPECT_THAT(result.reason, HasSubstr(contradiction.words));
      EXPECT_EQ(result.engine, engine->Name());
    }
  }
}

TEST(Contraction, ExclusiveSurvivesOnlyWhereNoOtherPairConflicts) {
  Problem problem = Chain();
  problem.relations.push_back({RelationKind::kExclusive, 0, 1, 0});
  EXPECT_THAT(allocate::ContractColocated(problem, nullptr)->problem.relations,
              IsEmpty());  // a lives with y as well
  problem.buffers[0].lifespans = {{0, 2}};
  EXPECT_THAT(allocate::ContractColocated(problem, nullptr)->problem.relations, SizeIs(1));
}

TEST(Contraction, AgreesWithBruteForce) {
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  base::Random random(71);
  int decided = 0, infeasible = 0, placed_by_greedy = 0;
  for (int round = 0; round < 4000; ++round) {
    Problem problem = RandomInstance(random);
    AddColocations(problem, random);
    ASSERT_FALSE(CheckWellFormed(problem).has_value()) << CheckWellFormed(problem)->message;
    const problem::Bytes capacity = problem.memories[0].capacity;
    const Result result = DecideWith(canonical, problem, capacity);
    if (result.status == Status::kUnsupported) continue;
    const bool fits = FitsByBruteForce(problem, capacity);
    ASSERT_EQ(result.status, fits ? Status::kFeasible : Status::kInfeasible) << "round " << round;
    ++decided;
    infeasible += fits ? 0 : 1;
    const Result quick = DecideWith(greedy, problem, capacity);
    ASSERT_TRUE(quick.status != Status::kInfeasible || !fits) << "round " << round;
    placed_by_greedy += quick.allocation ? 1 : 0;
    for (const Result* answer : {&result, &quick}) {
      if (!answer->allocation) continue;
      const auto violations = Validate(problem, *answer->allocation, capacity);
      ASSERT_TRUE(violations.empty()) << "round " << round << ": " << violations.front().message;
    }
  }
  EXPECT_GE(decided, 3000);
  EXPECT_GE(infeasible, 1000);
  EXPECT_GE(placed_by_greedy, 500);
}

// The load of a step counts a group once, at its own place, so a greedy answer can be proven
// optimal.
TEST(Contraction, TheBoundCountsEachGroupOnce) {
  Problem problem = Chain();
  problem.buffers.push_back(MakeBuffer("u", 0, 3, 2));
  problem.buffers.push_back(MakeBuffer("v", 2, 5, 2));
  problem.relations.push_back({RelationKind::kColocate, 4, 5, 0});
  const engines::greedy::GreedyEngine greedy;
  const std::vector<const problem::Engine*> engines = {&greedy};
  allocate::AllocateOptions options;
  options.capacity = 9;
  const auto result = allocate::Allocate(problem, nullptr, 0, engines, options);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->status, Status::kOptimal);
  EXPECT_EQ(result->lower_bound, 9);
}

}  // namespace
}  // namespace tessera::search
