#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/proof/proof_text.h"

namespace tessera::problem::proof {

// What a Problem says of single buffers and of pairs when memories[0] has `capacity` bytes: the
// numbers that axioms are held against. Everything is computed from the Problem; a requirement that
// is not looked at here only makes fewer proofs succeed, for a Problem with less required has more
// placements.
//
// *Granularity.* If a placement exists, one exists in which every offset is a multiple of its
// memory's granularity: round all offsets of a placement down. Sizes, alignments above 1, fixed
// offsets, distances, and the boundaries of reserved ranges and banks are multiples of the
// granularity, so what lay apart stays apart, nothing enters a range or a bank that it did not
// touch, and ends only sink. Where rounding could break more, beside an adjacent buffer and where
// the banks or distances of several must be equal, the granularity divides the alignments, so that
// nothing there moves. Of rules it divides moduli, residues, distances, guards and the begins of
// windows; where two addresses differ in given bits it is a power of two, so that rounding clears
// only bits in which both agree.
class Facts {
 public:
  // What keeps the numbers from being added safely, or nullopt: addresses beyond 2^60.
  static std::optional<std::string> CheckWellFormed(const Problem& problem, Bytes capacity);

  // Needs a well-formed Problem without that fault, which outlives this.
  Facts(const Problem& problem, Bytes capacity);

  const Problem& problem() const { return problem_; }
  int Buffers() const { return static_cast<int>(problem_.buffers.size()); }
  const Buffer& BufferAt(int buffer) const { return problem_.buffers[static_cast<size_t>(buffer)]; }
  const Memory& MemoryOf(int buffer) const {
    return problem_.memories[static_cast<size_t>(BufferAt(buffer).memory)];
  }
  Bytes SizeOf(int buffer) const { return BufferAt(buffer).size; }
  Bytes CapacityOf(int memory) const { return capacities_[static_cast<size_t>(memory)]; }

  // Every offset of the buffer is a multiple of this.
  Bytes StrideOf(int buffer) const { return strides_[static_cast<size_t>(buffer)]; }
  // The first and last multiple that the capacity, or a fixed offset, leaves. The first may exceed
  // the last: then nothing fits.
  Bytes LowestOf(int buffer) const { return lowest_[static_cast<size_t>(buffer)]; }
  Bytes HighestOf(int buffer) const { return highest_[static_cast<size_t>(buffer)]; }

  // Whether the two must not share an address: because they live together, and neither a colocate
  // nor an exclusive relation lets them, or because a separate relation says so.
  bool LieApart(int a, int b) const;

  // Whether a colocate or exclusive relation lets the two share addresses.
  bool MayShare(int a, int b) const;

  // Bytes of [begin, end) that are reserved in the memory.
  Bytes ReservedWithin(int memory, Bytes begin, Bytes end) const;

  // Whether the buffer, alone in its memory, could begin at some multiple of its stride in [first,
  // last]: clear of reserved ranges, and in banks as its span and its allowed banks require.
  bool HasPlace(int buffer, Bytes first, Bytes last) const;

 private:
  using Pairs = std::set<std::pair<int, int>>;

  Bytes GranularityOf(int memory) const;
  Bytes DivisorOf(const Rule& rule) const;
  std::vector<AddressRange> WindowsOf(int buffer) const;

  const Problem& problem_;
  std::vector<Bytes> capacities_;  // of memories
  std::vector<Bytes> strides_;
  std::vector<Bytes> lowest_;
  std::vector<Bytes> highest_;
  std::vector<std::vector<AddressRange>>
      reserved_;  // of memories: ascending, disjoint, not touching
  Pairs may_share_;
  Pairs separate_;
};

// Whether a number that a proof states is an index below `count`.
inline bool IsIndex(int64_t number, size_t count) {
  return number >= 0 && number < static_cast<int64_t>(count);
}

// What is known of a placement while a clause is being proven: where each buffer can begin, and
// which of the other statements hold. A bound says all weaker bounds, so no clause has to.
//
// One byte for each pair of buffers, each buffer and bank, and each memory, step and mode, in
// memory from the first such literal on.
class Assignment {
 public:
  explicit Assignment(const Facts& facts);

  // Why the literal means nothing for this Problem, or empty. Bounds become multiples of the
  // buffer's stride.
  std::string Understand(ProofLiteral& literal) const;

  // Of literals that Understand passed.
  bool IsTrue(const ProofLiteral& literal) const;
  bool IsFalse(const ProofLiteral& literal) const { return IsTrue(~literal); }

  // Makes an open literal true. False when no place is left to a buffer.
  bool Assert(const ProofLiteral& literal);

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

