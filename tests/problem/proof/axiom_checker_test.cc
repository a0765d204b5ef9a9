// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>

#include "../fixture.h"
#include "tessera/problem/proof/checker.h"

// For each ground of an axiom: the strongest axiom that holds, and the next stronger one, which
// does not.

namespace tessera::problem::proof {
namespace {

// The checker's objection to the axiom; empty when it accepts the axiom.
std::string FlawOf(const Problem& problem, Bytes capacity, const std::string& axiom) {
  const ProofCheck verdict =
      CheckProof(problem, capacity, "tessera-proof 1\ngiven 1 " + axiom + "\nend\n");
  return verdict.line == 2 ? verdict.flaw : "";
}

class AxiomCheckerTest : public testing::Test {
 protected:
  void ExpectHolds(const std::string& axiom) const {
    EXPECT_EQ(FlawOf(problem_, capacity_, axiom), "") << axiom;
  }
  void ExpectRefused(const std::string& axiom) const {
    EXPECT_NE(FlawOf(problem_, capacity_, axiom), "") << axiom;
  }

  // Three that live together, of 3, 4 and 5 bytes, and one of 2 bytes after them.
  Problem problem_ = PlainProblem({MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 4),
                                   MakeBuffer("c", 1, 3, 5), MakeBuffer("d", 3, 4, 2)});
  Bytes capacity_ = 12;
};

TEST_F(AxiomCheckerTest, AStackOfTwoKeepsThemOneAboveTheOther) {
  ExpectHolds("stack 0 : b1,0 x0<2 x1>=5");
  ExpectRefused("stack 0 : b1,0 x0<2 x1>=6");
  ExpectRefused("stack 0 : b1,0 x0<1 x1>=5");
  ExpectRefused("stack 0 : b0,1 x0<2 x1>=5");
}

TEST_F(AxiomCheckerTest, AStackThatIsTooHighForTheCapacityHasNoPlacement) {
  capacity_ = 11;
  ExpectHolds("stack 0 1 2 :");
  capacity_ = 12;
  ExpectRefused("stack 0 1 2 :");
  ExpectHolds("stack 0 1 2 : x0<1 x1<1 x2<1");
  ExpectRefused("stack 0 1 2 : x0<1 x1<1");
}

TEST_F(AxiomCheckerTest, AStackFromTheTopIsAStackUpsideDown) {
  ExpectHolds("stack 0 1 2 : x0>=9 x1>=8 x2>=7");
  ExpectRefused("stack 0 1 2 : x0>=10 x1>=8 x2>=7");
}

TEST_F(AxiomCheckerTest, ABufferAboveAMemberBeginsAboveIt) {
  ExpectHolds("stack 0 1 2 : x0<4 x1<4 b2,0");
  ExpectRefused("stack 0 1 2 : x0<4 b2,0");
}

TEST_F(AxiomCheckerTest, ABufferBelowAnotherLeavesSpaceForAllOthersBelow) {
  ExpectHolds("stack 0 1 : b2,0 b2,1 x2>=7");
  ExpectRefused("stack 0 1 : b2,0 b2,1 x2>=8");
}

TEST_F(AxiomCheckerTest, AStackCountsOnlyBuffersThatMustLieApart) {
  ExpectRefused("stack 0 1 2 3 :");
  ExpectRefused("stack 0 0 0 0 0 :");
  problem_.relations = {{RelationKind::kSeparate, 2, 3, 0}};
  ExpectHolds("stack 2 3 : x2<6 x3<6");
  problem_.relations = {{RelationKind::kExclusive, 0, 1, 0}};
  capacity_ = 6;
  ExpectRefused("stack 0 1 :");
}

// l leaves below k, e enters above it, s stays on either side.
TEST_F(AxiomCheckerTest, ABufferThatLeavesBelowMakesSpaceForOneThatEntersAbove) {
  problem_ = PlainProblem({MakeBuffer("l", 0, 1, 3), MakeBuffer("k", 0, 2, 4),
                           MakeBuffer("s", 0, 2, 5), MakeBuffer("e", 1, 2, 2)});
  capacity_ = 13;
  ExpectHolds("section_pair 1 2 : b1,0 b3,1");
  ExpectRefused("section_pair 1 2 : b1,0");
  ExpectRefused("section_pair 1 2 : b1,0 b1,3");
  ExpectRefused("section_pair 1 : b1,0 b3,1");
  ExpectRefused("section_pair 1 2 0 : b1,0 b3,1");
  ExpectRefused("section_pair 1 2 2 : b1,0 b3,1");
  capacity_ = 14;
  ExpectRefused("section_pair 1 2 : b1,0 b3,1");
}

TEST_F(AxiomCheckerTest, AlignmentPadsAllButTheTopmost) {
  for (Buffer& buffer : problem_.buffers) buffer.alignment = 4;
  capacity_ = 12;
  ExpectHolds("stack 0 1 2 :");  // 4 + 4 + 8, less the padding of c
  capacity_ = 13;
  ExpectRefused("stack 0 1 2 :");
}

TEST_F(AxiomCheckerTest, ReservedBytesAreNotFree) {
  problem_.memories[0].reserved = {{{4, 6}, "vector table"}};
  capacity_ = 13;
  ExpectHolds("stack 0 1 2 :");
  capacity_ = 14;
  ExpectRefused("stack 0 1 2 :");
  ExpectHolds("stack 0 1 2 : x0<4 x1<4 x2<4");
}

TEST_F(AxiomCheckerTest, ABufferDoesNotFitAcrossAReservedRange) {
  problem_.memories[0].reserved = {{{4, 6}, "vector table"}};
  ExpectHolds("room 0 : x0<2 x0>=6");
  ExpectRefused("room 0 : x0<1 x0>=6");
  ExpectRefused("room 0 : x0<2 x0>=7");
  ExpectRefused("room 1 : x0<2 x0>=6");
}

TEST_F(AxiomCheckerTest, AFixedBufferHasOnePlace) {
  problem_.buffers[0].offset = 5;
  ExpectHolds("room 0 : x0>=5");
  ExpectHolds("room 0 : x0<6");
  ExpectRefused("room 0 : x0>=6");
}

TEST_F(AxiomCheckerTest, SpansAndAllowedBanksNarrowTheRange) {
  problem_ = BankedProblem({MakeBuffer("a", 0, 1, 3)});
  capacity_ = 16;
  ExpectRefused("room 0 : x0<6 x0>=8");
  problem_.buffers[0].span = Span::kContiguous;
  ExpectRefused("room 0 : x0<6 x0>=8");
  problem_.buffers[0].span = Span::kSingle;
  ExpectHolds("room 0 : x0<6 x0>=8");
  problem_.buffers[0].allowed_banks = {1};
  ExpectHolds("room 0 : x0>=8");
  ExpectRefused("room 0 : x0>=9");
}

TEST_F(AxiomCheckerTest, TiesKeepTheirDistance) {
  problem_.relations = {{RelationKind::kColocate, 0, 1, 2}, {RelationKind::kAdjacent, 1, 2, 0}};
  ExpectHolds("tie 0 : x0<3 x1>=5");
  ExpectRefused("tie 0 : x0<3 x1>=6");
  ExpectHolds("tie 0 : x0>=4 x1<6");
  ExpectRefused("tie 0 : x0>=5 x1<6");
  ExpectHolds("tie 1 : x1<3 x2>=7");
  ExpectRefused("tie 1 : x1<3 x2>=8");
  ExpectHolds("tie 1 : x1>=3 x2<7");
  problem_.buffers[2].alignment = 4;
  ExpectHolds("tie 1 : x1<3 x2>=8");
  ExpectHolds("tie 1 : x1>=1 x2<8");
  ExpectRefused("tie 1 : x1>=2 x2<8");
}

class BankAxiomCheckerTest : public AxiomCheckerTest {
 protected:
  BankAxiomCheckerTest() {
    Buffer a = MakeBuffer("a", 0, 2, 3);
    Buffer b = MakeBuffer("b", 0, 2, 4);
    a.accesses = {{0, "pe", AccessKind::kRead}, {1, "pe", AccessKind::kWrite}};
    b.accesses = {{0, "pe", AccessKind::kRead}};
    problem_ = BankedProblem({a, b});
    capacity_ = 16;
  }
};

TEST_F(BankAxiomCheckerTest, TouchingIsDecidedByWhereABufferLies) {
  ExpectHolds("touch 0 0 : !t0,0 x0<8");
  ExpectRefused("touch 0 0 : !t0,0 x0<7");
  ExpectHolds("touch 0 1 : !t0,1 x0>=6");
  ExpectRefused("touch 0 1 : !t0,1 x0>=7");
  ExpectHolds("touch 0 1 : t0,1 x0<6");
  ExpectRefused("touch 0 1 : t0,1 x0<5");
  ExpectRefused("touch 0 1 : !t0,1 x0<6");
}

TEST_F(BankAxiomCheckerTest, RelationsSpeakOfBothBuffersAndOneBank) {
  problem_.relations = {{RelationKind::kSameBank, 0, 1, 0},
                        {RelationKind::kDifferentBank, 0, 1, 0}};
  ExpectHolds("banks 0 : !t0,1 t1,1");
  ExpectHolds("banks 0 : t0,1 !t1,1");
  ExpectRefused("banks 0 : !t0,1 !t1,1");
  ExpectRefused("banks 0 : !t0,1 t1,0");
  ExpectHolds("banks 1 : !t0,1 !t1,1");
  ExpectRefused("banks 1 : !t0,1 !t1,0");
  ExpectRefused("banks 1 : !t0,1 t1,1");
}

TEST_F(BankAxiomCheckerTest, AMemoryHasExactlyOneModeAtAStep) {
  ExpectHolds("mode 0 1 : m0,1,0 m0,1,1 m0,1,2");
  ExpectRefused("mode 0 1 : m0,1,0 m0,1,1");
  ExpectRefused("mode 0 1 : m0,1,0 m0,1,1 m0,0,2");
  ExpectHolds("mode 0 1 : !m0,1,0 !m0,1,2");
  ExpectRefused("mode 0 1 : !m0,1,0 !m0,1,0");
  ExpectRefused("mode 0 1 : !m0,1,0 !m0,0,2");
}

TEST_F(BankAxiomCheckerTest, ModesFollowEachOtherOnlyAsTransitionsSay) {
  problem_.memories[0].transitions = {{{0, 1}}};
  ExpectHolds("follow 0 0 1 : !m0,0,1 !m0,1,0");
  ExpectRefused("follow 0 0 1 : !m0,0,0 !m0,1,1");
  ExpectRefused("follow 0 0 1 : !m0,0,1 !m0,1,1");
  ExpectRefused("follow 0 1 0 : !m0,1,0 !m0,0,1");
  problem_.loops = {{0, 2, {2}}};
  ExpectHolds("follow 0 1 0 : !m0,1,1 !m0,0,0");
}

TEST_F(BankAxiomCheckerTest, AModeForbidsWhatItDoesNotAllowAndLifeWhereItIsOff) {
  ExpectHolds("access 0 1 0 : !t0,1 !m0,0,0");  // read at step 0; mode 0 writes the high bank
  ExpectRefused("access 0 0 0 : !t0,0 !m0,0,0");
  ExpectRefused("access 0 1 1 : !t0,1 !m0,1,0");
  ExpectHolds("access 1 0 1 : !t1,0 !m0,1,2");  // no access, but the bank is off
  ExpectRefused("access 1 1 1 : !t1,1 !m0,1,2");
  ExpectRefused("access 0 1 0 : !m0,0,0");
  ExpectRefused("access 0 1 0 : !t0,1");
  problem_.buffers[1].lifespans = {{0, 1}};
  ExpectRefused("access 1 0 1 : !t1,0 !m0,1,2");
}

TEST_F(BankAxiomCheckerTest, ABankServesAsManyAsItHasPortsFor) {
  problem_.memories[0].banks[0].ports.reads = 1;
  ExpectHolds("ports 0 0 0 : !t0,0 !t1,0");
  ExpectRefused("ports 0 0 0 : !t0,0 !t0,0");
  ExpectRefused("ports 0 1 0 : !t0,1 !t1,1");
  ExpectRefused("ports 0 0 1 : !t0,0 !t1,0");
  problem_.memories[0].banks[0].ports.reads = 2;
  ExpectRefused("ports 0 0 0 : !t0,0 !t1,0");
  problem_.memories[0].banks[0].ports.writes = 0;
  ExpectHolds("ports 0 0 1 : !t0,0");
}

Requirement Multiple(RequirementKind kind, Bytes multiple, Bytes residue) {
  Requirement wanted;
  wanted.kind = kind;
  wanted.multiple = multiple;
  wanted.residue = residue;
  return wanted;
}

Requirement Distance(RequirementKind kind, Bytes distance) {
  Requirement wanted;
  wanted.kind = kind;
  wanted.distance = distance;
  return wanted;
}

class RuleAxiomCheckerTest : public AxiomCheckerTest {
 protected:
  void Require(const Requirement& wanted) {
    Rule rule;
    rule.requirement = wanted;
    if (IsPairwise(wanted.kind)) rule.pairs = {{0, 1}};
    if (!IsPairwise(wanted.kind)) rule.buffers = {0, 1};
    problem_.rules = {rule};
  }
};

TEST_F(RuleAxiomCheckerTest, OffsetsLeaveTheirResidue) {
  Require(Multiple(RequirementKind::kOffset, 4, 1));
  ExpectHolds("rule 0 0 : x0<2 x0>=5");
  ExpectRefused("rule 0 0 : x0<1 x0>=5");
  ExpectRefused("rule 0 0 : x0<2 x0>=6");
  ExpectRefused("rule 0 1 : x0<2 x0>=5");
}

TEST_F(RuleAxiomCheckerTest, WindowsHoldTheWholeBuffer) {
  Requirement window;
  window.kind = RequirementKind::kWindow;
  window.window = {2, 7};
  Require(window);
  ExpectHolds("rule 0 0 : x0>=2");
  ExpectRefused("rule 0 0 : x0>=3");
  ExpectHolds("rule 0 0 : x0<5");
  ExpectRefused("rule 0 0 : x0<4");
}

TEST_F(RuleAxiomCheckerTest, BoundariesAreNotCrossed) {
  Require(Multiple(RequirementKind::kNoCrossing, 4, 0));
  ExpectHolds("rule 0 0 : x0<2 x0>=4");
  ExpectRefused("rule 0 0 : x0<1 x0>=4");
  ExpectHolds("rule 0 1 : x1<1 x1>=4");
}

TEST_F(RuleAxiomCheckerTest, NaturalAlignmentIsThatOfTheNextPowerOfTwo) {
  Require(Multiple(RequirementKind::kNaturalAlignment, 1, 0));
  ExpectHolds("rule 0 0 : x0<1 x0>=4");
  ExpectRefused("rule 0 0 : x0<1 x0>=5");
}

TEST_F(RuleAxiomCheckerTest, PairsKeepDistancesResiduesAndFlippedBits) {
  Require(Distance(RequirementKind::kDistance, 3));
  ExpectHolds("rule 0 0 : x0<2 x1>=5");
  ExpectRefused("rule 0 0 : x0<2 x1>=6");
  Require(Multiple(RequirementKind::kDifference, 4, 3));
  ExpectHolds("rule 0 0 : x0<2 x0>=3 x1<2 x1>=5");
  ExpectRefused("rule 0 0 : x0<2 x0>=3 x1<1 x1>=5");
  ExpectRefused("rule 0 0 : x0<2 x0>=4 x1<2 x1>=5");
  Require(Distance(RequirementKind::kXorDistance, 6));
  ExpectHolds("rule 0 0 : x0<3 x0>=4 x1>=5");
  ExpectRefused("rule 0 0 : x0<3 x0>=4 x1>=6");
}

TEST_F(RuleAxiomCheckerTest, PairsOfACommonDistanceCannotBeDifferentlyFarApart) {
  Require(Distance(RequirementKind::kCommonDelta, 0));
  problem_.rules[0].pairs = {{0, 1}, {2, 3}};
  ExpectHolds("delta 0 0 1 : x0<5 x1>=4 x2>=4 x3<2");  // -2 at most, -1 at least
  ExpectRefused("delta 0 0 1 : x0<5 x1>=4 x2>=4 x3<1");
  ExpectRefused("delta 0 0 1 : x0<5 x1>=5 x2>=4 x3<2");
  ExpectHolds("delta 0 1 0 : x0<5 x1>=4 x2>=4 x3<2");
  ExpectRefused("delta 0 0 0 : x0<5 x1>=4 x2>=4 x3<2");
  ExpectRefused("delta 0 0 2 : x0<5 x1>=4 x2>=4 x3<2");
  ExpectRefused("delta 1 0 1 : x0<5 x1>=4 x2>=4 x3<2");
  ExpectRefused("delta 0 0 1 : x0<5 x1>=4 x3<2");
  problem_.rules[0].sizes = {3, 8};
  ExpectRefused("delta 0 0 1 : x0<5 x1>=4 x2>=4 x3<2");
  Require(Distance(RequirementKind::kDistance, 0));
  problem_.rules[0].pairs = {{0, 1}, {2, 3}};
  ExpectRefused("delta 0 0 1 : x0<5 x1>=4 x2>=4 x3<2");
}

TEST_F(RuleAxiomCheckerTest, GuardsKeepOthersAndTheEndsOfTheMemoryAway) {
  Requirement guard;
  guard.kind = RequirementKind::kGuard;
  guard.before = 1;
  guard.after = 2;
  Require(guard);
  problem_.rules[0].buffers = {0};
  ExpectHolds("rule 0 0 : x0>=1");
  ExpectRefused("rule 0 0 : x0>=2");
  ExpectHolds("rule 0 0 : x0<8");
  ExpectRefused("rule 0 0 : x0<7");
  ExpectHolds("guard 0 1 : b1,0 x0<2 x1>=7");
  ExpectRefused("guard 0 1 : b1,0 x0<2 x1>=8");
  ExpectRefused("guard 0 1 : x0<2 x1>=7");
  ExpectHolds("guard 1 0 : b0,1 x1<2 x0>=7");
  problem_.relations = {{RelationKind::kSeparate, 0, 3, 0}};
  ExpectRefused("guard 0 3 : b3,0 x0<2 x3>=7");
}

TEST_F(RuleAxiomCheckerTest, RulesHoldForTheirSizesOnly) {
  Require(Multiple(RequirementKind::kOffset, 4, 1));
  problem_.rules[0].sizes = {4, 8};
  ExpectRefused("rule 0 0 : x0<2 x0>=5");
  ExpectHolds("rule 0 1 : x1<2 x1>=5");
}

TEST_F(BankAxiomCheckerTest, RulesSpeakOfBanks) {
  Rule some;
  some.requirement.kind = RequirementKind::kBanks;
  some.requirement.banks = {1};
  some.buffers = {0};
  Rule other;
  other.requirement.kind = RequirementKind::kDifferentBank;
  other.pairs = {{0, 1}};
  problem_.rules = {some, other};
  ExpectHolds("rule 0 0 : !t0,0");
  ExpectRefused("rule 0 0 : !t0,1");
  ExpectRefused("rule 0 0 : !t1,0");
  ExpectHolds("rule 1 0 : !t0,1 !t1,1");
  ExpectRefused("rule 1 0 : !t0,1 !t1,0");
}

TEST_F(BankAxiomCheckerTest, RulesSpeakOfGroupsOfBanks) {
  Rule rule;
  rule.requirement.kind = RequirementKind::kSameBankGroup;
  rule.pairs = {{0, 1}};
  problem_.rules = {rule};
  problem_.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  ExpectHolds("rule 0 0 : !t0,0 !t1,1");
  ExpectHolds("rule 0 0 : !t0,0 !t0,1");
  ExpectRefused("rule 0 0 : !t0,1 !t1,1");
  ExpectRefused("rule 0 0 : !t0,0 t1,1");
  ExpectRefused("rule 0 0 : !t0,0");
  problem_.memories[0].bank_sets["bank_groups"] = {{0, 1}};
  ExpectRefused("rule 0 0 : !t0,0 !t1,1");
  problem_.memories[0].bank_sets["bank_groups"] = {{0}};
  ExpectHolds("rule 0 0 : !t1,1");
}

TEST_F(BankAxiomCheckerTest, RulesKeepBuffersInDifferentGroups) {
  Rule rule;
  rule.requirement.kind = RequirementKind::kDifferentBankGroup;
  rule.pairs = {{0, 1}};
  problem_.rules = {rule};
  problem_.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  ExpectHolds("rule 0 0 : !t0,1 !t1,1");
  ExpectRefused("rule 0 0 : !t0,0 !t1,1");
  ExpectRefused("rule 0 0 : !t0,0 !t0,1");
  ExpectRefused("rule 0 0 : !t0,1 t1,1");
  problem_.memories[0].bank_sets["bank_groups"] = {{0, 1}};
  ExpectHolds("rule 0 0 : !t0,0 !t1,1");
  problem_.memories[0].bank_sets["bank_groups"] = {{0}};
  ExpectRefused("rule 0 0 : !t0,1 !t1,1");
}

TEST_F(BankAxiomCheckerTest, WhatDoesNotExistIsRefused) {
  for (const std::string axiom : {"stack 2 :",
                                  "stack -1 :",
                                  "stack :",
                                  "room 2 :",
                                  "room 0 1 :",
                                  "tie 0 :",
                                  "touch 0 2 : t0,1",
                                  "banks 0 :",
                                  "mode 1 0 : m0,0,0",
                                  "follow 1 0 1 :",
                                  "access 0 2 0 : !t0,1",
                                  "ports 0 2 0 : !t0,1",
                                  "rule 0 0 :",
                                  "guard 0 2 :",
                                  "delta 0 0 1 :",
                                  "room 0 : x2>=0",
                                  "room 0 : t0,2",
                                  "room 0 : m0,2,0",
                                  "room 0 : m0,0,3",
                                  "room 0 : m1,0,0",
                                  "room 0 : b0,0",
                                  "room 0 : b0,2",
                                  "room 0 : x0>=4611686018427387904",
                                  "room 0 : x0>=9223372036854775807"}) {
    ExpectRefused(axiom);
  }
}

}  // namespace
}  // namespace tessera::problem::proof
