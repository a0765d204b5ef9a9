#pragma once

#include <string>
#include <string_view>

namespace tessera::base {

// Text that XML and HTML take between tags and inside double quotes: markup escaped, control characters made blanks, bytes that
// are no UTF-8 made question marks.
std::string EscapeMarkup(std::string_view text);

}  // namespace tessera::base
