#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"

namespace tessera::problem {

using Bytes = int64_t;

// Bytes [begin, end) of a memory.
struct AddressRange {
  Bytes begin = 0;
  Bytes end = 0;
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

// Whether the two have a byte in common.
inline bool Intersect(const AddressRange& a, const AddressRange& b) {
  return a.begin < b.end && b.begin < a.end;
}

// Restrictions that a user states instead of coding them: "every weight buffer starts at a multiple
// of 64", "ping and pong differ in address bit 15". A profile selects buffers by role, kind, type,
// size or name; here the selection has been resolved to indices, and the name is kept for reasons.

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
  std::vector<int> buffers;  // for a requirement on each buffer: ascending, at least one
  std::vector<std::pair<int, int>> pairs;  // for a requirement on pairs: at least one

  // The rule is about a buffer, or a pair, only while its size, or both sizes, lie in this range.
  // Sizes change along a ladder, so a rule may hold on some candidates and not on others.
  SizeRange sizes;

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Bytes [offset - before, offset + size + after) of a guarded buffer lie inside the memory, touch
// no reserved range, and are touched by no other buffer that lives at a step at which this one
// does, except those that a colocate or exclusive relation lets share its addresses. Two guards may
// overlap each other.
struct Guard {
  Bytes before = 0;
  Bytes after = 0;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// The buffers, or the pairs, that the rule is about under the problem's sizes.
std::vector<int> BuffersUnder(const Rule& rule, const Problem& problem);
std::vector<std::pair<int, int>> PairsUnder(const Rule& rule, const Problem& problem);

// For each buffer the widest guard that any rule gives it under the problem's sizes; empty when no
// rule guards.
std::vector<Guard> GuardsOf(const Problem& problem);

// What the rule is called in reasons: "rule 'weights aligned'", or "a rule of kind offset".
std::string Describe(const Rule& rule);

struct Problem;
struct Allocation;

enum class CostKind : uint8_t {
  kReuse,       // buffers `first` and `second` never live together, and yet share an address
  kModeSwitch,  // memory `memory` changes its mode from one step to one that may follow it
};

// What an answer should avoid and may do: a preference, never a constraint. Session::Solve pays it
// no heed; Session::Minimise keeps the total as low as it can.
struct Cost {
  std::string name;  // for people; may be empty
  CostKind kind = CostKind::kReuse;
  int64_t weight = 1;  // >= 0; for kModeSwitch of each switch
  int first = 0;       // kReuse: buffers of one memory
  int second = 0;
  int memory = 0;  // kModeSwitch: a memory with modes
  friend bool operator==(const Cost&, const Cost&) = default;
};

// The total of what the allocation does. Switches are counted once for each pair of steps that can
// follow one another (Successions), however often a loop turns. `allocation` has the shape that the
// problem asks for.
int64_t CostOf(const Problem& problem, const Allocation& allocation);

// The question: which buffers, living when, must find an address in which memory, under which
// restrictions.
//
//     address
//        ^            bank 1  .-----------.
//     12 |....................|     C     |......... capacity
//      8 |   .----------------+---.       |
//        |   |       B        |   |-------'          a buffer is a rectangle: its lifespan wide, its size
//        high;
//      4 |---+-----.          |   |                  rectangles that share a step must not share a byte
//        |  A      |----------'---'
//      0 '---------'-----------------------> step
//        0   1     2          3   4
//
// A Problem says nothing of how it is solved. Offsets and sizes are bytes, times are integer steps.

using Step = int64_t;

// Half-open: the buffer lives at every step t with lower <= t < upper.
struct Lifespan {
  Step lower = 0;
  Step upper = 0;
  friend bool operator==(const Lifespan&, const Lifespan&) = default;
};

enum class AccessKind : uint8_t { kRead, kWrite };

// An engine touches the buffer at one step. The engine's name is free ("pe", "dma"); empty means
// unnamed.
struct Access {
  Step step = 0;
  std::string engine;
  AccessKind kind = AccessKind::kRead;
  friend bool operator==(const Access&, const Access&) = default;
};

// Where a buffer may lie with respect to the banks of its memory. Meaningless, and ignored, in a
// memory without banks.
enum class Span : uint8_t {
  kAny,         // may also lie outside the banks; every bank that it touches must be allowed
  kContiguous,  // may cross bank boundaries; every byte lies in an allowed bank
  kSingle,      // inside one allowed bank
};

struct Buffer {
  std::string id;    // unique within the Problem
  std::string name;  // for people; may repeat, may be empty
  std::string role;  // for rules and pictures: "weights", "ping"; may be empty
  Bytes size = 1;
  std::vector<Lifespan> lifespans;  // at least one; ascending, disjoint, not touching
  Bytes alignment = 1;  // the offset is a multiple of this and of the memory's alignment
  int memory = 0;       // index into Problem::memories
  Span span = Span::kAny;
  std::vector<int> allowed_banks;  // indices into the memory's banks, ascending; empty: all
  std::optional<Bytes> offset;     // fixed by the user
  std::optional<Bytes> hint;       // tried first, never a constraint
  std::vector<Access> accesses;    // each at a step at which the buffer lives
  std::map<std::string, std::string>
      annotations;  // the user's own keys with their JSON text, returned untouched
};

// Addresses that no buffer may touch at any step.
struct Reserved {
  AddressRange range;
  std::string reason;
};

// How many distinct buffers a bank serves in one step. A buffer that is read and written counts
// once in `total`.
struct Ports {
  std::optional<int> total;
  std::optional<int> reads;
  std::optional<int> writes;
};

struct Bank {
  std::string name;
  AddressRange range;  // banks of one memory do not overlap; they need not cover it
  Ports ports;
};

// One kind of access that a mode allows; an empty engine stands for every engine.
struct Permission {
  std::string engine;
  AccessKind kind = AccessKind::kRead;
  friend bool operator==(const Permission&, const Permission&) = default;
};

// What a bank does in one mode. Contents survive unless the bank is off, whatever the accesses
// allowed.
struct BankMode {
  bool off = false;
  std::vector<Permission> allowed;
  friend bool operator==(const BankMode&, const BankMode&) = default;
};

struct Mode {
  std::string name;
  std::vector<BankMode> banks;  // one for each bank of the memory
};

struct Memory {
  std::string name;
  Bytes capacity = 0;
  Bytes alignment = 1;
  std::vector<Reserved> reserved;
  std::vector<Bank> banks;
  std::vector<Mode> modes;  // empty: every access is allowed at every step
  // Ordered pairs of modes that may follow each other from one step to the next; staying is always
  // allowed. nullopt: any mode may follow any other.
  std::optional<std::vector<std::pair<int, int>>> transitions;
};

// Steps [begin, end) repeat: step begin may follow step end-1. Execution leaves after step x-1 for
// each x in `exits` (begin < x <= end) and goes on at step `end`. A body that holds two passes
// (ping and pong exchanged) of a loop with an odd number of passes has the boundary between them as
// its only exit.
struct Loop {
  Step begin = 0;
  Step end = 0;
  std::vector<Step> exits;  // ascending, at least one
  friend bool operator==(const Loop&, const Loop&) = default;
};

enum class RelationKind : uint8_t {
  kColocate,  // offset(second) = offset(first) + delta; the two may overlap
  kAdjacent,  // offset(second) = offset(first) + size(first), rounded up to the second's alignment
  kSameBank,  // the sets of touched banks are equal
  kDifferentBank,  // the sets of touched banks are disjoint
  kSeparate,       // never share an address, whatever the lifespans
  kExclusive,  // never live together although lifespans overlap: may share addresses; asserted by the user
};

// Both buffers lie in one memory. delta counts for kColocate only.
struct Relation {
  RelationKind kind = RelationKind::kSeparate;
  int first = 0;
  int second = 0;
  Bytes delta = 0;
};

struct Problem {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Memory> memories;  // memories[0] is the one whose capacity is asked about
  std::vector<Relation> relations;
  std::vector<Loop> loops;  // pairwise disjoint or nested
  std::vector<Rule> rules;
  std::vector<Cost> costs;
};

// The least and one past the greatest step at which any buffer lives or any loop runs; {0, 0} when
// there is none.
Lifespan Horizon(const Problem& problem);

// The buffer's own alignment combined with its memory's (their least common multiple).
Bytes AlignmentOf(const Problem& problem, const Buffer& buffer);

bool LivesAt(const Buffer& buffer, Step step);

// Whether some step lies in a lifespan of both. Cost: linear in the number of lifespans.
bool LiveTogether(const Buffer& a, const Buffer& b);

// Pairs of lifespans in that memory that share a step: at least as many as pairs of buffers that
// live together. Cost: O(n log n).
int64_t CountMeetings(const Problem& problem, int memory);

// Pairs of steps (from, to) such that `to` can directly follow `from` when the program runs:
// neighbours, back edges and exits of loops. Ascending, without repetition. Cost: O(horizon).
std::vector<std::pair<Step, Step>> Successions(const Problem& problem);

}  // namespace tessera::problem
