#pragma once

#include <string>
#include <vector>

#include "tessera/problem/proof/facts.h"
#include "tessera/problem/proof/rule_ground.h"
#include "tessera/problem/proof/syntax.h"

namespace tessera::problem::proof {

// Decides whether an axiom holds in every placement. Each ground takes the *negation* of the axiom's literals as
// given and looks for a contradiction with the numbers of the Problem; literals that a ground has no use for only
// make an axiom weaker, so they do no harm. Subjects are the numbers between the ground's name and the colon:
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
//     handover k s .. buffers below k that pairwise lie apart with k and the s, and buffers above k that do too,
//                     need more than the capacity together with k and the s
//
// One ground, the stack, covers all that sizes forbid: two buffers one above the other, a whole section that is too
// full (edge finding, energy), and the load bound. Of its members k, with bounds and orders from the negation:
//
//     floor(k) = greatest of  k's own least offset;  least offset of j + size of j, for every j below k
//     top(k)   = least of     k's own greatest offset + size;  greatest offset of j, for every j above k
//
// They need the sum of their sizes; where all their offsets are multiples of g, each but the topmost needs its
// size rounded up to g. Where that exceeds greatest top - least floor, less what is reserved in between, there is
// no placement.
//
// A handover joins two stacks in k: below it lie the buffers from the first and some of the s, above it those from
// the second and the rest of the s, whichever these are; so the sizes of all add up, k's and those of the s once.
//
// Cost of a stack: O(members squared + members * literals), of any other axiom O(literals) or O(banks).
class Grounds {
 public:
  explicit Grounds(const Facts& facts);

  // Why the axiom need not hold, in words, or empty when it does. Its literals are those of Checker::Understand.
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
  std::string FindFlawInHandover(const Axiom& axiom) const;
  bool LieApart(const std::vector<int>& members) const;
  bool BreaksBanks(bool same, int first, int second, const Axiom& axiom) const;

  const Facts& facts_;
  std::vector<std::pair<Step, Step>> successions_;
  const std::vector<Guard> guards_;  // of buffers, or empty
};

}  // namespace tessera::problem::proof
