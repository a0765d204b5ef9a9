// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/explanation.h"

#include <gmock/gmock.h>

#include "fixture.h"
#include "tessera/problem/draw/pictures.h"
#include "tessera/problem/files/problem_files.h"

namespace tessera::problem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Condition Of(ConditionKind kind, int owner = 0, int item = 0) { return {kind, owner, item}; }

// A problem with everything that a condition can name.
Problem EveryCondition() {
  Problem problem =
      BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 4, 1), MakeBuffer("c", 0, 1, 6)});
  problem.buffers[0].lifespans.push_back({3, 4});
  problem.buffers[0].alignment = 4;
  problem.buffers[0].offset = 8;
  problem.buffers[0].span = Span::kSingle;
  problem.buffers[1].allowed_banks = {1};
  problem.buffers[2].span = Span::kContiguous;
  problem.buffers[2].allowed_banks = {0, 1};
  problem.buffers[1].accesses = {{1, "pe", AccessKind::kRead}, {2, "", AccessKind::kWrite}};
  Memory& memory = problem.memories[0];
  memory.name = "sram";
  memory.alignment = 2;
  memory.reserved = {{{0, 2}, "table"}, {{14, 16}, ""}};
  memory.banks[0].ports = {2, 1, std::nullopt};
  memory.transitions = {{0, 1}, {1, 2}};
  problem.loops = {{0, 2, {2}}};
  problem.relations = {{RelationKind::kColocate, 0, 1, -4},     {RelationKind::kColocate, 0, 1, 0},
                       {RelationKind::kAdjacent, 0, 1, 0},      {RelationKind::kSameBank, 0, 1, 0},
                       {RelationKind::kDifferentBank, 0, 1, 0}, {RelationKind::kSeparate, 0, 1, 0}};
  return problem;
}

std::string Say(const Condition& condition) { return Describe(EveryCondition(), condition, 12); }

TEST(ExplanationTextTest, ConditionsOfBuffers) {
  EXPECT_EQ(Say(Of(ConditionKind::kBuffer, 0)), "'a' of 4 bytes lives in steps [0, 2) and [3, 4)");
  EXPECT_EQ(Say(Of(ConditionKind::kBuffer, 1)), "'b' of 1 byte lives in steps [1, 4)");
  EXPECT_EQ(Say(Of(ConditionKind::kAlignment, 0)), "'a' lies at a multiple of 4");
  EXPECT_EQ(Say(Of(ConditionKind::kFixedOffset, 0)), "'a' is fixed at offset 8");
  EXPECT_EQ(Say(Of(ConditionKind::kBanks, 0)), "'a' lies inside a single bank");
  EXPECT_EQ(Say(Of(ConditionKind::kBanks, 1)), "'b' touches no bank but 'high'");
  EXPECT_EQ(Say(Of(ConditionKind::kBanks, 2)), "'c' lies inside the banks 'low' and 'high'");
  EXPECT_EQ(Say(Of(ConditionKind::kAccess, 1, 0)), "'b' is read at step 1 by 'pe'");
  EXPECT_EQ(Say(Of(ConditionKind::kAccess, 1, 1)), "'b' is written at step 2");
}

TEST(ExplanationTextTest, Loops) {
  EXPECT_EQ(Say(Of(ConditionKind::kLoop)),
            "steps [0, 2) repeat: the mode of step 0 follows that of step 1");
}

TEST(ExplanationTextTest, Relations) {
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 0)), "'b' lies 4 bytes below 'a'");
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 1)), "'a' and 'b' lie at the same offset");
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 2)),
            "'b' is adjacent to 'a': it begins where 'a' ends, rounded up to a multiple of 2");
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 3)), "'a' and 'b' touch the same banks");
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 4)), "'a' and 'b' have no bank in common");
  EXPECT_EQ(Say(Of(ConditionKind::kRelation, 0, 5)), "'a' and 'b' never share an address");
}

