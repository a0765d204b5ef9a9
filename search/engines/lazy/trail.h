// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/arithmetic.h"

// The lazy engine decides integers and stores a pair of bounds for each.
//
//     integer x     view 2x:    x >= v         "the offset is at least v"
//                   view 2x+1: -x >= v         "the offset is at most -v"
//
// A bound literal "view >= bound" needs no Boolean variable: a comparison of two numbers shows
// whether it is true, false or open. So literals are created when a rule or a clause mentions them
// (lazy clause generation: Ohrimenko, Stuckey and Codish 2009; on demand for each value: Feydy and
// Stuckey 2009). The order literal "i below j" is the literal "x >= 1" of an integer x in {0, 1};
// its negation "-x >= 0" means "j below i".
namespace tessera::search::engines::lazy {

// Sizes and offsets in units of the Problem's granularity (packing.h). The packing ensures that the
// sum of any two does not overflow.
using Bound = int64_t;
using View = int32_t;

struct BoundLiteral {
  View view = 0;
  Bound bound = 0;
  friend bool operator==(const BoundLiteral&, const BoundLiteral&) = default;
};

constexpr View Opposite(View view) { return view ^ 1; }
constexpr int IntegerOf(View view) { return view >> 1; }

// The literal that makes an integer in {0, 1} equal to 1 (even view) or 0 (odd view).
constexpr BoundLiteral OrderLiteral(View view) { return {view, (view & 1) != 0 ? 0 : 1}; }

// The reason why a bound holds.
struct Reason {
  enum class Kind : uint8_t {
    kRoot,      // holds in every solution
    kDecision,  // assumed
    kClause,    // the clause `first` has no other open literal
    kLiterals,  // the literals [first, first + count) of the trail's reasons imply it
    // like kLiterals; in addition, the implication holds when the bounds of offsets on both sides
    // sink by the same amount
    kShiftable,
  };
  Kind kind = Kind::kRoot;
  int32_t first = 0;
  int32_t count = 0;
};

// One change of one view: a raised bound.
struct Change {
  View view = 0;
  int32_t level = 0;
  Bound bound = 0;
  Bound before = 0;
  int32_t previous = -1;  // the change of the same view before this one; -1: the initial bound
  Reason reason;
};

// The bounds of all integers, in the order in which they rose, so that they can be undone.
//
//     level 0 | level 1        | level 2
//     changes:  x>=4  -y>=-9     p>=1  y>=6  x>=12        the chain of x: 12 -> 4 -> initial
//
// Find follows the chain of x to the change that made "x >= v" true. Bounds of offsets are
// multiples of their granularity; every literal pushed here is rounded up to that. Undoing costs
// O(changes undone).
//
// Reasons of two literals such as "p, x >= a imply y >= a + s" are shiftable: if a proof needs only
// y >= n, the weaker "p, x >= n - s" explains it. Proofs then use the least offsets that matter,
// and the clauses learned from them apply more often.
//
// Long lists take long to move when they grow, and nothing ends that: two million changes took 0.3
// s. So there is room for kMostChanges, which a caller should not exceed, once there are
// kManyChanges. Memory is used only where something is written.
class Trail {
 public:
  static constexpr int kMostChanges = 4'000'000;  // about 250 MB

  // Allocates the memory for that many integers, booleans included.
  void Reserve(size_t integers);

  // Adds an integer and returns its index. The bounds must be multiples of the granularity, and
  // least <= most.
  int AddInteger(Bound least, Bound most, Bound granularity);
  int AddBoolean();

  // Discards all changes, including the root level. The caller may then set new initial bounds.
  void Clear();
  void SetInitial(int integer, Bound least, Bound most);

  int Views() const { return static_cast<int>(bounds_.size()); }
  Bound operator[](View view) const { return bounds_[static_cast<size_t>(view)]; }
  bool IsTrue(BoundLiteral literal) const { return (*this)[literal.view] >= literal.bound; }
  bool IsFalse(BoundLiteral literal) const {
    return (*this)[Opposite(literal.view)] >= 1 - literal.bound;
  }
  bool IsFixed(int integer) const { return (*this)[2 * integer] == -(*this)[2 * integer + 1]; }
  bool IsBoolean(View view) const { return booleans_[static_cast<size_t>(IntegerOf(view))] != 0; }

  // Returns the literal with its bound rounded up to the integer's granularity.
  BoundLiteral Rounded(BoundLiteral literal) const {
    const Bound granularity = granularities_[static_cast<size_t>(IntegerOf(literal.view))];
    return granularity == 1 ? literal
                            : BoundLiteral{literal.view, base::RoundUp(literal.bound, granularity)};
  }
  // Returns the negation of a rounded literal.
  BoundLiteral Not(BoundLiteral literal) const {
    return {Opposite(literal.view),
            granularities_[static_cast<size_t>(IntegerOf(literal.view))] - literal.bound};
  }

  int Level() const { return static_cast<int>(levels_.size()); }
  void OpenLevel();
  void BacktrackTo(int level);
  int LevelStart(int level) const { return levels_[static_cast<size_t>(level) - 1].change; }

  int Size() const { return static_cast<int>(changes_.size()); }
  const Change& At(int index) const { return changes_[static_cast<size_t>(index)]; }
  // Returns the change that made a true literal true; -1 if it was true initially.
  int Find(BoundLiteral literal) const;

  // Builds a reason: OpenReason, then Because for each literal, then CloseReason.
  void OpenReason() { reason_start_ = static_cast<int32_t>(reasons_.size()); }
  void Because(BoundLiteral literal) { reasons_.push_back(literal); }
  Reason CloseReason(Reason::Kind kind) const {
    return {kind, reason_start_, static_cast<int32_t>(reasons_.size()) - reason_start_};
  }

  // Raises a bound. Returns false if that contradicts a current bound; Conflict() then holds the
  // reason.
  bool Imply(BoundLiteral literal, Reason reason);
  // Raises a bound to make an open literal true.
  void Push(BoundLiteral literal, Reason reason);

  // True literals that cannot all hold.
  std::vector<BoundLiteral>& Conflict() { return conflict_; }
  // The clause that the conflict falsifies, or -1 if another rule found the conflict.
  int ConflictClause() const { return conflict_clause_; }
  void BlameClause(int clause) { conflict_clause_ = clause; }
  // Makes the closed reason the conflict. Always returns false, so that the caller can return it.
  bool Refute(Reason reason);

  // Appends the literals that explain a bound of `needed` <= `bound`, where `reason` implied
  // `bound`. The reason must be kLiterals or kShiftable.
  void Explain(Reason reason, Bound bound, Bound needed, std::vector<BoundLiteral>& out) const;

 private:
  static constexpr size_t kManyChanges = 1 << 17;

  struct Mark {
    int32_t change = 0;
    int32_t reason = 0;
  };
  void Weaken(Reason reason, Bound by);
  void ReserveMost();

  std::vector<Bound> bounds_;
  std::vector<Bound> initial_;
  std::vector<int32_t> last_;  // of each view: its last change
  std::vector<Bound> granularities_;
  std::vector<char> booleans_;  // of each integer: whether it is one
  std::vector<Change> changes_;
  std::vector<Mark> levels_;
  std::vector<BoundLiteral> reasons_;
  int32_t reason_start_ = 0;
  std::vector<BoundLiteral> conflict_;
  int conflict_clause_ = -1;
};

}  // namespace tessera::search::engines::lazy
