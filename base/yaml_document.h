// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"

// A YAML document as an immutable tree in which every value and every key has its position.
// Internal to the YAML reader, which is the interface to such a tree.
namespace tessera::base {

struct YamlPosition {
  int line = 0;    // from 1
  int column = 0;  // from 1, in bytes
};

struct YamlValue;

struct YamlEntry {
  std::string key;
  YamlPosition position;  // of the key
  const YamlValue* value = nullptr;
};

enum class YamlKind : uint8_t { kNull, kScalar, kList, kMap };

struct YamlValue {
  YamlKind kind = YamlKind::kNull;
  YamlPosition position;
  std::string text;                     // of a scalar
  bool quoted = false;                  // the scalar is quoted, so it is text in every case
  std::vector<const YamlValue*> items;  // of a list
  std::vector<YamlEntry> entries;       // of a map, in file order, without repeated keys
  std::vector<uint32_t> by_key;         // indices into entries, sorted by key
  int64_t nodes = 1;                    // values in this tree with every alias expanded
};

struct YamlDocument {
  std::string file_name;
  std::string text;
  std::deque<YamlValue> values;  // owns the tree; an alias points to the value of its anchor
  const YamlValue* root = nullptr;
};

inline constexpr size_t kMaxYamlDepth = 100;
inline constexpr int64_t kMaxYamlAliasNodes = 1'000'000;

// Parses `document.text` into `values` and `root`. Returns a diagnostic if that fails.
std::optional<Diagnostic> ParseYaml(YamlDocument& document);

// The entry of a map with this key, or nullptr.
const YamlEntry* FindEntry(const YamlValue& map, std::string_view key);

// The value on one line in flow style. Cost: O(nodes).
std::string FlowText(const YamlValue& value);

// The notation of numbers in the YAML files of the project.

// 1048576, 1_048_576, 0x100000, 384Ki, 1Mi, 2Gi, 1Ti, each with an optional minus. nullopt for any
// other text and for values beyond 64 bits.
std::optional<int64_t> ParseInteger(std::string_view text);

// 0.04, 5e8, 500_000_000, 31. nullopt for any other text, including infinities and NaN.
std::optional<double> ParseNumber(std::string_view text);

}  // namespace tessera::base