Requirement Asking(RequirementKind kind, Bytes multiple = 1, Bytes residue = 0) {
  Requirement requirement;
  requirement.kind = kind;
  requirement.multiple = multiple;
  requirement.residue = residue;
  return requirement;
}

std::string SayRule(const Requirement& requirement) {
  Problem problem = EveryCondition();
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  Rule rule;
  rule.name = "r";
  rule.requirement = requirement;
  if (IsPairwise(requirement.kind)) {
    rule.pairs = {{0, 1}, {1, 2}};
  } else {
    rule.buffers = {0, 1};
  }
  problem.rules = {rule};
  return Describe(problem, Of(ConditionKind::kRule, 0, 0), 12);
}

TEST(ExplanationTextTest, Rules) {
  EXPECT_EQ(SayRule(Asking(RequirementKind::kOffset, 64, 8)),
            "rule 'r': 'a' and 'b' at 8 modulo 64");
  EXPECT_EQ(SayRule(Asking(RequirementKind::kDifference, 4, 1)),
            "rule 'r': ('a', 'b') and ('b', 'c') apart by 1 modulo 4");
  EXPECT_EQ(SayRule(Asking(RequirementKind::kNoCrossing, 8)),
            "rule 'r': 'a' and 'b' across no multiple of 8");
  EXPECT_EQ(SayRule(Asking(RequirementKind::kSameBank)),
            "rule 'r': ('a', 'b') and ('b', 'c') in the same banks");
  Requirement window = Asking(RequirementKind::kWindow);
  window.window = {4, 8};
  EXPECT_EQ(SayRule(window), "rule 'r': 'a' and 'b' inside [4, 8)");
  Requirement banks = Asking(RequirementKind::kBanks);
  banks.banks = {1};
  EXPECT_EQ(SayRule(banks), "rule 'r': 'a' and 'b' in no bank but 'high'");
  EXPECT_EQ(SayRule(Asking(RequirementKind::kSameBankGroup)),
            "rule 'r': ('a', 'b') and ('b', 'c') in one of the bank groups ('low') and ('high')");
  EXPECT_EQ(SayRule(Asking(RequirementKind::kDifferentBankGroup)),
            "rule 'r': ('a', 'b') and ('b', 'c') in different ones of the bank groups ('low') and "
            "('high')");
  Requirement guard = Asking(RequirementKind::kGuard);
  guard.before = 1;
  guard.after = 2;
  EXPECT_EQ(SayRule(guard), "rule 'r': 'a' and 'b' with 1 byte free before and 2 bytes after");
}

TEST(ExplanationTextTest, ConditionsOfMemories) {
  EXPECT_EQ(Say(Of(ConditionKind::kCapacity)), "'sram' holds 12 bytes");
  EXPECT_EQ(Say(Of(ConditionKind::kMemoryAlignment)), "every offset in 'sram' is a multiple of 2");
  EXPECT_EQ(Say(Of(ConditionKind::kReserved, 0, 0)), "[0, 2) of 'sram' is reserved for 'table'");
  EXPECT_EQ(Say(Of(ConditionKind::kReserved, 0, 1)), "[14, 16) of 'sram' is reserved");
  EXPECT_EQ(Say(Of(ConditionKind::kPorts, 0, 0)),
            "'low' serves at most 2 buffers and 1 read in one step");
  EXPECT_EQ(Say(Of(ConditionKind::kModes)),
            "'sram' has the modes 'rw' (r w), 'wr' (w r) and 'sleep' (off hold), bank by bank");
  EXPECT_EQ(Say(Of(ConditionKind::kTransitions)),
            "'sram' changes its mode only from 'rw' to 'wr' and from 'wr' to 'sleep'");
}

std::string Say(const Change& change) { return Describe(EveryCondition(), change, 12); }

