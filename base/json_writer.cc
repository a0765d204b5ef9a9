#include "tessera/base/json_writer.h"

#include <nlohmann/json.hpp>

#include "tessera/base/utf8.h"

namespace tessera::base {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kColumns = 110;

std::string Scalar(const Json& value) { return WriteJsonLine(value); }

// Appends the value on one line and says whether it stayed within `limit` characters in all; gives up when it
// does not.
bool AppendInline(const Json& value, size_t limit, std::string& text) {
  if (!value.is_structured()) {
    text += Scalar(value);
    return text.size() <= limit;
  }
  const bool is_object = value.is_object();
  text += is_object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (!first) text += ", ";
    first = false;
    if (is_object) text += Scalar(it.key()) + ": ";
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
    text += fits ? line : Scalar(value);
    return;
  }
  const bool is_object = value.is_object();
  text += is_object ? '{' : '[';
  bool first = true;
  for (auto it = value.begin(); it != value.end(); ++it) {
    text += first ? "\n" : ",\n";
    first = false;
    text.append(indent + 2, ' ');
    const std::string key = is_object ? Scalar(it.key()) + ": " : "";
    text += key;
    Append(*it, indent + 2, indent + 3 + key.size(), text);
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
