// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/yaml_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/text.h"
#include "tessera/base/yaml_document.h"

namespace tessera::base {

// The position of a node: the values of all layers at one path, uppermost first, and the place
// where the path is named.
struct YamlNode::Place {
  struct Layer {
    const YamlDocument* document = nullptr;
    const YamlValue* value = nullptr;
  };
  std::vector<Layer> layers;  // empty: absent
  std::string name;           // the key, or "item 2 of 'banks'"; empty for the root
  const YamlDocument* named_in = nullptr;
  // of the key in the uppermost file; for an absent value, of the map that lacks it
  YamlPosition named_at;
};

namespace {

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

constexpr size_t kMostShown = 60;  // bytes of a value in a message

std::string Describe(const YamlValue& value) {
  switch (value.kind) {
    case YamlKind::kNull:
      return "nothing";
    case YamlKind::kList:
      return "a list";
    case YamlKind::kMap:
      return "a map";
    case YamlKind::kScalar:
      break;
  }
  if (value.text.size() <= kMostShown) return Quoted(value.text);
  size_t cut = kMostShown;
  // do not cut inside a character
  while (cut > 0 && (static_cast<unsigned char>(value.text[cut]) & 0xC0) == 0x80) --cut;
  return Quoted(value.text.substr(0, cut) + "...");
}

// A list with its items, for complaints about these.
std::string DescribeItems(const YamlValue& value) {
  std::string text = FlowText(value);
  return text.size() <= kMostShown ? text : "a list of " + std::to_string(value.items.size());
}

std::string DescribeNumber(double number) {
  const auto whole = static_cast<int64_t>(number);
  if (static_cast<double>(whole) == number) return std::to_string(whole);
  return fmt::format("{}", number);
}

// Large limits are only a safety measure. A message states them only if a number is too great.
enum class Upper : uint8_t { kIfNarrow, kAlways };

std::string DescribeRange(int64_t least, int64_t most, Upper upper = Upper::kIfNarrow) {
  if (least == most) return std::to_string(least);
  if (least <= std::numeric_limits<int>::min() && most >= std::numeric_limits<int>::max())
    return "an integer";
  std::string text = "an integer from " + std::to_string(least);
  if (most >= kMaxTotal && upper == Upper::kIfNarrow) return text + " up";
  return text + " to " + std::to_string(most);
}

std::string DescribeRange(double least, double most, Upper upper = Upper::kIfNarrow) {
  constexpr double kWide = 1e18;
  if (upper == Upper::kIfNarrow) {
    if (least <= -kWide && most >= kWide) return "a number";
    if (most >= kWide) return "a number from " + DescribeNumber(least) + " up";
  }
  return "a number from " + DescribeNumber(least) + " to " + DescribeNumber(most);
}

}  // namespace

YamlFile::YamlFile(std::unique_ptr<const YamlDocument> document) : document_(std::move(document)) {}
YamlFile::YamlFile(YamlFile&&) noexcept = default;
YamlFile& YamlFile::operator=(YamlFile&&) noexcept = default;
YamlFile::~YamlFile() = default;

Expected<YamlFile> YamlFile::Parse(std::string text, std::string file_name) {
  auto document = std::make_unique<YamlDocument>();
  document->file_name = std::move(file_name);
  document->text = std::move(text);
  if (std::optional<Diagnostic> fault = ParseYaml(*document)) return Unexpected(*std::move(fault));
  return YamlFile(std::move(document));
}

YamlReader::YamlReader(const YamlFile& file) : YamlReader(std::span(&file, 1)) {}

YamlReader::YamlReader(std::span<const YamlFile> files) {
  for (const YamlFile& file : files) documents_.push_back(file.document_.get());
}

YamlNode YamlReader::Root() {
  auto place = std::make_shared<YamlNode::Place>();
  for (const YamlDocument* document : documents_) {
    if (!place->layers.empty() && (place->layers.back().value->kind != YamlKind::kMap ||
                                   document->root->kind != YamlKind::kMap))
      break;
    place->layers.push_back({document, document->root});
  }
  place->named_in = documents_.front();
  place->named_at = documents_.front()->root->position;
  return {this, std::move(place)};
}

YamlNode::YamlNode(YamlReader* reader, std::shared_ptr<const Place> place)
    : reader_(reader), place_(std::move(place)) {}

const YamlValue* YamlNode::Value() const {
  return place_ == nullptr || place_->layers.empty() ? nullptr : place_->layers.front().value;
}

bool YamlNode::Present() const { return Value() != nullptr; }
bool YamlNode::IsMap() const { return Present() && Value()->kind == YamlKind::kMap; }
bool YamlNode::IsList() const { return Present() && Value()->kind == YamlKind::kList; }
bool YamlNode::IsScalar() const { return Present() && Value()->kind == YamlKind::kScalar; }

void YamlNode::ComplainAt(const YamlDocument* document, YamlPosition position,
                          Diagnostic fault) const {
  if (reader_ == nullptr || reader_->Failed()) return;
  fault.file = document->file_name;
  fault.line = position.line;
  fault.column = position.column;
  fault.excerpt = LineOf(document->text, position.line);
  reader_->fault_ = std::move(fault);
}

Diagnostic YamlNode::Located(std::string message, std::string expected, std::string hint) const {
  Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  if (place_ == nullptr) return fault;
  // A map has the position of its key, because its own position is that of its first entry. An
  // absent value has the position of the map that lacks it.
  const bool named =
      !Present() || Value()->kind == YamlKind::kMap || Value()->kind == YamlKind::kNull;
  if (!named) fault.found = IsList() ? DescribeItems(*Value()) : Describe(*Value());
  const YamlDocument* document = named ? place_->named_in : place_->layers.front().document;
  const YamlPosition position = named ? place_->named_at : place_->layers.front().value->position;
  fault.file = document->file_name;
  fault.line = position.line;
  fault.column = position.column;
  fault.excerpt = LineOf(document->text, position.line);
  return fault;
}

void YamlNode::Complain(std::string message, std::string expected, std::string hint) const {
  if (place_ == nullptr || reader_ == nullptr || reader_->Failed()) return;
  reader_->fault_ = Located(std::move(message), std::move(expected), std::move(hint));
}

void YamlNode::ComplainOfKey(std::string message, std::string expected, std::string hint) const {
  if (place_ == nullptr) return;
  Diagnostic fault;
  fault.message = std::move(message);
  fault.expected = std::move(expected);
  fault.hint = std::move(hint);
  ComplainAt(place_->named_in, place_->named_at, std::move(fault));
}

// The complaint of a getter about a value of the wrong form.
void YamlNode::ComplainOfValue(std::string message, std::string expected, std::string hint) const {
  if (place_ == nullptr || reader_->Failed()) return;
  if (!Present()) {
    Complain("missing key " + Quoted(place_->name), std::move(expected), std::move(hint));
    return;
  }
  Complain(std::move(message), std::move(expected), std::move(hint));
  reader_->fault_->found = Describe(*Value());
}

YamlNode YamlNode::Child(std::string_view key) const {
  if (!IsMap()) return {};
  auto place = std::make_shared<Place>();
  place->name = key;
  place->named_in = place_->named_in;
  place->named_at = place_->named_at;
  for (const Place::Layer& layer : place_->layers) {
    const YamlEntry* entry = FindEntry(*layer.value, key);
    if (entry == nullptr) continue;
    if (place->layers.empty()) {
      place->named_in = layer.document;
      place->named_at = entry->position;
    } else if (place->layers.back().value->kind != YamlKind::kMap ||
               entry->value->kind != YamlKind::kMap) {
      break;
    }
    place->layers.push_back({layer.document, entry->value});
  }
  return {reader_, std::move(place)};
}

// Whether a getter leaves this value alone: after a fault, and where a parent was absent. The
// complaint of At() about this value, if there is one, states what the getter expects.
bool YamlNode::IsIgnored(std::string_view expected) const {
  if (place_ == nullptr) return true;
  if (!reader_->Failed()) return false;
  if (reader_->missing_ == place_ && reader_->fault_->expected.empty())
    reader_->fault_->expected = expected;
  return true;
}

YamlNode YamlNode::Maybe(std::string_view key) const {
  if (IsIgnored("a map")) return {};
  if (!IsMap()) {
    ComplainOfValue("wrong kind of value", "a map", "");
    return {};
  }
  return Child(key);
}

YamlNode YamlNode::At(std::string_view key) const {
  YamlNode child = Maybe(key);
  if (child.place_ == nullptr || child.Present()) return child;
  child.Complain("missing key " + Quoted(key) +
                 (place_->name.empty() ? "" : " in " + Quoted(place_->name)));
  std::vector<std::string_view> keys;
  for (const YamlEntry& entry : Value()->entries) keys.emplace_back(entry.key);
  reader_->fault_->found = keys.empty() ? "an empty map" : "the keys " + Join(keys);
  reader_->missing_ = child.place_;
  return child;
}

void YamlNode::OnlyKeys(std::span<const std::string_view> keys) const {
  for (const auto& [key, node] : Entries()) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    node.ComplainOfKey("unknown key " + Quoted(key), "one of " + Join(keys), DidYouMean(key, keys));
    return;
  }
}

