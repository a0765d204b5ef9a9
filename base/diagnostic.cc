// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/diagnostic.h"

#include <algorithm>

#include "tessera/base/text.h"

namespace tessera::base {
namespace {

constexpr size_t kMostBytes = 400;

// One printable line, shortened if it is long.
std::string Tame(std::string_view text, size_t most = kMostBytes, std::string_view kept = "") {
  const std::string tame = Printable(Shortened(text, most), kept);
  return text.size() > most ? tame + " ..." : tame;
}

// Blanks with the width of the text, to align what is printed below its end. Tabs are kept.
std::string Blanks(std::string_view text) {
  std::string blanks;
  for (const char c : text) {
    if ((static_cast<unsigned char>(c) & 0xC0) != 0x80) blanks += c == '\t' ? '\t' : ' ';
  }
  return blanks;
}

std::string Place(const Diagnostic& diagnostic) {
  std::string place = Tame(diagnostic.file);
  if (diagnostic.line > 0) {
    if (!place.empty()) place += ':';
    place += std::to_string(diagnostic.line);
    if (diagnostic.column > 0) place += ':' + std::to_string(diagnostic.column);
  }
  if (!diagnostic.pointer.empty())
    place += (place.empty() ? "" : ": ") + ("at " + Tame(diagnostic.pointer));
  return place;
}

// The source line with a caret below the column. For a long line, the part around the column.
std::string Caret(const Diagnostic& diagnostic) {
  constexpr size_t kWidth = 160;
  const size_t at = diagnostic.column > 0 ? static_cast<size_t>(diagnostic.column) - 1 : 0;
  const size_t skipped = at < kWidth * 3 / 4 ? 0 : at - kWidth / 2;
  const std::string_view line = diagnostic.excerpt;
  const std::string shown = Tame(line.substr(std::min(skipped, line.size())), kWidth, "\t");

  const std::string number = std::to_string(diagnostic.line);
  const size_t margin = std::max<size_t>(number.size(), 5);
  std::string picture = std::string(margin - number.size(), ' ') + number + " | " + shown + '\n';
  if (diagnostic.column == 0) return picture;
  picture += std::string(margin, ' ') + " | ";
  const std::string before =
      Printable(line.substr(std::min(skipped, line.size())).substr(0, at - skipped), "\t");
  return picture + Blanks(before) + std::string(at - std::min(at, line.size()), ' ') + "^\n";
}

}  // namespace

std::string Format(const Diagnostic& diagnostic) {
  const std::string place = Place(diagnostic);
  std::string text =
      (place.empty() ? "" : place + ": ") + "error: " + Tame(diagnostic.message) + '\n';
  if (diagnostic.line > 0 && !diagnostic.excerpt.empty()) text += Caret(diagnostic);
  if (!diagnostic.expected.empty()) text += "  expected: " + Tame(diagnostic.expected, 2000) + '\n';
  if (!diagnostic.found.empty()) text += "  found: " + Tame(diagnostic.found) + '\n';
  if (!diagnostic.hint.empty()) text += "  hint: " + Tame(diagnostic.hint) + '\n';
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
