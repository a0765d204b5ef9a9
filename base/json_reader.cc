// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/json_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/base/json_document.h"
#include "tessera/base/text.h"

namespace tessera::base {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestFound = 60;

std::string TextOf(const Json& node) {
  return node.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Brief(const Json& node) {
  if (node.is_structured())
    return fmt::format("an {} of {}", node.is_array() ? "array" : "object", node.size());
  std::string text = TextOf(node);
  if (text.size() > kLongestFound) text = text.substr(0, kLongestFound) + "...";
  return text;
}

// Appends to `path` the segments that lead from `from` to the node at address `to`. Returns false
// if the node is not found.
bool FindPath(const Json& from, const Json* to, std::vector<std::string>& path) {
  if (&from == to) return true;
  if (!from.is_structured()) return false;
  size_t index = 0;
  for (auto it = from.begin(); it != from.end(); ++it, ++index) {
    path.push_back(from.is_object() ? it.key() : std::to_string(index));
    if (FindPath(*it, to, path)) return true;
    path.pop_back();
  }
  return false;
}

std::string RangeText(IntegerRange range) {
  const bool open_below = range.least == std::numeric_limits<int64_t>::min();
  const bool open_above = range.most == std::numeric_limits<int64_t>::max();
  if (open_below && open_above) return "an integer of 64 bits";
  if (open_below) return fmt::format("an integer of at most {}", range.most);
  if (open_above) return fmt::format("an integer of at least {}", range.least);
  return fmt::format("an integer from {} to {}", range.least, range.most);
}

}  // namespace

bool JsonValue::IsString() const { return node_ != nullptr && node_->is_string(); }
bool JsonValue::IsInteger() const { return node_ != nullptr && node_->is_number_integer(); }
bool JsonValue::IsArray() const { return node_ != nullptr && node_->is_array(); }
bool JsonValue::IsObject() const { return node_ != nullptr && node_->is_object(); }

std::string JsonValue::String() const {
  if (IsString()) return node_->get<std::string>();
  RefuseType("a string");
  return "";
}

int64_t JsonValue::Integer(IntegerRange range) const {
  const bool fits = IsInteger() && (!node_->is_number_unsigned() ||
                                    node_->get<uint64_t>() <=
                                        static_cast<uint64_t>(range.most < 0 ? 0 : range.most));
  if (fits && node_->get<int64_t>() >= range.least && node_->get<int64_t>() <= range.most)
    return node_->get<int64_t>();
  RefuseType(RangeText(range));
  return 0;
}

double JsonValue::Number(double least, double most) const {
  if (node_ != nullptr && node_->is_number()) {
    const auto value = node_->get<double>();
    if (value >= least && value <= most) return value;
  }
  RefuseType(fmt::format("a number from {} to {}", least, most));
  return 0;
}

bool JsonValue::Boolean() const {
  if (node_ != nullptr && node_->is_boolean()) return node_->get<bool>();
  RefuseType("true or false");
  return false;
}

size_t JsonValue::OneOf(std::span<const std::string_view> names) const {
  const std::string name = String();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  Refuse(fmt::format("unknown name '{}'", name),
         names.empty() ? "a name that is defined before; none is" : "one of " + Join(names),
         DidYouMean(name, names));
  return 0;
}

std::vector<JsonValue> JsonValue::Items() const {
  std::vector<JsonValue> items;
  if (!IsArray()) {
    RefuseType("an array");
    return items;
  }
  items.reserve(node_->size());
  for (const Json& item : *node_) items.push_back(JsonValue(reader_, &item));
  return items;
}

std::vector<JsonValue> JsonValue::Items(size_t count) const {
  std::vector<JsonValue> items = Items();
  if (items.size() == count) return items;
  RefuseType(fmt::format("an array of {}", count));
  return std::vector<JsonValue>(count, JsonValue(reader_, nullptr));
}

JsonObject JsonValue::Object() const {
  if (!IsObject()) RefuseType("an object");
  return {reader_, IsObject() ? node_ : nullptr};
}

std::string JsonValue::Text() const { return node_ == nullptr ? "" : TextOf(*node_); }

void JsonValue::Refuse(std::string message, std::string expected, std::string hint) const {
  if (node_ == nullptr || reader_->Failed()) return;
  Diagnostic diagnostic;
  diagnostic.message = std::move(message);
  diagnostic.pointer = reader_->PointerTo(*node_);
  diagnostic.expected = std::move(expected);
  diagnostic.found = Brief(*node_);
  diagnostic.hint = std::move(hint);
  reader_->Refuse(std::move(diagnostic));
}

void JsonValue::RefuseType(std::string_view expected) const {
  Refuse("the value is not what belongs here", std::string(expected));
}

JsonObject::~JsonObject() { RefuseUnknownKeys(); }  // NOLINT(bugprone-exception-escape)

void JsonObject::RefuseUnknownKeys() const {
  if (!value_ || value_.reader_->Failed() || has_asked_for_all_) return;
  for (auto it = value_.node_->begin(); it != value_.node_->end(); ++it) {
    const std::string& key = it.key();
    if (IsUserKey(key) || std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    const std::vector<std::string_view> known(asked_.begin(), asked_.end());
    std::string hint = DidYouMean(key, known);
    if (hint.empty()) hint = "keys of your own begin with x-";
    JsonValue(value_.reader_, &*it)
        .Refuse(fmt::format("unknown key '{}'", key), "one of " + Join(known), std::move(hint));
    return;
  }
}

JsonValue JsonObject::Optional(std::string_view key) {
  asked_.emplace_back(key);
  if (!value_ || value_.reader_->Failed()) return {value_.reader_, nullptr};
  const auto found = value_.node_->find(asked_.back());
  return {value_.reader_, found == value_.node_->end() ? nullptr : &*found};
}

JsonValue JsonObject::Required(std::string_view key) {
  JsonValue value = Optional(key);
  if (value || value_.node_ == nullptr || !value_.node_->is_object()) return value;
  // A key that was not requested yet and is nearly this one was probably meant to be this one.
  std::vector<std::string_view> others;
  for (const auto& [other, node] : value_.node_->items()) {
    if (std::find(asked_.begin(), asked_.end(), other) == asked_.end()) others.push_back(other);
  }
  const std::string_view nearest = Nearest(key, others);
  Refuse(fmt::format("the key '{}' is missing", key), "",
         nearest.empty() ? "" : fmt::format("is '{}' meant to be it?", nearest));
  return value;
}

std::string JsonObject::String(std::string_view key) {
  const JsonValue value = Required(key);
  return value ? value.String() : "";
}

std::string JsonObject::String(std::string_view key, std::string_view fallback) {
  const JsonValue value = Optional(key);
  return value ? value.String() : std::string(fallback);
}

int64_t JsonObject::Integer(std::string_view key, IntegerRange range) {
  const JsonValue value = Required(key);
  return value ? value.Integer(range) : 0;
}

int64_t JsonObject::Integer(std::string_view key, IntegerRange range, int64_t fallback) {
  const JsonValue value = Optional(key);
  return value ? value.Integer(range) : fallback;
}

double JsonObject::Number(std::string_view key, double least, double most) {
  const JsonValue value = Required(key);
  return value ? value.Number(least, most) : 0;
}

double JsonObject::Number(std::string_view key, double least, double most, double fallback) {
  const JsonValue value = Optional(key);
  return value ? value.Number(least, most) : fallback;
}

bool JsonObject::Boolean(std::string_view key, bool fallback) {
  const JsonValue value = Optional(key);
  return value ? value.Boolean() : fallback;
}

size_t JsonObject::OneOf(std::string_view key, std::span<const std::string_view> names) {
  const JsonValue value = Required(key);
  return value ? value.OneOf(names) : 0;
}

size_t JsonObject::OneOf(std::string_view key, std::span<const std::string_view> names,
                         size_t fallback) {
  const JsonValue value = Optional(key);
  return value ? value.OneOf(names) : fallback;
}

std::vector<JsonValue> JsonObject::Items(std::string_view key, Presence presence) {
  const JsonValue value = presence == Presence::kRequired ? Required(key) : Optional(key);
  return value ? value.Items() : std::vector<JsonValue>{};
}

void JsonObject::Format(std::string_view name, int64_t version) {
  const JsonValue format = Required("format");
  if (format && format.String() != name) {
    format.Refuse("this is another kind of document", fmt::format("\"{}\"", name));
  }
  const JsonValue found = Required("version");
  if (found && found.Integer() != version) {
    found.Refuse("this version of the format is not known", fmt::format("{}", version));
  }
}

std::vector<std::pair<std::string, JsonValue>> JsonObject::Members() {
  std::vector<std::pair<std::string, JsonValue>> members;
  if (!value_ || value_.reader_->Failed()) return members;
  has_asked_for_all_ = true;
  for (auto it = value_.node_->begin(); it != value_.node_->end(); ++it) {
    asked_.push_back(it.key());
    members.emplace_back(it.key(), JsonValue(value_.reader_, &*it));
  }
  return members;
}

std::map<std::string, std::string> JsonObject::UserKeys() const {
  std::map<std::string, std::string> keys;
  if (!value_) return keys;
  for (auto it = value_.node_->begin(); it != value_.node_->end(); ++it) {
    if (IsUserKey(it.key())) keys.emplace(it.key(), TextOf(*it));
  }
  return keys;
}

void JsonObject::Refuse(std::string message, std::string expected, std::string hint) const {
  value_.Refuse(std::move(message), std::move(expected), std::move(hint));
}

JsonReader::JsonReader(std::string_view text, std::string file) : file_(std::move(file)) {
  Expected<Json> document = ParseJson(text, file_);
  if (document) {
    document_ = std::make_unique<Json>(std::move(*document));
  } else {
    fault_ = std::move(document.error());
  }
}

JsonReader::~JsonReader() = default;

JsonValue JsonReader::Root() { return {this, document_.get()}; }

void JsonReader::Refuse(Diagnostic diagnostic) {
  if (fault_) return;
  diagnostic.file = file_;
  fault_ = std::move(diagnostic);
}

std::string JsonReader::PointerTo(const Json& node) const {
  std::vector<std::string> path;
  std::string pointer;
  if (document_ && FindPath(*document_, &node, path)) {
    for (const std::string& segment : path) pointer += PointerSegment(segment);
  }
  return pointer;
}

}  // namespace tessera::base
