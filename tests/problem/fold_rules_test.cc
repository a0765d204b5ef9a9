// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include "fixture.h"
#include "tessera/base/arithmetic.h"
#include "tessera/problem/tile_candidates.h"

namespace tessera::problem {
namespace {

// Two buffers of 3 and 5 bytes in two banks, and one rule about them: about their pair, or about
// both.
Problem WithRule(RequirementKind kind) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 3), MakeBuffer("b", 0, 1, 5)});
  Rule& rule = problem.rules.emplace_back();
  rule.requirement.kind = kind;
  if (IsPairwise(kind)) rule.pairs = {{0, 1}};
  if (!IsPairwise(kind)) rule.buffers = {0, 1};
  return problem;
}

TEST(FoldRulesTest, AMultipleIsAnAlignment) {
  Problem problem = WithRule(RequirementKind::kOffset);
  problem.rules[0].requirement.multiple = 4;
  problem.buffers[1].alignment = 6;
  const Problem folded = FoldRules(problem, nullptr);
  EXPECT_TRUE(folded.rules.empty());
  EXPECT_EQ(folded.buffers[0].alignment, 4);
  EXPECT_EQ(folded.buffers[1].alignment, 12);
}

TEST(FoldRulesTest, AResidueIsNoAlignment) {
  Problem problem = WithRule(RequirementKind::kOffset);
  problem.rules[0].requirement.multiple = 4;
  problem.rules[0].requirement.residue = 1;
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
}

TEST(FoldRulesTest, ARuleOfSizesStays) {
  Problem problem = WithRule(RequirementKind::kNaturalAlignment);
  problem.rules[0].sizes.least = 4;
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
}

TEST(FoldRulesTest, NaturalAlignmentIsOneWhereEveryCandidateHasTheSame) {
  const Problem problem = WithRule(RequirementKind::kNaturalAlignment);
  EXPECT_EQ(FoldRules(problem, nullptr).buffers[1].alignment, 8);
  const Ladder alike{{{"r0", {3, 5}}, {"r1", {4, 8}}}};
  EXPECT_EQ(FoldRules(problem, &alike).buffers[0].alignment, 4);
  const Ladder different{{{"r0", {3, 5}}, {"r1", {5, 8}}}};
  EXPECT_EQ(FoldRules(problem, &different).rules, problem.rules);
}

TEST(FoldRulesTest, AnAdjacentBufferKeepsItsAlignment) {
  Problem problem = WithRule(RequirementKind::kOffset);
  problem.rules[0].requirement.multiple = 4;
  problem.relations = {{RelationKind::kAdjacent, 0, 1, 0}};
  EXPECT_EQ(FoldRules(problem, nullptr).buffers[1].alignment, 1);
}

TEST(FoldRulesTest, BanksMeetThoseAllowedAlready) {
  Problem problem = WithRule(RequirementKind::kBanks);
  problem.rules[0].requirement.banks = {1};
  problem.buffers[0].allowed_banks = {0, 1};
  const Problem folded = FoldRules(problem, nullptr);
  EXPECT_EQ(folded.buffers[0].allowed_banks, std::vector<int>({1}));
  EXPECT_EQ(folded.buffers[1].allowed_banks, std::vector<int>({1}));
  problem.buffers[0].allowed_banks = {0};  // none is left, and an empty list would mean all
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
}

TEST(FoldRulesTest, BankRulesAreRelations) {
  const Problem folded = FoldRules(WithRule(RequirementKind::kDifferentBank), nullptr);
  ASSERT_EQ(folded.relations.size(), 1U);
  EXPECT_EQ(folded.relations[0].kind, RelationKind::kDifferentBank);
}

TEST(FoldRulesTest, OneGroupIsASetOfBanks) {
  Problem problem = WithRule(RequirementKind::kSameBankGroup);
  problem.memories[0].bank_sets["bank_groups"] = {{1}};
  const Problem folded = FoldRules(problem, nullptr);
  EXPECT_TRUE(folded.rules.empty());
  EXPECT_EQ(folded.buffers[0].allowed_banks, std::vector<int>({1}));
  EXPECT_EQ(folded.buffers[1].allowed_banks, std::vector<int>({1}));
  problem.memories[0].bank_sets["bank_groups"] = {{1}, {0}};
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
}

TEST(FoldRulesTest, DifferentGroupsOfOneBufferAskNothing) {
  Problem problem = WithRule(RequirementKind::kDifferentBankGroup);
  problem.memories[0].bank_sets["bank_groups"] = {{1}, {0}};
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
  problem.rules[0].pairs.clear();
  problem.rules[0].buffers = {0};
  EXPECT_TRUE(FoldRules(problem, nullptr).rules.empty());
}

