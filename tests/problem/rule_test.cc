// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <functional>

#include "fixture.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

namespace tessera::problem {
namespace {

constexpr Bytes kRuleCapacity = 16;

Requirement Wanted(RequirementKind kind) {
  Requirement wanted;
  wanted.kind = kind;
  return wanted;
}

// "test: ..." for each violation of one rule about buffers a (2 bytes) and b (4 bytes), which never
// live together. They are the rule's buffers, or its one pair.
std::string Faults(const Requirement& wanted, Bytes a, Bytes b,
                   const std::function<void(Problem&)>& change = nullptr) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 2), MakeBuffer("b", 1, 2, 4)});
  problem.memories[0].modes.clear();
  problem.rules = {{"test", wanted, {}, {}, {}}};
  if (IsPairwise(wanted.kind)) {
    problem.rules[0].pairs = {{0, 1}};
  } else {
    problem.rules[0].buffers = {0, 1};
  }
  if (change) change(problem);
  EXPECT_FALSE(CheckWellFormed(problem).has_value());
  std::string text;
  for (const Violation& violation : Validate(problem, {{a, b}, {}}, kRuleCapacity)) {
    EXPECT_EQ(violation.kind, ViolationKind::kRule) << violation.message;
    text += (text.empty() ? "" : "\n") + violation.message;
  }
  return text;
}

TEST(RuleTest, OffsetIsAResidueOfAMultiple) {
  Requirement wanted = Wanted(RequirementKind::kOffset);
  wanted.multiple = 4;
  wanted.residue = 1;
  EXPECT_EQ(Faults(wanted, 1, 9), "");
  EXPECT_EQ(Faults(wanted, 1, 8), "rule 'test': buffer 'b' at [8, 12) leaves 0 modulo 4, not 1");
}

TEST(RuleTest, DifferenceCountsFromTheFirstToTheSecondAndWraps) {
  Requirement wanted = Wanted(RequirementKind::kDifference);
  wanted.multiple = 8;
  wanted.residue = 3;
  EXPECT_EQ(Faults(wanted, 0, 3), "");
  EXPECT_EQ(Faults(wanted, 0, 11), "");
  EXPECT_EQ(Faults(wanted, 5, 0), "");
  EXPECT_EQ(
      Faults(wanted, 3, 0),
      "rule 'test': buffer 'a' at [3, 5) and buffer 'b' at [0, 4) are 5 apart modulo 8, not 3");
}

TEST(RuleTest, WindowHoldsTheWholeBuffer) {
  Requirement wanted = Wanted(RequirementKind::kWindow);
  wanted.window = {2, 8};
  EXPECT_EQ(Faults(wanted, 2, 4), "");
  EXPECT_EQ(Faults(wanted, 1, 5),
            "rule 'test': buffer 'a' at [1, 3) is outside [2, 8)\n"
            "rule 'test': buffer 'b' at [5, 9) is outside [2, 8)");
}

TEST(RuleTest, NoCrossingOfABoundary) {
  Requirement wanted = Wanted(RequirementKind::kNoCrossing);
  wanted.multiple = 4;
  EXPECT_EQ(Faults(wanted, 2, 8), "");
  EXPECT_EQ(Faults(wanted, 3, 8), "rule 'test': buffer 'a' at [3, 5) crosses a multiple of 4");
}

TEST(RuleTest, NaturalAlignmentRoundsTheSizeUpToAPowerOfTwo) {
  const Requirement wanted = Wanted(RequirementKind::kNaturalAlignment);
  const auto three = [](Problem& problem) { problem.buffers[1].size = 3; };
  EXPECT_EQ(Faults(wanted, 2, 4, three), "");
  EXPECT_EQ(Faults(wanted, 2, 6, three),
            "rule 'test': buffer 'b' at [6, 9) is not at a multiple of 4");
}

TEST(RuleTest, BanksAreTheOnlyOnesTouched) {
  Requirement wanted = Wanted(RequirementKind::kBanks);
  wanted.banks = {1};
  EXPECT_EQ(Faults(wanted, 8, 12), "");
  EXPECT_EQ(Faults(wanted, 7, 12),
            "rule 'test': buffer 'a' at [7, 9) touches a bank that is not among those allowed");
}

