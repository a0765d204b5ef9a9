// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>

#include "tessera/problem/well_formed.h"
#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {
namespace {

using problem::AccessKind;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Problem;
using problem::RelationKind;
using testing::ElementsAre;
using testing::IsEmpty;

problem::Buffer MakeBuffer(const std::string& id, Bytes size) {
  problem::Buffer buffer;
  buffer.id = id;
  buffer.size = size;
  buffer.lifespans = {{0, 2}};
  return buffer;
}

// Three buffers with every condition that a problem can state.
Query Everything() {
  Query query;
  query.capacity = 16;
  Problem& problem = query.problem;
  problem.buffers = {MakeBuffer("a", 4), MakeBuffer("b", 4), MakeBuffer("c", 4)};
  problem.buffers[0].alignment = 4;
  problem.buffers[0].offset = 8;
  problem.buffers[0].span = problem::Span::kSingle;
  problem.buffers[1].accesses = {{0, "", AccessKind::kRead}, {1, "", AccessKind::kWrite}};
  problem::Memory& memory = problem.memories.emplace_back();
  memory.capacity = 16;
  memory.alignment = 2;
  memory.reserved = {{{0, 2}, "table"}};
  memory.banks = {{"low", {0, 8}, {}}, {"high", {8, 16}, {}}};
  memory.banks[1].ports.total = 1;
  memory.modes = {{"m", {{false, {{"", AccessKind::kRead}}}, {false, {{"", AccessKind::kWrite}}}}}};
  memory.transitions.emplace();
  problem.relations = {{RelationKind::kColocate, 0, 1, -4},
                       {RelationKind::kExclusive, 1, 2, 0},
                       {RelationKind::kDifferentBank, 0, 2, 0}};
  return query;
}

TEST(ConditionsTest, EverythingThatIsAskedIsListed) {
  EXPECT_THAT(
      ListConditions(Everything()),
      ElementsAre(
          Condition{ConditionKind::kBuffer, 0, 0}, Condition{ConditionKind::kBuffer, 1, 0},
          Condition{ConditionKind::kBuffer, 2, 0}, Condition{ConditionKind::kAlignment, 0, 0},
          Condition{ConditionKind::kFixedOffset, 0, 0}, Condition{ConditionKind::kBanks, 0, 0},
          Condition{ConditionKind::kAccess, 1, 0}, Condition{ConditionKind::kAccess, 1, 1},
          Condition{ConditionKind::kRelation, 0, 0}, Condition{ConditionKind::kRelation, 0, 2},
          Condition{ConditionKind::kCapacity, 0, 0},
          Condition{ConditionKind::kMemoryAlignment, 0, 0},
          Condition{ConditionKind::kReserved, 0, 0}, Condition{ConditionKind::kPorts, 0, 1},
          Condition{ConditionKind::kModes, 0, 0}, Condition{ConditionKind::kTransitions, 0, 0}));
}

TEST(ConditionsTest, AccessesThatNothingCountsAreNoConditions) {
  Query query = Everything();
  query.problem.memories[0].modes.clear();
  query.problem.memories[0].banks[1].ports = {};
  for (const Condition& each : ListConditions(query)) EXPECT_NE(each.kind, ConditionKind::kAccess);
}

// 'a' is adjacent to 'b'. It is rounded up to 4, or to 2 where its own alignment is not kept.
Query Neighbours() {
  Query query = Everything();
  query.problem.relations = {{RelationKind::kAdjacent, 1, 0, 0}};
  return query;
}

const std::vector<Condition> kBothAndTheRelation = {{ConditionKind::kBuffer, 0, 0},
                                                    {ConditionKind::kBuffer, 1, 0},
                                                    {ConditionKind::kRelation, 0, 0},
                                                    {ConditionKind::kMemoryAlignment, 0, 0}};

TEST(ConditionsTest, TheAlignmentsOfNeighboursAreConditions) {
  const std::vector<Condition> list = ListConditions(Neighbours());
  EXPECT_THAT(list, testing::Contains(Condition{ConditionKind::kAlignment, 0, 0}));
  EXPECT_THAT(list, testing::Contains(Condition{ConditionKind::kMemoryAlignment, 0, 0}));
}

TEST(ConditionsTest, ANeighbourWithoutItsAlignmentHasTwoReadings) {
  const std::vector<Query> readings = Readings(Neighbours(), kBothAndTheRelation);
  ASSERT_EQ(readings.size(), 2U);
  EXPECT_EQ(readings[0].problem.buffers[0].alignment, 4);  // as stated
  EXPECT_EQ(readings[1].problem.buffers[0].alignment, 2);  // as kept
  for (const Query& reading : readings) {
    EXPECT_EQ(reading.problem.buffers[1].alignment, 1);
    EXPECT_EQ(reading.problem.memories[0].alignment, 2);
    EXPECT_EQ(reading.problem.relations.size(), 1U);
  }
}

TEST(ConditionsTest, WhereItsAlignmentIsKeptOneReadingIsEnough) {
  std::vector<Condition> kept = kBothAndTheRelation;
  kept.insert(kept.begin() + 2, {ConditionKind::kAlignment, 0, 0});
  EXPECT_EQ(Readings(Neighbours(), kept).size(), 1U);
  kept.pop_back();  // 4 is a multiple of the memory's 2
  EXPECT_EQ(Readings(Neighbours(), kept).size(), 1U);
}

TEST(ConditionsTest, AnAlignmentIsLeftOutWhereNoNeighbourIsPlacedByIt) {
  const std::vector<Condition> alone = {{ConditionKind::kBuffer, 0, 0},
                                        {ConditionKind::kBuffer, 1, 0}};
  ASSERT_EQ(Readings(Neighbours(), alone).size(), 1U);
  const Query bare = Keep(Neighbours(), alone);
  EXPECT_EQ(bare.problem.buffers[0].alignment, 1);
  EXPECT_EQ(bare.problem.memories[0].alignment, 1);
  EXPECT_THAT(bare.problem.relations, IsEmpty());
}

TEST(ConditionsTest, ALoopIsAConditionWhereTransitionsAreLimitedAndItsEndIsAnExit) {
  Query query = Everything();
  query.problem.loops = {{0, 2, {1}}, {0, 2, {1, 2}}};
  EXPECT_THAT(ListConditions(query), testing::Contains(Condition{ConditionKind::kLoop, 0, 1}));
  EXPECT_THAT(ListConditions(query),
              testing::Not(testing::Contains(Condition{ConditionKind::kLoop, 0, 0})));
  const Query bare = Keep(query, std::vector<Condition>{{ConditionKind::kBuffer, 0, 0}});
  ASSERT_EQ(bare.problem.loops.size(), 1U);
  EXPECT_THAT(bare.problem.loops[0].exits, ElementsAre(1));
  EXPECT_EQ(Strike(query, {ConditionKind::kLoop, 0, 1}).problem.loops.size(), 1U);
  query.problem.memories[0].transitions.reset();
  for (const Condition& each : ListConditions(query)) EXPECT_NE(each.kind, ConditionKind::kLoop);
}

// 1 modulo 5 and 3 modulo 7 meet first at 31.
TEST(ConditionsTest, AFreeCapacityHoldsEveryRemainder) {
  Query query;
  query.capacity = 4;
  query.problem.buffers = {MakeBuffer("a", 1)};
  query.problem.memories.emplace_back().capacity = 4;
  for (const auto& [multiple, residue] : std::vector<std::pair<Bytes, Bytes>>{{5, 1}, {7, 3}}) {
    problem::Rule& rule = query.problem.rules.emplace_back();
    rule.requirement.kind = problem::RequirementKind::kOffset;
    rule.requirement.multiple = multiple;
    rule.requirement.residue = residue;
    rule.buffers = {0};
  }
  EXPECT_GE(Roomy(query, 0), 32);
}

TEST(ConditionsTest, KeepingAllOfThemChangesNothing) {
  const Query query = Everything();
  const Query kept = Keep(query, ListConditions(query));
  EXPECT_EQ(kept.capacity, 16);
  EXPECT_EQ(kept.problem.buffers.size(), 3U);
  EXPECT_EQ(kept.problem.buffers[0].offset, 8);
  EXPECT_EQ(kept.problem.buffers[0].alignment, 4);
  EXPECT_EQ(kept.problem.buffers[1].accesses, query.problem.buffers[1].accesses);
  EXPECT_EQ(kept.problem.memories[0].reserved.size(), 1U);
  EXPECT_EQ(kept.problem.memories[0].modes.size(), 1U);
  EXPECT_TRUE(kept.problem.memories[0].transitions.has_value());
  EXPECT_EQ(kept.problem.relations[0].kind, RelationKind::kColocate);
}

TEST(ConditionsTest, WhatIsNotKeptIsNotAsked) {
  const std::vector<Condition> kept = {{ConditionKind::kBuffer, 0, 0},
                                       {ConditionKind::kBuffer, 1, 0}};
  const Query query = Keep(Everything(), kept);
  ASSERT_EQ(query.problem.buffers.size(), 2U);
  const problem::Buffer& a = query.problem.buffers[0];
  EXPECT_EQ(a.alignment, 1);
  EXPECT_FALSE(a.offset.has_value());
  EXPECT_EQ(a.span, problem::Span::kAny);
  EXPECT_THAT(query.problem.buffers[1].accesses, IsEmpty());
  const problem::Memory& memory = query.problem.memories[0];
  EXPECT_EQ(memory.alignment, 1);
  EXPECT_THAT(memory.reserved, IsEmpty());
  EXPECT_THAT(memory.modes, IsEmpty());
  EXPECT_FALSE(memory.banks[1].ports.total.has_value());
  EXPECT_EQ(query.capacity, Roomy(Everything(), 0));
  EXPECT_FALSE(problem::CheckWellFormed(query.problem).has_value());
}

TEST(ConditionsTest, AColocationLeavesItsLicenceBehind) {
  const std::vector<Condition> kept = {{ConditionKind::kBuffer, 0, 0},
                                       {ConditionKind::kBuffer, 1, 0}};
  const Query query = Keep(Everything(), kept);
  ASSERT_EQ(query.problem.relations.size(), 1U);
  EXPECT_EQ(query.problem.relations[0].kind, RelationKind::kExclusive);
  EXPECT_EQ(query.problem.relations[0].delta, 0);
}

TEST(ConditionsTest, StrikingOutAColocationLeavesNothing) {
  const Query query = Strike(Everything(), {ConditionKind::kRelation, 0, 0});
  ASSERT_EQ(query.problem.relations.size(), 2U);
  EXPECT_EQ(query.problem.relations[0].kind, RelationKind::kExclusive);
  EXPECT_EQ(query.problem.relations[0].first, 1);
}

TEST(ConditionsTest, ASmallerCapacityThanTheMemorysIsAsked) {
  Query query = Everything();
  query.capacity = 12;
  EXPECT_EQ(Keep(query, ListConditions(query)).capacity, 12);
  EXPECT_EQ(WithCapacity(query, 0, 13).capacity, 13);
  EXPECT_FALSE(problem::CheckWellFormed(WithCapacity(query, 0, 13).problem).has_value());
}

}  // namespace
}  // namespace tessera::search::reasons
