// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"
#include "tessera/problem/explanation.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"

// The names of the JSON formats, shared by reader and writer. Each array is indexed by its
// enumeration.
namespace tessera::problem::files {

inline constexpr std::string_view kProblemFormat = "tessera-problem";
inline constexpr std::string_view kAllocationFormat = "tessera-allocation";
inline constexpr int kFormatVersion = 1;

inline constexpr std::array<std::string_view, 5> kBankModeWords = {"r", "w", "rw", "hold", "off"};

// Whether all items have distinct names. If not, the formats refer to the items by index.
template <typename T>
bool HaveDistinctNames(const std::vector<T>& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() &&
         (names.empty() || !names.front().empty());
}

// Refers to the items of a list by name if names are unique, otherwise by index.
template <typename T>
class References {
 public:
  explicit References(const std::vector<T>& items)
      : items_(items), by_name_(HaveDistinctNames(items)) {}
  nlohmann::ordered_json operator()(int index) const {
    return by_name_ ? nlohmann::ordered_json(items_[static_cast<size_t>(index)].name)
                    : nlohmann::ordered_json(index);
  }

 private:
  const std::vector<T>& items_;
  bool by_name_;
};

// References of the JSON formats to items that are stated elsewhere in the document. Internal to
// the readers.

inline constexpr base::IntegerRange kSizes = {1, base::kMaxTotal};
inline constexpr base::IntegerRange kAddresses = {0, base::kMaxTotal};
inline constexpr base::IntegerRange kSteps = {-base::kMaxTotal, base::kMaxTotal};

template <typename T>
std::vector<std::string_view> NamesOf(const std::vector<T>& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  return names;
}

// Returns the index of the item that `value` refers to by name or by index.
template <typename T>
int ReadReference(const base::JsonValue& value, const std::vector<T>& items,
                  std::string_view what) {
  if (value.IsInteger()) {
    if (items.empty()) value.Refuse(fmt::format("there is no {} to refer to", what));
    return static_cast<int>(value.Integer({0, static_cast<int64_t>(items.size()) - 1}));
  }
  const std::string name = value.String();
  const std::vector<std::string_view> names = NamesOf(items);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    value.Refuse(fmt::format("there is no {} '{}'", what, name), "one of " + base::Join(names),
                 base::DidYouMean(name, names));
    return 0;
  }
  if (std::find(found + 1, names.end(), name) != names.end()) {
    value.Refuse(fmt::format("two are named '{}'", name), fmt::format("the index of the {}", what));
  }
  return static_cast<int>(found - names.begin());
}

AddressRange ReadRange(const base::JsonValue& value);

// Buffers by id. If several buffers have one id, the first counts; CheckWellFormed refuses the
// others.
class BufferIndex {
 public:
  explicit BufferIndex(const std::vector<Buffer>& buffers);

  // The index of the buffer `id`. Refuses `where` if there is none.
  std::optional<size_t> Find(const std::string& id, const base::JsonValue& where) const;

  // The index of the buffer with the id in this value; 0 after a refusal.
  int Read(const base::JsonValue& id) const;

  // Reads {"id": number, ...} with exactly one number per buffer.
  std::vector<Bytes> ReadAll(const base::JsonValue& value, base::IntegerRange range,
                             const std::vector<Buffer>& buffers) const;

 private:
  std::map<std::string, size_t> by_id_;
};

// Writes only the counts that are limited.
nlohmann::ordered_json PortsToJson(const Ports& ports);

// Writes a requirement, with the names of `banks`, or their indices if names repeat.
enum class Defaults : uint8_t { kOmitted, kWritten };
nlohmann::ordered_json RequirementToJson(const Requirement& wanted, const std::vector<Bank>& banks,
                                         Defaults defaults);

// Writes lists of banks in the same way.
nlohmann::ordered_json BankSetsToJson(const BankSets& sets, const std::vector<Bank>& banks);

// Write and read one rule of a problem. Other documents that contain problems use the same form.
// `problem` must have its memories and buffers.
nlohmann::ordered_json RuleToJson(const Problem& problem, const Rule& rule);
Rule ReadRule(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);

// Reads a cost in the same way.
Cost ReadCost(const base::JsonValue& value, const Problem& problem, const BufferIndex& buffers);

// Writes the "explanation" of an allocation document or of another document that contains one.
// Sentences are for people; ReadExplanation ignores them.
nlohmann::ordered_json ExplanationToJson(const Problem& problem, const Explanation& explanation,
                                         Bytes capacity);

Explanation ReadExplanation(const base::JsonValue& value, const Problem& problem);

}  // namespace tessera::problem::files
