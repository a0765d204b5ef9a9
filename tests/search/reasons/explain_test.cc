// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/reasons/explain.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "brute_force.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Explanations of fixtures small enough to check by eye. Enumeration decides.
namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Bytes;
using problem::Change;
using problem::ChangeKind;
using problem::Condition;
using problem::ConditionKind;
using problem::Explanation;
using problem::Problem;
using problem::RelationKind;
using problem::Result;
using problem::Status;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;

Result Decided(const Problem& problem, Bytes capacity, const base::Budget&) {
  Result result;
  result.allocation = Enumerate(problem, capacity);
  result.status = result.allocation ? Status::kFeasible : Status::kInfeasible;
  return result;
}

problem::Buffer MakeBuffer(const std::string& id, problem::Step lower, problem::Step upper,
                           Bytes size) {
  problem::Buffer buffer;
  buffer.id = id;
  buffer.size = size;
  buffer.lifespans = {{lower, upper}};
  return buffer;
}

Problem MakeProblem(std::vector<problem::Buffer> buffers, Bytes capacity) {
  Problem problem;
  problem.buffers = std::move(buffers);
  problem.memories.resize(1);
  problem.memories[0].capacity = capacity;
  return problem;
}

Explanation Explained(const Problem& problem, const search::reasons::ExplainOptions& options = {}) {
  EXPECT_FALSE(problem::CheckWellFormed(problem).has_value());
  return search::reasons::Explain(problem, problem.memories[0].capacity, Decided, options);
}

Condition Of(ConditionKind kind, int owner = 0, int item = 0) { return {kind, owner, item}; }

TEST(ExplainTest, AnOverloadNamesTheFewestLargestBuffers) {
  const Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 1), MakeBuffer("b", 0, 2, 5),
                                       MakeBuffer("c", 1, 3, 6), MakeBuffer("d", 1, 2, 2)},
                                      10);
  const Explanation explanation = Explained(problem);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 1), Of(ConditionKind::kBuffer, 2),
                          Of(ConditionKind::kCapacity)));
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.changes, ElementsAre(Change{ChangeKind::kCapacity,
                                                      Of(ConditionKind::kCapacity), 4, "", true}));
  EXPECT_TRUE(explanation.all_tried);
}

// Loads stay within 10, but there is no placement: each step holds 10 bytes, and the long buffers
// obstruct the others.
TEST(ExplainTest, APackingWithoutAnOverloadIsExplainedToo) {
  const Problem problem = MakeProblem(
      {MakeBuffer("low", 0, 2, 3), MakeBuffer("long", 1, 4, 4), MakeBuffer("high", 3, 5, 3),
       MakeBuffer("left", 0, 1, 3), MakeBuffer("over", 2, 3, 2)},
      6);
  const Explanation explanation = Explained(problem);
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.conditions, Contains(Of(ConditionKind::kCapacity)));
  EXPECT_FALSE(explanation.changes.empty());
}

TEST(ExplainTest, AnAlignmentIsLoweredNoFurtherThanNeeded) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 6), MakeBuffer("b", 0, 2, 6)}, 12);
  problem.buffers[0].alignment = 12;
  problem.buffers[1].alignment = 12;
  const Explanation explanation = Explained(problem);
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
                          Of(ConditionKind::kAlignment, 0), Of(ConditionKind::kAlignment, 1),
                          Of(ConditionKind::kCapacity)));
  EXPECT_THAT(
      explanation.changes,
      ElementsAre(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 6, "", true},
                  Change{ChangeKind::kAlignment, Of(ConditionKind::kAlignment, 0), 6, "", true},
                  Change{ChangeKind::kAlignment, Of(ConditionKind::kAlignment, 1), 6, "", true}));
}

TEST(ExplainTest, WhereNoAlignmentAloneIsToBlameAllOfThemAreTried) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 0, 2, 3), MakeBuffer("c", 0, 2, 3)}, 9);
  for (problem::Buffer& buffer : problem.buffers) buffer.alignment = 4;
  EXPECT_THAT(Explained(problem).changes,
              Contains(Change{ChangeKind::kAlignment, Of(ConditionKind::kBuffer), 1, "", true}));
}

TEST(ExplainTest, WhatContradictsItselfAtAnyCapacityBlamesNoCapacity) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 0, 2, 2)}, 8);
  problem.buffers[0].offset = 0;
  problem.buffers[1].offset = 1;
  const Explanation explanation = Explained(problem);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
                          Of(ConditionKind::kFixedOffset, 0), Of(ConditionKind::kFixedOffset, 1)));
  EXPECT_THAT(
      explanation.changes,
      ElementsAre(Change{ChangeKind::kDrop, Of(ConditionKind::kFixedOffset, 0), 0, "", true},
                  Change{ChangeKind::kDrop, Of(ConditionKind::kFixedOffset, 1), 0, "", true}));
}