TEST(RuleTest, SameAndDifferentBank) {
  EXPECT_EQ(Faults(Wanted(RequirementKind::kSameBank), 0, 4), "");
  EXPECT_EQ(
      Faults(Wanted(RequirementKind::kSameBank), 0, 6),
      "rule 'test': buffer 'a' at [0, 2) and buffer 'b' at [6, 10) do not touch the same banks");
  EXPECT_EQ(Faults(Wanted(RequirementKind::kDifferentBank), 0, 8), "");
  EXPECT_EQ(Faults(Wanted(RequirementKind::kDifferentBank), 0, 6),
            "rule 'test': buffer 'a' at [0, 2) and buffer 'b' at [6, 10) touch the same bank");
}

// Four banks of 4 bytes in the groups {0, 2} and {1}; bank 3 is in none.
void MakeBankGroups(Problem& problem) {
  Memory& memory = problem.memories[0];
  memory.banks.clear();
  for (Bytes bank = 0; bank < 4; ++bank)
    memory.banks.push_back({"b" + std::to_string(bank), {4 * bank, 4 * bank + 4}, {}});
  memory.bank_sets["bank_groups"] = {{0, 2}, {1}};
}

TEST(RuleTest, OneGroupHasAllBanksOfAPair) {
  const Requirement wanted = Wanted(RequirementKind::kSameBankGroup);
  EXPECT_EQ(Faults(wanted, 2, 8, MakeBankGroups), "");
  EXPECT_EQ(Faults(wanted, 4, 4, MakeBankGroups), "");
  EXPECT_EQ(Faults(wanted, 2, 4, MakeBankGroups),
            "rule 'test': buffer 'a' at [2, 4) and buffer 'b' at [4, 8) touch 'b0' and 'b1', which "
            "are in different bank groups");
  EXPECT_EQ(
      Faults(wanted, 5, 6, MakeBankGroups),
      "rule 'test': buffer 'a' at [5, 7) and buffer 'b' at [6, 10) touch 'b1' and 'b2', which "
      "are in different bank groups");
  EXPECT_EQ(Faults(wanted, 8, 12, MakeBankGroups),
            "rule 'test': buffer 'a' at [8, 10) and buffer 'b' at [12, 16) touch 'b3', which is in "
            "no bank group");
}

TEST(RuleTest, NoGroupHasBanksOfBothBuffersOfAPair) {
  const Requirement wanted = Wanted(RequirementKind::kDifferentBankGroup);
  EXPECT_EQ(Faults(wanted, 2, 4, MakeBankGroups), "");
  EXPECT_EQ(Faults(wanted, 2, 12, MakeBankGroups), "");  // a bank in no group is free for both
  EXPECT_EQ(Faults(wanted, 12, 12, MakeBankGroups), "");
  EXPECT_EQ(Faults(wanted, 2, 8, MakeBankGroups),
            "rule 'test': buffer 'a' at [2, 4) and buffer 'b' at [8, 12) touch 'b0' and 'b2', "
            "which are in one bank group");
  EXPECT_EQ(Faults(wanted, 7, 0, MakeBankGroups),
            "rule 'test': buffer 'a' at [7, 9) and buffer 'b' at [0, 4) touch 'b2' and 'b0', which "
            "are in one bank group");
}

TEST(RuleTest, EachBufferOfASetHasItsOwnGroups) {
  const auto on_a_set = [](Problem& problem) {
    MakeBankGroups(problem);
    problem.rules[0].pairs.clear();
    problem.rules[0].buffers = {0, 1};
  };
  const Requirement wanted = Wanted(RequirementKind::kDifferentBankGroup);
  EXPECT_EQ(Faults(wanted, 6, 12, on_a_set), "");  // one buffer may touch two groups
  EXPECT_NE(Faults(wanted, 7, 0, on_a_set), "");
}

