// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/diagnostic.h"
#include "tessera/problem/rule_kind.h"

namespace tessera::problem {

struct Problem;

// A range of sizes; both ends are included.
struct SizeRange {
  Bytes least = 1;
  Bytes most = base::kMaxTotal;
  bool Holds(Bytes size) const { return least <= size && size <= most; }
  bool HoldsAll() const { return least <= 1 && most >= base::kMaxTotal; }
  friend bool operator==(const SizeRange&, const SizeRange&) = default;
};

// A restriction that a user states as data: "every weight buffer starts at a multiple of 64", "ping
// and pong differ in address bit 15". A profile selects buffers by role, kind, type, size or name.
// Here the selection is already resolved to indices; the name is kept for messages.
struct Rule {
  std::string name;  // for people; may repeat, may be empty
  Requirement requirement;
  std::vector<int> buffers;  // for a requirement on each buffer, or on a set: ascending
  std::vector<std::pair<int, int>> pairs;  // for a requirement on pairs

  // The rule applies to a buffer only if its size lies in this range, and to a pair only if both
  // sizes do. Sizes change along a ladder, so a rule may apply to some tile candidates and not to
  // others.
  SizeRange sizes;

  friend bool operator==(const Rule&, const Rule&) = default;
};

// Bytes [offset - before, offset + size + after) of a guarded buffer lie inside the memory and
// touch no reserved range. No other buffer that lives at a common step touches them, except buffers
// that a colocate or exclusive relation allows to share its addresses. Two guards may overlap each
// other.
struct Guard {
  Bytes before = 0;
  Bytes after = 0;
  friend bool operator==(const Guard&, const Guard&) = default;
};

// The subject of a rule: one of its buffers, or one of its pairs. The items of a rule on a set are
// its buffers, followed by each pair of them.
struct RuleItem {
  int first = 0;
  int second = -1;  // of a pair
  bool IsPair() const { return second >= 0; }
};

// Whether the rule is about its buffers as a set.
bool IsOnSet(const Rule& rule);
// The items of the rule: how many it has, one of them by its number, and all of them in order.
size_t ItemCount(const Rule& rule);
RuleItem ItemAt(const Rule& rule, size_t number);
std::vector<RuleItem> ItemsOf(const Rule& rule);
// Whether the rule applies to the item under the problem's sizes.
bool AppliesTo(const Rule& rule, const RuleItem& item, const Problem& problem);

// Returns for each buffer the widest guard of all rules that apply under the problem's sizes; empty
// if no rule has a guard.
std::vector<Guard> GuardsOf(const Problem& problem);

// Returns the name of the rule for messages: "rule 'weights aligned'", or "a rule of kind offset".
std::string Describe(const Rule& rule);

struct Problem;
struct Allocation;

// The words for the values of an enumeration in every file format, in the order of the values.
inline constexpr std::array<std::string_view, 2> kCostWords = {"reuse", "mode_switch"};
inline constexpr std::array<std::string_view, 2> kAccessWords = {"read", "write"};
inline constexpr std::array<std::string_view, 3> kSpanWords = {"any", "contiguous", "single"};
inline constexpr std::array<std::string_view, 6> kRelationWords = {
    "colocate", "adjacent", "same_bank", "different_bank", "separate", "exclusive"};

enum class CostKind : uint8_t {
  kReuse,       // buffers `first` and `second` never live together but share an address
  kModeSwitch,  // memory `memory` changes its mode between a step and one that may follow it
};

// A preference, not a constraint: something that an answer should avoid but may do. Session::Solve
// ignores it; Session::Minimise keeps the total as low as it can.
struct Cost {
  std::string name;  // for people; may be empty
  CostKind kind = CostKind::kReuse;
  int64_t weight = 1;  // >= 0; for kModeSwitch, of each switch
  int first = 0;       // kReuse: buffers of one memory
  int second = 0;
  int memory = 0;  // kModeSwitch: a memory with modes
  friend bool operator==(const Cost&, const Cost&) = default;
};

// The total cost of the allocation. A switch is counted once for each pair of steps that can follow
// one another (Successions), however often a loop iterates. `allocation` has the shape that the
// problem requires.
int64_t CostOf(const Problem& problem, const Allocation& allocation);

using Step = int64_t;

// Half-open: the buffer lives at every step t with lower <= t < upper.
struct Lifespan {
  Step lower = 0;
  Step upper = 0;
  friend bool operator==(const Lifespan&, const Lifespan&) = default;
};

// Sort by where ranges and lifespans begin; those that begin together are in no certain order.
void SortByBegin(std::vector<AddressRange>& ranges);
void SortByBegin(std::vector<Lifespan>& lifespans);

enum class AccessKind : uint8_t { kRead, kWrite };

// An access of an engine to the buffer at one step. The engine's name is free ("pe", "dma"); an
// empty name means an unnamed engine.
struct Access {
  Step step = 0;
  std::string engine;
  AccessKind kind = AccessKind::kRead;
  friend bool operator==(const Access&, const Access&) = default;
};

// Where a buffer may lie with respect to the banks of its memory. Ignored in a memory without
// banks.
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
  // The value of placing the buffer, >= 0, for a choice of buffers (search/choose); a buffer
  // without a value must be placed. All other queries place all buffers and ignore values.
  std::optional<int64_t> value;
  std::vector<Access> accesses;  // each at a step at which the buffer lives
  // the user's own keys with their JSON text, returned untouched
  std::map<std::string, std::string> annotations;
};