TEST(ExplainTest, AReservedRangeAndARelationCanBeToBlame) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 2, 3, 4)}, 9);
  problem.memories[0].reserved = {{{4, 5}, "stack"}};
  problem.relations = {{RelationKind::kAdjacent, 0, 1, 0}};
  const Explanation explanation = Explained(problem);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
                          Of(ConditionKind::kRelation, 0, 0), Of(ConditionKind::kCapacity),
                          Of(ConditionKind::kReserved)));
  EXPECT_THAT(
      explanation.changes,
      ElementsAre(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 4, "", true},
                  Change{ChangeKind::kDrop, Of(ConditionKind::kRelation, 0, 0), 0, "", true},
                  Change{ChangeKind::kDrop, Of(ConditionKind::kReserved), 0, "", true}));
}

// 'c' may lie at 0 or 3, so 'a' behind it begins at 3 or 6, and ends beyond 6. 'a' and 'b' collide
// by their sizes too. The explanation names the relation because the problem states it explicitly.
Problem AdjacentInAMemoryAlignedTo3() {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 0, 1, 1), MakeBuffer("c", 2, 3, 1)}, 6);
  problem.memories[0].alignment = 3;
  problem.relations = {{RelationKind::kAdjacent, 2, 0, 0}};
  return problem;
}

TEST(ExplainTest, TheAlignmentToWhichANeighbourIsRoundedUpIsAReason) {
  const Explanation explanation = Explained(AdjacentInAMemoryAlignedTo3());
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 2),
                          Of(ConditionKind::kRelation, 0, 0), Of(ConditionKind::kCapacity),
                          Of(ConditionKind::kMemoryAlignment)));
  EXPECT_THAT(explanation.changes,
              ElementsAre(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 1, "", true},
                          Change{ChangeKind::kAlignment, Of(ConditionKind::kMemoryAlignment), 1, "",
                                 true}));
  EXPECT_TRUE(explanation.all_tried);
}

// 4 and 4 bytes exceed 6, whatever alignment 'a' is rounded up to.
TEST(ExplainTest, AnAlignmentWithoutWhichANeighbourFindsNoPlaceEitherIsNoReason) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("c", 2, 3, 4)}, 6);
  problem.buffers[0].alignment = 2;
  problem.relations = {{RelationKind::kAdjacent, 1, 0, 0}};
  EXPECT_THAT(Explained(problem).conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kBuffer, 1),
                          Of(ConditionKind::kRelation, 0, 0), Of(ConditionKind::kCapacity)));
}

// Directly behind 'c' the reserved bytes block 'a'; at the multiple of 4 they do not. The fixed
// offsets collide.
TEST(ExplainTest, WhatCollidesOnlyWithoutAnAlignmentIsNoReason) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("c", 2, 3, 1),
                                 MakeBuffer("x", 0, 1, 2), MakeBuffer("y", 0, 1, 2)},
                                8);
  problem.memories[0].alignment = 4;
  problem.memories[0].reserved = {{{2, 4}, ""}};
  problem.relations = {{RelationKind::kAdjacent, 1, 0, 0}};
  problem.buffers[2].offset = 0;
  problem.buffers[3].offset = 0;
  EXPECT_THAT(Explained(problem).conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 2), Of(ConditionKind::kBuffer, 3),
                          Of(ConditionKind::kFixedOffset, 2), Of(ConditionKind::kFixedOffset, 3)));
}

// The mode of step 0 may not follow that of step 1. Only the loop requires that.
TEST(ExplainTest, ALoopCanBeToBlame) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 1)}, 1);
  problem.buffers[0].accesses = {{0, "", AccessKind::kRead}, {1, "", AccessKind::kWrite}};
  problem::Memory& memory = problem.memories[0];
  memory.banks = {{"only", {0, 1}, {}}};
  memory.modes = {{"reads", {{false, {{"", AccessKind::kRead}}}}},
                  {"writes", {{false, {{"", AccessKind::kWrite}}}}}};
  memory.transitions = {{0, 1}};
  problem.loops = {{0, 2, {2}}};
  const Explanation explanation = Explained(problem);
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.conditions,
              testing::IsSupersetOf({Of(ConditionKind::kLoop), Of(ConditionKind::kTransitions)}));
  EXPECT_THAT(explanation.changes,
              Contains(Change{ChangeKind::kDrop, Of(ConditionKind::kLoop), 0, "", true}));
}

