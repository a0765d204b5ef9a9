#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "tessera/problem/problem.h"

// What the variables of a formula say about the Problem, in plain data. The formulation tells a
// sink as it goes (Explain); solvers do not listen, writers of formulas and of proofs do. wording.h
// has the words.
namespace tessera::encoder::formulation {

// An integer of the formula: a number of bytes, counted in `unit`.
struct Quantity {
  enum class Kind : uint8_t {
    kOffset,
    kEnd,
    kRemainder,  // of the offset, modulo `modulus` bytes
    kCommonDelta,  // of a rule: the distance from first to second offset of its pairs, above a least one
  };
  Kind kind = Kind::kOffset;
  int buffer = 0;  // of kCommonDelta, the rule
  problem::Bytes unit = 1;
  problem::Bytes modulus = 0;  // of kRemainder
};

// quantity >= value, in units.
struct Threshold {
  Quantity quantity;
  int64_t value = 0;
};

// A binary digit of the quantity (less its least value), worth so many units.
struct Digit {
  Quantity quantity;
  int64_t worth = 1;
};

// Every byte of `first` lies below every byte of `second`. The negation says the same of the two
// exchanged.
struct Precedence {
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

// At this step at least `held` of the first `among` buffers that are accessed, and may touch the
// bank, do touch it. Counted are accesses of `kind`, or of both kinds where it has no value.
struct PortCount {
  int memory = 0;
  int bank = 0;
  problem::Step step = 0;
  std::optional<problem::AccessKind> kind;
  int held = 0;
  int among = 0;
};

// A step on the way to another condition: a carry of a sum.
struct Auxiliary {};

using Meaning = std::variant<Auxiliary, Threshold, Digit, Precedence, BankTouch, ModeChoice,
                             CandidateChoice, CapacityChoice, PortCount>;

}  // namespace tessera::encoder::formulation
