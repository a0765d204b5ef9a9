// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <variant>

#include "tessera/problem/problem.h"

// The meanings of the variables of a formula, as plain data. The formulation passes them to a sink
// with Explain. Solvers ignore them; writers of formulas and of proofs use them. wording.h renders
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

using Meaning = std::variant<Auxiliary, Threshold, Digit, Precedence, BankTouch, ModeChoice,
                             CandidateChoice, CapacityChoice, PortCount>;

}  // namespace tessera::encoder::formulation
