#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace tessera::base {

// JSON for people: what fits into a line of 110 columns stands on one line, everything else one
// member a line, indented by two. Keys keep their order, bytes depend on the value alone, and the
// text ends in a newline. Bytes that are no UTF-8 become U+FFFD; what would steer a terminal is
// escaped (base/utf8.h).
std::string WriteJson(const nlohmann::ordered_json& value);

// The same on one line, without blanks between tokens and without a line break.
std::string WriteJsonLine(const nlohmann::ordered_json& value);

}  // namespace tessera::base
