#include "tessera/base/diagnostic.h"

#include <algorithm>

namespace tessera::base {
namespace {

std::string Place(const Diagnostic& diagnostic) {
  std::string place = diagnostic.file;
  if (diagnostic.line > 0) {
    if (!place.empty()) place += ':';
    place += std::to_string(diagnostic.line);
    if (diagnostic.column > 0) place += ':' + std::to_string(diagnostic.column);
  }
  if (!diagnostic.pointer.empty()) place += (place.empty() ? "" : ": ") + ("at " + diagnostic.pointer);
  return place;
}

std::string Caret(const Diagnostic& diagnostic) {
  const std::string number = std::to_string(diagnostic.line);
  const size_t width = std::max<size_t>(number.size(), 5);
  std::string picture = std::string(width - number.size(), ' ') + number + " | " + diagnostic.excerpt + '\n';
  if (diagnostic.column == 0) return picture;
  picture += std::string(width, ' ') + " | ";
  for (int i = 0; i + 1 < diagnostic.column; ++i) {
    const auto at = static_cast<size_t>(i);
    picture += at < diagnostic.excerpt.size() && diagnostic.excerpt[at] == '\t' ? '\t' : ' ';
  }
  return picture + "^\n";
}

}  // namespace

std::string Format(const Diagnostic& diagnostic) {
  const std::string place = Place(diagnostic);
  std::string text = (place.empty() ? "" : place + ": ") + "error: " + diagnostic.message + '\n';
  if (diagnostic.line > 0 && !diagnostic.excerpt.empty()) text += Caret(diagnostic);
  if (!diagnostic.expected.empty()) text += "  expected: " + diagnostic.expected + '\n';
  if (!diagnostic.found.empty()) text += "  found: " + diagnostic.found + '\n';
  if (!diagnostic.hint.empty()) text += "  hint: " + diagnostic.hint + '\n';
  return text;
}

std::string LineOf(std::string_view text, int line) {
  if (line < 1) return {};
  for (int at = 1; at < line; ++at) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  if (!text.empty() && text.back() == '\r') text.remove_suffix(1);
  return std::string(text);
}

}  // namespace tessera::base
