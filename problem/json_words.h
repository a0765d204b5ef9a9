#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

// The words of the JSON formats, shared by reader and writer. Arrays are indexed by the enumeration they
// spell.
namespace tessera::problem {

inline constexpr std::string_view kProblemFormat = "tessera-problem";
inline constexpr std::string_view kAllocationFormat = "tessera-allocation";
inline constexpr int kFormatVersion = 1;

inline constexpr std::array<std::string_view, 2> kAccessWords = {"read", "write"};
inline constexpr std::array<std::string_view, 3> kSpanWords = {"any", "contiguous", "single"};
inline constexpr std::array<std::string_view, 6> kRelationWords = {"colocate",       "adjacent", "same_bank",
                                                                   "different_bank", "separate", "exclusive"};
inline constexpr std::array<std::string_view, 6> kStatusWords = {"optimal", "feasible", "infeasible",
                                                                 "unknown", "invalid",  "unsupported"};
inline constexpr std::array<std::string_view, 2> kCostWords = {"reuse", "mode_switch"};
inline constexpr std::array<std::string_view, 5> kBankModeWords = {"r", "w", "rw", "hold", "off"};

// Whether things can be told apart by name; where not, the formats refer to them by index.
template <typename T>
bool HaveDistinctNames(const std::vector<T>& items) {
  std::vector<std::string_view> names;
  names.reserve(items.size());
  for (const T& item : items) names.push_back(item.name);
  std::sort(names.begin(), names.end());
  return std::adjacent_find(names.begin(), names.end()) == names.end() &&
         (names.empty() || !names.front().empty());
}

}  // namespace tessera::problem
