// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/validator.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <set>

#include "fixture.h"

namespace tessera::problem {
namespace {

constexpr Bytes kCapacity = 16;

// "kind: message" of every violation, joined by line breaks.
std::string Faults(const Problem& problem, const Allocation& allocation,
                   Bytes capacity = kCapacity) {
  std::string text;
  for (const Violation& violation : Validate(problem, allocation, capacity)) {
    text +=
        (text.empty() ? "" : "\n") + std::string(NameOf(violation.kind)) + ": " + violation.message;
  }
  return text;
}

TEST(ValidatorTest, AcceptsACorrectPlacement) {
  const Problem problem =
      PlainProblem({MakeBuffer("a", 0, 2, 8), MakeBuffer("b", 1, 3, 8), MakeBuffer("c", 2, 4, 8)});
  EXPECT_EQ(Faults(problem, {{0, 8, 0}, {}}), "");
}

TEST(ValidatorTest, Shape) {
  const Problem problem = BankedProblem({MakeBuffer("a", 5, 7, 4)});
  EXPECT_EQ(Faults(problem, {{}, {{0, 0}}}), "shape: 0 offsets for 1 buffers");
  EXPECT_EQ(Faults(problem, {{0}, {}}), "shape: mode schedules for 0 of 1 memories");
  EXPECT_EQ(Faults(problem, {{0}, {{0}}}),
            "shape: memory 0 has a mode for 1 steps where 2 are needed");
  EXPECT_EQ(Faults(problem, {{0}, {{0, 3}}}), "shape: memory 0 has no mode 3, used at step 6");
  EXPECT_EQ(Faults(problem, {{0}, {{0, 0}}}), "");
}

TEST(ValidatorTest, BoundsAreThoseOfTheGivenCapacityAndOfTheOtherMemories) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 4), MakeBuffer("b", 0, 1, 4)});
  problem.memories.push_back(problem.memories[0]);
  problem.buffers[1].memory = 1;
  EXPECT_EQ(Faults(problem, {{4, 12}, {}}, 8), "");
  EXPECT_EQ(Faults(problem, {{5, 0}, {}}, 8),
            "bounds: buffer 'a' of 4 bytes at offset 5 is outside [0, 8) of memory 0");
  EXPECT_EQ(Faults(problem, {{0, 13}, {}}, 8),
            "bounds: buffer 'b' of 4 bytes at offset 13 is outside [0, 16) of memory 1");
  EXPECT_EQ(Faults(problem, {{-1, 0}, {}}, 8),
            "bounds: buffer 'a' of 4 bytes at offset -1 is outside [0, 8) of memory 0");
}

TEST(ValidatorTest, OffsetsNearTheEndOfIntegersAreOutOfBoundsNotOverflow) {
  const Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 4)});
  for (const Bytes offset :
       {std::numeric_limits<Bytes>::max(), std::numeric_limits<Bytes>::min()}) {
    const auto violations = Validate(problem, {{offset}, {}}, kCapacity);
    ASSERT_EQ(violations.size(), 1U);
    EXPECT_EQ(violations[0].kind, ViolationKind::kBounds);
  }
}

TEST(ValidatorTest, AlignmentOfBufferAndOfMemory) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 1)});
  problem.buffers[0].alignment = 4;
  problem.memories[0].alignment = 6;
  EXPECT_EQ(Faults(problem, {{4}, {}}), "alignment: offset 4 of buffer 'a' is not a multiple of 6");
  EXPECT_EQ(Faults(problem, {{6}, {}}), "alignment: offset 6 of buffer 'a' is not a multiple of 4");
  EXPECT_EQ(Faults(problem, {{12}, {}}), "");
}

TEST(ValidatorTest, FixedOffset) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 1)});
  problem.buffers[0].offset = 3;
  EXPECT_EQ(Faults(problem, {{4}, {}}),
            "fixed offset: buffer 'a' is fixed at offset 3 but placed at 4");
}

TEST(ValidatorTest, AHintIsNoConstraint) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 1)});
  problem.buffers[0].hint = 3;
  EXPECT_EQ(Faults(problem, {{4}, {}}), "");
}

TEST(ValidatorTest, Reserved) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 4)});
  problem.memories[0].reserved = {{{4, 6}, "stack"}};
  EXPECT_EQ(Faults(problem, {{1}, {}}),
            "reserved: buffer 'a' at [1, 5) touches [4, 6), reserved for 'stack'");
  EXPECT_EQ(Faults(problem, {{5}, {}}),
            "reserved: buffer 'a' at [5, 9) touches [4, 6), reserved for 'stack'");
  EXPECT_EQ(Faults(problem, {{0}, {}}), "");
  EXPECT_EQ(Faults(problem, {{6}, {}}), "");
}

