// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/yaml_reader.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>

namespace tessera::base {
namespace {

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

// The complaint of Parse about `text`; fails the test when there is none.
Diagnostic SyntaxFault(const std::string& text) {
  const Expected<YamlFile> file = YamlFile::Parse(text, "a.yaml");
  EXPECT_FALSE(file.has_value()) << text;
  return file ? Diagnostic{} : file.error();
}

// The complaint of `read` about `text`.
Diagnostic ReadFault(const std::string& text, const std::function<void(const YamlNode&)>& read) {
  const Expected<YamlFile> file = YamlFile::Parse(text, "a.yaml");
  if (!file) return file.error();
  YamlReader reader(*file);
  read(reader.Root());
  EXPECT_TRUE(reader.Failed()) << text;
  return reader.Failed() ? reader.TakeFault() : Diagnostic{};
}

// The value that `read` returns for `v` in "v: <text>".
template <typename Value>
Value ReadValue(const std::string& text, const std::function<Value(const YamlNode&)>& read) {
  const YamlFile file = *YamlFile::Parse("v: " + text, "a.yaml");
  YamlReader reader(file);
  Value value = read(reader.Root().At("v"));
  EXPECT_FALSE(reader.Failed()) << text;
  return value;
}

int64_t IntegerOf(const std::string& text) {
  return ReadValue<int64_t>(text, [](const YamlNode& node) { return node.Integer(kLeast, kMost); });
}

double NumberOf(const std::string& text) {
  return ReadValue<double>(text, [](const YamlNode& node) { return node.Number(-1e300, 1e300); });
}

#define EXPECT_FAULT(fault, line_, column_, message_, expected_, found_, hint_) \
  do {                                                                          \
    const Diagnostic diagnostic = (fault);                                      \
    EXPECT_EQ(diagnostic.file, "a.yaml");                                       \
    EXPECT_EQ(diagnostic.line, line_);                                          \
    EXPECT_EQ(diagnostic.column, column_);                                      \
    EXPECT_EQ(diagnostic.message, message_);                                    \
    EXPECT_EQ(diagnostic.expected, expected_);                                  \
    EXPECT_EQ(diagnostic.found, found_);                                        \
    EXPECT_EQ(diagnostic.hint, hint_);                                          \
  } while (false)

TEST(YamlInteger, HasFourForms) {
  EXPECT_EQ(IntegerOf("1048576"), 1048576);
  EXPECT_EQ(IntegerOf("1_048_576"), 1048576);
  EXPECT_EQ(IntegerOf("0x10_0000"), 1048576);
  EXPECT_EQ(IntegerOf("1Mi"), 1048576);
  EXPECT_EQ(IntegerOf("384Ki"), 393216);
  EXPECT_EQ(IntegerOf("2Gi"), int64_t{2} << 30);
  EXPECT_EQ(IntegerOf("3Ti"), int64_t{3} << 40);
  EXPECT_EQ(IntegerOf("-7"), -7);
  EXPECT_EQ(IntegerOf("007"), 7);
}

RC_GTEST_PROP(YamlInteger, ReadsBackWhatIsPrinted, (int64_t value)) {
  if (value == kLeast) return;  // its magnitude is no 64-bit integer
  RC_ASSERT(IntegerOf(std::to_string(value)) == value);
}

TEST(YamlInteger, RefusesWhatIsNoInteger) {
  const auto integer = [](const YamlNode& root) { root.At("v").Integer(0, 100); };
  for (const char* text :
       {"1__0", "_1", "1_", "0x", "Ki", "1ki", "1KiB", "--1", "+1", "1 0", "ten", "0xg"}) {
    EXPECT_FAULT(ReadFault("v: " + std::string(text), integer), 1, 4, "not an integer",
                 "an integer from 0 to 100", "'" + std::string(text) + "'",
                 "write 393216, 393_216, 0x60000 or 384Ki");
  }
  EXPECT_EQ(ReadFault("v: 1.5", integer).message, "not an integer, or beyond 64 bits");
  EXPECT_EQ(ReadFault("v: 9223372036854775808", integer).message,
            "not an integer, or beyond 64 bits");
  EXPECT_EQ(ReadFault("v: 8388608Ti", integer).message, "not an integer");
}

TEST(YamlInteger, KeepsToItsRange) {
  EXPECT_FAULT(
      ReadFault("a:\n  v: 101", [](const YamlNode& root) { root.At("a").At("v").Integer(1, 100); }),
      2, 6, "out of range", "an integer from 1 to 100", "'101'", "");
  EXPECT_EQ(
      ReadFault("v: 0", [](const YamlNode& root) { root.At("v").Integer(1, kMost); }).expected,
      "an integer from 1 up");
  EXPECT_EQ(ReadFault("v: 9223372036854775808",
                      [](const YamlNode& root) { root.At("v").Integer(1, kMost); })
                .expected,
            "an integer from 1 to 9223372036854775807");
}

TEST(YamlInteger, OutOfRangeMayHaveASuffix) {
  EXPECT_FAULT(ReadFault("v: 4Ki", [](const YamlNode& root) { root.At("v").Integer(1, 9); }), 1, 4,
               "out of range", "an integer from 1 to 9", "'4Ki'", "");
}

TEST(YamlInteger, InQuotesIsText) {
  EXPECT_FAULT(ReadFault("v: \"5\"", [](const YamlNode& root) { root.At("v").Integer(1, 9); }), 1,
               4, "this is text, because it stands in quotes", "an integer from 1 to 9", "'5'",
               "remove the quotes");
}

TEST(YamlNumber, IsFinite) {
  EXPECT_EQ(NumberOf("5e8"), 5e8);
  EXPECT_EQ(NumberOf("0.04"), 0.04);
  EXPECT_EQ(NumberOf("500_000_000"), 5e8);
  EXPECT_EQ(NumberOf("-3"), -3.0);
  for (const char* text : {".nan", "nan", "inf", ".inf", "-.inf", "1e999", "0x10", "1,5"}) {
    EXPECT_FAULT(ReadFault("v: " + std::string(text),
                           [](const YamlNode& root) { root.At("v").Number(0, 1); }),
                 1, 4, "not a finite number", "a number from 0 to 1", "'" + std::string(text) + "'",
                 "");
  }
}

TEST(YamlBoolean, IsTrueOrFalseAlone) {
  const auto boolean = [](const YamlNode& node) { return node.Boolean(); };
  EXPECT_TRUE(ReadValue<bool>("true", boolean));
  EXPECT_FALSE(ReadValue<bool>("false", boolean));
  for (const char* text : {"yes", "no", "on", "off", "True", "1"}) {
    EXPECT_FAULT(
        ReadFault("v: " + std::string(text), [](const YamlNode& root) { root.At("v").Boolean(); }),
        1, 4, "not a truth value", "true or false", "'" + std::string(text) + "'", "");
  }
}

TEST(YamlText, IsAnyScalar) {
  const auto text = [](const YamlNode& node) { return node.Text(); };
  EXPECT_EQ(ReadValue<std::string>("no", text), "no");
  EXPECT_EQ(ReadValue<std::string>("\"null\"", text), "null");
  EXPECT_EQ(ReadValue<std::string>("1e3", text), "1e3");
}

TEST(YamlText, IsNeitherEmptyNorNull) {
  const auto text = [](const YamlNode& root) { root.At("v").Text(); };
  EXPECT_FAULT(ReadFault("a: 1\nv: ''", text), 2, 4, "empty text", "text", "''", "");
  for (const char* null : {"", "~", "null"}) {
    EXPECT_FAULT(ReadFault("a: 1\nv: " + std::string(null), text), 2, 1, "wrong kind of value",
                 "text", "nothing", "");
  }
}

TEST(YamlKeys, UnknownOnesAreComplainedOf) {
  EXPECT_FAULT(ReadFault("kernel: 3\nstrde: 2\n",
                         [](const YamlNode& root) {
                           root.OnlyKeys({"kernel", "stride"});
                         }),
               2, 1, "unknown key 'strde'", "one of kernel, stride", "", "did you mean 'stride'?");
}

TEST(YamlKeys, MissingOnesAreComplainedOfAtTheMapThatLacksThem) {
  const std::string text = "memories:\n  sram:\n    banks: 3\n    ports: 1\n";
  const auto read = [](const YamlNode& root) { root.At("memories").At("sram").At("capacity"); };
  EXPECT_FAULT(ReadFault(text, read), 2, 3, "missing key 'capacity' in 'sram'", "",
               "the keys banks, ports", "");
}

// The getter states what the value should have been. Later ones do not.
TEST(YamlKeys, MissingOnesAreOfTheKindThatIsRead) {
  const auto expected = [](const std::function<void(const YamlNode&)>& get) {
    return ReadFault("{}",
                     [&get](const YamlNode& root) {
                       get(root.At("v"));
                       root.At("w").Boolean();
                     })
        .expected;
  };
  EXPECT_EQ(expected([](const YamlNode& node) { node.Integer(1, 9); }), "an integer from 1 to 9");
  EXPECT_EQ(expected([](const YamlNode& node) { node.Text(); }), "text");
  EXPECT_EQ(expected([](const YamlNode& node) { node.Items(); }), "a list");
  EXPECT_EQ(expected([](const YamlNode& node) { node.At("x").Integer(1, 9); }), "a map");
  const std::vector<std::string_view> names = {"a", "b"};
  EXPECT_EQ(expected([&names](const YamlNode& node) { node.OneOf(names); }), "one of a, b");
  EXPECT_EQ(ReadFault("{}", [](const YamlNode& root) { root.At("v").Text(); }).found,
            "an empty map");
}

TEST(YamlKeys, RepeatedOnesAreRefused) {
  EXPECT_FAULT(SyntaxFault("a: 1\nb: 2\n\na: 3\n"), 4, 1, "repeated key 'a'", "each key once", "",
               "it stands on line 1 already");
  EXPECT_EQ(SyntaxFault("outer: {x: 1, y: 2, x: 3}").column, 21);
}

TEST(YamlKeys, ThatBeginWithXAreTheUsersOwn) {
  const YamlFile file =
      *YamlFile::Parse("x-note: hello\na: 1\nx-list: [1, {b: \"c\"}]\nx-none:\n", "a.yaml");
  YamlReader reader(file);
  const YamlNode root = reader.Root();
  root.OnlyKeys({"a"});
  EXPECT_FALSE(reader.Failed());
  ASSERT_EQ(root.Entries().size(), 1U);
  EXPECT_EQ(root.Entries()[0].first, "a");
  const std::vector<std::pair<std::string, std::string>> user = {
      {"x-note", "hello"}, {"x-list", "[1, {\"b\": \"c\"}]"}, {"x-none", "null"}};
  EXPECT_EQ(root.UserKeys(), user);
}

TEST(YamlKeys, CanBeChosenFromNames) {
  const std::array<std::string_view, 2> names = {"conv", "pool"};
  EXPECT_FAULT(
      ReadFault("con: 1", [&](const YamlNode& root) { root.Entries()[0].second.KeyOneOf(names); }),
      1, 1, "unknown key 'con'", "one of conv, pool", "", "did you mean 'conv'?");
}

TEST(YamlNames, SuggestTheNearest) {
  const std::array<std::string_view, 3> names = {"rolling_buffer", "line_buffer", "adjacent"};
  EXPECT_EQ(
      ReadValue<size_t>("line_buffer", [&](const YamlNode& node) { return node.OneOf(names); }),
      1U);
  EXPECT_FAULT(ReadFault("v: adjacnt", [&](const YamlNode& root) { root.At("v").OneOf(names); }), 1,
               4, "unknown name 'adjacnt'", "one of rolling_buffer, line_buffer, adjacent",
               "'adjacnt'", "did you mean 'adjacent'?");
}

TEST(YamlReader, KeepsTheFirstComplaint) {
  const YamlFile file = *YamlFile::Parse("a: x\nb: y\n", "a.yaml");
  YamlReader reader(file);
  EXPECT_EQ(reader.Root().At("a").Integer(3, 9), 3);
  EXPECT_EQ(reader.Root().At("b").Integer(4, 9), 4);
  EXPECT_TRUE(reader.Root().Entries().empty());
  ASSERT_TRUE(reader.Failed());
  EXPECT_EQ(reader.TakeFault().line, 1);
}

TEST(YamlReader, ComplainsOfKindsThatAreNotWanted) {
  EXPECT_FAULT(ReadFault("v: [1]", [](const YamlNode& root) { root.At("v").Integer(0, 1); }), 1, 4,
               "wrong kind of value", "an integer from 0 to 1", "a list", "");
  EXPECT_FAULT(ReadFault("v: 3", [](const YamlNode& root) { root.At("v").At("w"); }), 1, 4,
               "wrong kind of value", "a map", "'3'", "");
  EXPECT_FAULT(ReadFault("v: {a: 1}", [](const YamlNode& root) { root.At("v").Items(); }), 1, 1,
               "wrong kind of value", "a list", "a map", "");
}

TEST(YamlReader, ShowsTheLineOfTheComplaint) {
  const Diagnostic fault = ReadFault("# first\r\nv:   ten  # why\r\n",
                                     [](const YamlNode& root) { root.At("v").Integer(0, 1); });
  EXPECT_EQ(fault.excerpt, "v:   ten  # why");
  EXPECT_EQ(fault.column, 6);
}

TEST(YamlLayers, MergeMapsByKeyAndNothingElse) {
  std::vector<YamlFile> files;
  files.push_back(*YamlFile::Parse("m: {b: 20, c: 30}\nl: [9]\n", "child.yaml"));
  files.push_back(*YamlFile::Parse("m: {a: 1, b: 2}\nl: [1, 2]\nk: 5\n", "parent.yaml"));
  YamlReader reader(files);
  const YamlNode root = reader.Root();
  std::string order;
  for (const auto& [key, node] : root.At("m").Entries())
    order += key + "=" + std::to_string(node.Integer(0, 99)) + " ";
  EXPECT_EQ(order, "a=1 b=20 c=30 ");
  EXPECT_EQ(root.At("l").Integers(0, 99), std::vector<int64_t>{9});
  EXPECT_EQ(root.At("k").Integer(0, 99), 5);
  EXPECT_FALSE(reader.Failed());
}

TEST(YamlLayers, AValueOfAnotherKindHidesWhatLiesBelow) {
  std::vector<YamlFile> files;
  files.push_back(*YamlFile::Parse("m: {b: 1}\n", "top.yaml"));
  files.push_back(*YamlFile::Parse("m: 3\n", "middle.yaml"));
  files.push_back(*YamlFile::Parse("m: {a: 1}\n", "bottom.yaml"));
  YamlReader reader(files);
  EXPECT_EQ(reader.Root().At("m").Entries().size(), 1U);
}

TEST(YamlLayers, ComplainInTheFileThatHoldsTheValue) {
  std::vector<YamlFile> files;
  files.push_back(*YamlFile::Parse("m: {b: 20}\n", "child.yaml"));
  files.push_back(*YamlFile::Parse("\nm:\n  a: x\n", "parent.yaml"));
  YamlReader reader(files);
  reader.Root().At("m").At("a").Integer(0, 1);
  ASSERT_TRUE(reader.Failed());
  const Diagnostic fault = reader.TakeFault();
  EXPECT_EQ(fault.file, "parent.yaml");
  EXPECT_EQ(fault.line, 3);
  EXPECT_EQ(fault.column, 6);
  EXPECT_EQ(fault.excerpt, "  a: x");
}

TEST(YamlSyntax, FaultsHaveAPosition) {
  const Diagnostic fault = SyntaxFault("a: 1\nb: [1, 2\nc: 3\n");
  EXPECT_EQ(fault.message.substr(0, 18), "this is not YAML: ");
  EXPECT_GE(fault.line, 2);
  EXPECT_GE(fault.column, 1);
}

TEST(YamlSyntax, TabsAreNoIndentation) {
  const Diagnostic fault = SyntaxFault("a:\n\tb: 1\n");
  EXPECT_EQ(fault.line, 2);
  EXPECT_EQ(fault.hint, "indent with spaces: YAML allows no tabs there");
}

TEST(YamlSyntax, AnEmptyFileIsRefused) {
  for (const char* text : {"", "\n\n", "# only a comment\n"}) {
    EXPECT_FAULT(SyntaxFault(text), 1, 1, "the file is empty", "a YAML document", "", "");
  }
}

TEST(YamlSyntax, ASecondDocumentIsRefused) {
  const Diagnostic fault = SyntaxFault("a: 1\n---\nb: 2\n");
  EXPECT_EQ(fault.message, "a second document begins here");
  EXPECT_EQ(fault.line, 2);
}

TEST(YamlSyntax, ControlCharactersAreRefused) {
  EXPECT_FAULT(SyntaxFault(std::string("a: 1\nb: \x04 2\n")), 2, 4,
               "a control character stands here", "text in UTF-8", "byte 4", "");
}

TEST(YamlSyntax, MergeKeysAndTagsAreRefused) {
  EXPECT_FAULT(SyntaxFault("a: &a {x: 1}\nb:\n  <<: *a\n"), 3, 3, "merge keys are not understood",
               "keys written out", "", "write the merged keys out in this map");
  EXPECT_FAULT(SyntaxFault("a: !!int 5\n"), 1, 4, "a tag stands before this value",
               "a value without a tag", "", "remove 'tag:yaml.org,2002:int'");
  EXPECT_EQ(SyntaxFault("? [a, b]\n: 1\n").message, "this key is no text");
}

TEST(YamlSyntax, NestingHasALimit) {
  EXPECT_TRUE(YamlFile::Parse(std::string(100, '[') + std::string(100, ']'), "a.yaml").has_value());
  EXPECT_FAULT(SyntaxFault(std::string(101, '[') + std::string(101, ']')), 1, 101,
               "values are nested too deeply", "at most 100 levels of lists and maps", "", "");
  EXPECT_EQ(SyntaxFault(std::string(200'000, '[')).message, "values are nested too deeply");
}

TEST(YamlAliases, AreTheValueOfTheirAnchor) {
  const YamlFile file = *YamlFile::Parse("a: &x {v: 7}\nb: *x\n", "a.yaml");
  YamlReader reader(file);
  EXPECT_EQ(reader.Root().At("b").At("v").Integer(0, 9), 7);
}

TEST(YamlAliases, BombsAreRefused) {
  std::string bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
  for (int i = 1; i < 10; ++i) {
    const std::string last = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + last;
    for (int k = 1; k < 10; ++k) bomb += ", " + last;
    bomb += "]\n";
  }
  const Diagnostic fault = SyntaxFault(bomb);
  EXPECT_EQ(fault.message, "the aliases up to here stand for too many values");
  EXPECT_EQ(fault.line, 6);
}

TEST(YamlAliases, MayNotNameWhatTheyStandIn) {
  EXPECT_FAULT(SyntaxFault("a: &x [1, *x]\n"), 1, 11,
               "the alias stands inside the value that it names", "a tree", "", "remove the alias");
}

TEST(YamlAliases, OfNothingAreRefused) { EXPECT_EQ(SyntaxFault("a: *nowhere\n").line, 1); }

RC_GTEST_PROP(YamlSyntax, AnyBytesAreReadOrRefused, (const std::string& bytes)) {
  const Expected<YamlFile> file = YamlFile::Parse(bytes, "a.yaml");
  RC_ASSERT(file.has_value() || !file.error().message.empty());
}

}  // namespace
}  // namespace tessera::base
