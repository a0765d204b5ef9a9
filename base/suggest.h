#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tessera::base {

// The candidate nearest to `word` by edit distance (insertions, deletions, changes and swaps of neighbours
// cost 1 each; case is free), or empty when none is within a third of the word's length. The first of equals
// wins. Cost: O(total length of the candidates * length of the word).
std::string_view Nearest(std::string_view word, std::span<const std::string_view> candidates);

// "did you mean 'stride'?", or empty.
std::string DidYouMean(std::string_view word, std::span<const std::string_view> candidates);

// "a, b, c".
std::string Join(std::span<const std::string_view> words, std::string_view separator = ", ");

// Whether a key of a file belongs to the user and is not for us: it begins with "x-".
inline bool IsUserKey(std::string_view key) { return key.starts_with("x-"); }

}  // namespace tessera::base
