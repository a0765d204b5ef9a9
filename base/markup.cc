#include "tessera/base/markup.h"

#include <algorithm>
#include <cstddef>

namespace tessera::base {
namespace {

// Bytes of the UTF-8 sequence at the start of `text`; 0 when there is none.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t length = lead < 0x80                   ? 1
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xF0 && lead < 0xF5 ? 4
                                                      : 0;
  if (length > text.size()) return 0;
  const bool continued =
      std::all_of(text.begin() + 1, text.begin() + static_cast<std::ptrdiff_t>(std::max<size_t>(length, 1)),
                  [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; });
  return continued ? length : 0;
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const char c = text.front();
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
        if (length == 0) {
          escaped += '?';
        } else if (length == 1 && static_cast<unsigned char>(c) < 0x20) {
          escaped += ' ';
        } else {
          escaped += text.substr(0, length);
        }
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return escaped;
}

}  // namespace tessera::base
