// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <vector>

#include "tessera/search/engines/lazy/decisions.h"

namespace tessera::search::engines::lazy {
namespace {

std::vector<int> Drain(ActivityHeap& heap) {
  std::vector<int> items;
  while (!heap.Empty()) items.push_back(heap.Pop());
  return items;
}

TEST(ActivityHeap, GivesTheMostActiveFirstAndTheLowerNumberAmongEquals) {
  ActivityHeap heap({1, 3, 2, 3});
  EXPECT_THAT(Drain(heap), testing::ElementsAre(1, 3, 2, 0));
}

TEST(ActivityHeap, RemembersRaisesOfItemsThatAreOut) {
  ActivityHeap heap({1, 2, 3});
  EXPECT_EQ(heap.Pop(), 2);
  heap.Raise(0, 5);
  heap.Raise(2, 1);
  heap.Push(2);
  EXPECT_THAT(Drain(heap), testing::ElementsAre(0, 2, 1));
}

}  // namespace
}  // namespace tessera::search::engines::lazy
