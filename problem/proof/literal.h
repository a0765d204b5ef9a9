#pragma once

#include <cstdint>

#include "tessera/problem/problem.h"

namespace tessera::problem::proof {

// One statement about a placement, in the Problem's own terms. There are no others: a proof has no variables
// whose meaning would have to be believed.
//
//     x3>=64     buffer 3 begins at byte 64 or above           x3<64      it begins below byte 64
//     b3,5       buffer 3 ends at or below the begin of 5      b5,3       its opposite, for two that lie apart
//     t3,1       some byte of buffer 3 lies in bank 1          !t3,1      none does
//     m0,7,2     memory 0 is in mode 2 at step 7               !m0,7,2    it is not
struct Literal {
  enum class Kind : uint8_t { kOffset, kBelow, kTouch, kMode };

  Kind kind = Kind::kOffset;
  bool negated = false;  // never for kBelow: its opposite swaps the two buffers
  int32_t first = 0;     // the buffer; for kMode the memory
  int32_t second = 0;    // the buffer above, the bank, or the mode
  int64_t value = 0;     // bytes for kOffset, the step for kMode

  friend bool operator==(const Literal&, const Literal&) = default;
};

constexpr Literal AtLeast(int buffer, Bytes offset) {
  return {Literal::Kind::kOffset, false, buffer, 0, offset};
}
constexpr Literal Under(int buffer, Bytes offset) {
  return {Literal::Kind::kOffset, true, buffer, 0, offset};
}
constexpr Literal Below(int lower, int upper) { return {Literal::Kind::kBelow, false, lower, upper, 0}; }
constexpr Literal Touches(int buffer, int bank) { return {Literal::Kind::kTouch, false, buffer, bank, 0}; }
constexpr Literal InMode(int memory, Step step, int mode) {
  return {Literal::Kind::kMode, false, memory, mode, step};
}

constexpr Literal operator~(Literal literal) {
  if (literal.kind == Literal::Kind::kBelow) return Below(literal.second, literal.first);
  literal.negated = !literal.negated;
  return literal;
}

}  // namespace tessera::problem::proof
