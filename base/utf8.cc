#include "tessera/base/utf8.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace tessera::base {
namespace {

// The bytes that may follow a lead byte: how many, and the range of the first of them; the others are 80 to BF.
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

// A code point and how many bytes it takes; no bytes where the text does not begin with a sequence.
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

// Whether a terminal or a reader of text acts on the code point, or XML forbids it.
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
  return std::any_of(kRanges.begin(), kRanges.end(),
                     [point](const auto& range) { return range.first <= point && point <= range.second; });
}

void AppendHex(std::string& text, uint32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[value >> shift & 0xF];
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
    } else if (Steers(decoded.point) && (decoded.bytes > 1 || kept.find(text.front()) == kept.npos)) {
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

}  // namespace tessera::base