TEST(ExplanationTextTest, Changes) {
  EXPECT_EQ(Say(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 8, "", true}),
            "with 8 bytes more in 'sram', 20 in all");
  EXPECT_EQ(Say(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 8, "", false}),
            "with 8 bytes more in 'sram', 20 in all; whether less would do is not proven");
  EXPECT_EQ(Say(Change{ChangeKind::kAlignment, Of(ConditionKind::kAlignment), 2, "", true}),
            "with 'a' aligned to 2 instead of 4");
  EXPECT_EQ(Say(Change{ChangeKind::kAlignment, Of(ConditionKind::kMemoryAlignment), 1, "", true}),
            "with every offset in 'sram' aligned to 1 instead of 2");
  EXPECT_EQ(Say(Change{ChangeKind::kAlignment, Of(ConditionKind::kBuffer), 1, "", true}),
            "without the alignments of buffers");
  EXPECT_EQ(Say(Change{ChangeKind::kBank, Of(ConditionKind::kCapacity, 0, 1), 8, "", true}),
            "with one bank more like 'high' (8 bytes)");
  EXPECT_EQ(Say(Change{ChangeKind::kFreeBank, Of(ConditionKind::kCapacity), 4, "", true}),
            "with one bank more of 4 bytes in 'sram', which every mode lets be read and written");
  EXPECT_EQ(Say(Change{ChangeKind::kPorts, Of(ConditionKind::kPorts), 1, "", true}),
            "with 1 port more in 'low'");
  EXPECT_EQ(Say(Change{ChangeKind::kDrop, Of(ConditionKind::kFixedOffset), 0, "", true}),
            "if it were not that 'a' is fixed at offset 8");
  EXPECT_EQ(Say(Change{ChangeKind::kCandidate, {}, 0, "rows=2", true}),
            "with the sizes of 'rows=2'");
}

Explanation Made(std::vector<Condition> conditions) {
  return {std::move(conditions), true, {}, true};
}

TEST(ExplanationTextTest, AnOverloadIsSummedUpAtItsStep) {
  Problem problem = PlainProblem(
      {MakeBuffer("x", 0, 8, 32), MakeBuffer("y", 7, 9, 32), MakeBuffer("z", 5, 8, 32)});
  problem.memories[0].name = "sram";
  const Explanation explanation =
      Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
            Of(ConditionKind::kBuffer, 2), Of(ConditionKind::kCapacity)});
  EXPECT_EQ(Summarize(problem, explanation, 64),
            "'x', 'y' and 'z' live together at step 7 and need 96 bytes; 'sram' holds 64");
}

TEST(ExplanationTextTest, ReservedBytesAreMissing) {
  Problem problem = PlainProblem({MakeBuffer("x", 0, 8, 12)});
  problem.memories[0].reserved = {{{12, 20}, ""}};
  EXPECT_EQ(Summarize(problem,
                      Made({Of(ConditionKind::kBuffer), Of(ConditionKind::kCapacity),
                            Of(ConditionKind::kReserved)}),
                      14),
            "'x' finds no place, although no step needs more than 12 bytes; the memory holds 14, 2 "
            "of them "
            "reserved");
  EXPECT_EQ(Summarize(problem, Made({Of(ConditionKind::kBuffer), Of(ConditionKind::kCapacity)}), 8),
            "'x' needs 12 bytes; the memory holds 8");
}

TEST(ExplanationTextTest, AFragmentedPackingDiffersFromAnOverload) {
  const Problem problem = PlainProblem({MakeBuffer("x", 0, 2, 4), MakeBuffer("y", 1, 3, 4)});
  const Explanation explanation =
      Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
            Of(ConditionKind::kAlignment, 0), Of(ConditionKind::kCapacity)});
  EXPECT_EQ(Summarize(problem, explanation, 9),
            "'x' and 'y' find no place together, although no step needs more than 8 bytes; the "
            "memory holds 9");
}

TEST(ExplanationTextTest, ModesAndContradictionsHaveTheirOwnSentences) {
  const Problem problem = EveryCondition();
  EXPECT_EQ(
      Summarize(problem, Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kModes)}), 16),
      "no choice of banks and modes of 'sram' serves what happens to 'a'");
  EXPECT_EQ(Summarize(problem,
                      Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kFixedOffset)}), 16),
            "'a' cannot be placed in 'sram' as is asked of it");
}

