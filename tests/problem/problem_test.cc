// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/problem.h"

#include <gtest/gtest.h>

#include "tessera/problem/result.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem {
namespace {

using Pairs = std::vector<std::pair<Step, Step>>;

Buffer Living(std::vector<Lifespan> lifespans) {
  Buffer buffer;
  buffer.lifespans = std::move(lifespans);
  return buffer;
}

// A Problem whose only buffer spans [0, steps).
Problem Spanning(Step steps, std::vector<Loop> loops) {
  Problem problem;
  problem.buffers = {Living({{0, steps}})};
  problem.loops = std::move(loops);
  return problem;
}

TEST(LiveTogetherTest, LifespansAreHalfOpen) {
  EXPECT_FALSE(LiveTogether(Living({{0, 2}}), Living({{2, 4}})));
  EXPECT_TRUE(LiveTogether(Living({{0, 3}}), Living({{2, 4}})));
}

TEST(LiveTogetherTest, LooksIntoGaps) {
  const Buffer gapped = Living({{0, 2}, {5, 7}});
  EXPECT_FALSE(LiveTogether(gapped, Living({{2, 5}})));
  EXPECT_TRUE(LiveTogether(gapped, Living({{3, 4}, {6, 9}})));
  EXPECT_TRUE(LivesAt(gapped, 5));
  EXPECT_FALSE(LivesAt(gapped, 4));
}

TEST(HorizonTest, CoversBuffersAndLoops) {
  Problem problem = Spanning(3, {{-2, 1, {1}}});
  EXPECT_EQ(Horizon(problem), (Lifespan{-2, 3}));
  EXPECT_EQ(Horizon(Problem{}), (Lifespan{0, 0}));
}

TEST(AlignmentOfTest, IsTheLeastCommonMultiple) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].alignment = 6;
  Buffer buffer;
  buffer.alignment = 4;
  EXPECT_EQ(AlignmentOf(problem, buffer), 12);
}

TEST(SuccessionsTest, WithoutLoopsAreNeighbours) {
  EXPECT_EQ(Successions(Spanning(3, {})), (Pairs{{0, 1}, {1, 2}}));
}

TEST(SuccessionsTest, ALoopAddsItsBackEdge) {
  EXPECT_EQ(Successions(Spanning(4, {{1, 3, {3}}})), (Pairs{{0, 1}, {1, 2}, {2, 1}, {2, 3}}));
}

TEST(SuccessionsTest, AnOddExitLeavesBetweenThePassesAndNotAtTheEnd) {
  // Passes [1, 3) and [3, 5): with an odd number of passes the loop leaves after step 2 and goes on
  // at step 5.
  EXPECT_EQ(Successions(Spanning(6, {{1, 5, {3}}})),
            (Pairs{{0, 1}, {1, 2}, {2, 3}, {2, 5}, {3, 4}, {4, 1}}));
}

TEST(SuccessionsTest, BothExitsLeaveAtBothPlaces) {
  EXPECT_EQ(Successions(Spanning(4, {{0, 3, {1, 3}}})),
            (Pairs{{0, 1}, {0, 3}, {1, 2}, {2, 0}, {2, 3}}));
}

TEST(SuccessionsTest, ALoopAtTheEndOfTimeLeavesToNowhere) {
  EXPECT_EQ(Successions(Spanning(2, {{0, 2, {1}}})), (Pairs{{0, 1}, {1, 0}}));
}

TEST(SuccessionsTest, NestedLoopsKeepBothBackEdges) {
  EXPECT_EQ(Successions(Spanning(3, {{0, 3, {3}}, {1, 3, {3}}})),
            (Pairs{{0, 1}, {1, 2}, {2, 0}, {2, 1}}));
}

TEST(LadderTest, DominanceComparesEverySize) {
  EXPECT_TRUE(Dominates({"big", {4, 4}}, {"small", {4, 3}}));
  EXPECT_FALSE(Dominates({"big", {4, 2}}, {"small", {3, 3}}));
}

TEST(LadderTest, ACandidateReplacesSizesOnly) {
  const Problem problem = Spanning(3, {});
  const Problem at = AtCandidate(problem, {"r", {7}});
  EXPECT_EQ(at.buffers[0].size, 7);
  EXPECT_EQ(at.buffers[0].lifespans, problem.buffers[0].lifespans);
}

TEST(PeakOfTest, LooksAtOneMemory) {
  Problem problem = Spanning(1, {});
  problem.memories.resize(2);
  problem.buffers.push_back(problem.buffers[0]);
  problem.buffers[1].memory = 1;
  problem.buffers[1].size = 5;
  const Allocation allocation = {{2, 10}, {}};
  EXPECT_EQ(PeakOf(problem, allocation), 3);
  EXPECT_EQ(PeakOf(problem, allocation, 1), 15);
}

}  // namespace
}  // namespace tessera::problem