  size_t IndexOf(const ProofLiteral& literal) const;
  std::string UnderstandOffset(ProofLiteral& literal) const;
  std::string UnderstandMode(const ProofLiteral& literal) const;

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

// Where a buffer may begin: from least to greatest, both included.
struct Range {
  Bytes least = 0;
  Bytes greatest = 0;
};

// Whether the buffer can keep what the rule asks of each of its buffers, beginning at a multiple of
// its stride in the range. For kOffset, kWindow, kNoCrossing, kNaturalAlignment and kGuard (inside
// the memory, clear of what is reserved); true for other kinds, and where more than 2^16 offsets
// would have to be tried.
bool CanKeep(const Facts& facts, const Requirement& wanted, int buffer, Range range);

// The same for what a rule asks of a pair: kDifference, kDistance and kXorDistance; true for other
// kinds, and where neither analysis nor trying 2^16 offsets decides it.
bool CanKeep(const Facts& facts, const Requirement& wanted, int first, Range first_range,
             int second, Range second_range);

// Bytes that guards keep free between the two when `below` lies below `above`: 0 unless they live
// together and may not share addresses.
Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above);

// Decides whether an axiom holds in every placement. Each ground takes the *negation* of the
// axiom's literals as given and looks for a contradiction with the numbers of the Problem; literals
// that a ground has no use for only make an axiom weaker, so they do no harm. Subjects are the
// numbers between the ground's name and the colon:
//
//     stack i j ...   buffers that pairwise lie apart do not fit between the least place where one of them can
//                     begin and the greatest where one of them can end
//     room i          what is left to buffer i alone holds no place for it: reserved ranges, banks, span,
//                     alignment, fixed offset, capacity
//     tie r           the distance that relation r (colocate, adjacent) prescribes is not kept
//     touch i b       buffer i touches bank b, and yet lies outside; or does not, and yet reaches into it
//     banks r         relation r (same or different bank) does not let one touch and the other (not) touch a bank
//     mode m t        memory m has no mode at step t, or two
//     follow m t u    step u can follow step t, and the mode at u may not follow the mode at t
//     access i b t    buffer i touches bank b in a mode that forbids at step t what i does or that i lives
//     ports m b t     more buffers touch bank b than it serves at step t
//     rule r k        rule r of the Problem cannot be kept by its buffer or pair number k
//     delta r j k     the two buffers of pair j of rule r cannot be as far apart as those of pair k
//     guard i j       i lies below j and nearer than the guards of the two allow
//     section_pair k s .. buffers below k that pairwise lie apart with k and the s, and buffers above k that do too,
//                     need more than the capacity together with k and the s
//
// One ground, the stack, covers all that sizes forbid: two buffers one above the other, a whole
// section that is too full (edge finding, energy), and the load bound. Of its members k, with
// bounds and orders from the negation:
//
//     floor(k) = greatest of  k's own least offset;  least offset of j + size of j, for every j below k
//     top(k)   = least of     k's own greatest offset + size;  greatest offset of j, for every j above k
//
// They need the sum of their sizes; where all their offsets are multiples of g, each but the
// topmost needs its size rounded up to g. Where that exceeds greatest top - least floor, less what
// is reserved in between, there is no placement.
//
// A section pair joins two stacks in k: below it lie the buffers from the first and some of the s,
// above it those from the second and the rest of the s, whichever these are; so the sizes of all
// add up, k's and those of the s once.
//
// Cost of a stack: O(members squared + members * literals), of any other axiom O(literals) or
// O(banks).
class AxiomChecker {
 public:
  explicit AxiomChecker(const Facts& facts);

  // Why the axiom need not hold, in words, or empty when it does. Its literals are those of
  // Checker::Understand.
  std::string FindFlaw(const Axiom& axiom) const;

 private:
  Range RangeOf(int buffer, const Axiom& axiom) const;
  std::string FindFlawInStack(const Axiom& axiom) const;
  Range PlaceOf(int buffer, const Axiom& axiom) const;
  bool FindMembers(const Axiom& axiom, std::vector<int>& members) const;
  bool Overflows(const std::vector<int>& members, Bytes begin, Bytes end) const;
  std::string FindFlawInRoom(const Axiom& axiom) const;
  std::string FindFlawInTie(const Axiom& axiom) const;
  std::string FindFlawInTouch(const Axiom& axiom) const;
  std::string FindFlawInBanks(const Axiom& axiom) const;
  std::string FindFlawInMode(const Axiom& axiom) const;
  std::string FindFlawInFollow(const Axiom& axiom) const;
  std::string FindFlawInAccess(const Axiom& axiom) const;
  std::string FindFlawInPorts(const Axiom& axiom) const;
  std::string FindFlawInRule(const Axiom& axiom) const;
  std::string FindFlawInDelta(const Axiom& axiom) const;
  std::string FindFlawInGuard(const Axiom& axiom) const;
  std::string FindFlawInSectionPair(const Axiom& axiom) const;
  bool LieApart(const std::vector<int>& members) const;
  bool BreaksBanks(bool same, int first, int second, const Axiom& axiom) const;

  const Facts& facts_;
  std::vector<std::pair<Step, Step>> successions_;
  const std::vector<Guard> guards_;  // of buffers, or empty
};

}  // namespace tessera::problem::proof
