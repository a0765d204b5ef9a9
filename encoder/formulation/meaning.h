// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

// The meanings of the variables of a formula, as plain data. The formulation passes them to a sink
// with Explain. Solvers ignore them; writers of formulas and of proofs use them. Wording renders
// them as text.
namespace tessera::encoder::formulation {

// An integer of the formula: a number of bytes, counted in `unit`.
struct Quantity {
  enum class Kind : uint8_t {
    kOffset,
    kEnd,
    kRemainder,  // of the offset, modulo `modulus` bytes
    // of a rule: the distance from the first to the second offset of its pairs, above the least one
    kCommonDelta,
  };
  Kind kind = Kind::kOffset;
  int buffer = 0;  // for kCommonDelta, the index of the rule
  problem::Bytes unit = 1;
  problem::Bytes modulus = 0;  // of kRemainder
};

// quantity >= value, in units.
struct Threshold {
  Quantity quantity;
  int64_t value = 0;
};

// A binary digit of the quantity minus its least value. `worth` is the weight of the digit in
// units.
struct Digit {
  Quantity quantity;
  int64_t worth = 1;
};

// Every byte of `first` lies below every byte of `second`. The negation means the reverse order.
struct LiesBelow {
  int first = 0;
  int second = 0;
};

// Some byte of the buffer lies in this bank of its memory.
struct BankTouch {
  int buffer = 0;
  int bank = 0;
};

struct ModeChoice {
  int memory = 0;
  problem::Step step = 0;
  int mode = 0;
};

// Buffers have the sizes of this candidate.
struct CandidateChoice {
  int candidate = 0;
};

// memories[0] has this many bytes.
struct CapacityChoice {
  problem::Bytes capacity = 0;
};

// Consider the buffers that are accessed at this step and may touch the bank. At least `held` of
// the first `among` of them touch it. Counts accesses of `kind`, or of both kinds if `kind` has no
// value.
struct PortCount {
  int memory = 0;
  int bank = 0;
  problem::Step step = 0;
  std::optional<problem::AccessKind> kind;
  int held = 0;
  int among = 0;
};

// An intermediate condition without a meaning for the user, such as a carry of a sum.
struct Auxiliary {};

using Meaning = std::variant<Auxiliary, Threshold, Digit, LiesBelow, BankTouch, ModeChoice,
                             CandidateChoice, CapacityChoice, PortCount>;

// The subject of a clause. Counts by topic show that the next tile candidate adds clauses of sizes
// only.
enum class Topic : uint8_t {
  kOffsets,    // the addresses that exist
  kLiveness,   // buffers that live together do not overlap
  kRelations,  // colocate, adjacent, same and different bank
  kAddresses,  // reserved ranges, spans, allowed banks
  kBanks,      // the banks that a buffer touches
  kModes,      // schedules, transitions, accesses
  kPorts,
  kRules,     // rules, and external constraints (constraint.h)
  kSizes,     // the sizes of a candidate
  kCapacity,  // the limit of a capacity
  kCosts,     // the costs of a schedule and a placement
};
inline constexpr size_t kTopicCount = 11;
using TopicCounts = std::array<int64_t, kTopicCount>;

// Meanings in the user's terms: "a below b", "w touches b0", "mode of sram at step 3 is w".
// Addresses are bytes. Control characters in names become '?', so that a sentence is one line.
class Wording {
 public:
  // `ladder` may be null. Both arguments must outlive this object.
  Wording(const problem::Problem& problem, const problem::Ladder* ladder)
      : problem_(problem), ladder_(ladder) {}

  std::string Of(const Quantity& quantity) const;  // "offset of w"

  // The condition, or its negation. An Auxiliary is only called "auxiliary".
  std::string Of(const Meaning& meaning, bool negated = false) const;

  std::string OfBuffer(int buffer) const;
  std::string OfMemory(int memory) const;  // by name if names are distinct, else "memory 1"
  std::string OfBank(int memory, int bank) const;
  std::string OfMode(int memory, int mode) const;
  std::string OfCandidate(int candidate) const;

 private:
  const problem::Problem& problem_;
  const problem::Ladder* ladder_;
};

// The name of a topic: "liveness"; and its sentence: "buffers that live together share no byte".
std::string_view NameOf(Topic topic);
std::string_view SentenceOf(Topic topic);

}  // namespace tessera::encoder::formulation
