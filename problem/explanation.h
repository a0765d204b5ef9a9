// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tessera/problem/problem.h"

// Explains why nothing fits, in terms that a user can act on: the few conditions of a Problem that
// conflict, and the single changes that resolve the conflict. docs/reasons.md shows both.
namespace tessera::problem {

// A requirement of a Problem that can be dropped. Dropping one never removes placements.
enum class ConditionKind : uint8_t {
  kBuffer,       // the buffer is placed at all
  kAlignment,    // its offset is a multiple of its own alignment
  kFixedOffset,  // the buffer lies at the offset that the user fixed
  kBanks,        // its span and its allowed banks
  kAccess,       // `item` indexes Buffer::accesses
  kRelation,  // `item` indexes Problem::relations; any kind but kExclusive, which is a permission
  kRule,      // `item` indexes Problem::rules
  kLoop,      // `item` indexes Problem::loops; a loop with no exit but its end
  kCapacity,  // of a memory
  kMemoryAlignment,  // of every offset in a memory
  kReserved,         // `item` indexes Memory::reserved
  kPorts,            // of one bank; `item` indexes Memory::banks
  kModes,            // each access and each living buffer needs a bank whose mode allows it
  kTransitions,      // which modes of the memory may follow each other
};

struct Condition {
  ConditionKind kind = ConditionKind::kBuffer;
  // the buffer, or from kCapacity on the memory; unused for kRelation, kRule and kLoop
  int owner = 0;
  int item = 0;  // see the kinds; otherwise unused
  friend bool operator==(const Condition&, const Condition&) = default;
  friend bool operator<(const Condition& a, const Condition& b) {
    return std::tie(a.kind, a.owner, a.item) < std::tie(b.kind, b.owner, b.item);
  }
};

// One change that alone makes all buffers fit.
enum class ChangeKind : uint8_t {
  kCapacity,  // `amount` more bytes in the memory
  // alignment of the buffer or memory of `condition` reduced to `amount`; with kBuffer, of all
  // buffers to 1
  kAlignment,
  kBank,       // one more bank after the memory's end: a copy of bank `condition.item`
  kFreeBank,   // the same, `amount` bytes long, and every mode allows every access to it
  kPorts,      // `amount` more ports of each limited kind in the bank
  kDrop,       // without the condition
  kCandidate,  // sizes of the tile candidate `candidate` of the ladder instead
};

struct Change {
  ChangeKind kind = ChangeKind::kDrop;
  Condition condition;  // the object of the change
  Bytes amount = 0;     // see the kinds
  std::string candidate = {};
  // Whether it is proven that a smaller change of the same kind is not enough. Always true for a
  // change without an amount.
  bool least = true;
  friend bool operator==(const Change&, const Change&) = default;
};

// Why a Problem is infeasible. The conditions cannot be satisfied together, even without all other
// conditions. `minimal`: any of them can be removed to make the rest satisfiable. Each change was
// solved, and its placement was checked.
struct Explanation {
  std::vector<Condition> conditions;  // ascending
  bool minimal = false;
  std::vector<Change> changes;  // the smallest first, within each kind
  bool all_tried = false;  // every change of these kinds that is not listed is proven insufficient
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// The text of an explanation, with the names of the Problem. `capacity` is the capacity of
// memories[0] that was decided. Conditions and changes refer to `problem`.

// Returns the condition as a clause without a full stop: "'weights' is read at step 0".
std::string Describe(const Problem& problem, const Condition& condition, Bytes capacity);

// Returns the text that follows "it would fit ": "with 32 bytes more in 'sram', 96 in all".
std::string Describe(const Problem& problem, const Change& change, Bytes capacity);

// Returns the whole conflict in one sentence: "'x', 'y' and 'z' live together at step 7 and need 96
// bytes; 'sram' holds 64".
std::string Summarize(const Problem& problem, const Explanation& explanation, Bytes capacity);

// Returns the whole text, one line per item: the summary, the conditions, whether they are minimal,
// and the changes. A list longer than kMostListed ends with the count of the omitted items. Members
// of lists are indented by two.
std::vector<std::string> Sentences(const Problem& problem, const Explanation& explanation,
                                   Bytes capacity);

inline constexpr size_t kMostListed = 24;

// Parts of sentences, with the names of a Problem. Internal to this module.

// Returns the name in single quotes: "'a'".
std::string Quote(std::string_view name);

// Joins the words: "a", "a and b", "a, b and c"; after twelve words "and 7 more".
std::string Enumerate(const std::vector<std::string>& words);

// Returns the number with its noun: "1 byte", "2 bytes".
std::string Count(int64_t number, std::string_view thing);

// Returns the quoted id of the buffer.
std::string NameOfBuffer(const Problem& problem, int buffer);
// Each returns the quoted name, or kind and number if there is no name: "memory 1".
std::string NameOfMemory(const Problem& problem, int memory);
std::string NameOfBank(const Problem& problem, int memory, int bank);
std::string NameOfMode(const Problem& problem, int memory, int mode);

}  // namespace tessera::problem