TEST(ValidatorTest, Overlap) {
  const Problem problem = PlainProblem({MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 2, 5, 4)});
  EXPECT_EQ(Faults(problem, {{0, 3}, {}}),
            "overlap: buffers 'a' and 'b' share addresses [3, 4) at step 2");
}

TEST(ValidatorTest, BuffersOfDifferentMemoriesDoNotOverlap) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 2, 5, 4)});
  problem.memories.push_back(problem.memories[0]);
  problem.buffers[1].memory = 1;
  EXPECT_EQ(Faults(problem, {{0, 0}, {}}), "");
}

TEST(ValidatorTest, OnlyTheStatedPairMayOverlap) {
  Problem problem =
      PlainProblem({MakeBuffer("a", 0, 3, 4), MakeBuffer("b", 0, 3, 4), MakeBuffer("c", 0, 3, 4)});
  problem.relations = {{RelationKind::kExclusive, 1, 0, 0}, {RelationKind::kColocate, 1, 2, 0}};
  EXPECT_EQ(Faults(problem, {{0, 0, 0}, {}}),
            "overlap: buffers 'a' and 'c' share addresses [0, 4) at step 0");
}

// Two buffers a, b of 3 bytes with one relation; b alone is aligned to 4.
std::string RelationFault(RelationKind kind, Bytes delta, Bytes first, Bytes second,
                          bool banked = false) {
  std::vector<Buffer> buffers = {MakeBuffer("a", 0, 1, 3), MakeBuffer("b", 1, 2, 3)};
  buffers[1].alignment = 4;
  Problem problem = banked ? BankedProblem(buffers) : PlainProblem(buffers);
  problem.memories[0].modes.clear();
  problem.relations = {{kind, 0, 1, delta}};
  return Faults(problem, {{first, second}, {}});
}

TEST(ValidatorTest, Colocate) {
  EXPECT_EQ(RelationFault(RelationKind::kColocate, -1, 5, 4), "");
  EXPECT_EQ(RelationFault(RelationKind::kColocate, 1, 5, 4),
            "relation: buffer 'a' at [5, 8) and buffer 'b' at [4, 7) are not 1 bytes apart");
}

TEST(ValidatorTest, AdjacentRoundsUpToTheSecondsAlignment) {
  EXPECT_EQ(RelationFault(RelationKind::kAdjacent, 0, 2, 8), "");
  EXPECT_EQ(RelationFault(RelationKind::kAdjacent, 0, 1, 8),
            "relation: buffer 'a' at [1, 4) and buffer 'b' at [8, 11) are not adjacent: the second "
            "belongs at 4");
}

TEST(ValidatorTest, SeparateHoldsForAllLifespans) {
  EXPECT_EQ(RelationFault(RelationKind::kSeparate, 0, 1, 4), "");
  EXPECT_EQ(RelationFault(RelationKind::kSeparate, 0, 2, 4),
            "relation: buffer 'a' at [2, 5) and buffer 'b' at [4, 7) share addresses");
}

TEST(ValidatorTest, SameAndDifferentBank) {
  EXPECT_EQ(RelationFault(RelationKind::kSameBank, 0, 5, 4, true), "");
  EXPECT_EQ(RelationFault(RelationKind::kSameBank, 0, 6, 4, true),
            "relation: buffer 'a' at [6, 9) and buffer 'b' at [4, 7) do not touch the same banks");
  EXPECT_EQ(RelationFault(RelationKind::kDifferentBank, 0, 8, 4, true), "");
  EXPECT_EQ(RelationFault(RelationKind::kDifferentBank, 0, 6, 4, true),
            "relation: buffer 'a' at [6, 9) and buffer 'b' at [4, 7) both touch bank 0 'low'");
}

// A buffer of 4 bytes in banks [0, 6) and [6, 12) of 16 bytes.
std::string SpanFault(Span span, std::vector<int> allowed, Bytes offset) {
  Problem problem = PlainProblem({MakeBuffer("a", 0, 1, 4)});
  problem.memories[0].banks = {{"", {0, 6}, {}}, {"", {6, 12}, {}}};
  problem.buffers[0].span = span;
  problem.buffers[0].allowed_banks = std::move(allowed);
  return Faults(problem, {{offset}, {}});
}

TEST(ValidatorTest, SpanAnyMayLeaveTheBanksButNotTouchAForbiddenOne) {
  EXPECT_EQ(SpanFault(Span::kAny, {}, 4), "");
  EXPECT_EQ(SpanFault(Span::kAny, {}, 10), "");
  EXPECT_EQ(SpanFault(Span::kAny, {1}, 4),
            "span: buffer 'a' at [4, 8) touches bank 0, which is not allowed to it");
}

