// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "tessera/base/arithmetic.h"

// The kinds of rules: one list, from which the enumeration and the readers, writers and
// well-formedness of rules follow.
//
// A new kind is one entry of TESSERA_RULE_KINDS, its definition for engines (rule_definition.h),
// and its check (rule_check.h), which is written from the meaning below and not from the definition
// (docs/extending.md).
namespace tessera::problem {

using Bytes = int64_t;

// Bytes [begin, end) of a memory.
struct AddressRange {
  Bytes begin = 0;
  Bytes end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Whether the two share a byte.
inline bool Intersect(const AddressRange& a, const AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

enum class RequirementKind : uint8_t;

// The requirement of a rule on each of its buffers, or on each of its pairs (first, second). Only
// the members that the kind has as fields are used.
struct Requirement {
  RequirementKind kind = {};
  Bytes multiple = 1;
  Bytes residue = 0;
  AddressRange window;
  std::vector<int> banks;
  Bytes distance = 0;
  Bytes before = 0;
  Bytes after = 0;
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// A member that requirements of a kind state, as files spell it.
struct RequirementField {
  // A number; a window [begin, end) with begin < end; or banks of the buffers' memory, at least
  // one, ascending.
  using Member = std::variant<Bytes Requirement::*, AddressRange Requirement::*,
                              std::vector<int> Requirement::*>;

  std::string_view key;
  Member member;
  Bytes least = 0;                      // of a number
  bool optional = false;                // a number that is 0 if it is absent
  Bytes Requirement::*below = nullptr;  // a number that is less than this one
  std::string_view called = {};         // in messages; empty: as its key
};

inline constexpr RequirementField kResidueFields[] = {
    {"multiple", &Requirement::multiple, 1},
    {"residue", &Requirement::residue, 0, true, &Requirement::multiple}};
inline constexpr RequirementField kBoundaryFields[] = {{"boundary", &Requirement::multiple, 1}};
inline constexpr RequirementField kWindowFields[] = {{"window", &Requirement::window}};
inline constexpr RequirementField kBankFields[] = {{"banks", &Requirement::banks}};
inline constexpr RequirementField kDistanceFields[] = {
    {"distance", &Requirement::distance, -base::kMaxTotal}};
inline constexpr RequirementField kBitFields[] = {{"distance", &Requirement::distance}};
inline constexpr RequirementField kGuardFields[] = {
    {"before", &Requirement::before, 0, true, nullptr, "guard"},
    {"after", &Requirement::after, 0, true, nullptr, "guard"}};

struct RuleTraits {
  std::string_view name;  // in every file format
  bool pairwise = false;  // about pairs of buffers, not about single buffers
  // A rule may name buffers instead of pairs. It then applies to each of them and to each pair of
  // them.
  bool sets = false;
  std::span<const RequirementField> fields = {};
  // `before` and `after` bytes around each buffer stay free: see Guard.
  bool guards = false;
  // The key under which a memory lists the sets of banks that rules of this kind refer to: disjoint
  // sets, none of them empty. An empty key means that the kind uses no sets.
  std::string_view bank_sets = {};
};

// KIND(name of the enumerator, of the definition and of the check, traits). The meanings:
//
//     offset             offset mod multiple == residue
//     difference         (offset(second) - offset(first)) mod multiple == residue, 0 <= residue
//     window             the buffer lies inside `window`
//     no_crossing        no multiple of `boundary` lies inside the buffer, except at its first byte
//     natural_alignment  the offset is a multiple of the size rounded up to a power of two
//     banks              every bank that the buffer touches is one of `banks`
//     same_bank          the sets of touched banks are equal
//     different_bank     the sets of touched banks are disjoint
//     distance           offset(second) - offset(first) == distance
//     xor_distance       offset(first) XOR offset(second) == distance
//     guard              `before` and `after` bytes around the buffer are free: see Guard
//     common_delta       offset(second) - offset(first) is the same for every pair; its value is
//                        free
//     same_bank_group    one of the memory's bank groups contains all banks that the two buffers
//                        touch; for a set of buffers this holds for each two of them
//     different_bank_group  no bank group of the memory has a bank that the first touches and a
//                        bank that the second touches; for a set this holds for each two of them
// clang-format off
#define TESSERA_RULE_KINDS(KIND)                                                                  \
  KIND(Offset, .name = "offset", .fields = kResidueFields)                                        \
  KIND(Difference, .name = "difference", .pairwise = true, .fields = kResidueFields)              \
  KIND(Window, .name = "window", .fields = kWindowFields)                                         \
  KIND(NoCrossing, .name = "no_crossing", .fields = kBoundaryFields)                              \
  KIND(NaturalAlignment, .name = "natural_alignment")                                             \
  KIND(Banks, .name = "banks", .fields = kBankFields)                                             \
  KIND(SameBank, .name = "same_bank", .pairwise = true)                                           \
  KIND(DifferentBank, .name = "different_bank", .pairwise = true)                                 \
  KIND(Distance, .name = "distance", .pairwise = true, .fields = kDistanceFields)                 \
  KIND(XorDistance, .name = "xor_distance", .pairwise = true, .fields = kBitFields)               \
  KIND(Guard, .name = "guard", .fields = kGuardFields, .guards = true)                            \
  KIND(CommonDelta, .name = "common_delta", .pairwise = true)                                     \
  KIND(SameBankGroup, .name = "same_bank_group", .pairwise = true, .sets = true,                  \
       .bank_sets = "bank_groups")                                                                \
  KIND(DifferentBankGroup, .name = "different_bank_group", .pairwise = true, .sets = true,        \
       .bank_sets = "bank_groups")
// clang-format on

enum class RequirementKind : uint8_t {
#define TESSERA_ENUMERATOR(code, ...) k##code,
  TESSERA_RULE_KINDS(TESSERA_ENUMERATOR)
#undef TESSERA_ENUMERATOR
};

// The traits of all kinds, in the order of RequirementKind.
inline constexpr auto kRuleTraits = std::to_array<RuleTraits>({
#define TESSERA_TRAITS(code, ...) {__VA_ARGS__},
    TESSERA_RULE_KINDS(TESSERA_TRAITS)
#undef TESSERA_TRAITS
});
inline constexpr size_t kRequirementKinds = kRuleTraits.size();

constexpr const RuleTraits& TraitsOf(RequirementKind kind) {
  return kRuleTraits[static_cast<size_t>(kind)];
}

// "offset", "xor_distance".
constexpr std::string_view NameOf(RequirementKind kind) { return TraitsOf(kind).name; }
std::span<const std::string_view> RequirementNames();

// Whether the requirement concerns pairs of buffers rather than single buffers.
constexpr bool IsPairwise(RequirementKind kind) { return TraitsOf(kind).pairwise; }

// The keys of all lists of sets of banks, each once.
std::span<const std::string_view> BankSetKeys();

}  // namespace tessera::problem