// The explainer detects an answer that contradicts an earlier one: it decides the set once more.
TEST(ExplainTest, AnAnswerThatIsTakenBackIsNotBelieved) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 1), MakeBuffer("b", 0, 1, 1)}, 2);
  int questions = 0;
  const search::reasons::Decide fickle = [&](const Problem& asked, Bytes capacity,
                                             const base::Budget& budget) {
    if (++questions > 2) return Decided(asked, capacity, budget);
    Result result;
    result.status = Status::kInfeasible;
    return result;
  };
  const Explanation explanation = search::reasons::Explain(problem, 2, fickle, {});
  EXPECT_FALSE(explanation.minimal);
  EXPECT_EQ(explanation.conditions.size(), 3U);
}

// The patent's double-buffered loop on three banks, each one byte long.
Problem ThreeBanks() {
  Problem problem = MakeProblem({MakeBuffer("ping", 0, 2, 1), MakeBuffer("pong", 0, 2, 1),
                                 MakeBuffer("weights", 0, 2, 1), MakeBuffer("out", 0, 2, 1)},
                                3);
  const auto access = [&](size_t buffer, problem::Step step, AccessKind kind) {
    problem.buffers[buffer].span = problem::Span::kSingle;
    problem.buffers[buffer].accesses.push_back({step, "", kind});
  };
  for (const problem::Step step : {0, 1}) {
    access(0, step, step == 0 ? AccessKind::kRead : AccessKind::kWrite);
    access(1, step, step == 0 ? AccessKind::kWrite : AccessKind::kRead);
    access(2, step, AccessKind::kRead);
    access(3, step, AccessKind::kWrite);
  }
  const problem::BankMode reads = {false, {{"", AccessKind::kRead}}};
  const problem::BankMode writes = {false, {{"", AccessKind::kWrite}}};
  problem::Memory& memory = problem.memories[0];
  memory.banks = {{"bank0", {0, 1}, {}}, {"bank1", {1, 2}, {}}, {"bank2", {2, 3}, {}}};
  memory.modes = {{"mode0", {reads, reads, writes}}, {"mode1", {writes, writes, reads}}};
  return problem;
}

// Four bytes in three are an overload too; a fourth byte outside the banks leaves only the modes as
// the reason.
TEST(ExplainTest, ThePatentsThreeBanksCollideInAccessesAndModes) {
  Problem problem = ThreeBanks();
  for (problem::Bank& bank : problem.memories[0].banks)
    bank.range = {2 * bank.range.begin, 2 * bank.range.end};
  problem.memories[0].capacity = 6;
  const Explanation explanation = Explained(problem);
  EXPECT_TRUE(explanation.minimal);
  EXPECT_LE(explanation.conditions.size(), 12U);
  EXPECT_THAT(explanation.conditions, Contains(Of(ConditionKind::kModes)));
  EXPECT_THAT(explanation.changes,
              Contains(Change{ChangeKind::kDrop, Of(ConditionKind::kModes), 0, "", true}));
}

TEST(ExplainTest, PortsAreAddedOneByOne) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 1, 1), MakeBuffer("b", 0, 1, 1), MakeBuffer("c", 0, 1, 1)}, 4);
  problem.memories[0].banks = {{"only", {0, 4}, {}}};
  problem.memories[0].banks[0].ports.reads = 1;
  for (problem::Buffer& buffer : problem.buffers) {
    buffer.span = problem::Span::kSingle;
    buffer.accesses = {{0, "", AccessKind::kRead}};
  }
  const Explanation explanation = Explained(problem);
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.changes,
              Contains(Change{ChangeKind::kPorts, Of(ConditionKind::kPorts), 2, "", true}));
}

// Every offset of every buffer, judged by the validator, which knows rules.
Result DecidedByValidator(const Problem& problem, Bytes capacity, const base::Budget&) {
  Result result;
  result.status = Status::kInfeasible;
  problem::Allocation allocation{std::vector<Bytes>(problem.buffers.size(), 0), {}};
  const auto place = [&](const auto& self, size_t i) -> bool {
    if (i == problem.buffers.size())
      return problem::Validate(problem, allocation, capacity, 1).empty();
    for (Bytes offset = 0; offset + problem.buffers[i].size <= capacity; ++offset) {
      allocation.offsets[i] = offset;
      if (self(self, i + 1)) return true;
    }
    return false;
  };
  if (!place(place, 0)) return result;
  result.status = Status::kFeasible;
  result.allocation = std::move(allocation);
  return result;
}

