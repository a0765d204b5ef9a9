// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include "random_instance.h"
#include "tessera/search/allocate/occupancy.h"

namespace tessera::search {
namespace {

using testing::ElementsAre;

TEST(Sections, KeepOnlyMaximalOnes) {
  const auto problem = MakeProblem(
      {MakeBuffer("a", 0, 4, 1), MakeBuffer("b", 2, 8, 1), MakeBuffer("c", 6, 10, 1)}, 4);
  const allocate::Sections sections = allocate::FindSections(problem, std::vector{0, 1, 2});
  EXPECT_THAT(sections.steps, ElementsAre(2, 6));
  EXPECT_THAT(sections.ranges[0], ElementsAre(allocate::SectionRange{0, 1}));
  EXPECT_THAT(sections.ranges[1], ElementsAre(allocate::SectionRange{0, 2}));
  EXPECT_THAT(sections.ranges[2], ElementsAre(allocate::SectionRange{1, 2}));
}

TEST(Sections, OfNothingAreNone) {
  EXPECT_EQ(allocate::FindSections(MakeProblem({}, 1), {}).Count(), 0);
}

TEST(Sections, AGapLeavesOutTheSectionsWithin) {
  auto problem = MakeProblem({MakeBuffer("a", 0, 9, 1), MakeBuffer("b", 3, 5, 1)}, 4);
  problem.buffers[0].lifespans = {{0, 2}, {6, 9}};
  const allocate::Sections sections = allocate::FindSections(problem, std::vector{0, 1});
  EXPECT_THAT(sections.steps, ElementsAre(0, 3, 6));
  EXPECT_THAT(sections.ranges[0],
              ElementsAre(allocate::SectionRange{0, 1}, allocate::SectionRange{2, 3}));
}

// Two buffers live together exactly when they share a section.
TEST(Sections, ShowWhichBuffersLiveTogether) {
  base::Random random(7);
  for (int round = 0; round < 500; ++round) {
    const auto problem = RandomInstance(random);
    const auto buffers = allocate::BuffersOf(problem, 0);
    const allocate::Sections sections = allocate::FindSections(problem, buffers);
    for (size_t a = 0; a < buffers.size(); ++a) {
      for (size_t b = 0; b < a; ++b) {
        bool share = false;
        for (const allocate::SectionRange& x : sections.ranges[a]) {
          for (const allocate::SectionRange& y : sections.ranges[b])
            share = share || (x.first < y.last && y.first < x.last);
        }
        ASSERT_EQ(share, LiveTogether(problem.buffers[a], problem.buffers[b]));
      }
    }
  }
}

}  // namespace
}  // namespace tessera::search
