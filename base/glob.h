#pragma once

#include <string_view>

namespace tessera::base {

// Whether `text` matches `pattern`, in which `*` stands for any characters, none included, and `?` for one.
// Cost: O(text * pattern).
bool MatchesGlob(std::string_view text, std::string_view pattern);

}  // namespace tessera::base
