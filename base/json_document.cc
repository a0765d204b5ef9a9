// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/json_document.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"

namespace tessera::base {

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kLongestExcerpt = 160;  // a caret under a longer line does not help

// The library formats errors as "[...] parse error at line 1, column 5: syntax error while parsing
// value - unexpected '}'; expected end of input", with "last read: 'x'" in between.
struct Wording {
  std::string message;
  std::string found;
  std::string expected;
};

std::string TakeAfter(std::string& text, std::string_view mark) {
  const size_t at = text.find(mark);
  if (at == std::string::npos) return "";
  std::string tail = text.substr(at + mark.size());
  text.resize(at);
  return tail;
}

Wording WordingOf(std::string_view what) {
  std::string text(what);
  if (const size_t at = text.find("syntax error"); at != std::string::npos) text = text.substr(at);
  if (const size_t at = text.find("] "); text.starts_with("[json.exception") && at != text.npos)
    text = text.substr(at + 2);
  Wording wording;
  wording.expected = TakeAfter(text, "; expected ");
  wording.found = TakeAfter(text, "; last read: ");
  wording.message = std::move(text);
  return wording;
}

// Builds the document from the parser's events. Stops the parser at the first construct that JSON
// allows and Tessera does not.
class Builder {
 public:
  Builder(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  bool null() { return Add(nullptr); }
  bool boolean(bool value) { return Add(value); }
  bool number_integer(int64_t value) { return Add(value); }
  bool number_unsigned(uint64_t value) { return Add(value); }
  bool number_float(double value, const std::string&) { return Add(value); }
  bool string(std::string& value) { return Add(std::move(value)); }
  bool binary(Json::binary_t&) { return false; }

  bool start_object(size_t) { return Open(Json::object()); }
  bool start_array(size_t) { return Open(Json::array()); }
  bool end_object() { return Close(); }
  bool end_array() { return Close(); }

  bool key(std::string& name) {
    Level& level = levels_.back();
    level.key = name;
    if (level.keys.insert(name).second) return true;
    return Refuse(fmt::format("the key '{}' is given twice", name), "each key once");
  }

  bool parse_error(size_t position, const std::string& token,
                   const nlohmann::detail::exception& error) {
    const size_t at = BeginOfToken(position, token);
    const std::string_view before = text_.substr(0, at);
    const size_t line_begin =
        before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
    Wording wording = WordingOf(error.what());
    fault_ = {};
    fault_.message = std::move(wording.message);
    fault_.file = file_;
    fault_.line = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
    fault_.column = static_cast<int>(at - line_begin) + 1;
    fault_.expected = std::move(wording.expected);
    fault_.found = std::move(wording.found);
    fault_.excerpt = LineOf(text_, fault_.line);
    if (fault_.excerpt.size() > kLongestExcerpt) fault_.excerpt.clear();
    return false;
  }

  Json TakeDocument() { return std::move(root_); }
  Diagnostic TakeFault() { return std::move(fault_); }

 private:
  // An object or array whose end has not been read. Its parent does not grow in the meantime, so
  // the pointer stays valid.
  struct Level {
    Json* container = nullptr;
    std::string key;             // the last key of an object
    std::set<std::string> keys;  // all keys of an object so far
  };

  // The library counts the bytes up to the error, and the error begins where the last token begins.
  // The token that it reports may include earlier text, so only a single word or string is trusted.
  size_t BeginOfToken(size_t position, std::string_view token) const {
    const size_t end = std::min(position, text_.size() + 1);
    const bool is_word = token.find_first_of(" \t\r\n\"") == std::string_view::npos;
    const bool is_string = token.size() >= 2 && token.find('"', 1) == token.size() - 1;
    const size_t length = std::max<size_t>(1, token.size());
    if (!(is_word || is_string) || end > text_.size() || length > end)
      return end == 0 ? 0 : end - 1;
    return text_.substr(end - length, length) == token ? end - length : end - 1;
  }

  bool Add(Json value) {
    Place(std::move(value));
    return true;
  }

  Json* Place(Json value) {
    if (levels_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    Level& level = levels_.back();
    if (level.container->is_array()) {
      level.container->push_back(std::move(value));
      return &level.container->back();
    }
    // Duplicates are already excluded. The look-up of the container would make large objects
    // quadratic.
    auto& members = level.container->get_ref<Json::object_t&>();
    members.Json::object_t::Container::emplace_back(level.key, std::move(value));
    return &members.back().second;
  }

  bool Open(Json value) {
    if (levels_.size() >= static_cast<size_t>(kMaxDepth)) {
      return Refuse("the document is nested too deeply",
                    fmt::format("at most {} levels", kMaxDepth));
    }
    Level level;
    level.container = Place(std::move(value));
    levels_.push_back(std::move(level));
    return true;
  }

  bool Close() {
    levels_.pop_back();
    return true;
  }

  bool Refuse(std::string message, std::string expected) {
    fault_ = {};
    fault_.message = std::move(message);
    fault_.expected = std::move(expected);
    fault_.file = file_;
    for (const Level& level : levels_) {
      fault_.pointer += level.container->is_array() ? PointerSegment(std::to_string(IndexIn(level)))
                                                    : PointerSegment(level.key);
    }
    return false;
  }

  // The index of the array element that is being read: the last open one, or the next one.
  size_t IndexIn(const Level& level) const {
    const size_t size = level.container->size();
    return &level == &levels_.back() ? size : size - 1;
  }

  std::string_view text_;
  const std::string& file_;
  Json root_;
  std::vector<Level> levels_;
  Diagnostic fault_;
};

}  // namespace

void Append(Json& object, std::string_view key, Json item) {
  const auto list = object.find(key);
  if (list != object.end()) return list->push_back(std::move(item));
  Json begun = Json::array();
  begun.push_back(std::move(item));
  object.emplace(key, std::move(begun));
}

std::string PointerSegment(std::string_view key) {
  std::string segment = "/";
  for (const char c : key) {
    if (c == '~') {
      segment += "~0";
    } else if (c == '/') {
      segment += "~1";
    } else {
      segment += c;
    }
  }
  return segment;
}

Expected<Json> ParseJson(std::string_view text, const std::string& file) {
  Builder builder(text, file);
  if (!Json::sax_parse(text, &builder)) return Unexpected(builder.TakeFault());
  return builder.TakeDocument();
}

namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 110;

bool IsPlain(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; });
}