TEST(ValidatorTest, SpanContiguousMayCrossBoundariesButNotLeaveTheBanks) {
  EXPECT_EQ(SpanFault(Span::kContiguous, {}, 4), "");
  EXPECT_EQ(SpanFault(Span::kContiguous, {}, 10),
            "span: buffer 'a' at [10, 14) has 2 bytes outside the banks");
  EXPECT_EQ(SpanFault(Span::kContiguous, {0}, 4),
            "span: buffer 'a' at [4, 8) touches bank 1, which is not allowed to it");
}

TEST(ValidatorTest, SpanSingleStaysInsideOneBank) {
  EXPECT_EQ(SpanFault(Span::kSingle, {}, 2), "");
  EXPECT_EQ(SpanFault(Span::kSingle, {}, 4),
            "span: buffer 'a' at [4, 8) belongs inside a single bank but touches 2 banks");
  EXPECT_EQ(SpanFault(Span::kSingle, {}, 12),
            "span: buffer 'a' at [12, 16) has 4 bytes outside the banks");
}

TEST(ValidatorTest, ModesAllowAccessesInEveryTouchedBank) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 4)});
  problem.buffers[0].accesses = {{0, "pe", AccessKind::kRead}};
  EXPECT_EQ(Faults(problem, {{0}, {{0}}}), "");
  EXPECT_EQ(
      Faults(problem, {{0}, {{1}}}),
      "mode: buffer 'a' is read at step 0 by 'pe' but mode 'wr' forbids that in bank 0 'low'");
  EXPECT_EQ(
      Faults(problem, {{6}, {{0}}}),
      "mode: buffer 'a' is read at step 0 by 'pe' but mode 'rw' forbids that in bank 1 'high'");
}

TEST(ValidatorTest, PermissionsOfOneEngineServeNoOther) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 1, 4)});
  problem.memories[0].modes[0].banks[0].allowed = {{"dma", AccessKind::kRead}};
  problem.buffers[0].accesses = {{0, "dma", AccessKind::kRead}};
  EXPECT_EQ(Faults(problem, {{0}, {{0}}}), "");
  problem.buffers[0].accesses = {{0, "", AccessKind::kRead}};
  EXPECT_EQ(Faults(problem, {{0}, {{0}}}),
            "mode: buffer 'a' is read at step 0 but mode 'rw' forbids that in bank 0 'low'");
}

TEST(ValidatorTest, NothingLivesInABankThatIsOff) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 3, 4)});
  EXPECT_EQ(Faults(problem, {{8}, {{2, 2, 2}}}), "");
  EXPECT_EQ(Faults(problem, {{6}, {{0, 2, 0}}}),
            "mode: buffer 'a' is live at step 1 in bank 0 'low', which is off in mode 'sleep'");
  EXPECT_EQ(Faults(problem, {{6}, {{2, 0, 0}}}),
            "mode: buffer 'a' is live at step 0 in bank 0 'low', which is off in mode 'sleep'");
  EXPECT_EQ(Faults(problem, {{6}, {{0, 0, 2}}}),
            "mode: buffer 'a' is live at step 2 in bank 0 'low', which is off in mode 'sleep'");
  problem.buffers[0].lifespans = {{0, 1}, {2, 3}};
  EXPECT_EQ(Faults(problem, {{6}, {{0, 2, 0}}}), "");
}

TEST(ValidatorTest, TransitionsHoldBetweenNeighboursAndStayingIsFree) {
  Problem problem = BankedProblem({MakeBuffer("a", 3, 6, 4)});
  problem.memories[0].transitions = {{{0, 1}}};
  EXPECT_EQ(Faults(problem, {{8}, {{0, 0, 1}}}), "");
  EXPECT_EQ(Faults(problem, {{8}, {{1, 1, 0}}}),
            "transition: mode 'wr' at step 4 may not be followed by mode 'rw' at step 5");
}

TEST(ValidatorTest, TransitionsHoldOnBackEdgesAndExits) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 3, 4)});
  problem.memories[0].transitions = {{{0, 1}}};
  problem.loops = {{0, 2, {1}}};  // leaves after step 0, continues at step 2
  EXPECT_EQ(Faults(problem, {{8}, {{0, 1, 1}}}),
            "transition: mode 'wr' at step 1 may not be followed by mode 'rw' at step 0");
  EXPECT_EQ(Faults(problem, {{8}, {{1, 1, 0}}}),
            "transition: mode 'wr' at step 0 may not be followed by mode 'rw' at step 2");
}