TEST(RuleTest, ItemsOfASetAreItsBuffersAndItsPairs) {
  Rule rule;
  rule.requirement.kind = RequirementKind::kSameBankGroup;
  for (int buffer = 0; buffer < 40; ++buffer) {
    rule.buffers.push_back(3 * buffer);
    const std::vector<RuleItem> items = ItemsOf(rule);
    size_t next = 0;
    for (const int alone : rule.buffers) {
      EXPECT_EQ(items[next].first, alone);
      EXPECT_FALSE(items[next++].IsPair());
    }
    for (size_t upper = 0; upper < rule.buffers.size(); ++upper) {
      for (size_t lower = 0; lower < upper; ++lower, ++next) {
        EXPECT_EQ(items[next].first, rule.buffers[lower]);
        EXPECT_EQ(items[next].second, rule.buffers[upper]);
      }
    }
    EXPECT_EQ(next, ItemCount(rule));
  }
}

TEST(RuleTest, BytesOutsideAllBanksAreInEveryGroup) {
  const auto change = [](Problem& problem) {
    MakeBankGroups(problem);
    problem.memories[0].banks.pop_back();
  };
  EXPECT_EQ(Faults(Wanted(RequirementKind::kSameBankGroup), 4, 12, change), "");
}

TEST(RuleTest, BankGroupsAreChecked) {
  const auto fault_after = [](const BankSets& groups) {
    Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 2), MakeBuffer("b", 1, 2, 4)});
    MakeBankGroups(problem);
    problem.memories[0].modes.clear();
    problem.memories[0].bank_sets["bank_groups"] = groups;
    problem.rules = {{"", Wanted(RequirementKind::kSameBankGroup), {}, {{0, 1}}, {}}};
    const auto fault = CheckWellFormed(problem);
    return fault ? fault->pointer + " " + fault->message : "sound";
  };
  EXPECT_EQ(fault_after({{3, 0}, {1}}), "sound");
  EXPECT_EQ(fault_after({{0}, {}}), "/memories/0/bank_groups/1 no bank is listed");
  EXPECT_EQ(fault_after({{0}, {4}}), "/memories/0/bank_groups/1/0 there is no bank 4");
  EXPECT_EQ(fault_after({{0, 1}, {2, 1}}), "/memories/0/bank_groups/1/1 bank 'b1' is listed twice");
  EXPECT_EQ(fault_after({}),
            "/rules/0/require/kind the memory of the rule's buffers lists no bank_groups");
}

TEST(RuleTest, DistanceHasASign) {
  Requirement wanted = Wanted(RequirementKind::kDistance);
  wanted.distance = -4;
  EXPECT_EQ(Faults(wanted, 6, 2), "");
  EXPECT_EQ(Faults(wanted, 2, 6),
            "rule 'test': buffer 'a' at [2, 4) and buffer 'b' at [6, 10) are 4 apart, not -4");
}

TEST(RuleTest, XorDistanceIsAboutAddressBits) {
  Requirement wanted = Wanted(RequirementKind::kXorDistance);
  wanted.distance = 8;
  EXPECT_EQ(Faults(wanted, 3, 11), "");
  EXPECT_EQ(Faults(wanted, 11, 3), "");
  EXPECT_EQ(Faults(wanted, 4, 0),
            "rule 'test': buffer 'a' at [4, 6) and buffer 'b' at [0, 4) differ in the address bits "
            "0x4, not "
            "0x8");
}

TEST(RuleTest, GuardBytesLieInsideTheMemoryAndOutsideReservedRanges) {
  Requirement wanted = Wanted(RequirementKind::kGuard);
  wanted.before = 1;
  wanted.after = 2;
  EXPECT_EQ(Faults(wanted, 1, 10), "");
  EXPECT_EQ(Faults(wanted, 0, 10),
            "rule 'test': buffer 'a' at [0, 2) has its guard [-1, 4) outside [0, 16)");
  EXPECT_EQ(Faults(wanted, 1, 11),
            "rule 'test': buffer 'b' at [11, 15) has its guard [10, 17) outside [0, 16)");
  const auto stack = [](Problem& problem) { problem.memories[0].reserved = {{{0, 1}, "stack"}}; };
  EXPECT_EQ(
      Faults(wanted, 1, 10, stack),
      "rule 'test': buffer 'a' at [1, 3) has its guard [0, 5) in the range reserved for 'stack'");
}

