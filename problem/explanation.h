#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "tessera/problem/problem.h"

// Why nothing fits, in pieces that a user can act on: which few conditions of a Problem collide,
// and which single changes would resolve it. docs/reasons.md shows both.
namespace tessera::problem {

// Something that a Problem asks for and could leave out. Every one that is left out can only make
// more placements possible.
enum class ConditionKind : uint8_t {
  kBuffer,       // that the buffer is placed at all
  kAlignment,    // its offset is a multiple of its own alignment
  kFixedOffset,  // it lies where the user put it
  kBanks,        // its span and its allowed banks
  kAccess,       // `item` indexes Buffer::accesses
  kRelation,     // `item` indexes Problem::relations; any kind but kExclusive, which is a licence
  kRule,         // `item` indexes Problem::rules
  kLoop,         // `item` indexes Problem::loops; one that is left at its end
  kCapacity,     // of a memory
  kMemoryAlignment,  // of every offset in a memory
  kReserved,         // `item` indexes Memory::reserved
  kPorts,            // of one bank: `item` indexes Memory::banks
  kModes,            // each access and each living buffer needs a bank whose mode allows it
  kTransitions,      // which mode of the memory may follow which
};

struct Condition {
  ConditionKind kind = ConditionKind::kBuffer;
  int owner =
      0;  // the buffer, or from kCapacity on the memory; nothing for kRelation, kRule and kLoop
  int item = 0;  // see the kinds; else nothing
  friend bool operator==(const Condition&, const Condition&) = default;
  friend bool operator<(const Condition& a, const Condition& b) {
    return std::tie(a.kind, a.owner, a.item) < std::tie(b.kind, b.owner, b.item);
  }
};

// One thing that, changed alone, makes everything fit.
enum class ChangeKind : uint8_t {
  kCapacity,  // `amount` bytes more in the memory
  kAlignment,  // of the buffer or memory of `condition`, down to `amount`; with kBuffer, of all buffers down to 1
  kBank,       // one bank more behind the memory: a copy of bank `condition.item`
  kFreeBank,   // the same, `amount` bytes long, in which every mode allows every access
  kPorts,      // `amount` ports more of each limited kind in the bank
  kDrop,       // without the condition
  kCandidate,  // sizes of the candidate `candidate` of the ladder instead
};

struct Change {
  ChangeKind kind = ChangeKind::kDrop;
  Condition condition;  // what is changed
  Bytes amount = 0;     // see the kinds
  std::string candidate = {};
  // Whether a smaller change of the same thing is proven not to be enough. Always so where there is
  // no amount.
  bool least = true;
  friend bool operator==(const Change&, const Change&) = default;
};

// Why a Problem is infeasible. The conditions cannot be kept together, whatever the others are;
// `minimal` says that all but any one of them can. Each change was solved, and its placement
// checked.
struct Explanation {
  std::vector<Condition> conditions;  // ascending
  bool minimal = false;
  std::vector<Change> changes;  // the smallest first, kind by kind
  bool all_tried = false;       // every change of these kinds that is not listed is proven useless
  friend bool operator==(const Explanation&, const Explanation&) = default;
};

// An explanation in sentences, with the names that the Problem gives things. `capacity` is that of
// memories[0] which was asked about. Conditions and changes refer to `problem`.

// "'weights' is read at step 0"; no stop at the end.
std::string Describe(const Problem& problem, const Condition& condition, Bytes capacity);

// What comes after "it would fit ": "with 32 bytes more in 'sram', 96 in all".
std::string Describe(const Problem& problem, const Change& change, Bytes capacity);

// The whole collision in one sentence: "'x', 'y' and 'z' live together at step 7 and need 96 bytes;
// 'sram' holds 64".
std::string Summarize(const Problem& problem, const Explanation& explanation, Bytes capacity);

// All of it, a line each: the summary, the conditions, whether they are minimal, and the changes.
// Lists end with a count of what is left out beyond kMostListed; members of lists are indented by
// two.
std::vector<std::string> Sentences(const Problem& problem, const Explanation& explanation,
                                   Bytes capacity);

inline constexpr size_t kMostListed = 24;

// Pieces of sentences, with the names that a Problem gives things. Internal to the room.

// "'a'"
std::string Quote(std::string_view name);

// "a", "a and b", "a, b and c"; after twelve "and 7 more".
std::string Enumerate(const std::vector<std::string>& words);

// "1 byte", "2 bytes"
std::string Count(int64_t number, std::string_view thing);

// Quoted; by kind and number where there is no name.
std::string NameOfBuffer(const Problem& problem, int buffer);
std::string NameOfMemory(const Problem& problem, int memory);
std::string NameOfBank(const Problem& problem, int memory, int bank);
std::string NameOfMode(const Problem& problem, int memory, int mode);

}  // namespace tessera::problem
