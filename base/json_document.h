// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"

namespace tessera::base {

// Parses the JSON document `text` and keeps the order of keys. Syntax errors carry line and column.
// Duplicate keys and a nesting deeper than kMaxDepth carry a JSON pointer. Never throws on bad
// input. `file` is used in messages only. Cost: O(n log n).
Expected<nlohmann::ordered_json> ParseJson(std::string_view text, const std::string& file);

// "a~b/c" as a segment of a JSON pointer: "/a~0b~1c".
std::string PointerSegment(std::string_view key);

// Appends to the list at that key, which is created if it is absent. The library would create it
// from the null value: if memory runs out meanwhile, it leaves the value in a state that aborts.
void Append(nlohmann::ordered_json& object, std::string_view key, nlohmann::ordered_json item);

// JSON for people. A value that fits into 110 columns is written on one line; any other value is
// written with one member per line, indented by two. Keys keep their order, the bytes depend on the
// value alone, and the text ends in a newline. Bytes that are not UTF-8 become U+FFFD. Characters
// that would control a terminal are escaped (base/text.h).
std::string WriteJson(const nlohmann::ordered_json& value);

// As WriteJson, on one line, without blanks between tokens and without a line break.
std::string WriteJsonLine(const nlohmann::ordered_json& value);

}  // namespace tessera::base
