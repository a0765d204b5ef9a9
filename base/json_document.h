#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

namespace tessera::base {

// The document that `text` spells, keys in their order. Syntax errors carry line and column;
// duplicate keys and more than kMaxDepth levels a JSON pointer. Never throws on bad input. `file`
// is for messages. Cost: O(n log n).
Expected<nlohmann::ordered_json> ParseJson(std::string_view text, const std::string& file);

// "a~b/c" as a segment of a JSON pointer: "/a~0b~1c".
std::string PointerSegment(std::string_view key);

// JSON for people: what fits into a line of 110 columns stands on one line, everything else one
// member a line, indented by two. Keys keep their order, bytes depend on the value alone, and the
// text ends in a newline. Bytes that are no UTF-8 become U+FFFD; what would steer a terminal is
// escaped (base/text.h).
std::string WriteJson(const nlohmann::ordered_json& value);

// The same on one line, without blanks between tokens and without a line break.
std::string WriteJsonLine(const nlohmann::ordered_json& value);

}  // namespace tessera::base
