#include "tessera/search/tiling/merge_colocated.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tessera/search/allocate/canonical.h"
#include "tessera/search/tiling/ladder_search.h"

namespace tessera::search {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Lifespan;
using problem::Problem;
using problem::RelationKind;
using testing::ElementsAre;

// Buffers b0, b1, ... of the lives given, all of size 4.
Problem ProblemOf(const std::vector<Lifespan>& lives) {
  Problem problem;
  problem.memories.emplace_back();
  problem.memories[0].capacity = 8;
  for (const Lifespan& life : lives) {
    problem::Buffer buffer;
    buffer.id = "b" + std::to_string(problem.buffers.size());
    buffer.size = 4;
    buffer.lifespans = {life};
    problem.buffers.push_back(std::move(buffer));
  }
  return problem;
}

Ladder OneRung(const Problem& problem) {
  Ladder ladder;
  ladder.rungs.push_back({"only", std::vector<Bytes>(problem.buffers.size(), 4)});
  return ladder;
}

void Colocate(Problem& problem, int first, int second, Bytes delta = 0) {
  problem.relations.push_back({RelationKind::kColocate, first, second, delta});
}

TEST(MergeColocated, MakesOneBufferOfAChain) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}, {2, 5}, {0, 5}});
  Colocate(problem, 0, 1);
  Colocate(problem, 1, 2);
  problem.buffers[1].alignment = 2;
  problem.buffers[2].accesses = {{4, "pe", problem::AccessKind::kRead}};
  const std::optional<MergedProblem> merged = MergeColocated(problem, OneRung(problem));
  ASSERT_TRUE(merged.has_value());
  ASSERT_EQ(merged->problem.buffers.size(), 2U);
  EXPECT_THAT(merged->problem.buffers[0].lifespans, ElementsAre(Lifespan{0, 5}));
  EXPECT_EQ(merged->problem.buffers[0].alignment, 2);
  EXPECT_EQ(merged->problem.buffers[0].accesses.size(), 1U);
  EXPECT_TRUE(merged->problem.relations.empty());
  EXPECT_THAT(merged->ladder.rungs[0].sizes, ElementsAre(4, 4));
  EXPECT_THAT(Unmerge(*merged, {{4, 0}, {}}).offsets, ElementsAre(4, 4, 4, 0));
}

TEST(MergeColocated, KeepsApartWhatDoesNotCoincide) {
  Problem apart = ProblemOf({{0, 2}, {1, 3}});
  Colocate(apart, 0, 1, /*delta=*/2);
  EXPECT_FALSE(MergeColocated(apart, OneRung(apart)).has_value());

  Problem unequal = ProblemOf({{0, 2}, {1, 3}});
  Colocate(unequal, 0, 1);
  Ladder ladder = OneRung(unequal);
  ladder.rungs.push_back({"larger", {8, 6}});
  EXPECT_FALSE(MergeColocated(unequal, ladder).has_value());

  Problem counted = ProblemOf({{0, 2}, {1, 3}});
  Colocate(counted, 0, 1);
  counted.memories[0].banks = {{"bank", {0, 8}, {/*total=*/1, std::nullopt, std::nullopt}}};
  EXPECT_FALSE(MergeColocated(counted, OneRung(counted)).has_value());
}

// b0 and b2 live together at step 1, and nothing lets them share an address.
TEST(MergeColocated, LeavesAContradictionToTheEngines) {
  Problem problem = ProblemOf({{0, 2}, {0, 3}, {1, 4}});
  Colocate(problem, 0, 1);
  Colocate(problem, 1, 2);
  const std::optional<MergedProblem> merged = MergeColocated(problem, OneRung(problem));
  ASSERT_TRUE(merged.has_value());
  EXPECT_EQ(merged->problem.buffers.size(), 3U);
  EXPECT_EQ(merged->problem.relations.size(), 2U);
}

// Exclusive with b2 alone: merged, b0 would be exempt too.
TEST(MergeColocated, SpreadsNoExemption) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}, {0, 3}});
  Colocate(problem, 0, 1);
  problem.relations.push_back({RelationKind::kExclusive, 1, 2, 0});
  EXPECT_EQ(MergeColocated(problem, OneRung(problem))->problem.buffers.size(), 3U);
}

TEST(MergeColocated, CarriesOverWhatSpeaksOfPlaces) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}, {5, 6}});
  Colocate(problem, 0, 1);
  problem.relations.push_back({RelationKind::kSeparate, 1, 2, 0});
  const std::optional<MergedProblem> merged = MergeColocated(problem, OneRung(problem));
  ASSERT_EQ(merged->problem.buffers.size(), 2U);
  ASSERT_EQ(merged->problem.relations.size(), 1U);
  EXPECT_EQ(merged->problem.relations[0].first, 0);
  EXPECT_EQ(merged->problem.relations[0].second, 1);
}

// The canonical search knows no colocation; what is in place reaches it as one buffer.
TEST(LadderSearch, SolvesWhatIsInPlaceWithEnginesThatKnowNoColocation) {
  Problem problem = ProblemOf({{0, 2}, {1, 3}, {0, 3}});
  Colocate(problem, 0, 1);
  const CanonicalEngine engine;
  const LadderOutcome outcome = SearchLadder(problem, OneRung(problem), {&engine}, {}, base::Stop());
  EXPECT_EQ(outcome.rungs[0].status, problem::Status::kOptimal);
  EXPECT_EQ(outcome.rungs[0].peak, 8);
  problem.memories[0].capacity = 7;
  EXPECT_EQ(SearchLadder(problem, OneRung(problem), {&engine}, {}, base::Stop()).rungs[0].status,
            problem::Status::kInfeasible);
}

}  // namespace
}  // namespace tessera::search