TEST(RuleTest, GuardBytesAreFreeOfBuffersThatLiveAtTheSameTime) {
  Requirement wanted = Wanted(RequirementKind::kGuard);
  wanted.after = 2;
  const auto together = [](Problem& problem) { problem.buffers[1].lifespans = {{0, 1}}; };
  EXPECT_EQ(Faults(wanted, 0, 3), "");
  EXPECT_EQ(Faults(wanted, 0, 4, together), "");
  EXPECT_EQ(Faults(wanted, 0, 3, together),
            "rule 'test': buffer 'b' at [3, 7) lies in the guard [0, 4) of buffer 'a'");
}

TEST(RuleTest, TwoGuardsMayOverlap) {
  Requirement wanted = Wanted(RequirementKind::kGuard);
  wanted.before = wanted.after = 2;
  const auto together = [](Problem& problem) { problem.buffers[1].lifespans = {{0, 1}}; };
  EXPECT_EQ(Faults(wanted, 2, 6, together), "");
}

TEST(RuleTest, AnExclusivePairMayLieInEachOthersGuards) {
  Requirement wanted = Wanted(RequirementKind::kGuard);
  wanted.after = 2;
  const auto exclusive = [](Problem& problem) {
    problem.buffers[1].lifespans = {{0, 1}};
    problem.relations = {{RelationKind::kExclusive, 0, 1, 0}};
  };
  EXPECT_EQ(Faults(wanted, 0, 3, exclusive), "");
}

TEST(RuleTest, PeakCountsTheGuardAboveABuffer) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 1, 2, 4)});
  EXPECT_EQ(PeakOf(problem, {{0, 2}, {}}), 6);
  problem.rules = {{"", Wanted(RequirementKind::kGuard), {0}, {}, {}}};
  problem.rules[0].requirement.after = 3;
  EXPECT_EQ(PeakOf(problem, {{0, 2}, {}}), 7);
}

TEST(RuleTest, CommonDeltaTiesPairs) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 1), MakeBuffer("b", 1, 2, 1),
                                  MakeBuffer("c", 2, 3, 1), MakeBuffer("d", 3, 4, 1)});
  problem.rules = {{"", Wanted(RequirementKind::kCommonDelta), {}, {{0, 1}, {2, 3}}, {}}};
  EXPECT_TRUE(Validate(problem, {{0, 5, 10, 15}, {}}, kRuleCapacity).empty());
  const auto violations = Validate(problem, {{0, 5, 10, 4}, {}}, kRuleCapacity);
  ASSERT_EQ(violations.size(), 1U);
  EXPECT_EQ(violations[0].message,
            "a rule of kind common_delta: buffer 'c' at [10, 11) and buffer 'd' at [4, 5) are -6 "
            "apart, where "
            "another pair is 5");
}

TEST(RuleTest, ARuleOfSizesLooksAwayFromOtherSizes) {
  Requirement wanted = Wanted(RequirementKind::kOffset);
  wanted.multiple = 8;
  EXPECT_EQ(Faults(wanted, 8, 3, [](Problem& problem) { problem.rules[0].sizes = {1, 3}; }), "");
  EXPECT_NE(Faults(wanted, 8, 3, [](Problem& problem) { problem.rules[0].sizes = {1, 4}; }), "");
}

TEST(RuleTest, OnlySizesAndSameBankMakeShrinkingUnsafe) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 2), MakeBuffer("b", 1, 2, 4)});
  for (size_t k = 0; k < kRequirementKinds; ++k) {
    const auto kind = static_cast<RequirementKind>(k);
    problem.rules = {{"", Wanted(kind), {0, 1}, {}, {}}};
    if (IsPairwise(kind)) problem.rules = {{"", Wanted(kind), {}, {{0, 1}}, {}}};
    EXPECT_EQ(ShrinkingIsSafe(problem), kind != RequirementKind::kSameBank) << NameOf(kind);
    problem.rules[0].sizes.least = 3;
    EXPECT_FALSE(ShrinkingIsSafe(problem)) << NameOf(kind);
  }
}

