// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/section_pair_cuts.h"

#include <gmock/gmock.h>

#include <vector>

namespace tessera::search::engines::lazy {
namespace {

constexpr int kStayer = 0, kOther = 1, kLeaver = 2, kEnterer = 3;
const std::vector<Bound> kSizes = {3, 2, 4, 5};

Packing MakeRelay() {
  problem::Problem problem;
  problem.memories.resize(1);
  const std::vector<problem::Lifespan> lives = {{0, 2}, {0, 2}, {0, 1}, {1, 2}};
  for (size_t i = 0; i < lives.size(); ++i) {
    problem::Buffer buffer;
    buffer.size = kSizes[i];
    buffer.lifespans = {lives[i]};
    problem.buffers.push_back(buffer);
  }
  return *MakePacking(problem, nullptr, {});
}

Trail MakeTrail(const Packing& packing, Bound ceiling) {
  Trail trail;
  for (int i = 0; i < packing.buffers; ++i) trail.AddInteger(0, 100, 1);
  trail.AddInteger(0, ceiling, 1);
  for (size_t pair = 0; pair < packing.pairs.size(); ++pair) trail.AddBoolean();
  trail.OpenLevel();
  return trail;
}

// Two buffers of 3 and 2 units stay over two steps; one of 4 leaves after the first step, and one
// of 5 enters then.
struct Relay {
  explicit Relay(Bound ceiling) : trail(MakeTrail(packing, ceiling)) { section_pair_cuts.Reload(); }

  BoundLiteral Below(int lower, int upper) const {
    return axis.Before(Side::kBottom, lower, upper);
  }
  void Put(int lower, int upper) {
    trail.Push(Below(lower, upper), {Reason::Kind::kDecision, 0, 0});
    section_pair_cuts.OrderSet(Below(lower, upper).view);
  }
  bool Propagate() {
    while (!section_pair_cuts.Idle()) {
      if (!section_pair_cuts.PropagateOne()) return false;
    }
    return true;
  }

  const Packing packing = MakeRelay();
  Trail trail;
  Axis axis{packing, trail, kSizes};
  SectionPairCuts section_pair_cuts{axis, 1};
};

TEST(SectionPairCuts, WhatEntersTakesTheSideOfWhatLeft) {
  Relay relay(10);
  relay.Put(kLeaver, kStayer);
  ASSERT_TRUE(relay.Propagate());
  EXPECT_TRUE(relay.trail.IsTrue(relay.Below(kEnterer, kStayer)));
  EXPECT_FALSE(relay.trail.IsFixed(IntegerOf(relay.packing.BelowView(kOther, kStayer))));
  EXPECT_FALSE(relay.trail.IsFixed(IntegerOf(relay.packing.BelowView(kEnterer, kOther))));
}

TEST(SectionPairCuts, BothSidesAreOpenWhereOneOfThemIsFree) {
  Relay relay(14);
  relay.Put(kLeaver, kStayer);
  ASSERT_TRUE(relay.Propagate());
  EXPECT_FALSE(relay.trail.IsFixed(IntegerOf(relay.packing.BelowView(kEnterer, kStayer))));
}

TEST(SectionPairCuts, TheReasonIsTheBlockingOrdersAndTheLeastSufficientCeiling) {
  Relay relay(10);
  relay.Put(kLeaver, kStayer);
  relay.Put(kStayer, kEnterer);
  EXPECT_FALSE(relay.Propagate());
  // 3 + 2 units stay, and 4 + 5 units are between them: 13 is still too little.
  const BoundLiteral ceiling{relay.axis.CeilingView(0), -13};
  EXPECT_THAT(relay.trail.Conflict(),
              testing::UnorderedElementsAre(relay.Below(kLeaver, kStayer),
                                            relay.Below(kStayer, kEnterer), ceiling));
}

TEST(SectionPairCuts, AnUndoneOrderBlocksNothing) {
  Relay relay(10);
  relay.Put(kLeaver, kStayer);
  relay.section_pair_cuts.OrderUndone(relay.Below(kLeaver, kStayer).view);
  relay.section_pair_cuts.Sleep();
  relay.trail.BacktrackTo(0);
  relay.trail.OpenLevel();
  relay.Put(kStayer, kEnterer);
  ASSERT_TRUE(relay.Propagate());
  EXPECT_TRUE(relay.trail.IsTrue(relay.Below(kStayer, kLeaver)));
}

}  // namespace
}  // namespace tessera::search::engines::lazy
