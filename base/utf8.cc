#include "tessera/base/utf8.h"

#include <cstddef>
#include <cstdint>

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

}  // namespace

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Tail tail = TailOf(static_cast<uint8_t>(text[i++]));
    if (!tail.possible || text.size() - i < tail.bytes) return false;
    for (size_t k = 0; k < tail.bytes; ++k, ++i) {
      const auto byte = static_cast<uint8_t>(text[i]);
      const bool first = k == 0;
      if (byte < (first ? tail.least : 0x80) || byte > (first ? tail.most : 0xBF)) return false;
    }
  }
  return true;
}

}  // namespace tessera::base
