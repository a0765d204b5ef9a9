#include "tessera/base/stop.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tessera::base