TEST(ExplainTest, ARuleCanBeToBlame) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 2, 3, 1), MakeBuffer("c", 0, 1, 1)}, 8);
  problem::Rule rule;
  rule.requirement.kind = problem::RequirementKind::kOffset;
  rule.requirement.multiple = 8;
  rule.requirement.residue = 6;
  rule.buffers = {0, 1};
  problem.rules = {rule};
  ASSERT_FALSE(problem::CheckWellFormed(problem).has_value());
  const Explanation explanation = search::reasons::Explain(problem, 8, DecidedByValidator, {});
  EXPECT_TRUE(explanation.minimal);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 0), Of(ConditionKind::kRule, 0, 0),
                          Of(ConditionKind::kCapacity)));
  EXPECT_THAT(explanation.changes,
              ElementsAre(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity), 2, "", true},
                          Change{ChangeKind::kDrop, Of(ConditionKind::kRule, 0, 0), 0, "", true}));
}

TEST(ExplainTest, TheNextSmallerCandidateThatFitsIsNamed) {
  const Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 9)}, 6);
  const problem::Ladder ladder = {{{"one", {4}}, {"two", {6}}, {"three", {7}}, {"four", {9}}}};
  const Explanation explanation = Explained(problem, {.ladder = &ladder, .candidate = 3});
  EXPECT_THAT(explanation.changes,
              Contains(Change{ChangeKind::kCandidate, Condition{}, 0, "two", true}));
}

TEST(ExplainTest, TheSecondMemoryCanBeTheNarrowOne) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 0, 1, 4)}, 4);
  problem.memories.push_back(problem.memories[0]);
  problem.memories[1].capacity = 3;
  problem.buffers[1].memory = 1;
  const Explanation explanation = Explained(problem);
  EXPECT_THAT(explanation.conditions,
              ElementsAre(Of(ConditionKind::kBuffer, 1), Of(ConditionKind::kCapacity, 1)));
  EXPECT_THAT(
      explanation.changes,
      ElementsAre(Change{ChangeKind::kCapacity, Of(ConditionKind::kCapacity, 1), 1, "", true}));
}

TEST(ExplainTest, WithoutABudgetNothingIsClaimed) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 0, 2, 2)}, 8);
  problem.buffers[0].offset = 0;
  problem.buffers[1].offset = 1;
  const Explanation explanation = Explained(problem, {.budget = {0}});
  EXPECT_FALSE(explanation.minimal);
  EXPECT_FALSE(explanation.all_tried);
  EXPECT_THAT(explanation.changes, IsEmpty());
  EXPECT_THAT(explanation.conditions, testing::IsSupersetOf({Of(ConditionKind::kFixedOffset, 0),
                                                             Of(ConditionKind::kFixedOffset, 1)}));
}

// A condition about which the decision answers unknown stays in the set, and the set is not called
// minimal.
TEST(ExplainTest, AnUnknownIsNeverTakenForANo) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 0, 2, 2)}, 8);
  problem.buffers[0].offset = 0;
  problem.buffers[1].offset = 1;
  const search::reasons::Decide shy = [](const Problem& asked, Bytes capacity,
                                         const base::Budget& budget) {
    if (asked.buffers.size() == 2) return Decided(asked, capacity, budget);
    return Result{};
  };
  const Explanation explanation = search::reasons::Explain(problem, 8, shy, {});
  EXPECT_FALSE(explanation.minimal);
  EXPECT_EQ(explanation.conditions.size(), 4U);
}

// The explainer rejects a decision that answers with a wrong placement.
TEST(ExplainTest, PlacementsAreChecked) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 0, 2, 2)}, 8);
  problem.buffers[0].offset = 0;
  problem.buffers[1].offset = 1;
  const search::reasons::Decide liar = [](const Problem& asked, Bytes capacity,
                                          const base::Budget& budget) {
    Result result = Decided(asked, capacity, budget);
    if (!result.allocation) return result;
    for (Bytes& offset : result.allocation->offsets) offset = capacity;
    return result;
  };
  const Explanation explanation = search::reasons::Explain(problem, 8, liar, {});
  EXPECT_FALSE(explanation.minimal);
  EXPECT_THAT(explanation.changes, IsEmpty());
}

TEST(ExplainTest, AStopEndsTheQuestions) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 2), MakeBuffer("b", 0, 2, 2)}, 8);
  problem.buffers[0].offset = 0;
  problem.buffers[1].offset = 1;
  base::Stop stop;
  stop.Request();
  int questions = 0;
  const search::reasons::Decide counting = [&](const Problem&, Bytes, const base::Budget&) {
    ++questions;
    return Result{};
  };
  EXPECT_FALSE(search::reasons::Explain(problem, 8, counting, {.stop = &stop}).minimal);
  EXPECT_EQ(questions, 0);
}

}  // namespace
}  // namespace tessera::encoder