// The pointer of the fault after `spoil` has changed a valid rule of offsets for buffers 0 and 1 of
// three; the last buffer is in another memory.
std::string RuleFaultAfter(const std::function<void(Rule&)>& spoil) {
  Problem problem =
      BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 1, 4, 4), MakeBuffer("c", 1, 4, 4)});
  problem.memories.push_back(problem.memories[0]);
  problem.buffers[2].memory = 1;
  problem.rules = {{"test", Wanted(RequirementKind::kOffset), {0, 1}, {}, {}}};
  spoil(problem.rules[0]);
  const auto fault = CheckWellFormed(problem);
  return fault ? fault->pointer : "sound";
}

TEST(RuleTest, RequirementsAreChecked) {
  EXPECT_EQ(RuleFaultAfter([](Rule&) {}), "sound");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.requirement.multiple = 0; }),
            "/rules/0/require/multiple");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.requirement.residue = 1; }),
            "/rules/0/require/residue");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) {
              rule.requirement = Wanted(RequirementKind::kNoCrossing);
              rule.requirement.multiple = -4;
            }),
            "/rules/0/require/boundary");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.requirement = Wanted(RequirementKind::kWindow); }),
            "/rules/0/require/window");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) {
              rule.requirement = Wanted(RequirementKind::kGuard);
              rule.requirement.after = -1;
            }),
            "/rules/0/require/after");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.requirement = Wanted(RequirementKind::kBanks); }),
            "/rules/0/require/banks");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) {
              rule.requirement = Wanted(RequirementKind::kBanks);
              rule.requirement.banks = {0, 2};
            }),
            "/rules/0/require/banks/1");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.sizes = {5, 4}; }), "/rules/0/sizes");
}

TEST(RuleTest, SelectionsAreChecked) {
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.buffers.clear(); }), "/rules/0");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.pairs = {{0, 1}}; }), "/rules/0");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.buffers = {0, 3}; }), "/rules/0/buffers/1");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.buffers = {0, 2}; }), "/rules/0/buffers/1");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) { rule.buffers = {1, 0}; }), "/rules/0/buffers/1");
  EXPECT_EQ(RuleFaultAfter([](Rule& rule) {
              rule = {"", Wanted(RequirementKind::kSameBank), {}, {{0, 1}, {1, 1}}, {}};
            }),
            "/rules/0/pairs/1");
}

TEST(RuleTest, CostsAreChecked) {
  const auto fault_after = [](const Cost& cost) {
    Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 2, 4, 4)});
    problem.memories.push_back(PlainProblem({}).memories[0]);
    problem.costs = {cost};
    const auto fault = CheckWellFormed(problem);
    return fault ? fault->pointer : "sound";
  };
  EXPECT_EQ(fault_after({"", CostKind::kReuse, 5, 0, 1, 0}), "sound");
  EXPECT_EQ(fault_after({"", CostKind::kReuse, -1, 0, 1, 0}), "/costs/0/weight");
  EXPECT_EQ(fault_after({"", CostKind::kReuse, 1, 0, 2, 0}), "/costs/0/second");
  EXPECT_EQ(fault_after({"", CostKind::kReuse, 1, 1, 1, 0}), "/costs/0");
  EXPECT_EQ(fault_after({"", CostKind::kModeSwitch, 1, 0, 0, 0}), "sound");
  EXPECT_EQ(fault_after({"", CostKind::kModeSwitch, 1, 0, 0, 1}), "/costs/0/memory");
  EXPECT_EQ(fault_after({"", CostKind::kModeSwitch, base::kMaxTotal, 0, 0, 0}), "/costs");
}

TEST(RuleTest, CostsAddUpReuseAndSwitches) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 2, 4, 4)});
  problem.loops = {{0, 2, {2}}};
  problem.costs = {{"", CostKind::kReuse, 5, 0, 1, 0}, {"", CostKind::kModeSwitch, 3, 0, 0, 0}};
  EXPECT_EQ(CostOf(problem, {{0, 4}, {{0, 0, 0, 0}}}), 0);
  EXPECT_EQ(CostOf(problem, {{0, 3}, {{0, 0, 0, 0}}}), 5);
  // From step 0 to 1, back from 1 to 0, and from 1 to 2.
  EXPECT_EQ(CostOf(problem, {{0, 4}, {{0, 1, 0, 0}}}), 9);
}