TEST(ExplanationTextTest, ABufferLargerThanEveryBankHasItsOwnSentence) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 9)});
  problem.buffers[0].span = Span::kSingle;
  EXPECT_EQ(Summarize(problem, Made({Of(ConditionKind::kBuffer), Of(ConditionKind::kBanks)}), 16),
            "'a' lies inside a single bank, but needs 9 bytes, and the longest holds 8");
}

TEST(ExplanationTextTest, SentencesListConditionsAndChanges) {
  const Problem problem = PlainProblem({MakeBuffer("x", 0, 2, 20)});
  Explanation explanation = Made({Of(ConditionKind::kBuffer), Of(ConditionKind::kCapacity)});
  explanation.changes = {{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 4, "", true}};
  EXPECT_THAT(Sentences(problem, explanation, 16),
              ElementsAre("'x' needs 20 bytes; the memory holds 16",
                          "2 conditions collide; without any one of them the others can be kept:",
                          "  'x' of 20 bytes lives in steps [0, 2)", "  the memory holds 16 bytes",
                          "it would fit", "  with 4 bytes more in the memory, 20 in all"));
}

TEST(ExplanationTextTest, WhatIsNotProvenIsSaid) {
  const Problem problem = PlainProblem({MakeBuffer("x", 0, 2, 20)});
  Explanation explanation = Made({Of(ConditionKind::kBuffer), Of(ConditionKind::kCapacity)});
  explanation.minimal = explanation.all_tried = false;
  const std::vector<std::string> lines = Sentences(problem, explanation, 16);
  EXPECT_EQ(lines[1], "2 conditions collide; a limit came first, so the set may not be minimal:");
  EXPECT_EQ(lines.back(), "no single change is known to make it fit; not all were decided");
}

TEST(ExplanationTextTest, LongListsAreCutShort) {
  std::vector<Buffer> buffers;
  Explanation explanation;
  for (int i = 0; i < 40; ++i) {
    buffers.push_back(MakeBuffer("b" + std::to_string(i), 0, 2, 1));
    explanation.conditions.push_back(Of(ConditionKind::kBuffer, i));
  }
  const std::vector<std::string> lines = Sentences(PlainProblem(buffers), explanation, 16);
  EXPECT_THAT(lines[0], HasSubstr("'b11' and 28 more"));
  EXPECT_EQ(lines[2 + kMostListed], "  and 16 more");
}

files::AllocationDocument Infeasible(Explanation explanation) {
  files::AllocationDocument document;
  document.result.status = Status::kInfeasible;
  document.result.explanation = std::move(explanation);
  document.capacity = 12;
  return document;
}

TEST(ExplanationJsonTest, ReadsBack) {
  Explanation explanation;
  for (int kind = 0; kind <= static_cast<int>(ConditionKind::kTransitions); ++kind)
    explanation.conditions.push_back(
        Of(static_cast<ConditionKind>(kind), kind == 4 ? 1 : 0, kind == 5 ? 1 : 0));
  explanation.changes = {{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 8, "", false},
                         {ChangeKind::kAlignment, Of(ConditionKind::kBuffer), 1, "", true},
                         {ChangeKind::kBank, Of(ConditionKind::kCapacity, 0, 1), 8, "", true},
                         {ChangeKind::kFreeBank, Of(ConditionKind::kCapacity), 4, "", true},
                         {ChangeKind::kDrop, Of(ConditionKind::kRelation, 0, 1), 0, "", true},
                         {ChangeKind::kCandidate, {}, 0, "rows=2", true}};
  explanation.minimal = true;
  Problem problem = EveryCondition();
  problem.rules = {{"r", Asking(RequirementKind::kOffset, 4), {0}, {}, {}}};
  const std::string text = files::WriteAllocation(problem, Infeasible(explanation));
  const auto document = files::ReadAllocation(text, "a.json", problem);
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(document->result.explanation, explanation);
  EXPECT_EQ(files::WriteAllocation(problem, *document), text);
}