// Addresses that no buffer may touch at any step.
struct Reserved {
  AddressRange range;
  std::string reason;
};

// The number of distinct buffers that a bank serves in one step. A buffer that is both read and
// written counts once in `total`.
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

// The behaviour of a bank in one mode. Contents survive, whatever accesses are allowed, unless the
// bank is off.
struct BankMode {
  bool off = false;
  std::vector<Permission> allowed;
  friend bool operator==(const BankMode&, const BankMode&) = default;
};

struct Mode {
  std::string name;
  std::vector<BankMode> banks;  // one for each bank of the memory
};

// Disjoint sets of banks of one memory, by index; none is empty.
using BankSets = std::vector<std::vector<int>>;

struct Memory {
  std::string name;
  Bytes capacity = 0;
  Bytes alignment = 1;
  std::vector<Reserved> reserved;
  std::vector<Bank> banks;
  std::vector<Mode> modes;  // empty: every access is allowed at every step
  // Ordered pairs of modes that may follow each other from one step to the next. Staying in a mode
  // is always allowed. nullopt: any mode may follow any other.
  std::optional<std::vector<std::pair<int, int>>> transitions;
  // The sets of banks that kinds of rules refer to, by key (RuleTraits::bank_sets).
  std::map<std::string, BankSets, std::less<>> bank_sets = {};
};

// The most banks that a memory may list under one key; the cost of a rule may grow with the square.
inline constexpr size_t kMostBanksInSets = 64;
// The number of banks in all sets.
size_t BanksIn(const BankSets& sets);

// The sets under that key; none if the memory does not list them.
const BankSets& BankSetsOf(const Memory& memory, std::string_view key);

// Steps [begin, end) repeat: step begin may follow step end-1. Execution leaves after step x-1 for
// each x in `exits` (begin < x <= end) and continues at step `end`. If the body holds two passes
// (ping and pong exchanged) and the loop runs an odd number of passes, the boundary between the two
// passes is its only exit.
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
  kSeparate,       // never share an address, for any lifespans
  // never live together although lifespans overlap, so they may share addresses; the user asserts
  // it
  kExclusive,
};

// Both buffers lie in one memory. delta is used for kColocate only.
struct Relation {
  RelationKind kind = RelationKind::kSeparate;
  int first = 0;
  int second = 0;
  Bytes delta = 0;
  friend bool operator==(const Relation&, const Relation&) = default;
};

// The allocation problem: buffers with lifespans need addresses in memories under restrictions.
//
//     address
//        ^            bank 1  .-----------.
//     12 |....................|     C     |......... capacity
//      8 |   .----------------+---.       |     a buffer is a rectangle:
//        |   |       B        |   |-------'     its lifespan wide, its size high;
//      4 |---+-----.          |   |             rectangles that share a step
//        |  A      |----------'---'             must not share a byte
//      0 '---------'-----------------------> step
//        0   1     2          3   4
//
// A Problem does not prescribe a method of solution. Offsets and sizes are bytes, times are integer
// steps.
struct Problem {
  std::string name;
  std::vector<Buffer> buffers;
  std::vector<Memory> memories;  // memories[0] is the memory whose capacity varies
  std::vector<Relation> relations;
  std::vector<Loop> loops;  // pairwise disjoint or nested
  std::vector<Rule> rules;
  std::vector<Cost> costs;
};

// The first step, and one past the last step, at which any buffer lives or any loop runs; {0, 0} if
// there is none.
Lifespan Horizon(const Problem& problem);

// The least common multiple of the buffer's own alignment and its memory's alignment.
Bytes AlignmentOf(const Problem& problem, const Buffer& buffer);

bool LivesAt(const Buffer& buffer, Step step);

// Whether the lifespans of both share a step. Cost: linear in the number of lifespans.
bool LiveTogether(const Buffer& a, const Buffer& b);

// The number of pairs of lifespans in that memory that share a step; at least the number of pairs
// of buffers that live together. Cost: O(n log n).
int64_t CountMeetings(const Problem& problem, int memory);

// Pairs of steps (from, to) such that `to` can directly follow `from` in execution: neighbours,
// back edges and exits of loops. Ascending, without repetition. Cost: O(horizon).
std::vector<std::pair<Step, Step>> Successions(const Problem& problem);

// The replacement of a buffer that a choice leaves out (docs/choose.md). It lives at the same steps
// as the buffer, with fewer bytes in the same memory or with any number of bytes in another memory.
struct Fallback {
  Bytes size = 1;
  int memory = 0;
  int64_t value = 0;  // at most that of the buffer

  friend bool operator==(const Fallback&, const Fallback&) = default;
};

// The fallback of each buffer; the list is empty if no buffer has one.
using Fallbacks = std::vector<std::optional<Fallback>>;

// Returns the fallback as a buffer: id, name, role, lifespans, accesses and alignment are those of
// `buffer`, size and memory those of the fallback.
Buffer StandInFor(const Buffer& buffer, const Fallback& fallback);

// Returns the first fault, or nullopt. Faults are a fallback of a buffer without a value, a
// fallback that is worth more than its buffer or is no smaller in the same memory, and numbers out
// of range. `problem` is well formed. The diagnostic has a JSON pointer into the Problem's JSON
// form.
std::optional<base::Diagnostic> CheckWellFormed(const Problem& problem, const Fallbacks& fallbacks);

}  // namespace tessera::problem
