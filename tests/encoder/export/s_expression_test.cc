// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tessera/encoder/export/formats.h"

namespace tessera::encoder {
namespace {

TEST(SExpression, KnowsItsPlace) {
  const auto read = exports::ReadSExpressions("; words\n(a |b c|\n  \"d\"\"e\") f", "file");
  ASSERT_TRUE(read.has_value());
  ASSERT_EQ(read->size(), 2U);
  const exports::SExpression& list = read->front();
  EXPECT_EQ(list.line, 2);
  EXPECT_EQ(list.column, 1);
  ASSERT_EQ(list.items.size(), 3U);
  EXPECT_TRUE(list.items[0].Is("a"));
  EXPECT_TRUE(list.items[1].Is("b c"));
  EXPECT_EQ(list.items[1].column, 4);
  EXPECT_EQ(list.items[2].kind, exports::SExpression::Kind::kString);
  EXPECT_EQ(list.items[2].text, "d\"\"e");
  EXPECT_EQ(list.items[2].line, 3);
  EXPECT_EQ(list.items[2].column, 3);
  EXPECT_TRUE(read->back().Is("f"));
}

TEST(SExpression, NothingIsNoExpression) {
  EXPECT_TRUE(exports::ReadSExpressions(" ; only a comment", "file")->empty());
}

TEST(SExpression, AnEmptyListIsAList) {
  const auto read = exports::ReadSExpressions("()", "file");
  ASSERT_EQ(read->size(), 1U);
  EXPECT_TRUE(read->front().IsList());
  EXPECT_TRUE(read->front().items.empty());
}

}  // namespace
}  // namespace tessera::encoder