// The fault when an explanation of EveryCondition() is read for a problem that lacks the named
// things.
std::string FaultOf(const Condition& condition, const Problem& problem) {
  const std::string text = files::WriteAllocation(EveryCondition(), Infeasible(Made({condition})));
  const auto document = files::ReadAllocation(text, "a.json", problem);
  return document ? "sound" : document.error().pointer + " " + document.error().message;
}

TEST(ExplanationJsonTest, WhatTheProblemDoesNotStateIsRefused) {
  Problem bare = PlainProblem({MakeBuffer("a", 0, 2, 4)});
  bare.memories[0].name = "sram";
  const std::string at = "/explanation/conditions/0";
  EXPECT_EQ(FaultOf(Of(ConditionKind::kBuffer, 1), bare), at + "/buffer there is no buffer 'b'");
  EXPECT_EQ(FaultOf(Of(ConditionKind::kFixedOffset), bare),
            at + " the problem states no such condition");
  EXPECT_EQ(FaultOf(Of(ConditionKind::kTransitions), bare),
            at + " the problem states no such condition");
  EXPECT_EQ(FaultOf(Of(ConditionKind::kReserved), bare),
            at + "/index there is nothing of this kind to refer to");
  EXPECT_EQ(FaultOf(Of(ConditionKind::kRelation, 0, 1), bare),
            at + "/index there is nothing of this kind to refer to");
}

TEST(CollisionTest, BuffersArePiledUpBeyondTheCapacity) {
  Problem problem =
      PlainProblem({MakeBuffer("a", 0, 2, 6), MakeBuffer("b", 1, 3, 8), MakeBuffer("c", 2, 4, 8)});
  problem.buffers[0].alignment = 4;
  problem.memories[0].reserved = {{{8, 10}, ""}};
  const draw::Window pile =
      draw::PileUp(problem, Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1)}));
  ASSERT_EQ(pile.problem.buffers.size(), 2U);
  EXPECT_THAT(pile.allocation.offsets, ElementsAre(12, 0));
}

TEST(CollisionTest, FixedBuffersStayWhereTheyAreAndOnlyNamedAccessesRemain) {
  const Problem problem = EveryCondition();
  const draw::Window pile =
      draw::PileUp(problem, Made({Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
                                  Of(ConditionKind::kAccess, 1, 1)}));
  EXPECT_THAT(pile.allocation.offsets, ElementsAre(8, 2));
  EXPECT_EQ(pile.problem.buffers[1].accesses, std::vector<Access>{problem.buffers[1].accesses[1]});
}

TEST(CollisionTest, ThePictureMarksWhatCollidesAndWhatSticksOut) {
  const Problem problem =
      PlainProblem({MakeBuffer("a", 0, 2, 12), MakeBuffer("b", 1, 3, 8), MakeBuffer("c", 0, 3, 1)});
  const Explanation explanation = Made(
      {Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1), Of(ConditionKind::kCapacity)});
  const std::string picture = draw::WriteCollisionSvg(problem, explanation, 16);
  EXPECT_THAT(picture, HasSubstr("memory 0: what collides, piled up, 20 of 16 bytes"));
  EXPECT_THAT(picture, HasSubstr("stroke=\"#c1121f\""));
  EXPECT_THAT(picture, HasSubstr("fill=\"url(#beyond)\""));
  EXPECT_THAT(picture, HasSubstr("'a' and 'b' live together at step 1 and need 20 bytes"));
  EXPECT_THAT(picture, Not(HasSubstr("<title>c:")));
}

TEST(CollisionTest, AccessesOfTheReasonAreLetters) {
  const std::string picture =
      draw::WriteCollisionSvg(EveryCondition(),
                              Made({Of(ConditionKind::kBuffer, 1), Of(ConditionKind::kAccess, 1, 1),
                                    Of(ConditionKind::kModes)}),
                              16);
  EXPECT_THAT(picture, HasSubstr(">w</text>"));
  EXPECT_THAT(picture, Not(HasSubstr(">r</text>")));
}

}  // namespace
}  // namespace tessera::problem
