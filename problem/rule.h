#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/problem/address.h"

// Restrictions that a user states instead of coding them: "every weight buffer starts at a multiple of 64",
// "ping and pong differ in address bit 15". A profile selects buffers by role, kind, type, size or name; here
// the selection has been resolved to indices, and the name is kept for reasons.
namespace tessera::problem {

struct Problem;

// What a rule asks, of each of its buffers or of each of its pairs (first, second).
enum class RequirementKind : uint8_t {
  kOffset,            // offset mod multiple == residue
  kDifference,        // (offset(second) - offset(first)) mod multiple == residue, counted from 0 up
  kWindow,            // the buffer lies inside `window`
  kNoCrossing,        // no multiple of `multiple` lies inside the buffer, its first byte excepted
  kNaturalAlignment,  // the offset is a multiple of the size rounded up to a power of two
  kBanks,             // every bank that the buffer touches is one of `banks`
  kSameBank,          // the sets of touched banks are equal
  kDifferentBank,     // the sets of touched banks are disjoint
  kDistance,          // offset(second) - offset(first) == distance
  kXorDistance,       // offset(first) XOR offset(second) == distance
  kGuard,             // `before` and `after` bytes around the buffer are free: see Guard
  kCommonDelta,       // offset(second) - offset(first) is the same, whatever it is, for every pair
};
inline constexpr size_t kRequirementKinds = 12;

// "offset", "xor_distance": the words of every file format.
std::string_view NameOf(RequirementKind kind);
std::span<const std::string_view> RequirementNames();

// Whether the requirement is about pairs of buffers rather than about each buffer alone.
bool IsPairwise(RequirementKind kind);

// Only the fields that the kind mentions count.
struct Requirement {
  RequirementKind kind = RequirementKind::kOffset;
  Bytes multiple = 1;      // >= 1
  Bytes residue = 0;       // 0 <= residue < multiple
  AddressRange window;     // begin < end
  std::vector<int> banks;  // of the buffers' memory, ascending; at least one
  Bytes distance = 0;      // kXorDistance: >= 0
  Bytes before = 0;        // >= 0
  Bytes after = 0;         // >= 0
  friend bool operator==(const Requirement&, const Requirement&) = default;
};

// Both ends are included.
struct SizeRange {
  Bytes least = 1;
  Bytes most = base::kMaxTotal;
  bool Holds(Bytes size) const { return least <= size && size <= most; }
  bool HoldsAll() const { return least <= 1 && most >= base::kMaxTotal; }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

struct Rule {
  std::string name;  // for people; may repeat, may be empty
  Requirement requirement;
  std::vector<int> buffers;                // for a requirement on each buffer: ascending, at least one
  std::vector<std::pair<int, int>> pairs;  // for a requirement on pairs: at least one

  // The rule is about a buffer, or a pair, only while its size, or both sizes, lie in this range. Sizes change
  // along a ladder, so a rule may hold on some rungs and not on others.
  SizeRange sizes;

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Bytes [offset - before, offset + size + after) of a guarded buffer lie inside the memory, touch no reserved
// range, and are touched by no other buffer that lives at a step at which this one does, except those that a
// colocate or exclusive relation lets share its addresses. Two guards may overlap each other.
struct Guard {
  Bytes before = 0;
  Bytes after = 0;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// The buffers, or the pairs, that the rule is about under the problem's sizes.
std::vector<int> BuffersUnder(const Rule& rule, const Problem& problem);
std::vector<std::pair<int, int>> PairsUnder(const Rule& rule, const Problem& problem);

// For each buffer the widest guard that any rule gives it under the problem's sizes; empty when no rule guards.
std::vector<Guard> GuardsOf(const Problem& problem);

// What the rule is called in reasons: "rule 'weights aligned'", or "a rule of kind offset".
std::string Describe(const Rule& rule);

}  // namespace tessera::problem
