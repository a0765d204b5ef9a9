// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/problem/problem.h"
#include "tessera/problem/proof/proof_text.h"
#include "tessera/problem/rule_check.h"

namespace tessera::problem::proof {

// The facts of a Problem about single buffers and pairs when memories[0] has `capacity` bytes.
// Axioms are checked against them. All facts are computed from the Problem. A requirement that is
// ignored here only makes fewer proofs succeed, because a Problem with fewer requirements has more
// placements.
//
// *Granularity.* If a placement exists, one exists in which every offset is a multiple of its
// memory's granularity: round all offsets of a placement down. Sizes, alignments above 1, fixed
// offsets, distances, and the boundaries of reserved ranges and banks are multiples of the
// granularity. So buffers that lay apart stay apart, no buffer enters a range or a bank that it did
// not touch, and ends only decrease. Where rounding could violate more (next to an adjacent buffer,
// and where the banks or distances of several buffers must be equal), the granularity divides the
// alignments, so no offset there changes. For rules it divides moduli, residues, distances, guards
// and the begins of windows. If two addresses must differ in given bits, the granularity is a power
// of two, so rounding clears only bits in which both agree.
class Facts {
 public:
  // Returns why the numbers cannot be added safely (addresses beyond 2^60), or nullopt.
  static std::optional<std::string> CheckWellFormed(const Problem& problem, Bytes capacity);

  // Requires a well-formed Problem that passes the check above. The Problem must outlive this
  // object.
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
  // The first and last multiple that the capacity, or a fixed offset, allows. If the first exceeds
  // the last, nothing fits.
  Bytes LowestOf(int buffer) const { return lowest_[static_cast<size_t>(buffer)]; }
  Bytes HighestOf(int buffer) const { return highest_[static_cast<size_t>(buffer)]; }

  // Whether the two must not share an address. Either they live together and no colocate or
  // exclusive relation permits it, or a separate relation forbids it.
  bool LieApart(int a, int b) const;

  // Whether a colocate or exclusive relation permits the two to share addresses.
  bool MayShare(int a, int b) const;

  // The number of reserved bytes of the memory in [begin, end).
  Bytes ReservedWithin(int memory, Bytes begin, Bytes end) const;

  // Whether the buffer, alone in its memory, could begin at some multiple of its stride in [first,
  // last]: outside reserved ranges, and in banks as its span and its allowed banks require.
  bool HasPlace(int buffer, Bytes first, Bytes last) const;

 private:
  using Pairs = std::set<std::pair<int, int>>;

  Bytes GranularityOf(int memory) const;
  std::vector<AddressRange> WindowsOf(int buffer) const;

  const Problem& problem_;
  std::vector<Bytes> capacities_;  // of memories
  std::vector<Bytes> strides_;
  std::vector<Bytes> lowest_;
  std::vector<Bytes> highest_;
  // of memories: ascending, disjoint, not touching
  std::vector<std::vector<AddressRange>> reserved_;
  Pairs may_share_;
  Pairs separate_;
};

// Whether a number that a proof states is an index below `count`.
inline bool IsIndex(int64_t number, size_t count) {
  return number >= 0 && number < static_cast<int64_t>(count);
}

// The knowledge about a placement while a clause is being proven: where each buffer can begin, and
// which of the other statements hold. A bound implies all weaker bounds, so no clause has to state
// them.
//
// Memory: one byte for each pair of buffers, each buffer and bank, and each memory, step and mode,
// allocated at the first such literal.
class Assignment {
 public:
  explicit Assignment(const Facts& facts);

  // Returns why the literal is meaningless for this Problem; empty if it is not. Rounds bounds to
  // multiples of the buffer's stride.
  std::string Understand(ProofLiteral& literal) const;

  // Whether the literal is true, or false, so far. Understand must have accepted it.
  bool IsTrue(const ProofLiteral& literal) const;
  bool IsFalse(const ProofLiteral& literal) const { return IsTrue(~literal); }

