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

TEST(LineOfTest, CountsFromOneAndDropsTheLineBreak) {
  EXPECT_EQ(LineOf("a\r\nb\n", 1), "a");
  EXPECT_EQ(LineOf("a\r\nb\n", 2), "b");
  EXPECT_EQ(LineOf("a\nb", 2), "b");
  EXPECT_EQ(LineOf("a\nb", 3), "");
}

}  // namespace
}  // namespace tessera::base
