// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/formulation/address_constraints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

namespace tessera::encoder {
namespace {

using problem::AddressRange;
using problem::Buffer;
using problem::Bytes;
using problem::Problem;
using problem::RelationKind;
using problem::Span;
using testing::ElementsAre;
using testing::IsEmpty;
using Pair = std::pair<int, int>;

class ConstraintsOf : public testing::Test {
 protected:
  ConstraintsOf() { problem_.memories.emplace_back().capacity = 4096; }

  Buffer& Add(Bytes size, problem::Step lower, problem::Step upper) {
    Buffer& buffer = problem_.buffers.emplace_back();
    buffer.id = std::to_string(problem_.buffers.size());
    buffer.size = size;
    buffer.lifespans = {{lower, upper}};
    return buffer;
  }
  void Relate(RelationKind kind, Bytes delta = 0) {
    problem_.relations.push_back({kind, 0, 1, delta});
  }
  void AddBanks() {
    problem_.memories[0].banks = {{"a", {0, 64}, {}}, {"b", {64, 128}, {}}, {"c", {192, 256}, {}}};
  }
  Bytes Granularity() const { return formulation::GranularityOf(problem_, nullptr, 0); }

  Problem problem_;
};

TEST_F(ConstraintsOf, GranularityDividesSizesAndAlignments) {
  Add(48, 0, 2);
  Add(32, 0, 2).alignment = 64;
  EXPECT_EQ(Granularity(), 16);
}

TEST_F(ConstraintsOf, GranularityDividesBoundariesFixedOffsetsAndDeltas) {
  Add(48, 0, 2);
  Add(48, 0, 2);
  EXPECT_EQ(Granularity(), 48);
  problem_.memories[0].reserved = {{{0, 96}, "stack"}};
  EXPECT_EQ(Granularity(), 48);
  Relate(RelationKind::kColocate, 24);
  EXPECT_EQ(Granularity(), 24);
  problem_.buffers[0].offset = 108;
  EXPECT_EQ(Granularity(), 12);
}

TEST_F(ConstraintsOf, GranularityServesEveryCandidate) {
  Add(48, 0, 2);
  const problem::Ladder ladder{{{"a", {48}}, {"b", {64}}}};
  EXPECT_EQ(formulation::GranularityOf(problem_, &ladder, 0), 16);
}

// [1, 5) then 8, the least multiple of 4 from 5 on: no solution at multiples of 4 puts the second
// at 8 with so low a first.
TEST_F(ConstraintsOf, AlignedNeighbourOfAnUnalignedBufferNeedsBytes) {
  Add(4, 0, 2);
  Add(4, 0, 2).alignment = 4;
  Relate(RelationKind::kAdjacent);
  EXPECT_EQ(Granularity(), 1);
  problem_.buffers[0].alignment = 4;
  EXPECT_EQ(Granularity(), 4);
}

TEST_F(ConstraintsOf, SameBanksOfUnalignedBuffersNeedBytesUnlessSingle) {
  AddBanks();
  Add(64, 0, 2);
  Add(64, 0, 2);
  Relate(RelationKind::kSameBank);
  EXPECT_EQ(Granularity(), 1);
  for (Buffer& buffer : problem_.buffers) buffer.span = Span::kSingle;
  EXPECT_EQ(Granularity(), 64);
}

// The granularity that a rule of this kind leaves of 96, the buffers' size.
TEST_F(ConstraintsOf, GranularityDividesWhatRulesName) {
  Add(96, 0, 2);
  Add(96, 0, 2);
  const auto granularity_under = [&](problem::RequirementKind kind, Bytes number) {
    problem_.rules = {{"", {}, {}, {}, {}}};
    problem::Requirement& wanted = problem_.rules[0].requirement;
    wanted.kind = kind;
    wanted.multiple = wanted.distance = wanted.after = wanted.window.begin = number;
    if (IsPairwise(kind)) problem_.rules[0].pairs = {{0, 1}};
    if (!IsPairwise(kind)) problem_.rules[0].buffers = {0, 1};
    return Granularity();
  };
  using problem::RequirementKind;
  EXPECT_EQ(granularity_under(RequirementKind::kOffset, 64), 32);
  EXPECT_EQ(granularity_under(RequirementKind::kOffset, 1), 96);
  EXPECT_EQ(granularity_under(RequirementKind::kDifference, 36), 12);
  EXPECT_EQ(granularity_under(RequirementKind::kNoCrossing, 4096), 32);
  EXPECT_EQ(granularity_under(RequirementKind::kWindow, 40), 8);
  EXPECT_EQ(granularity_under(RequirementKind::kNaturalAlignment, 0), 32);
  EXPECT_EQ(granularity_under(RequirementKind::kDistance, 60), 12);
  EXPECT_EQ(granularity_under(RequirementKind::kXorDistance, 48),
            16);  // 48, but for its odd factor
  EXPECT_EQ(granularity_under(RequirementKind::kGuard, 6), 6);
  EXPECT_EQ(granularity_under(RequirementKind::kBanks, 0), 96);
  EXPECT_EQ(granularity_under(RequirementKind::kDifferentBank, 0), 96);
  EXPECT_EQ(granularity_under(RequirementKind::kSameBank, 0), 1);
  EXPECT_EQ(granularity_under(RequirementKind::kCommonDelta, 0), 1);
}

TEST_F(ConstraintsOf, OffsetRulesMergeIntoOneGrid) {
  Add(96, 0, 2).alignment = 6;
  problem_.rules = {{"", {}, {0}, {}, {}}};
  problem_.rules[0].requirement.multiple = 4;
  problem_.rules[0].requirement.residue = 2;
  const formulation::Grid grid = formulation::FindAddressConstraints(problem_, nullptr).grids[0];
  EXPECT_EQ(grid.multiple, 12);
  EXPECT_EQ(grid.residue, 6);
  // Never at a multiple of 6: left to clauses, which refute it.
  problem_.rules[0].requirement.residue = 1;
  EXPECT_EQ(formulation::FindAddressConstraints(problem_, nullptr).grids[0].multiple, 6);
}

TEST_F(ConstraintsOf, PairsThatLiveTogetherAreDisjoint) {
  Add(1, 0, 2);
  Add(1, 1, 3);
  Add(1, 2, 4);
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).disjoint,
              ElementsAre(Pair(0, 1), Pair(1, 2)));
}

