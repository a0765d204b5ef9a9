// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "random_instance.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search {
namespace {

using testing::ElementsAre;

TEST(Positions, SkipReservedBytesInStepsOfTheAlignment) {
  const allocate::Positions positions({{8, 16}, {24, allocate::kNoPosition}}, 4, 6);
  EXPECT_EQ(positions.AtLeast(0), 8);
  EXPECT_EQ(positions.AtLeast(9), 24);  // 12 would reach 18
  EXPECT_EQ(positions.AtLeast(25), 28);
  EXPECT_EQ(positions.Below(24), 8);
  EXPECT_EQ(positions.Below(8), -1);
}

TEST(Positions, AtLeastAndBelowAgreeWithTheDefinition) {
  base::Random random(21);
  for (int round = 0; round < 200; ++round) {
    std::vector<problem::AddressRange> windows = {{0, 40}};
    for (int hole = 0; hole < 3; ++hole) {
      const auto begin = random.Uniform(0, 39);
      allocate::Subtract(windows, {begin, begin + random.Uniform(1, 6)});
    }
    const auto alignment = random.Uniform(1, 5), size = random.Uniform(1, 6);
    const allocate::Positions positions(windows, alignment, size);
    const auto allowed = [&](problem::Bytes offset) {
      return offset % alignment == 0 &&
             std::any_of(windows.begin(), windows.end(), [&](const problem::AddressRange& w) {
               return w.begin <= offset && offset + size <= w.end;
             });
    };
    for (problem::Bytes from = 0; from <= 40; ++from) {
      problem::Bytes next = from, last = from - 1;
      while (next <= 40 && !allowed(next)) ++next;
      while (last >= 0 && !allowed(last)) --last;
      ASSERT_EQ(positions.AtLeast(from), next > 40 ? allocate::kNoPosition : next);
      ASSERT_EQ(positions.Below(from), last);
    }
  }
}

TEST(Windows, FollowSpanAndAllowedBanks) {
  auto problem = MakeProblem({MakeBuffer("a", 0, 1, 1)}, 16);
  problem.memories[0].banks = {{"0", {0, 4}, {}}, {"1", {4, 8}, {}}, {"2", {10, 12}, {}}};
  problem::Buffer& buffer = problem.buffers[0];
  buffer.allowed_banks = {0, 1};
  EXPECT_THAT(
      allocate::WindowsOf(problem, buffer),
      ElementsAre(problem::AddressRange{0, 10}, problem::AddressRange{12, allocate::kNoPosition}));
  buffer.span = problem::Span::kContiguous;
  EXPECT_THAT(allocate::WindowsOf(problem, buffer), ElementsAre(problem::AddressRange{0, 8}));
  buffer.span = problem::Span::kSingle;
  EXPECT_THAT(allocate::WindowsOf(problem, buffer),
              ElementsAre(problem::AddressRange{0, 4}, problem::AddressRange{4, 8}));
}

}  // namespace
}  // namespace tessera::search
