#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/base/arithmetic.h"

// Everything that the lazy engine decides is an integer, and everything that it knows of one is a
// bound.
//
//     integer x     view 2x:    x >= v         "the offset is at least v"
//                   view 2x+1: -x >= v         "the offset is at most -v"
//
// A bound literal "view >= bound" needs no variable of its own: it is true, false or open by
// comparing two numbers, so literals come into being when a rule or a clause mentions them (lazy
// clause generation: Ohrimenko, Stuckey and Codish 2009; on demand for each value: Feydy and
// Stuckey 2009). The order literal "i below j" is the literal "x >= 1" of an integer x in {0, 1};
// its negation "-x >= 0" reads "j below i".
namespace tessera::search::engines::lazy {

// Sizes and offsets in units of the Problem's granularity (packing.h); the packing keeps every sum
// of two within it.
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

// Why a bound holds.
struct Reason {
  enum class Kind : uint8_t {
    kRoot,      // holds in every solution
    kDecision,  // assumed
    kClause,    // the clause `first` has no other open literal
    kLiterals,  // the literals [first, first + count) of the trail's reasons imply it
    kShiftable,  // likewise, and the implication survives when bounds of offsets sink together on both sides
  };
  Kind kind = Kind::kRoot;
  int32_t first = 0;
  int32_t count = 0;
};

// One raise of one view.
struct Change {
  View view = 0;
  int32_t level = 0;
  Bound bound = 0;
  Bound before = 0;
  int32_t previous = -1;  // the change of the same view before this one; -1: the initial bound
  Reason reason;
};

// The bounds of all integers, in the order in which they rose, so that they can sink again.
//
//     level 0 | level 1        | level 2
//     changes:  x>=4  -y>=-9     p>=1  y>=6  x>=12        the chain of x: 12 -> 4 -> initial
//
// Finding the change that made "x >= v" true walks the chain of x; bounds of offsets are multiples
// of their granularity, which every literal pushed here is rounded up to. Undoing costs O(changes
// undone).
//
// Reasons of two literals such as "p, x >= a imply y >= a + s" are shiftable: where a proof needs
// only y >= n, the weaker "p, x >= n - s" explains it. Proofs then speak of the least offsets that
// matter, and the clauses learned from them apply more often.
class Trail {
 public:
  // Integers first, booleans after. Bounds are multiples of the granularity; least <= most.
  int AddInteger(Bound least, Bound most, Bound granularity);
  int AddBoolean();

  // Forgets all changes, root level included. The caller may then set new initial bounds.
  void Clear();
  void SetInitial(int integer, Bound least, Bound most);

  int Views() const { return static_cast<int>(bounds_.size()); }
  Bound operator[](View view) const { return bounds_[static_cast<size_t>(view)]; }
  bool IsTrue(BoundLiteral literal) const { return (*this)[literal.view] >= literal.bound; }
  bool IsFalse(BoundLiteral literal) const {
    return (*this)[Opposite(literal.view)] >= 1 - literal.bound;
  }
  bool IsFixed(int integer) const { return (*this)[2 * integer] == -(*this)[2 * integer + 1]; }
  bool IsBoolean(View view) const { return view >= first_boolean_view_; }

  // The least multiple of the integer's granularity that is not below the bound.
  BoundLiteral Rounded(BoundLiteral literal) const {
    const Bound granularity = granularities_[static_cast<size_t>(IntegerOf(literal.view))];
    return granularity == 1 ? literal
                            : BoundLiteral{literal.view, base::RoundUp(literal.bound, granularity)};
  }
  // The negation of a rounded literal.
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
  // The change that made a true literal true; -1 when it was so from the start.
  int Find(BoundLiteral literal) const;

  // A reason in the making: OpenReason, then Because for each literal, then CloseReason.
  void OpenReason() { reason_start_ = static_cast<int32_t>(reasons_.size()); }
  void Because(BoundLiteral literal) { reasons_.push_back(literal); }
  Reason CloseReason(Reason::Kind kind) const {
    return {kind, reason_start_, static_cast<int32_t>(reasons_.size()) - reason_start_};
  }

  // Raises a bound. False when that contradicts a bound that holds: Conflict() then tells why.
  bool Imply(BoundLiteral literal, Reason reason);
  // For a literal that is open.
  void Push(BoundLiteral literal, Reason reason);

  // True literals that cannot all hold.
  std::vector<BoundLiteral>& Conflict() { return conflict_; }
  // The clause that they falsify, or -1 where another rule found them.
  int ConflictClause() const { return conflict_clause_; }
  void BlameClause(int clause) { conflict_clause_ = clause; }
  // Turns the closed reason into the conflict; false, for the caller to return.
  bool Refute(Reason reason);

  // Appends why the implication to `bound` gives `needed` <= bound, for kLiterals and kShiftable.
  void Explain(Reason reason, Bound bound, Bound needed, std::vector<BoundLiteral>& out) const;

 private:
  struct Mark {
    int32_t change = 0;
    int32_t reason = 0;
  };
  void Weaken(Reason reason, Bound by);

  std::vector<Bound> bounds_;
  std::vector<Bound> initial_;
  std::vector<int32_t> last_;  // of each view: its last change
  std::vector<Bound> granularities_;
  View first_boolean_view_ = 0;
  std::vector<Change> changes_;
  std::vector<Mark> levels_;
  std::vector<BoundLiteral> reasons_;
  int32_t reason_start_ = 0;
  std::vector<BoundLiteral> conflict_;
  int conflict_clause_ = -1;
};

}  // namespace tessera::search::engines::lazy
