// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/occupancy.h"

#include <gmock/gmock.h>

#include "random_instance.h"

namespace tessera::search {
namespace {

using testing::ElementsAre;

TEST(Merge, JoinsWhatTouches) {
  allocate::RangeList list;
  allocate::Merge(list, {0, 2});
  allocate::Merge(list, {6, 8});
  EXPECT_THAT(list, ElementsAre(problem::AddressRange{0, 2}, problem::AddressRange{6, 8}));
  allocate::Merge(list, {2, 6});
  EXPECT_THAT(list, ElementsAre(problem::AddressRange{0, 8}));
}

TEST(Occupancy, BestFitTakesTheSmallestGapFirstFitTheLowest) {
  allocate::Occupancy occupancy(1);
  occupancy.Insert({0, 1}, {4, 5});
  occupancy.Insert({0, 1}, {7, 8});
  std::vector<const allocate::RangeList*> taken;
  occupancy.Collect({0, 1}, taken);
  const allocate::Positions positions({{0, allocate::kNoPosition}}, 1, 2);
  EXPECT_EQ(allocate::FindFit(positions, taken, allocate::Fit::kFirst), 0);
  EXPECT_EQ(allocate::FindFit(positions, taken, allocate::Fit::kBest), 5);
}

// Compares with a plain table of sections by addresses.
TEST(Occupancy, KnowsWhatIsTakenWhen) {
  constexpr int kSections = 11, kAddresses = 40;
  base::Random random(31);
  for (int round = 0; round < 50; ++round) {
    allocate::Occupancy occupancy(kSections);
    bool taken[kSections][kAddresses] = {};
    for (int step = 0; step < 20; ++step) {
      const int first = static_cast<int>(random.Uniform(0, kSections - 1));
      const int last = static_cast<int>(random.Uniform(first + 1, kSections));
      std::vector<const allocate::RangeList*> lists;
      occupancy.Collect({first, last}, lists);
      const problem::Bytes size = random.Uniform(1, 5);
      const auto free = [&](problem::Bytes offset) {
        for (int s = first; s < last; ++s) {
          for (problem::Bytes a = offset; a < std::min<problem::Bytes>(offset + size, kAddresses);
               ++a) {
            if (taken[s][a]) return false;
          }
        }
        return true;
      };
      problem::Bytes expected = 0;
      while (!free(expected)) ++expected;
      ASSERT_EQ(allocate::FindFit(allocate::Positions({{0, allocate::kNoPosition}}, 1, size), lists,
                                  allocate::Fit::kFirst),
                expected);
      const problem::Bytes probe = random.Uniform(0, kAddresses - 6);
      ASSERT_EQ(allocate::IsFree(lists, {probe, probe + size}), free(probe));
      if (expected + size > kAddresses) continue;
      occupancy.Insert({first, last}, {expected, expected + size});
      for (int s = first; s < last; ++s) {
        for (problem::Bytes a = expected; a < expected + size; ++a) taken[s][a] = true;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::search