void YamlNode::OnlyKeys(std::initializer_list<std::string_view> keys) const {
  OnlyKeys(std::span<const std::string_view>(keys.begin(), keys.size()));
}

std::vector<YamlNode> YamlNode::Items() const {
  if (IsIgnored("a list")) return {};
  if (!IsList()) {
    ComplainOfValue("wrong kind of value", "a list", "");
    return {};
  }
  std::vector<YamlNode> items;
  const Place::Layer& layer = place_->layers.front();
  for (const YamlValue* value : layer.value->items) {
    auto place = std::make_shared<Place>();
    place->layers.push_back({layer.document, value});
    place->name = "item " + std::to_string(items.size() + 1) +
                  (place_->name.empty() ? "" : " of " + place_->name);
    place->named_in = layer.document;
    place->named_at = value->position;
    items.push_back({reader_, std::move(place)});
  }
  return items;
}

std::vector<std::pair<std::string, YamlNode>> YamlNode::Entries() const {
  if (IsIgnored("a map")) return {};
  if (!IsMap()) {
    ComplainOfValue("wrong kind of value", "a map", "");
    return {};
  }
  std::vector<std::pair<std::string, YamlNode>> entries;
  for (auto layer = place_->layers.rbegin(); layer != place_->layers.rend(); ++layer) {
    for (const YamlEntry& entry : layer->value->entries) {
      if (IsUserKey(entry.key)) continue;
      const auto lies_below = [&](const Place::Layer& below) {
        return FindEntry(*below.value, entry.key) != nullptr;
      };
      if (std::any_of(place_->layers.rbegin(), layer, lies_below)) continue;
      entries.emplace_back(entry.key, Child(entry.key));
    }
  }
  return entries;
}

