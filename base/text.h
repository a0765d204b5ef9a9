#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera::base {

// Whether all of `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing
// above U+10FFFF).
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

// Text that XML and HTML take between tags and inside double quotes: Printable (base/text.h), with
// markup escaped.
std::string EscapeMarkup(std::string_view text);

// The candidate nearest to `word` by edit distance (insertions, deletions, changes and swaps of
// neighbours cost 1 each; case is free), or empty when none is within a third of the word's length.
// The first of equals wins. Cost: O(total length of the candidates * length of the word).
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'stride'?", or empty.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

// "a, b, c".
std::string Join(std::span<const std::string_view> words, std::string_view separator = ", ");

// Whether a key of a file belongs to the user and is not for us: it begins with "x-".
inline bool IsUserKey(std::string_view key) { return key.starts_with("x-"); }

// Whether `text` matches `pattern`, in which `*` stands for any characters, none included, and `?`
// for one. Cost: O(text * pattern).
bool MatchesGlob(std::string_view text, std::string_view pattern);

}  // namespace tessera::base
