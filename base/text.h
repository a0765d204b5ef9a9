// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tessera::base {

// Whether all of `text` is well-formed UTF-8 (RFC 3629: no overlong forms, no surrogates, no code
// point above U+10FFFF).
bool IsUtf8(std::string_view text);

// Well-formed UTF-8 with the same content. Each byte that is not part of a valid sequence becomes
// the four characters \xHH.
std::string AsUtf8(std::string_view text);

// Text that a terminal displays without acting on it, for names that come from files. These are
// escaped: control characters (C0, DEL, C1), line separators, marks that reorder or hide text, code
// points that XML forbids, and bytes that are not UTF-8. They become \n, \t, \r, \uHHHH, and \xHH
// for a byte. ASCII characters in `kept` are not escaped. Except for \xHH the escapes are those of
// JSON. Therefore the text of a valid JSON document stays a valid document with the same value, if
// `kept` holds the line breaks between its tokens.
std::string Printable(std::string_view text, std::string_view kept = "");

// The first `most` bytes of the text, or fewer so that no UTF-8 sequence is cut.
std::string_view Shortened(std::string_view text, size_t most);

// The text without spaces, tabs and line breaks at its ends.
std::string_view Trimmed(std::string_view text);

// Text for XML and HTML, between tags or inside double quotes: Printable (base/text.h) with markup
// escaped.
std::string EscapeMarkup(std::string_view text);

// The candidate nearest to `word` by edit distance. Insertions, deletions, changes and swaps of
// neighbours cost 1 each; case is ignored. Empty if no candidate is within a third of the word's
// length. Of equal candidates the first is returned. Cost: O(total length of the candidates *
// length of the word).
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'stride'?", or empty.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

// Returns the shortest text that reads as the same number.
std::string NumberText(double number);

// Returns "a, b, c".
std::string Join(std::span<const std::string_view> words, std::string_view separator = ", ");

// Whether a key of a file belongs to the user and is ignored: it begins with "x-".
inline bool IsUserKey(std::string_view key) { return key.starts_with("x-"); }

// Whether `text` matches `pattern`, in which `*` stands for any number of characters, including
// none, and `?` for one. Cost: O(text * pattern).
bool MatchesGlob(std::string_view text, std::string_view pattern);

}  // namespace tessera::base
