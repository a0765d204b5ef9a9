// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tessera/search/tiling/engine_cache.h"

namespace tessera::search {
namespace {

problem::Result Saying(const std::string& reason) {
  problem::Result result;
  result.reason = reason;
  return result;
}

// The size of one entry.
size_t BytesOfOne() {
  tiling::ResultCache cache;
  cache.Keep("a", Saying("1"));
  return cache.Count().bytes;
}

TEST(ResultCache, FindsWhatItKeeps) {
  tiling::ResultCache cache;
  EXPECT_FALSE(cache.Find("a").has_value());
  cache.Keep("a", Saying("first"));
  cache.Keep("a", Saying("second"));
  EXPECT_EQ(cache.Find("a")->reason, "first");
  EXPECT_FALSE(cache.Find("ab").has_value());
  EXPECT_EQ(cache.Count().hits, 1);
  EXPECT_EQ(cache.Count().misses, 2);
}

TEST(ResultCache, DropsWhatWasUsedLongestAgo) {
  tiling::ResultCache cache(2 * BytesOfOne());
  cache.Keep("a", Saying("1"));
  cache.Keep("b", Saying("2"));
  EXPECT_TRUE(cache.Find("a").has_value());
  cache.Keep("c", Saying("3"));
  EXPECT_FALSE(cache.Find("b").has_value());
  EXPECT_EQ(cache.Find("a")->reason, "1");
  EXPECT_EQ(cache.Find("c")->reason, "3");
  EXPECT_EQ(cache.Count().dropped, 1);
  EXPECT_EQ(cache.Count().bytes, 2 * BytesOfOne());
}

TEST(ResultCache, KeepsNothingThatIsLargerThanItself) {
  tiling::ResultCache cache(BytesOfOne());
  cache.Keep("a", Saying("1"));
  cache.Keep("b", Saying(std::string(1000, 'x')));
  EXPECT_FALSE(cache.Find("b").has_value());
  EXPECT_TRUE(cache.Find("a").has_value());
}

TEST(ResultCache, CountsAllocations) {
  tiling::ResultCache cache;
  problem::Result placed = Saying("1");
  placed.allocation.emplace();
  placed.allocation->offsets.resize(1000);
  cache.Keep("a", placed);
  EXPECT_GE(cache.Count().bytes, 1000 * sizeof(problem::Bytes));
}

}  // namespace
}  // namespace tessera::search
