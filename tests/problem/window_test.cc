// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/validator.h"

namespace tessera::problem {
namespace {

TEST(WindowTest, ClipsLifespansAndAccessesAndLeavesOutWhatDoesNotLiveThere) {
  Problem problem = PlainProblem(
      {MakeBuffer("before", 0, 2, 4), MakeBuffer("across", 1, 6, 4), MakeBuffer("after", 5, 7, 4)});
  problem.buffers[1].accesses = {{1, "pe", AccessKind::kWrite}, {3, "pe", AccessKind::kRead}};
  const draw::Window window = draw::CutWindow(problem, {{0, 4, 8}, {}}, 2, 5);
  ASSERT_EQ(window.problem.buffers.size(), 1);
  EXPECT_EQ(window.problem.buffers[0].id, "across");
  EXPECT_THAT(window.problem.buffers[0].lifespans, testing::ElementsAre(Lifespan{2, 5}));
  EXPECT_THAT(window.problem.buffers[0].accesses,
              testing::ElementsAre(Access{3, "pe", AccessKind::kRead}));
  EXPECT_THAT(window.allocation.offsets, testing::ElementsAre(4));
}

TEST(WindowTest, KeepsTheModesOfItsSteps) {
  Problem problem = BankedProblem({MakeBuffer("a", 10, 14, 4)});
  const draw::Window window = draw::CutWindow(problem, {{0}, {{0, 1, 1, 0}}}, 11, 13);
  EXPECT_THAT(window.allocation.modes, testing::ElementsAre(testing::ElementsAre(1, 1)));
  EXPECT_TRUE(Validate(window.problem, window.allocation, 16).empty());
}

TEST(WindowTest, KeepsOnlyLoopsThatLieInside) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 8, 4)});
  problem.loops = {{0, 8, {8}}, {2, 4, {4}}};
  const draw::Window window = draw::CutWindow(problem, {{0}, {}}, 1, 5);
  EXPECT_THAT(window.problem.loops, testing::ElementsAre(Loop{2, 4, {4}}));
}

}  // namespace
}  // namespace tessera::problem
