// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/trail.h"

#include <gmock/gmock.h>

#include <vector>

namespace tessera::search::engines::lazy {
namespace {

constexpr Reason kDecided{Reason::Kind::kDecision, 0, 0};

TEST(Trail, RoundsBoundsUpToTheGranularityOnBothSides) {
  Trail trail;
  trail.AddInteger(0, 16, 4);
  trail.Push(trail.Rounded({0, 5}), {});
  trail.Push(trail.Rounded({1, -15}), {});
  EXPECT_EQ(trail[0], 8);
  EXPECT_EQ(trail[1], -12);
}

TEST(Trail, ANegatedLiteralIsTrueWhereTheLiteralIsFalse) {
  Trail trail;
  trail.AddInteger(0, 16, 4);
  const BoundLiteral least{0, 8};
  EXPECT_EQ(trail.Not(least), (BoundLiteral{1, -4}));
  EXPECT_EQ(trail.Not(trail.Not(least)), least);
  trail.Push({1, -4}, {});
  EXPECT_TRUE(trail.IsFalse(least));
  EXPECT_TRUE(trail.IsTrue(trail.Not(least)));
}

TEST(Trail, FindsTheChangeThatMadeALiteralTrueAndForgetsItWhenUndone) {
  Trail trail;
  trail.AddInteger(0, 100, 1);
  trail.OpenLevel();
  trail.Push({0, 10}, kDecided);
  trail.OpenLevel();
  trail.Push({0, 30}, kDecided);
  EXPECT_EQ(trail.Find({0, 0}), -1);
  EXPECT_EQ(trail.Find({0, 10}), 0);
  EXPECT_EQ(trail.Find({0, 11}), 1);
  trail.BacktrackTo(1);
  EXPECT_EQ(trail[0], 10);
  EXPECT_FALSE(trail.IsTrue({0, 11}));
}

TEST(Trail, AShiftableReasonAsksOnlyForWhatIsNeeded) {
  Trail trail;
  const int x = trail.AddInteger(0, 100, 1);
  const int y = trail.AddInteger(0, 100, 1);
  const int p = trail.AddBoolean();
  trail.OpenLevel();
  trail.Push({2 * x, 30}, kDecided);
  trail.Push(OrderLiteral(2 * p), kDecided);
  trail.OpenReason();
  trail.Because(OrderLiteral(2 * p));
  trail.Because({2 * x, 30});
  ASSERT_TRUE(trail.Imply({2 * y, 40}, trail.CloseReason(Reason::Kind::kShiftable)));
  std::vector<BoundLiteral> reason;
  trail.Explain(trail.At(2).reason, 40, 36, reason);
  EXPECT_THAT(reason, testing::ElementsAre(OrderLiteral(2 * p), BoundLiteral{2 * x, 26}));
}

TEST(Trail, AContradictedImplicationBecomesAConflictOfTrueLiterals) {
  Trail trail;
  const int x = trail.AddInteger(0, 100, 1);
  const int y = trail.AddInteger(0, 20, 1);
  trail.OpenLevel();
  trail.Push({2 * x, 30}, kDecided);
  trail.OpenReason();
  trail.Because({2 * x, 30});
  EXPECT_FALSE(trail.Imply({2 * y, 40}, trail.CloseReason(Reason::Kind::kShiftable)));
  // y >= 21 already contradicts, and x >= 11 is sufficient for that.
  EXPECT_THAT(trail.Conflict(),
              testing::ElementsAre(BoundLiteral{2 * x, 11}, BoundLiteral{2 * y + 1, -20}));
}

}  // namespace
}  // namespace tessera::search::engines::lazy