void AppendString(std::string_view value, std::string& text) {
  if (IsPlain(value)) {
    ((text += '"') += value) += '"';
  } else {
    text += WriteJsonLine(value);
  }
}

void AppendKey(std::string_view key, std::string& text) {
  AppendString(key, text);
  text += ": ";
}

// The common scalars without a detour through the library's writer.
void AppendScalar(const Json& value, std::string& text) {
  if (const auto* string = value.get_ptr<const Json::string_t*>()) {
    AppendString(*string, text);
  } else if (value.is_number_integer() && !value.is_number_unsigned()) {
    text += std::to_string(value.get<int64_t>());
  } else {
    text += WriteJsonLine(value);
  }
}

// Appends the value on one line. Returns false, and stops, as soon as the text exceeds `limit`
// characters in all.
bool AppendInline(const Json& value, size_t limit, std::string& text) {
  if (!value.is_structured()) {
    AppendScalar(value, text);
    return text.size() <= limit;
  }
  const bool is_object = value.is_object();
  text += is_object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) text += ", ";
    first = false;
    if (is_object) AppendKey(it.key(), text);
    if (!AppendInline(*it, limit, text)) return false;
  }
  text += is_object ? '}' : ']';
  return text.size() <= limit;
}

// `column` is where the value begins on its line.
void Append(const Json& value, size_t indent, size_t column, std::string& text) {
  std::string line;
  const bool fits = AppendInline(value, column < kColumns ? kColumns - column : 0, line);
  if (fits || !value.is_structured() || value.empty()) {
    if (fits) {
      text += line;
    } else {
      AppendScalar(value, text);
    }
    return;
  }
  const bool is_object = value.is_object();
  text += is_object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    text += first ? "\n" : ",\n";
    first = false;
    text.append(indent + 2, ' ');
    const size_t begin = text.size();
    if (is_object) AppendKey(it.key(), text);
    Append(*it, indent + 2, indent + 3 + (text.size() - begin), text);
  }
  text += '\n';
  text.append(indent, ' ');
  text += is_object ? '}' : ']';
}

}  // namespace

std::string WriteJsonLine(const Json& value) {
  return Printable(value.dump(-1, ' ', false, Json::error_handler_t::replace));
}

std::string WriteJson(const Json& value) {
  std::string text;
  Append(value, 0, 0, text);
  text += '\n';
  return text;
}

}  // namespace tessera::base
