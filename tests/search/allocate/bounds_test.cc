// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/bounds.h"

#include <gmock/gmock.h>

#include "random_instance.h"

namespace tessera::search {
namespace {

using problem::RelationKind;
using testing::ElementsAre;

TEST(Bound, IsTheGreatestLoad) {
  const auto problem = MakeProblem(
      {MakeBuffer("b1", 0, 4, 4), MakeBuffer("b2", 3, 5, 5), MakeBuffer("b3", 3, 9, 5)}, 12);
  const allocate::Bound bound = allocate::FindBound(problem, 0);
  EXPECT_EQ(bound.bytes, 14);
  EXPECT_THAT(bound.buffers, ElementsAre(0, 1, 2));
  EXPECT_EQ(allocate::Explain(problem, bound, 12),
            "at step 3 the buffers b1, b2, b3 need 14 bytes together; the memory holds 12");
}

TEST(Bound, CountsPaddingThatACommonAlignmentForces) {
  auto problem = MakeProblem({MakeBuffer("a", 0, 2, 5), MakeBuffer("b", 0, 2, 6)}, 16);
  problem.memories[0].alignment = 8;
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 13);  // b below, a from 8 to 13
}

TEST(Bound, RisesOverReservedBytes) {
  auto problem = MakeProblem({MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 3)}, 16);
  problem.memories[0].reserved = {{{0, 2}, "stack"}, {{6, 7}, "flag"}};
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 9);  // 2..6 and 7..9 hold six bytes
}

TEST(Bound, ReachesOverAFixedOffset) {
  auto problem = MakeProblem({MakeBuffer("a", 0, 2, 3)}, 16);
  problem.buffers[0].offset = 9;
  const allocate::Bound bound = allocate::FindBound(problem, 0);
  EXPECT_EQ(bound.bytes, 12);
  EXPECT_EQ(allocate::Explain(problem, bound, 10),
            "the buffer a alone reaches up to 12; the memory holds 10");
}

TEST(Bound, ExclusiveBuffersDoNotAddUp) {
  auto problem = MakeProblem(
      {MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 4), MakeBuffer("c", 0, 2, 2)}, 16);
  problem.relations = {{RelationKind::kExclusive, 0, 1, 0}};
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 6);
}

TEST(Bound, OfEachGroupThatMayOverlapTheLargestCounts) {
  auto problem =
      MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 3), MakeBuffer("c", 0, 2, 5),
                   MakeBuffer("d", 1, 2, 6), MakeBuffer("e", 0, 2, 2), MakeBuffer("f", 0, 2, 1)},
                  64);
  problem.relations = {{RelationKind::kColocate, 0, 1, 0},
                       {RelationKind::kExclusive, 2, 3, 0},
                       {RelationKind::kColocate, 3, 4, 0}};
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 4 + 6 + 1);
  EXPECT_THAT(allocate::FindBound(problem, 0).buffers, ElementsAre(0, 3, 5));
}

TEST(Bound, SeparateBuffersAddUpAlthoughTheyNeverLiveTogether) {
  problem::Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 3, 4),
                                          MakeBuffer("c", 4, 6, 4), MakeBuffer("d", 5, 7, 3)},
                                         64);
  for (const auto& [first, second] : {std::pair(0, 2), {0, 3}, {1, 2}, {1, 3}}) {
    problem::Relation separate;
    separate.kind = RelationKind::kSeparate;
    separate.first = first;
    separate.second = second;
    problem.relations.push_back(separate);
  }
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 15);
  EXPECT_EQ(allocate::FindBound(problem, 0).buffers, (std::vector<int>{0, 1, 2, 3}));
  for (problem::Buffer& buffer : problem.buffers) buffer.alignment = 8;
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 3 * 8 + 3);
  problem.relations.pop_back();
  EXPECT_EQ(allocate::FindBound(problem, 0).bytes, 2 * 8 + 4);
}

TEST(Bound, NeverExceedsTheTrueMinimum) {
  base::Random random(11);
  int tight = 0;
  for (int round = 0; round < 600; ++round) {
    const auto problem = RandomInstance(random);
    const auto least = LeastPeakByBruteForce(problem, 16);
    if (!least) continue;
    ASSERT_LE(allocate::FindBound(problem, 0).bytes, *least) << "round " << round;
    tight += allocate::FindBound(problem, 0).bytes == *least ? 1 : 0;
  }
  EXPECT_GE(tight, 300);
}

TEST(Granularity, DividesSomeBestPeak) {
  base::Random random(12);
  for (int round = 0; round < 300; ++round) {
    auto problem = RandomInstance(random);
    for (auto& buffer : problem.buffers) {
      buffer.size = (buffer.size + 1) / 2 * 2;
      if (buffer.offset) buffer.offset = *buffer.offset / 2 * 2;
    }
    const auto least = LeastPeakByBruteForce(problem, 16);
    if (!least) continue;
    ASSERT_EQ(*least % allocate::GranularityOf(problem), 0) << "round " << round;
  }
}

}  // namespace
}  // namespace tessera::search
