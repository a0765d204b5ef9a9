// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Fields of a CSV with their places in the text.
namespace tessera::problem::files {

// A part of a line and its position; columns count bytes from 1. For a quoted field the text is the
// part between the quotes, in which two quotes stand for one.
struct Field {
  std::string_view text;
  int line = 0;
  int column = 0;
  bool quoted = false;
};

inline bool IsBlank(char c) { return c == ' ' || c == '\t'; }

inline Field Trim(Field field) {
  while (!field.text.empty() && IsBlank(field.text.front())) {
    field.text.remove_prefix(1);
    ++field.column;
  }
  while (!field.text.empty() && IsBlank(field.text.back())) field.text.remove_suffix(1);
  return field;
}

// The parts between separators, trimmed; one more than the number of separators.
inline std::vector<Field> Split(Field whole, char separator) {
  std::vector<Field> fields;
  for (;;) {
    const size_t end = whole.text.find(separator);
    fields.push_back(Trim({whole.text.substr(0, end), whole.line, whole.column}));
    if (end == std::string_view::npos) return fields;
    whole.text.remove_prefix(end + 1);
    whole.column += static_cast<int>(end) + 1;
  }
}

// The position of the closing quote of a field that begins with a quote; npos if there is none.
inline size_t FindClosingQuote(std::string_view text) {
  for (size_t at = text.find('"', 1); at != std::string_view::npos; at = text.find('"', at + 2)) {
    if (at + 1 == text.size() || text[at + 1] != '"') return at;
  }
  return std::string_view::npos;
}

inline std::string Unquote(const Field& field) {
  std::string text;
  for (size_t i = 0; i < field.text.size(); ++i) {
    text += field.text[i];
    if (field.quoted && field.text[i] == '"') ++i;
  }
  return text;
}

}  // namespace tessera::problem::files
