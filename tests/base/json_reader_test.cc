// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/json_reader.h"

#include <gtest/gtest.h>

#include <array>
#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"

namespace tessera::base {
namespace {

struct Shape {
  std::string name;
  int64_t rows = 0;
  size_t kind = 0;
  std::vector<std::string> axes;
  std::map<std::string, std::string> user;
};

constexpr std::array<std::string_view, 2> kKinds = {"round", "square"};

Expected<Shape> Read(std::string_view text) {
  JsonReader reader(text, "s.json");
  Shape shape;
  {
    JsonObject root = reader.Root().Object();
    root.Format("shape", 1);
    shape.name = root.String("name");
    shape.rows = root.Integer("rows", {1, 10}, 4);
    shape.kind = root.OneOf("kind", kKinds, 0);
    for (const JsonValue& axis : root.Items("axes", Presence::kOptional))
      shape.axes.push_back(axis.String());
    if (const JsonValue inner = root.Optional("inner")) inner.Object().Integer("deep", {});
    shape.user = root.UserKeys();
  }
  return reader.Finish(std::move(shape));
}

std::string Document(std::string_view rest) {
  return R"({"format": "shape", "version": 1, "name": "n")" + std::string(rest) + "}";
}

// The fault in a document that must have one.
Diagnostic FaultOf(std::string_view text) {
  const Expected<Shape> shape = Read(text);
  EXPECT_FALSE(shape.has_value()) << text;
  return shape ? Diagnostic{} : shape.error();
}

TEST(JsonReaderTest, ReadsWhatIsThereAndFillsInWhatIsNot) {
  const Expected<Shape> shape =
      Read(Document(R"(, "kind": "square", "axes": ["h", "w"], "x-mine": {"b": 1, "a": [2]})"));
  ASSERT_TRUE(shape.has_value()) << Format(shape.error());
  EXPECT_EQ(shape->name, "n");
  EXPECT_EQ(shape->rows, 4);
  EXPECT_EQ(shape->kind, 1U);
  EXPECT_EQ(shape->axes, (std::vector<std::string>{"h", "w"}));
  EXPECT_EQ(shape->user, (std::map<std::string, std::string>{{"x-mine", R"({"b":1,"a":[2]})"}}));
}

TEST(JsonReaderTest, SyntaxErrorsNameLineColumnAndExcerpt) {
  const Diagnostic fault = FaultOf("{\n  \"format\": shape\n}");
  EXPECT_EQ(fault.file, "s.json");
  EXPECT_EQ(fault.line, 2);
  EXPECT_EQ(fault.column, 13);
  EXPECT_EQ(fault.excerpt, "  \"format\": shape");
}

TEST(JsonReaderTest, SyntaxErrorsPointAtTheBeginOfAToken) {
  const Diagnostic fault = FaultOf(R"({"format": "shape" "version": 1})");
  EXPECT_EQ(fault.column, 20);
  EXPECT_EQ(fault.expected, "'}'");
}

TEST(JsonReaderTest, ATruncatedDocumentIsASyntaxErrorAtItsEnd) {
  const Diagnostic fault = FaultOf("{\"format\": \"shape\",\n");
  EXPECT_EQ(fault.line, 2);
  EXPECT_EQ(fault.column, 1);
  EXPECT_EQ(FaultOf("").line, 1);
}

TEST(JsonReaderTest, TextAfterTheDocumentIsASyntaxError) {
  const Diagnostic fault = FaultOf(Document("") + " 7");
  EXPECT_EQ(fault.line, 1);
  EXPECT_EQ(fault.column, static_cast<int>(Document("").size()) + 2);
}

TEST(JsonReaderTest, DuplicateKeysAreRefused) {
  const Diagnostic fault = FaultOf(Document(R"(, "inner": {"deep": 1, "deep": 2})"));
  EXPECT_EQ(fault.pointer, "/inner/deep");
  EXPECT_EQ(fault.message, "the key 'deep' is given twice");
}

TEST(JsonReaderTest, UnknownKeysAreRefusedWithTheNearest) {
  const Diagnostic fault = FaultOf(Document(R"(, "rwos": 3)"));
  EXPECT_EQ(fault.pointer, "/rwos");
  EXPECT_EQ(fault.hint, "did you mean 'rows'?");
  EXPECT_EQ(fault.expected, "one of format, version, name, rows, kind, axes, inner");
}

TEST(JsonReaderTest, PointersEscapeTildeAndSlash) {
  EXPECT_EQ(FaultOf(Document(R"(, "a~/b": 3)")).pointer, "/a~0~1b");
}

TEST(JsonReaderTest, MissingKeysNameTheObject) {
  const Diagnostic fault = FaultOf(R"({"format": "shape", "version": 1})");
  EXPECT_EQ(fault.message, "the key 'name' is missing");
  EXPECT_EQ(fault.pointer, "");
  EXPECT_EQ(FaultOf(Document(R"(, "inner": {})")).pointer, "/inner");
}

TEST(JsonReaderTest, AMissingKeyNamesTheOneThatMayBeIt) {
  const Diagnostic fault = FaultOf(R"({"format": "shape", "version": 1, "nmae": "a", "rows": 3})");
  EXPECT_EQ(fault.message, "the key 'name' is missing");
  EXPECT_EQ(fault.hint, "is 'nmae' meant to be it?");
}

TEST(JsonReaderTest, TypesAndRangesAreChecked) {
  for (const std::string_view rows :
       {"0", "11", "2.0", "1e1", "\"3\"", "null", "[]", "-1", "18446744073709551615"}) {
    const Diagnostic fault = FaultOf(Document(", \"rows\": " + std::string(rows)));
    EXPECT_EQ(fault.pointer, "/rows") << rows;
    EXPECT_EQ(fault.expected, "an integer from 1 to 10") << rows;
  }
  EXPECT_EQ(FaultOf(Document(R"(, "axes": ["h", 1])")).pointer, "/axes/1");
  EXPECT_EQ(FaultOf(Document(R"(, "axes": {})")).expected, "an array");
  EXPECT_EQ(FaultOf("[]").expected, "an object");
}

TEST(JsonReaderTest, NamesSuggestTheNearest) {
  const Diagnostic fault = FaultOf(Document(R"(, "kind": "sqare")"));
  EXPECT_EQ(fault.pointer, "/kind");
  EXPECT_EQ(fault.hint, "did you mean 'square'?");
}

TEST(JsonReaderTest, OtherFormatsAndVersionsAreRefused) {
  EXPECT_EQ(FaultOf(R"({"format": "sound", "version": 1, "name": ""})").pointer, "/format");
  EXPECT_EQ(FaultOf(R"({"format": "shape", "version": 2, "name": ""})").pointer, "/version");
}

TEST(JsonReaderTest, TheFirstFaultWins) {
  EXPECT_EQ(FaultOf(Document(R"(, "rows": 0, "kind": "x", "foo": 1)")).pointer, "/rows");
}

TEST(JsonReaderTest, HostileNestingIsRefusedNotFollowed) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(FaultOf(deep).message, "the document is nested too deeply");
  const Diagnostic fault =
      FaultOf(Document(", \"x-deep\": " + std::string(99, '[') + "[" + std::string(100, ']')));
  EXPECT_EQ(fault.message, "the document is nested too deeply");
  EXPECT_TRUE(
      Read(Document(", \"x-deep\": " + std::string(99, '[') + std::string(99, ']'))).has_value());
}

TEST(JsonReaderTest, NumbersBeyondADoubleAreAFault) {
  EXPECT_EQ(FaultOf(Document(", \"rows\": 1e999")).line, 1);
}

TEST(JsonWriterTest, KeepsShortThingsOnOneLineAndBreaksLongOnes) {
  nlohmann::ordered_json json = {{"z", {1, 2}}, {"a", nlohmann::ordered_json::object()}};
  EXPECT_EQ(WriteJson(json), "{\"z\": [1, 2], \"a\": {}}\n");
  json["long"] = std::string(120, 'x');
  EXPECT_EQ(WriteJson(json), "{\n  \"z\": [1, 2],\n  \"a\": {},\n  \"long\": \"" +
                                 std::string(120, 'x') + "\"\n}\n");
}

TEST(JsonWriterTest, ReplacesWhatIsNoUtf8) { EXPECT_EQ(WriteJson("\xFF"), "\"\xEF\xBF\xBD\"\n"); }

}  // namespace
}  // namespace tessera::base
