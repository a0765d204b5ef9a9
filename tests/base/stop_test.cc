// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/stop.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "tessera/base/process.h"

namespace tessera::base {
namespace {

TEST(StopTest, StopsOnRequestOnly) {
  Stop stop;
  EXPECT_FALSE(stop.Requested());
  stop.Request();
  EXPECT_TRUE(stop.Requested());
}

TEST(StopTest, StopsAtItsDeadline) {
  EXPECT_TRUE(Stop(Stop::Clock::now() - std::chrono::seconds(1)).Requested());
  EXPECT_FALSE(Stop(Stop::Clock::now() + std::chrono::hours(1)).Requested());
}

TEST(StopTest, ADeadlineIsAnInterruptionOnlyWhereThatWasSaid) {
  const Stop plain(Stop::Clock::now() - std::chrono::seconds(1));
  EXPECT_FALSE(plain.IsInterrupted());
  Stop strict(Stop::Clock::now() - std::chrono::seconds(1));
  strict.DropWork();
  EXPECT_TRUE(strict.IsInterrupted());
  EXPECT_TRUE(Stop(std::nullopt, &strict).IsInterrupted());
  Stop early(Stop::Clock::now() + std::chrono::hours(1));
  early.DropWork();
  EXPECT_FALSE(early.IsInterrupted());
}

TEST(StopTest, AnInterruptionIsAsOldAsItsFirstRequest) {
  Stop parent;
  Stop stop(std::nullopt, &parent);
  EXPECT_EQ(stop.InterruptedAt(), std::nullopt);
  const Stop::Clock::time_point before = Stop::Clock::now();
  parent.Request();
  const std::optional<Stop::Clock::time_point> first = stop.InterruptedAt();
  ASSERT_TRUE(first.has_value());
  EXPECT_GE(*first, before);
  EXPECT_LE(*first, Stop::Clock::now());
  stop.Request();
  parent.Request();
  EXPECT_EQ(stop.InterruptedAt(), first);
}

TEST(StopTest, AStopThatDropsItsWorkLeavesNoTimeToCompleteIt) {
  Stop parent;
  Stop stop(std::nullopt, &parent);
  stop.DropWork();
  EXPECT_EQ(stop.InterruptedAt(), std::nullopt);
  parent.Request();
  EXPECT_EQ(stop.InterruptedAt(), Stop::Clock::time_point::min());
  EXPECT_GT(parent.InterruptedAt(), Stop::Clock::time_point::min());
}

// Work in units of one that goes on until it is cut off, or for `most` units.
int64_t UnitsOf(GraceWork work, int64_t most) {
  int64_t units = 0;
  while (units < most && work.Continues()) ++units;
  return units;
}

TEST(GraceWork, GoesOnForItsUnitsAfterAnInterruption) {
  constexpr int64_t kMost = 100'000;
  Stop stop;
  EXPECT_EQ(UnitsOf(GraceWork(&stop, 10'000), kMost), kMost);
  EXPECT_EQ(UnitsOf(GraceWork(nullptr, 10'000), kMost), kMost);
  const Stop late(Stop::Clock::now() - std::chrono::seconds(1));
  EXPECT_EQ(UnitsOf(GraceWork(&late, 10'000), kMost), kMost);
  stop.Request();
  EXPECT_GE(UnitsOf(GraceWork(&stop, 10'000), kMost), 10'000 - 1);
  EXPECT_LE(UnitsOf(GraceWork(&stop, 10'000), kMost), 12'500);
}

TEST(StopTest, ObeysItsParentButNotTheReverse) {
  Stop parent;
  Stop child(std::nullopt, &parent);
  child.Request();
  EXPECT_FALSE(parent.Requested());
  Stop other(std::nullopt, &parent);
  EXPECT_FALSE(other.Requested());
  parent.Request();
  EXPECT_TRUE(other.Requested());
}

TEST(StopTest, ReturnsTheEarliestDeadline) {
  const Stop::Clock::time_point soon = Stop::Clock::now() + std::chrono::hours(1);
  const Stop::Clock::time_point late = soon + std::chrono::hours(1);
  EXPECT_FALSE(Stop().Deadline());
  const Stop first(soon);
  const Stop last(late);
  EXPECT_EQ(Stop(late, &first).Deadline(), soon);
  EXPECT_EQ(Stop(soon, &last).Deadline(), soon);
  EXPECT_EQ(Stop(std::nullopt, &first).Deadline(), soon);
}

TEST(StopTest, SharesTheTimeThatIsLeft) {
  EXPECT_FALSE(Stop().Before(0.5));
  const Stop::Clock::time_point start = Stop::Clock::now();
  const Stop hour(start + std::chrono::hours(1));
  EXPECT_GE(hour.Before(0.5), start + std::chrono::minutes(29));
  EXPECT_LE(hour.Before(0.5), start + std::chrono::hours(1));
}

TEST(StopTest, AMemoryLimitStopsForGood) {
  Stop stop;
  EXPECT_EQ(stop.MemoryLimit(), std::numeric_limits<int64_t>::max());
  stop.LimitMemory(int64_t{1} << 60);
  EXPECT_FALSE(stop.Requested());
  Stop tight(std::nullopt, &stop);
  tight.LimitMemory(1);
  EXPECT_EQ(tight.MemoryLimit(), 1);
  const Stop part(std::nullopt, &tight);
  EXPECT_EQ(part.MemoryLimit(), 1);
  EXPECT_TRUE(part.Requested());
  EXPECT_TRUE(part.IsOutOfMemory());
  EXPECT_TRUE(tight.HasCutOff());
  EXPECT_FALSE(stop.Requested());
}

TEST(StopTest, WorkThatWasLeftOutForLackOfMemoryIsACut) {
  const Stop stop;
  const Stop part(std::nullopt, &stop);
  part.NoteDeclined();
  EXPECT_TRUE(part.HasDeclined());
  EXPECT_TRUE(stop.HasDeclined());
  EXPECT_TRUE(stop.HasCutOff());
  EXPECT_FALSE(stop.Requested());
}

TEST(Memory, LeavesThreadsTheirStacks) {
  EXPECT_EQ(UsableThreads(1), 1);
  EXPECT_EQ(UsableThreads(0), 1);
  EXPECT_LE(UsableThreads(1 << 30), UsableBytes() / (8 << 20));
}

TEST(Memory, TellsHowMuchAddressSpaceIsFree) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  constexpr int64_t kLimit = int64_t{64} << 30;
  rlimit limited = before;
  limited.rlim_cur = static_cast<rlim_t>(kLimit);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &limited), 0);
  const int64_t free = FreeAddressSpace();  // nothing may allocate here
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  EXPECT_GE(free, 0);
  EXPECT_LT(free, kLimit - 100'000);
}

TEST(Memory, IsMeasuredAndBounded) {
  const int64_t before = ResidentBytes();
  EXPECT_GT(before, 100'000);
  const std::vector<char> block(64 << 20, 1);
  EXPECT_GT(ResidentBytes() - before, 32 << 20);
  EXPECT_EQ(block.back(), 1);
  EXPECT_GT(UsableBytes(), 1 << 20);
}

// What ends the process is the Stop that was said to, or one below it.
TEST(StopTest, EndsTheProcessWhereItWasSaidTo) {
  Stop whole;
  whole.EndProcess();
  const Stop part(std::nullopt, &whole);
  Stop own(std::nullopt, &whole);
  EXPECT_TRUE(own.EndsProcess());
  EXPECT_FALSE(Stop().EndsProcess());
  own.Request();
  EXPECT_TRUE(own.Requested());
  EXPECT_FALSE(own.HasEndedProcess());
  EXPECT_FALSE(part.HasEndedProcess());
  whole.Request();
  EXPECT_TRUE(whole.HasEndedProcess());
  EXPECT_TRUE(part.HasEndedProcess());
}

TEST(StopTest, AtAnInterruptIgnoresDeadlines) {
  Stop signal;
  const Stop late(Stop::Clock::now(), &signal);
  const Stop interrupt(Stop::AtInterrupt{}, &late);
  EXPECT_TRUE(late.Requested());
  EXPECT_FALSE(interrupt.Requested());
  signal.Request();
  EXPECT_TRUE(interrupt.Requested());
}

TEST(StopTest, ThatHasEndedCutsNothingElseOff) {
  Stop whole;
  const Stop ended(Stop::Ended{}, &whole);
  EXPECT_TRUE(ended.Requested());
  EXPECT_FALSE(ended.IsInterrupted());
  EXPECT_FALSE(whole.HasCutOff());
  EXPECT_FALSE(whole.Requested());
  whole.Request();
  EXPECT_TRUE(ended.IsInterrupted());
}

}  // namespace
}  // namespace tessera::base
