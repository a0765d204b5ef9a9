// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <variant>

// The keys of a section of a profile: each has a member of the section's struct, the numbers that
// it accepts, and whether it may be absent. The reader and the writer of profiles, the totals of
// plans and the tests iterate over the tables of fields, so a new number is a member and a row
// (docs/extending.md).
namespace tessera::hw_profiles {

// The numbers that a field accepts, both ends included.
struct FieldRange {
  double least = 0;
  double most = 0;
};

// Limits of numbers in profiles: large enough for all hardware, and small enough that products of
// two stay far from overflow.
inline constexpr int64_t kMostCount = int64_t{1} << 30;
inline constexpr int64_t kMostBytes = int64_t{1} << 40;
inline constexpr FieldRange kCounts = {1, kMostCount};
inline constexpr FieldRange kCountsOrZero = {0, kMostCount};
inline constexpr FieldRange kCycles = {0, double{1LL << 40}};
inline constexpr FieldRange kAmounts = {0, 1e18};
inline constexpr FieldRange kBandwidths = {1e-9, 1e18};

enum class Presence : uint8_t {
  kRequired,
  kWritten,   // may be absent, and then has the struct's default; the writer states it always
  kOptional,  // may be absent, and then is 0, or not known (std::optional); the writer leaves it
              // out then, so that plans that were made before the field existed keep their digest
};

// A key of a section. A key without a member has a special reader and writer.
template <typename Section>
struct Field {
  std::string_view key;
  std::variant<std::monostate, int64_t Section::*, int Section::*, double Section::*,
               bool Section::*, std::optional<double> Section::*>
      member = {};
  FieldRange range = {};  // of a number
  Presence presence = Presence::kWritten;
};

// The value of a field as a number; 0 if it is not known.
template <typename Value>
double NumberOf(const Value& value) {
  if constexpr (std::is_same_v<Value, std::optional<double>>) {
    return value.value_or(0);
  } else {
    return static_cast<double>(value);
  }
}

// Calls visit(value) with the field's value in `section`, if the field has a member.
template <typename Section, typename Visit>
void VisitValue(const Field<std::remove_const_t<Section>>& field, Section& section, Visit visit) {
  std::visit(
      [&](auto member) {
        if constexpr (!std::is_same_v<decltype(member), std::monostate>) visit(section.*member);
      },
      field.member);
}

}  // namespace tessera::hw_profiles
