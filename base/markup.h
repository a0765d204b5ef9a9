#pragma once

#include <string>
#include <string_view>

namespace tessera::base {

// Text that XML and HTML take between tags and inside double quotes: Printable (base/utf8.h), with
// markup escaped.
std::string EscapeMarkup(std::string_view text);

}  // namespace tessera::base
