#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

namespace tessera::base {

// The document that `text` spells, keys in their order. Syntax errors carry line and column; duplicate keys
// and more than kMaxDepth levels a JSON pointer. Never throws on bad input. `file` is for messages. Cost: O(n
// log n).
Expected<nlohmann::ordered_json> ParseJson(std::string_view text, const std::string& file);

// "a~b/c" as a segment of a JSON pointer: "/a~0b~1c".
std::string PointerSegment(std::string_view key);

}  // namespace tessera::base
