// SPDX-License-Identifier: Apache-2.0

#include "tessera/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace tessera::base {

namespace {

// The bytes that may follow a lead byte: their number, and the range of the first of them. The
// others are in 80 to BF.
struct Tail {
  size_t bytes = 0;
  uint8_t least = 0x80;
  uint8_t most = 0xBF;
  bool possible = true;
};

Tail TailOf(uint8_t lead) {
  if (lead < 0x80) return {};
  if (lead >= 0xC2 && lead <= 0xDF) return {.bytes = 1};
  if (lead == 0xE0) return {.bytes = 2, .least = 0xA0};
  if (lead == 0xED) return {.bytes = 2, .most = 0x9F};
  if (lead >= 0xE1 && lead <= 0xEF) return {.bytes = 2};
  if (lead == 0xF0) return {.bytes = 3, .least = 0x90};
  if (lead >= 0xF1 && lead <= 0xF3) return {.bytes = 3};
  if (lead == 0xF4) return {.bytes = 3, .most = 0x8F};
  return {.possible = false};
}

// A code point and its length in bytes; length 0 if the text does not begin with a valid sequence.
struct Decoded {
  uint32_t point = 0;
  size_t bytes = 0;
};

Decoded Decode(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text.front());
  const Tail tail = TailOf(lead);
  if (!tail.possible || text.size() - 1 < tail.bytes) return {};
  constexpr std::array<uint32_t, 4> kLeadBits = {0x7F, 0x1F, 0x0F, 0x07};
  Decoded decoded{lead & kLeadBits[tail.bytes], tail.bytes + 1};
  for (size_t k = 1; k <= tail.bytes; ++k) {
    const auto byte = static_cast<uint8_t>(text[k]);
    if (byte < (k == 1 ? tail.least : 0x80) || byte > (k == 1 ? tail.most : 0xBF)) return {};
    decoded.point = decoded.point << 6 | (byte & 0x3F);
  }
  return decoded;
}

// Whether a terminal or a text viewer acts on the code point, or XML forbids it.
bool Steers(uint32_t point) {
  constexpr std::array<std::pair<uint32_t, uint32_t>, 9> kRanges = {{{0x00, 0x1F},
                                                                     {0x7F, 0x9F},
                                                                     {0x061C, 0x061C},
                                                                     {0x200B, 0x200F},
                                                                     {0x2028, 0x202E},
                                                                     {0x2060, 0x2069},
                                                                     {0xFEFF, 0xFEFF},
                                                                     {0xFFF9, 0xFFFB},
                                                                     {0xFFFE, 0xFFFF}}};
  return std::any_of(kRanges.begin(), kRanges.end(), [point](const auto& range) {
    return range.first <= point && point <= range.second;
  });
}

void AppendHex(std::string& text, uint32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789abcdef"[value >> shift & 0xF];
}

void AppendByte(std::string& text, char byte) {
  text += "\\x";
  AppendHex(text, static_cast<uint8_t>(byte), 2);
}

void AppendEscape(std::string& text, uint32_t point) {
  switch (point) {
    case '\n':
      text += "\\n";
      break;
    case '\t':
      text += "\\t";
      break;
    case '\r':
      text += "\\r";
      break;
    default:
      text += "\\u";
      AppendHex(text, point, 4);
  }
}

}  // namespace

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const Decoded decoded = Decode(text);
    if (decoded.bytes == 0) return false;
    text.remove_prefix(decoded.bytes);
  }
  return true;
}

std::string AsUtf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    const size_t bytes = Decode(text).bytes;
    if (bytes == 0) AppendByte(valid, text.front());
    valid += text.substr(0, bytes);
    text.remove_prefix(std::max<size_t>(bytes, 1));
  }
  return valid;
}

std::string Printable(std::string_view text, std::string_view kept) {
  std::string printable;
  printable.reserve(text.size());
  while (!text.empty()) {
    const Decoded decoded = Decode(text);
    if (decoded.bytes == 0) {
      AppendByte(printable, text.front());
    } else if (Steers(decoded.point) &&
               (decoded.bytes > 1 || kept.find(text.front()) == kept.npos)) {
      AppendEscape(printable, decoded.point);
    } else {
      printable += text.substr(0, decoded.bytes);
    }
    text.remove_prefix(std::max<size_t>(decoded.bytes, 1));
  }
  return printable;
}

std::string_view Shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<uint8_t>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kSpaces = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return "";
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

namespace {

bool Same(char a, char b) {
  return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
}

// The restricted Damerau-Levenshtein distance, with three rows of the table in memory.
size_t Distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (Same(a[i - 1], b[j - 1]) ? 0 : 1)});
      if (i > 1 && j > 1 && Same(a[i - 1], b[j - 2]) && Same(a[i - 2], b[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

}  // namespace

std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates) {
  std::string_view best;
  size_t least = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = Distance(word, candidate);
    if (distance < least) {
      least = distance;
      best = candidate;
    }
  }
  return best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates) {
  const std::string_view nearest = Nearest(word, candidates);
  return nearest.empty() ? std::string() : "did you mean '" + std::string(nearest) + "'?";
}

std::string NumberText(double number) {
  std::array<char, 32> text;
  const std::to_chars_result end = std::to_chars(text.data(), text.data() + text.size(), number);
  return {text.data(), end.ptr};
}

std::string Join(std::span<const std::string_view> words, std::string_view separator) {
  std::string text;
  for (const std::string_view word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

// Greedy with one point of return. A later `*` never needs to revise the choices of an earlier one.
bool MatchesGlob(std::string_view text, std::string_view pattern) {
  size_t at = 0;
  size_t next = 0;
  size_t star = std::string_view::npos;
  size_t resume = 0;
  while (at < text.size()) {
    if (next < pattern.size() && pattern[next] == '*') {
      star = next++;
      resume = at;
    } else if (next < pattern.size() && (pattern[next] == '?' || pattern[next] == text[at])) {
      ++at;
      ++next;
    } else if (star != std::string_view::npos) {
      next = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (next < pattern.size() && pattern[next] == '*') ++next;
  return next == pattern.size();
}

}  // namespace tessera::base