TEST(FoldRulesTest, OneDeltaForOnePairAsksNothing) {
  Problem problem = WithRule(RequirementKind::kCommonDelta);
  EXPECT_TRUE(FoldRules(problem, nullptr).rules.empty());
  problem.rules[0].pairs = {{0, 1}, {1, 0}};
  EXPECT_FALSE(FoldRules(problem, nullptr).rules.empty());
}

TEST(FoldWindowsTest, OneOfAllBuffersReservesTheRest) {
  Problem problem = WithRule(RequirementKind::kWindow);
  problem.rules[0].requirement.window = {2, 12};
  const Problem folded = FoldWindows(problem, 16);
  EXPECT_TRUE(folded.rules.empty());
  ASSERT_EQ(folded.memories[0].reserved.size(), 2U);
  EXPECT_EQ(folded.memories[0].reserved[0].range, (AddressRange{0, 2}));
  EXPECT_EQ(folded.memories[0].reserved[1].range, (AddressRange{12, 24}));
  EXPECT_EQ(FoldWindows(problem, 25).memories[0].reserved[1].range, (AddressRange{12, 36}));
  problem.rules[0].requirement.window = {0, 16};
  EXPECT_TRUE(FoldWindows(problem, 16).memories[0].reserved.empty());
}

TEST(FoldWindowsTest, OfSomeBuffersAreBanks) {
  Problem problem =
      PlainProblem({MakeBuffer("a", 0, 1, 3), MakeBuffer("b", 0, 1, 5), MakeBuffer("c", 0, 1, 2)});
  for (const AddressRange& window : {AddressRange{0, 8}, AddressRange{4, 12}}) {
    Rule& rule = problem.rules.emplace_back();
    rule.requirement.kind = RequirementKind::kWindow;
    rule.requirement.window = window;
    rule.buffers = {static_cast<int>(problem.rules.size()) - 1};
  }
  const Problem folded = FoldWindows(problem, 16);
  EXPECT_TRUE(folded.rules.empty());
  ASSERT_EQ(folded.memories[0].banks.size(), 3U);
  EXPECT_EQ(folded.memories[0].banks[1].range, (AddressRange{4, 8}));
  EXPECT_EQ(folded.buffers[0].allowed_banks, std::vector<int>({0, 1}));
  EXPECT_EQ(folded.buffers[1].allowed_banks, std::vector<int>({1, 2}));
  EXPECT_EQ(folded.buffers[1].span, Span::kContiguous);
  EXPECT_EQ(folded.buffers[2].span, Span::kAny);
  EXPECT_TRUE(folded.buffers[2].allowed_banks.empty());
}

TEST(FoldWindowsTest, ThatNothingElseCanStateStayRules) {
  Problem banked = WithRule(RequirementKind::kWindow);
  banked.rules[0].requirement.window = {2, 12};
  banked.rules[0].buffers = {0};  // the other may lie anywhere, and there are banks
  EXPECT_EQ(FoldWindows(banked, 16).rules, banked.rules);
  Problem empty = WithRule(RequirementKind::kWindow);
  empty.rules[0].requirement.window = {2, 8};
  empty.rules.push_back(empty.rules[0]);
  empty.rules[1].requirement.window = {8, 12};
  EXPECT_EQ(FoldWindows(empty, 16).rules, empty.rules);
  Problem sized = WithRule(RequirementKind::kWindow);
  sized.rules[0].requirement.window = {2, 12};
  sized.rules[0].sizes.least = 4;
  EXPECT_EQ(FoldWindows(sized, 16).rules, sized.rules);
  Problem with_others = WithRule(RequirementKind::kWindow);
  with_others.rules[0].requirement.window = {2, 12};
  with_others.rules.push_back(with_others.rules[0]);
  with_others.rules[1].requirement.kind = RequirementKind::kOffset;
  with_others.rules[1].requirement.multiple = 4;
  with_others.rules[1].requirement.residue = 1;
  EXPECT_EQ(FoldWindows(with_others, 16).rules, with_others.rules);
}

TEST(FoldRulesTest, AnAlignmentTooLargeToAddUpStaysARule) {
  Problem problem = WithRule(RequirementKind::kOffset);
  problem.rules[0].requirement.multiple = base::kMaxTotal;
  EXPECT_EQ(FoldRules(problem, nullptr).rules, problem.rules);
}

}  // namespace
}  // namespace tessera::problem
