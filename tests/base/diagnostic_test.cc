// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/diagnostic.h"

#include <gtest/gtest.h>

namespace tessera::base {
namespace {

TEST(DiagnosticTest, ShowsPlaceExcerptCaretAndCure) {
  Diagnostic diagnostic;
  diagnostic.message = "unknown key 'strde'";
  diagnostic.file = "a.yaml";
  diagnostic.line = 12;
  diagnostic.column = 7;
  diagnostic.expected = "one of kernel, stride, pads";
  diagnostic.hint = "did you mean 'stride'?";
  diagnostic.excerpt = "      strde: 2";
  const std::string text = Format(diagnostic);
  EXPECT_EQ(text.rfind("a.yaml:12:7: error: unknown key 'strde'\n", 0), 0U) << text;
  EXPECT_NE(text.find("      strde: 2\n"), std::string::npos) << text;
  EXPECT_NE(text.find("expected: one of kernel, stride, pads\n"), std::string::npos) << text;
  EXPECT_NE(text.find("hint: did you mean 'stride'?\n"), std::string::npos) << text;
}

TEST(DiagnosticTest, PutsTheCaretUnderTheColumn) {
  Diagnostic diagnostic;
  diagnostic.message = "m";
  diagnostic.file = "f";
  diagnostic.line = 1;
  diagnostic.column = 3;
  diagnostic.excerpt = "abcd";
  const std::string text = Format(diagnostic);
  const size_t excerpt = text.find("abcd");
  const size_t caret = text.find('^');
  ASSERT_NE(excerpt, std::string::npos);
  ASSERT_NE(caret, std::string::npos);
  const size_t column_of_excerpt = excerpt - text.rfind('\n', excerpt);
  const size_t column_of_caret = caret - text.rfind('\n', caret);
  EXPECT_EQ(column_of_caret, column_of_excerpt + 2) << text;
}

TEST(DiagnosticTest, ShowsTheJsonPointerWhereThereIsNoLine) {
  Diagnostic diagnostic;
  diagnostic.message = "size 0 is too small";
  diagnostic.file = "p.json";
  diagnostic.pointer = "/buffers/3/size";
  EXPECT_NE(Format(diagnostic).find("/buffers/3/size"), std::string::npos);
}

TEST(DiagnosticTest, NeverSteersTheTerminal) {
  Diagnostic diagnostic;
  diagnostic.message = std::string("unknown key 'a\x1b]0;b\0c'", 22);
  diagnostic.line = 1;
  diagnostic.column = 1;
  diagnostic.excerpt = "\x1b[2J";
  const std::string text = Format(diagnostic);
  EXPECT_EQ(text,
            "1:1: error: unknown key 'a\\u001b]0;b\\u0000c'\n    1 | \\u001b[2J\n      | ^\n");
}

TEST(DiagnosticTest, ANameForgesNoLine) {
  Diagnostic diagnostic;
  diagnostic.file = "a\nb";
  diagnostic.message = "unknown key 'x\nerror: y'";
  diagnostic.pointer = "/a\nb";
  diagnostic.found = "1\n2";
  EXPECT_EQ(Format(diagnostic),
            "a\\nb: at /a\\nb: error: unknown key 'x\\nerror: y'\n  found: 1\\n2\n");
}

TEST(DiagnosticTest, TheCaretFollowsWhatIsShown) {
  Diagnostic diagnostic;
  diagnostic.message = "m";
  diagnostic.line = 1;
  diagnostic.column = 5;
  diagnostic.excerpt = "\xc3\xa4\x1b\tX";
  EXPECT_EQ(Format(diagnostic), "1:5: error: m\n    1 | \xc3\xa4\\u001b\tX\n      |        \t^\n");
}

TEST(DiagnosticTest, CutsNoCharacterInTwo) {
  Diagnostic diagnostic;
  diagnostic.message = std::string(399, 'm') + "\xc3\xa4";
  EXPECT_EQ(Format(diagnostic), "error: " + std::string(399, 'm') + " ...\n");
}

TEST(DiagnosticTest, CutsWhatIsLongAndShowsTheLineAroundTheColumn) {
  Diagnostic diagnostic;
  diagnostic.message = std::string(5000, 'm');
  diagnostic.line = 1;
  diagnostic.column = 3001;
  diagnostic.excerpt = std::string(3000, 'a') + "X" + std::string(3000, 'b');
  const std::string text = Format(diagnostic);
  EXPECT_LT(text.size(), 1000U);
  const size_t excerpt = text.find('\n') + 1;
  const size_t caret_line = text.find('\n', excerpt) + 1;
  EXPECT_EQ(text.find('X', excerpt) - excerpt, text.find('^', caret_line) - caret_line) << text;
}

TEST(LineOfTest, ThereIsNoLineZero) { EXPECT_EQ(LineOf("a", 0), ""); }

TEST(LineOfTest, CountsFromOneAndDropsTheLineBreak) {
  EXPECT_EQ(LineOf("a\r\nb\n", 1), "a");
  EXPECT_EQ(LineOf("a\r\nb\n", 2), "b");
  EXPECT_EQ(LineOf("a\nb", 2), "b");
  EXPECT_EQ(LineOf("a\nb", 3), "");
}

}  // namespace
}  // namespace tessera::base
