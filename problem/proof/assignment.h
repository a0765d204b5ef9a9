#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/problem/proof/facts.h"
#include "tessera/problem/proof/literal.h"

namespace tessera::problem::proof {

// What is known of a placement while a clause is being proven: where each buffer can begin, and which of the other
// statements hold. A bound says all weaker bounds, so no clause has to.
//
// One byte for each pair of buffers, each buffer and bank, and each memory, step and mode, in memory from the
// first such literal on.
class Assignment {
 public:
  explicit Assignment(const Facts& facts);

  // Why the literal means nothing for this Problem, or empty. Bounds become multiples of the buffer's stride.
  std::string Understand(Literal& literal) const;

  // Of literals that Understand passed.
  bool IsTrue(const Literal& literal) const;
  bool IsFalse(const Literal& literal) const { return IsTrue(~literal); }

  // Makes an open literal true. False when no place is left to a buffer.
  bool Assert(const Literal& literal);

  // Whether some buffer has no place from the start.
  bool Contradicts() const { return contradicts_; }

  // Forgets what was asserted since the last Keep.
  void Undo();
  // Holds what was asserted for ever.
  void Keep() { trail_.clear(); }

 private:
  struct Change {
    bool offset = false;  // a bound, else a truth value
    size_t index = 0;
    Bytes before = 0;
  };

  size_t IndexOf(const Literal& literal) const;
  std::string UnderstandOffset(Literal& literal) const;
  std::string UnderstandMode(const Literal& literal) const;

  const Facts& facts_;
  Lifespan horizon_;
  std::vector<Bytes> bounds_;        // of each buffer: the least and the greatest offset
  std::vector<int8_t> truths_;       // 1: true, -1: false, 0: open
  std::vector<size_t> first_touch_;  // of each buffer: index of its touch of bank 0
  std::vector<size_t> first_mode_;   // of each memory: index of its mode 0 at the first step
  size_t count_ = 0;                 // of truths
  std::vector<Change> trail_;
  bool contradicts_ = false;
};

}  // namespace tessera::problem::proof
