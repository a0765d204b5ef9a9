// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <vector>

#include "tessera/base/arithmetic.h"

namespace tessera::base {
namespace {

TEST(Luby, BeginsAsPublished) {
  std::vector<int64_t> terms;
  for (int64_t n = 1; n <= 15; ++n) terms.push_back(Luby(n));
  EXPECT_THAT(terms, testing::ElementsAre(1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8));
}

}  // namespace
}  // namespace tessera::base
