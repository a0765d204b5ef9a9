// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

TEST(EscapeMarkupTest, LeavesPlainTextAndUtf8Alone) {
  EXPECT_EQ(EscapeMarkup("conv1 … 3×3"), "conv1 … 3×3");
}

TEST(EscapeMarkupTest, EscapesWhatMarkupWouldRead) {
  EXPECT_EQ(EscapeMarkup("<a href=\"x\">&</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;&lt;/a&gt;");
}

TEST(EscapeMarkupTest, EscapesControlCharactersAndBrokenUtf8) {
  EXPECT_EQ(EscapeMarkup("a\nb\x01"
                         "c"),
            "a\\nb\\u0001c");
  EXPECT_EQ(EscapeMarkup("\xff\xc3"), "\\xff\\xc3");
  EXPECT_EQ(EscapeMarkup("\xe2\x82"), "\\xe2\\x82");
  EXPECT_EQ(EscapeMarkup("\xef\xbf\xbe"), "\\ufffe") << "XML forbids this code point";
}

}  // namespace
}  // namespace tessera::base
