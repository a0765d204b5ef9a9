#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/address.h"
#include "tessera/problem/cost.h"
#include "tessera/problem/rule.h"

// The question: which buffers, living when, must find an address in which memory, under which restrictions.
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
namespace tessera::problem {

using Step = int64_t;

// Half-open: the buffer lives at every step t with lower <= t < upper.
struct Lifespan {
  Step lower = 0;
  Step upper = 0;
  friend bool operator==(const Lifespan&, const Lifespan&) = default;
};

enum class AccessKind : uint8_t { kRead, kWrite };

// An engine touches the buffer at one step. The engine's name is free ("pe", "dma"); empty means unnamed.
struct Access {
  Step step = 0;
  std::string engine;
  AccessKind kind = AccessKind::kRead;
  friend bool operator==(const Access&, const Access&) = default;
};

// Where a buffer may lie with respect to the banks of its memory. Meaningless, and ignored, in a memory
// without banks.
enum class Span : uint8_t {
  kAny,         // may also lie outside the banks; every bank that it touches must be allowed
  kContiguous,  // may cross bank borders; every byte lies in an allowed bank
  kSingle,      // inside one allowed bank
};

struct Buffer {
  std::string id;    // unique within the Problem
  std::string name;  // for people; may repeat, may be empty
  std::string role;  // for rules and pictures: "weights", "ping"; may be empty
  Bytes size = 1;
  std::vector<Lifespan> lifespans;  // at least one; ascending, disjoint, not touching
  Bytes alignment = 1;              // the offset is a multiple of this and of the memory's alignment
  int memory = 0;                   // index into Problem::memories
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

// How many distinct buffers a bank serves in one step. A buffer that is read and written counts once in
// `total`.
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

// What a bank does in one mode. Contents survive unless the bank is off, whatever the accesses allowed.
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
  // Ordered pairs of modes that may follow each other from one step to the next; staying is always allowed.
  // nullopt: any mode may follow any other.
  std::optional<std::vector<std::pair<int, int>>> transitions;
};

// Steps [begin, end) repeat: step begin may follow step end-1. Execution leaves after step x-1 for each x in
// `exits` (begin < x <= end) and goes on at step `end`. A body that holds two passes (ping and pong
// exchanged) of a loop with an odd number of passes has the border between them as its only exit.
struct Loop {
  Step begin = 0;
  Step end = 0;
  std::vector<Step> exits;  // ascending, at least one
  friend bool operator==(const Loop&, const Loop&) = default;
};

enum class RelationKind : uint8_t {
  kColocate,       // offset(second) = offset(first) + delta; the two may overlap
  kAdjacent,       // offset(second) = offset(first) + size(first), rounded up to the second's alignment
  kSameBank,       // the sets of touched banks are equal
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

// The least and one past the greatest step at which any buffer lives or any loop runs; {0, 0} when there is
// none.
Lifespan Horizon(const Problem& problem);

// The buffer's own alignment combined with its memory's (their least common multiple).
Bytes AlignmentOf(const Problem& problem, const Buffer& buffer);

bool LivesAt(const Buffer& buffer, Step step);

// Whether some step lies in a lifespan of both. Cost: linear in the number of lifespans.
bool LiveTogether(const Buffer& a, const Buffer& b);

// Pairs of lifespans in that memory that share a step: at least as many as pairs of buffers that
// live together. Cost: O(n log n).
int64_t CountMeetings(const Problem& problem, int memory);

// Pairs of steps (from, to) such that `to` can directly follow `from` when the program runs: neighbours, back
// edges and exits of loops. Ascending, without repetition. Cost: O(horizon).
std::vector<std::pair<Step, Step>> Successions(const Problem& problem);

}  // namespace tessera::problem