  // Makes an open literal true. Returns false if a buffer has no place left.
  bool Assert(const ProofLiteral& literal);

  // Whether some buffer has no place from the start.
  bool Contradicts() const { return contradicts_; }

  // Retracts all assertions since the last Keep.
  void Undo();
  // Makes the current assertions permanent.
  void Keep() { trail_.clear(); }

 private:
  struct Change {
    bool offset = false;  // a bound; otherwise a truth value
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

// The range of a buffer's begin: from least to greatest, both included.
struct Range {
  Bytes least = 0;
  Bytes greatest = 0;
};

// The number of bytes that guards keep free between the two when `below` lies below `above`. 0
// unless they live together and may not share addresses.
Bytes GuardBetween(const Facts& facts, const std::vector<Guard>& guards, int below, int above);

// Decides whether an axiom holds in every placement. Each ground assumes the *negation* of the
// axiom's literals and looks for a contradiction with the facts of the Problem. Literals that a
// ground does not use only make an axiom weaker, so they are harmless. Subjects are the numbers
// between the ground's name and the colon:
//
//     stack i j ...   buffers that pairwise lie apart do not fit between the least place where
//                     one of them can begin and the greatest where one of them can end
//     room i          no place for buffer i remains: reserved ranges, banks, span, alignment,
//                     fixed offset, capacity
//     tie r           the distance that relation r (colocate, adjacent) prescribes is violated
//     touch i b       buffer i touches bank b but lies outside it; or it does not touch bank b
//                     but reaches into it
//     banks r         relation r (same or different bank) forbids that one buffer touches and
//                     the other does (not) touch a bank
//     mode m t        memory m has no mode at step t, or two modes
//     follow m t u    step u can follow step t, and the mode at u may not follow the mode at t
//     access i b t    buffer i touches bank b in a mode that forbids an access of i at step t,
//                     or that i lives there
//     ports m b t     more buffers touch bank b than it serves at step t
//     rule r k        buffer or pair number k of rule r of the Problem cannot satisfy the rule
//     delta r j k     the two buffers of pair j of rule r cannot have the distance of pair k
//     guard i j       i lies below j and nearer than the guards of the two allow
//     section_pair k s ..
//                     buffers below k that pairwise lie apart with k and the s, and buffers
//                     above k that do so too, need more than the capacity together with k and
//                     the s
//
// The ground `stack` covers every conflict of sizes: two buffers one above the other, a whole
// section that is too full (edge finding, energy), and the load bound. For its members k, with
// bounds and orders from the negation:
//
//     floor(k) = greatest of  k's own least offset;
//                             least offset of j + size of j, for every j below k
//     top(k)   = least of     k's own greatest offset + size;
//                             greatest offset of j, for every j above k
//
// The members need the sum of their sizes. If all their offsets are multiples of g, each member
// except the topmost needs its size rounded up to g. If that exceeds greatest top - least floor,
// minus the reserved bytes in between, there is no placement.
//
// A section pair joins two stacks in k. Below k lie the buffers of the first stack and some of the
// s; above k lie those of the second stack and the other s. The partition of the s is unknown.
// Therefore all sizes are added, those of k and the s once.
//
// RuleCheck::can_hold (rule_check.h) defines the requirements of a rule on an item and on two
// pairs.
//
// Cost of a stack: O(members squared + members * literals). Cost of any other axiom: O(literals) or
// O(banks).
class AxiomChecker {
 public:
  explicit AxiomChecker(const Facts& facts);

  // Returns why the axiom need not hold, in words; empty if it holds. Assignment::Understand must
  // have accepted its literals.
  std::string FindFlaw(const Axiom& axiom) const;

 private:
  Range RangeOf(int buffer, const Axiom& axiom) const;
  // The statement of the negated axiom about the buffer.
  KnownPlace KnownOf(int buffer, const Axiom& axiom) const;
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
