#include "tessera/base/glob.h"

#include <cstddef>

namespace tessera::base {

// Greedy with one point of return: a later `*` never needs the choices of an earlier one again.
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
