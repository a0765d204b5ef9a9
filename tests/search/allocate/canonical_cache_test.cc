#include <gtest/gtest.h>

#include <algorithm>

#include "tessera/base/random.h"
#include "tessera/search/engines/canonical/search_tree.h"

namespace tessera::search {
namespace {

std::vector<allocate::Bytes> State(base::Random& random) {
  std::vector<allocate::Bytes> state;
  for (int64_t i = 3 * random.Uniform(1, 5); i > 0; --i) state.push_back(random.Uniform(0, 1));
  return state;
}

TEST(engines::canonical::FailureCache, HoldsWhatWasInserted) {
  engines::canonical::FailureCache cache;
  const std::vector<allocate::Bytes> state = {0, 4, 2, 1, 8, 0};
  EXPECT_FALSE(cache.Holds(state));
  cache.Insert(state);
  EXPECT_TRUE(cache.Holds(state));
}

// States of few values collide in their slots; what is held was inserted all the same.
TEST(engines::canonical::FailureCache, NeverHoldsWhatWasNotInserted) {
  engines::canonical::FailureCache cache;
  base::Random random(1);
  std::vector<std::vector<allocate::Bytes>> inserted;
  for (int i = 0; i < 500; ++i) {
    inserted.push_back(State(random));
    cache.Insert(inserted.back());
  }
  for (int i = 0; i < 5000; ++i) {
    const std::vector<allocate::Bytes> state = State(random);
    if (!cache.Holds(state)) continue;
    EXPECT_NE(std::find(inserted.begin(), inserted.end(), state), inserted.end());
  }
}

TEST(engines::canonical::FailureCache, TellsTheTopBeneathApart) {
  engines::canonical::FailureCache cache;
  cache.Insert(std::vector<allocate::Bytes>{0, 4, 2});
  EXPECT_FALSE(cache.Holds(std::vector<allocate::Bytes>{0, 4, 3}));
  EXPECT_FALSE(cache.Holds(std::vector<allocate::Bytes>{0, 4}));
}

}  // namespace
}  // namespace tessera::search
