// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"

// Strict reading of JSON documents. The reader of a format states what it expects and does not
// check errors in between:
//
//     Expected<Shape> ReadShape(std::string_view text, std::string file) {
//       JsonReader reader(text, std::move(file));
//       Shape shape;
//       {
//         JsonObject root = reader.Root().Object();
//         root.Format("example-shape", 1);
//         shape.name = root.String("name");                          // required
//         shape.rows = root.Integer("rows", {1, 4096});              // required, within a range
//         shape.pitch = root.Integer("pitch", {1, 4096}, 16);        // optional, 16 when absent
//         shape.kind = static_cast<Kind>(root.OneOf("kind", kKindNames));
//         for (const JsonValue& axis : root.Items("axes", Presence::kOptional))
//           shape.axes.push_back(axis.String());
//         if (const JsonValue pad = root.Optional("pad")) shape.pad = ReadPad(pad);
//       }  // here keys that were not requested are refused
//       return reader.Finish(std::move(shape));
//     }
//
// The reader keeps the first fault and ignores later ones. After a fault every getter returns an
// empty value, lists are empty, and Finish returns the diagnostic. Syntax errors carry line and
// column; all other faults carry a JSON pointer. Duplicate keys, a nesting deeper than kMaxDepth
// and unknown keys are faults. Keys that begin with "x-" belong to the user and are allowed in
// every object.
namespace tessera::base {

inline constexpr int kMaxDepth = 100;

class JsonObject;
class JsonReader;

// Both ends are included.
struct IntegerRange {
  int64_t least = std::numeric_limits<int64_t>::min();
  int64_t most = std::numeric_limits<int64_t>::max();
};

enum class Presence : uint8_t { kRequired, kOptional };

// One value of the document, or no value if a key is absent. It is small and is valid as long as
// its reader.
class JsonValue {
 public:
  // Whether there is a value. A key with the value null is present.
  explicit operator bool() const { return node_ != nullptr; }

  bool IsString() const;
  bool IsInteger() const;
  bool IsArray() const;
  bool IsObject() const;

  // Each getter refuses a value of another type or out of range, and then returns the empty value
  // of its type.
  std::string String() const;
  int64_t Integer(IntegerRange range = {}) const;
  double Number(double least, double most) const;  // finite, both ends included
  bool Boolean() const;
  // index of the name; a fault suggests the nearest name
  size_t OneOf(std::span<const std::string_view> names) const;
  std::vector<JsonValue> Items() const;              // of an array
  std::vector<JsonValue> Items(size_t count) const;  // of an array of exactly `count`
  JsonObject Object() const;

  // The value as compact JSON. Keys keep the order of the document.
  std::string Text() const;

  // Records a fault at this value.
  void Refuse(std::string message, std::string expected = "", std::string hint = "") const;

 private:
  friend class JsonObject;
  friend class JsonReader;
  JsonValue(JsonReader* reader, const nlohmann::ordered_json* node)
      : reader_(reader), node_(node) {}
  void RefuseType(std::string_view expected) const;

  JsonReader* reader_;
  const nlohmann::ordered_json* node_;
};

// An object that is being read. It records which keys were requested. The destructor refuses all
// other keys.
class JsonObject {
 public:
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;
  ~JsonObject();  // NOLINT(bugprone-exception-escape): throws only when memory runs out

  JsonValue Required(std::string_view key);  // a fault if absent
  JsonValue Optional(std::string_view key);  // no value if absent
  JsonValue Member(std::string_view key, Presence presence) {
    return presence == Presence::kRequired ? Required(key) : Optional(key);
  }

  std::string String(std::string_view key);
  std::string String(std::string_view key, std::string_view fallback);
  int64_t Integer(std::string_view key, IntegerRange range);
  int64_t Integer(std::string_view key, IntegerRange range, int64_t fallback);
  double Number(std::string_view key, double least, double most);
  double Number(std::string_view key, double least, double most, double fallback);
  bool Boolean(std::string_view key, bool fallback);
  size_t OneOf(std::string_view key, std::span<const std::string_view> names);
  size_t OneOf(std::string_view key, std::span<const std::string_view> names, size_t fallback);
  std::vector<JsonValue> Items(std::string_view key, Presence presence = Presence::kRequired);

  // Reads "format" and "version" and refuses any other values: root.Format("tessera-problem", 1).
  void Format(std::string_view name, int64_t version);

  // All members in the order of the document, for objects with free keys ("offsets": {"a": 0}). All
  // of them count as requested.
  std::vector<std::pair<std::string, JsonValue>> Members();

  // The user's own keys ("x-...") with their values as compact JSON.
  std::map<std::string, std::string> UserKeys() const;

  // Records a fault at the object.
  void Refuse(std::string message, std::string expected = "", std::string hint = "") const;

 private:
  friend class JsonValue;
  JsonObject(JsonReader* reader, const nlohmann::ordered_json* node) : value_(reader, node) {}
  void RefuseUnknownKeys() const;

  JsonValue value_;
  std::vector<std::string> asked_;
  bool has_asked_for_all_ = false;
};

// A document and its first fault.
class JsonReader {
 public:
  // Parses the text. A syntax error, a duplicate key or a nesting that is too deep becomes the
  // fault. `file` is used in messages only.
  JsonReader(std::string_view text, std::string file);
  JsonReader(const JsonReader&) = delete;
  JsonReader& operator=(const JsonReader&) = delete;
  ~JsonReader();

  JsonValue Root();

  bool Failed() const { return fault_.has_value(); }

  // Records the diagnostic, with its file filled in, unless a fault exists already. For checks that
  // span several values, such as CheckWellFormed.
  void Refuse(Diagnostic diagnostic);

  // The value, or the fault.
  template <typename T>
  Expected<T> Finish(T value) {
    if (fault_) return Unexpected(*fault_);
    return value;
  }

 private:
  friend class JsonValue;
  std::string PointerTo(const nlohmann::ordered_json& node) const;

  std::string file_;
  std::unique_ptr<nlohmann::ordered_json> document_;
  std::optional<Diagnostic> fault_;
};

}  // namespace tessera::base