TEST_F(ConstraintsOf, GapsInALifeAreSeen) {
  Add(1, 0, 2).lifespans = {{0, 1}, {4, 5}};
  Add(1, 2, 3);
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).disjoint, IsEmpty());
}

TEST_F(ConstraintsOf, RelationsExemptAndSeparate) {
  Add(1, 0, 2);
  Add(1, 1, 3);
  Relate(RelationKind::kExclusive);
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).disjoint, IsEmpty());
  Relate(RelationKind::kSeparate);
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).disjoint,
              ElementsAre(Pair(0, 1)));
}

TEST_F(ConstraintsOf, SpansBecomeForbiddenRangesAndBoundaries) {
  AddBanks();
  constexpr Bytes kEnd = std::numeric_limits<Bytes>::max();
  Add(1, 0, 2);
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).forbidden[0], IsEmpty());
  problem_.buffers[0].span = Span::kContiguous;
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).forbidden[0],
              ElementsAre(AddressRange{128, 192}, AddressRange{256, kEnd}));
  problem_.buffers[0].span = Span::kSingle;
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).forbidden[0],
              ElementsAre(AddressRange{64, 64}, AddressRange{128, 192}, AddressRange{256, kEnd}));
  problem_.buffers[0].allowed_banks = {0, 2};
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).forbidden[0],
              ElementsAre(AddressRange{64, 192}, AddressRange{256, kEnd}));
  problem_.buffers[0].span = Span::kAny;
  EXPECT_THAT(formulation::FindAddressConstraints(problem_, nullptr).forbidden[0],
              ElementsAre(AddressRange{64, 128}));
}

TEST_F(ConstraintsOf, LoadLeavesOutBuffersThatMayShare) {
  Add(10, 0, 2);
  Add(20, 1, 3);
  Add(40, 1, 2);
  EXPECT_THAT(formulation::LoadOf(problem_), ElementsAre(70));
  Relate(RelationKind::kExclusive);
  EXPECT_THAT(formulation::LoadOf(problem_), ElementsAre(40));
}

}  // namespace
}  // namespace tessera::encoder