TEST(RuleTest, EveryKindReadsBackAsItWasWritten) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 2, 4, 4)});
  problem.memories[0].bank_sets["bank_groups"] = {{1}, {0}};
  for (size_t k = 0; k < kRequirementKinds; ++k) {
    Rule rule = {"r" + std::to_string(k), Wanted(static_cast<RequirementKind>(k)), {}, {}, {}};
    Requirement& wanted = rule.requirement;
    switch (wanted.kind) {
      case RequirementKind::kOffset:
      case RequirementKind::kDifference:
        wanted.multiple = 8;
        wanted.residue = 3;
        break;
      case RequirementKind::kNoCrossing:
        wanted.multiple = 4096;
        break;
      case RequirementKind::kWindow:
        wanted.window = {2, 9};
        break;
      case RequirementKind::kBanks:
        wanted.banks = {0, 1};
        break;
      case RequirementKind::kDistance:
        wanted.distance = -7;
        break;
      case RequirementKind::kXorDistance:
        wanted.distance = 8;
        break;
      case RequirementKind::kGuard:
        wanted.before = 1;
        wanted.after = 2;
        break;
      default:
        break;
    }
    if (IsPairwise(wanted.kind)) {
      rule.pairs = {{1, 0}};
    } else {
      rule.buffers = {0, 1};
    }
    if (k % 2 == 0) rule.sizes = {2, 100};
    problem.rules.push_back(rule);
  }
  problem.costs = {{"spread", CostKind::kReuse, 5, 0, 1, 0},
                   {"", CostKind::kModeSwitch, 3, 0, 0, 0}};
  const auto document = files::ReadProblem(files::WriteProblem(problem), "p.json");
  ASSERT_TRUE(document.has_value()) << base::Format(document.error());
  EXPECT_EQ(document->problem.rules, problem.rules);
  EXPECT_EQ(document->problem.costs, problem.costs);
}

// Pointer and message of the fault in a rule of one buffer "a" and a pair with "b".
std::string JsonFault(const std::string& rule) {
  const std::string text =
      R"({"format": "tessera-problem", "version": 1, "memories": [{"capacity": 16}],
    "buffers": [{"id": "a", "size": 4, "lifespans": [[0, 2]]}, {"id": "b", "size": 4, "lifespans": [[1, 3]]}],
    "rules": [)" +
      rule + "]}";
  const auto document = files::ReadProblem(text, "p.json");
  if (document) return "sound";
  return document.error().pointer + " " + document.error().message +
         (document.error().hint.empty() ? "" : "; " + document.error().hint);
}

TEST(RuleTest, FaultsInJsonHaveAPointerAndACure) {
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "offset", "multiple": 4}, "buffers": ["a"]})"),
            "sound");
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "ofset", "multiple": 4}, "buffers": ["a"]})"),
            "/rules/0/require/kind unknown name 'ofset'; did you mean 'offset'?");
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "offset", "boundary": 4}, "buffers": ["a"]})"),
            "/rules/0/require the key 'multiple' is missing");
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "guard", "befor": 4}, "buffers": ["a"]})"),
            "/rules/0/require/befor unknown key 'befor'; did you mean 'before'?");
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "same_bank"}, "pairs": [["a", "c"]]})"),
            "/rules/0/pairs/0/1 there is no buffer 'c'; did you mean 'a'?");
  EXPECT_EQ(
      JsonFault(
          R"({"require": {"kind": "natural_alignment"}, "buffers": ["a"], "pairs": [["a", "b"]]})"),
      "/rules/0 a rule of kind natural_alignment does not list what it applies to");
  EXPECT_EQ(JsonFault(R"({"require": {"kind": "banks", "banks": [0]}, "buffers": ["a"]})"),
            "/rules/0/require/banks/0 there is no bank to refer to");
}

}  // namespace
}  // namespace tessera::problem
