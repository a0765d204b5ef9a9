#include "tessera/search/allocate/occupancy.h"

#include <gmock/gmock.h>

#include "random_instance.h"

namespace tessera::search {
namespace {

using testing::ElementsAre;

TEST(Merge, JoinsWhatTouches) {
  RangeList list;
  Merge(list, {0, 2});
  Merge(list, {6, 8});
  EXPECT_THAT(list, ElementsAre(AddressRange{0, 2}, AddressRange{6, 8}));
  Merge(list, {2, 6});
  EXPECT_THAT(list, ElementsAre(AddressRange{0, 8}));
}

TEST(Occupancy, BestFitTakesTheSmallestGapFirstFitTheLowest) {
  Occupancy occupancy(1);
  occupancy.Insert({0, 1}, {4, 5});
  occupancy.Insert({0, 1}, {7, 8});
  std::vector<const RangeList*> taken;
  occupancy.Collect({0, 1}, taken);
  const Positions positions({{0, kNowhere}}, 1, 2);
  EXPECT_EQ(FindFit(positions, taken, Fit::kFirst), 0);
  EXPECT_EQ(FindFit(positions, taken, Fit::kBest), 5);
}

// Against a plain table of sections by addresses.
TEST(Occupancy, KnowsWhatIsTakenWhen) {
  constexpr int kSections = 11, kAddresses = 40;
  base::Random random(31);
  for (int round = 0; round < 50; ++round) {
    Occupancy occupancy(kSections);
    bool taken[kSections][kAddresses] = {};
    for (int step = 0; step < 20; ++step) {
      const int first = static_cast<int>(random.Uniform(0, kSections - 1));
      const int last = static_cast<int>(random.Uniform(first + 1, kSections));
      std::vector<const RangeList*> lists;
      occupancy.Collect({first, last}, lists);
      const Bytes size = random.Uniform(1, 5);
      const auto free = [&](Bytes offset) {
        for (int s = first; s < last; ++s) {
          for (Bytes a = offset; a < std::min<Bytes>(offset + size, kAddresses); ++a) {
            if (taken[s][a]) return false;
          }
        }
        return true;
      };
      Bytes expected = 0;
      while (!free(expected)) ++expected;
      ASSERT_EQ(FindFit(Positions({{0, kNowhere}}, 1, size), lists, Fit::kFirst), expected);
      const Bytes probe = random.Uniform(0, kAddresses - 6);
      ASSERT_EQ(IsFree(lists, {probe, probe + size}), free(probe));
      if (expected + size > kAddresses) continue;
      occupancy.Insert({first, last}, {expected, expected + size});
      for (int s = first; s < last; ++s) {
        for (Bytes a = expected; a < expected + size; ++a) taken[s][a] = true;
      }
    }
  }
}

}  // namespace
}  // namespace tessera::search