std::vector<std::pair<std::string, std::string>> YamlNode::UserKeys() const {
  std::vector<std::pair<std::string, std::string>> keys;
  if (!IsMap() || reader_->Failed()) return keys;
  for (const YamlEntry& entry : Value()->entries) {
    if (!IsUserKey(entry.key)) continue;
    keys.emplace_back(entry.key, entry.value->kind == YamlKind::kScalar ? entry.value->text
                                                                        : FlowText(*entry.value));
  }
  return keys;
}

// The text of this scalar. Complains if the value is not a scalar, or if it is quoted and `plain`
// is set.
std::optional<std::string> YamlNode::Scalar(std::string_view expected, bool plain) const {
  if (IsIgnored(expected)) return std::nullopt;
  const YamlValue* value = Value();
  if (value != nullptr && value->kind == YamlKind::kScalar && !(plain && value->quoted))
    return value->text;
  const bool quoted = value != nullptr && value->kind == YamlKind::kScalar;
  ComplainOfValue(quoted ? "this is text, because it stands in quotes" : "wrong kind of value",
                  std::string(expected), quoted ? "remove the quotes" : "");
  return std::nullopt;
}

int64_t YamlNode::Integer(int64_t least, int64_t most) const {
  const std::string expected = DescribeRange(least, most);
  const std::optional<std::string> text = Scalar(expected, true);
  if (!text) return least;
  const std::optional<int64_t> value = ParseInteger(*text);
  if (value && *value >= least && *value <= most) return *value;
  const std::optional<double> number = ParseNumber(*text);
  if (value || number) {
    const bool is_too_great = value ? *value > most : *number >= static_cast<double>(most);
    const Upper upper = is_too_great ? Upper::kAlways : Upper::kIfNarrow;
    ComplainOfValue(value ? "out of range" : "not an integer, or beyond 64 bits",
                    DescribeRange(least, most, upper), "");
  } else {
    ComplainOfValue("not an integer", expected, "write 393216, 393_216, 0x60000 or 384Ki");
  }
  return least;
}

double YamlNode::Number(double least, double most) const {
  const std::string expected = DescribeRange(least, most);
  const std::optional<std::string> text = Scalar(expected, true);
  if (!text) return least;
  const std::optional<double> value = ParseNumber(*text);
  if (value && *value >= least && *value <= most) return *value;
  const Upper upper = value && *value > most ? Upper::kAlways : Upper::kIfNarrow;
  ComplainOfValue(value ? "out of range" : "not a finite number", DescribeRange(least, most, upper),
                  "");
  return least;
}

bool YamlNode::Boolean() const {
  const std::optional<std::string> text = Scalar("true or false", true);
  if (!text || *text == "false") return false;
  if (*text == "true") return true;
  ComplainOfValue("not a truth value", "true or false", "");
  return false;
}

std::string YamlNode::Text() const {
  const std::optional<std::string> text = Scalar("text", false);
  if (text && text->empty()) ComplainOfValue("empty text", "text", "");
  return text.value_or("");
}

std::vector<int64_t> YamlNode::Integers(int64_t least, int64_t most) const {
  std::vector<int64_t> values;
  for (const YamlNode& item : Items()) values.push_back(item.Integer(least, most));
  return values;
}

size_t YamlNode::OneOf(std::span<const std::string_view> names) const {
  const std::string expected = "one of " + Join(names);
  const std::optional<std::string> text = Scalar(expected, false);
  if (!text) return 0;
  const auto found = std::find(names.begin(), names.end(), *text);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  ComplainOfValue("unknown name " + Quoted(*text), expected, DidYouMean(*text, names));
  return 0;
}

size_t YamlNode::KeyOneOf(std::span<const std::string_view> names) const {
  if (place_ == nullptr || reader_->Failed()) return 0;
  const auto found = std::find(names.begin(), names.end(), place_->name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  ComplainOfKey("unknown key " + Quoted(place_->name), "one of " + Join(names),
                DidYouMean(place_->name, names));
  return 0;
}

}  // namespace tessera::base
