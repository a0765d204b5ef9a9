#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tessera::base {

// Whether all of `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF).
bool IsUtf8(std::string_view text);

// Well-formed UTF-8 that says the same: each byte that belongs to no sequence becomes the four
// characters \xHH.
std::string AsUtf8(std::string_view text);

// Text that a terminal shows and does not obey, for names that come from files. Escaped are control
// characters (C0, DEL, C1), line separators, marks that reorder or hide text, code points that XML
// forbids, and bytes that are no UTF-8: as \n, \t, \r, \uHHHH, and \xHH for a byte. ASCII
// characters in `kept` stay. The escapes are those of JSON but for \xHH, so that the text of a
// valid JSON document stays one with the same value, if line breaks between its tokens are kept.
std::string Printable(std::string_view text, std::string_view kept = "");

// The first `most` bytes, or fewer so that no sequence is cut.
std::string_view Shortened(std::string_view text, size_t most);

}  // namespace tessera::base
