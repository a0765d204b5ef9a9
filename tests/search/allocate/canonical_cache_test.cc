// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>

#include "tessera/base/random.h"
#include "tessera/search/engines/canonical/search_tree.h"

namespace tessera::search {
namespace {

std::vector<problem::Bytes> State(base::Random& random) {
  std::vector<problem::Bytes> state;
  for (int64_t i = 3 * random.Uniform(1, 5); i > 0; --i) state.push_back(random.Uniform(0, 1));
  return state;
}

TEST(FailureCache, HoldsWhatWasInserted) {
  engines::canonical::FailureCache cache;
  const std::vector<problem::Bytes> state = {0, 4, 2, 1, 8, 0};
  EXPECT_FALSE(cache.Holds(state));
  cache.Insert(state);
  EXPECT_TRUE(cache.Holds(state));
}

// States with few different values collide in their slots. The cache still holds only inserted
// states.
TEST(FailureCache, NeverHoldsWhatWasNotInserted) {
  engines::canonical::FailureCache cache;
  base::Random random(1);
  std::vector<std::vector<problem::Bytes>> inserted;
  for (int i = 0; i < 500; ++i) {
    inserted.push_back(State(random));
    cache.Insert(inserted.back());
  }
  for (int i = 0; i < 5000; ++i) {
    const std::vector<problem::Bytes> state = State(random);
    if (!cache.Holds(state)) continue;
    EXPECT_NE(std::find(inserted.begin(), inserted.end(), state), inserted.end());
  }
}

TEST(FailureCache, DistinguishesTheTopBeneath) {
  engines::canonical::FailureCache cache;
  cache.Insert(std::vector<problem::Bytes>{0, 4, 2});
  EXPECT_FALSE(cache.Holds(std::vector<problem::Bytes>{0, 4, 3}));
  EXPECT_FALSE(cache.Holds(std::vector<problem::Bytes>{0, 4}));
}

}  // namespace
}  // namespace tessera::search