TEST(ValidatorTest, PortsCountDistinctBuffersPerBankAndStep) {
  Problem problem = BankedProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4)});
  Memory& memory = problem.memories[0];
  memory.modes.clear();
  memory.banks[0].ports.total = 1;
  memory.banks[1].ports.reads = 1;
  problem.buffers[0].accesses = {{0, "", AccessKind::kRead}, {0, "", AccessKind::kWrite}};
  problem.buffers[1].accesses = {{0, "", AccessKind::kWrite}, {1, "", AccessKind::kRead}};
  EXPECT_EQ(Faults(problem, {{0, 8}, {}}), "");
  EXPECT_EQ(Faults(problem, {{8, 12}, {}}), "");
  EXPECT_EQ(Faults(problem, {{0, 4}, {}}),
            "ports: bank 0 'low' serves 2 accesses at step 0 but has ports for 1: 'a', 'b'");
  problem.buffers[1].accesses = {{0, "", AccessKind::kRead}};
  EXPECT_EQ(Faults(problem, {{8, 12}, {}}),
            "ports: bank 1 'high' serves 2 reads at step 0 but has ports for 1: 'a', 'b'");
  memory.banks[1].ports = {std::nullopt, std::nullopt, 0};
  EXPECT_EQ(Faults(problem, {{8, 4}, {}}),
            "ports: bank 1 'high' serves 1 writes at step 0 but has ports for 0: 'a'");
}

TEST(ValidatorTest, StopsAfterMost) {
  std::vector<Buffer> buffers;
  for (int i = 0; i < 10; ++i) buffers.push_back(MakeBuffer(std::to_string(i), 0, 1, 4));
  const Problem problem = PlainProblem(buffers);
  const Allocation allocation = {std::vector<Bytes>(10, 0), {}};
  EXPECT_EQ(Validate(problem, allocation, kCapacity).size(), 45U);
  EXPECT_EQ(Validate(problem, allocation, kCapacity, 3).size(), 3U);
}

// Compares all pairs at all steps, by the definition.
std::set<std::pair<size_t, size_t>> NaiveOverlaps(const Problem& problem,
                                                  const std::vector<Bytes>& offsets) {
  std::set<std::pair<size_t, size_t>> pairs;
  const auto exempt = [&](size_t i, size_t j) {
    return std::any_of(
        problem.relations.begin(), problem.relations.end(), [&](const Relation& relation) {
          const auto a = static_cast<size_t>(relation.first);
          const auto b = static_cast<size_t>(relation.second);
          const bool lets =
              relation.kind == RelationKind::kColocate || relation.kind == RelationKind::kExclusive;
          return lets && ((a == i && b == j) || (a == j && b == i));
        });
  };
  const Lifespan horizon = Horizon(problem);
  for (size_t j = 0; j < offsets.size(); ++j) {
    for (size_t i = 0; i < j; ++i) {
      const Buffer& a = problem.buffers[i];
      const Buffer& b = problem.buffers[j];
      if (a.memory != b.memory || exempt(i, j)) continue;
      const bool share = offsets[i] < offsets[j] + b.size && offsets[j] < offsets[i] + a.size;
      for (Step step = horizon.lower; share && step < horizon.upper; ++step) {
        if (LivesAt(a, step) && LivesAt(b, step)) pairs.emplace(i, j);
      }
    }
  }
  return pairs;
}

RC_GTEST_PROP(OverlapTest, TheSweepFindsExactlyWhatAllPairsAtAllStepsFind, ()) {
  const auto count = *rc::gen::inRange<size_t>(1, 12);
  Problem problem = PlainProblem({});
  problem.memories.resize(2);
  std::vector<Bytes> offsets;
  for (size_t i = 0; i < count; ++i) {
    const Step lower = *rc::gen::inRange<Step>(0, 8);
    const Step upper = *rc::gen::inRange<Step>(lower + 1, 10);
    problem.buffers.push_back(
        MakeBuffer(std::to_string(i), lower, upper, *rc::gen::inRange<Bytes>(1, 6)));
    if (*rc::gen::inRange(0, 3) == 0)
      problem.buffers.back().lifespans.push_back({upper + 1, upper + 3});
    problem.buffers.back().memory = *rc::gen::inRange(0, 4) == 0 ? 1 : 0;
    offsets.push_back(*rc::gen::inRange<Bytes>(0, 20));
  }
  for (size_t i = 1; i < count; ++i) {
    if (*rc::gen::inRange(0, 4) != 0) continue;
    const auto kind = *rc::gen::element(RelationKind::kColocate, RelationKind::kExclusive,
                                        RelationKind::kSeparate);
    problem.relations.push_back(
        {kind, static_cast<int>(i), *rc::gen::inRange(0, static_cast<int>(i)), 0});
  }
  std::set<std::pair<size_t, size_t>> found;
  for (const Overlap& overlap : FindOverlaps(problem, offsets, 1000))
    found.emplace(overlap.first, overlap.second);
  RC_ASSERT(found == NaiveOverlaps(problem, offsets));
}

}  // namespace
}  // namespace tessera::problem
