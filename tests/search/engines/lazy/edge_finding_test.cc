// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <vector>

#include "tessera/search/engines/lazy/section_rules.h"

namespace tessera::search::engines::lazy {
namespace {

// Three buffers of 4, 3 and 2 units that live together under a ceiling.
struct Stack {
  explicit Stack(Bound ceiling) {
    for (int i = 0; i < 3; ++i) trail.AddInteger(0, 100, 1);
    trail.AddInteger(0, ceiling, 1);
    for (int pair = 0; pair < 3; ++pair) trail.AddBoolean();
    trail.OpenLevel();
  }

  static Packing MakeTriple() {
    problem::Problem problem;
    problem.memories.resize(1);
    for (const problem::Bytes size : {4, 3, 2}) {
      problem::Buffer buffer;
      buffer.size = size;
      buffer.lifespans = {{0, 1}};
      problem.buffers.push_back(buffer);
    }
    return *MakePacking(problem, nullptr, {});
  }

  void Floor(int buffer, Bound floor) {
    trail.Push({2 * buffer, floor}, {Reason::Kind::kDecision, 0, 0});
  }

  bool Propagate() {
    EdgeFinding edges(axis, orders);
    edges.Wake(Side::kBottom, 0);
    return edges.PropagateOne();
  }

  const Packing packing = MakeTriple();
  Trail trail;
  OrderMatrix orders{packing};
  Axis axis{packing, trail, {4, 3, 2}};
};

TEST(EdgeFinding, RefutesASuffixThatNeedsMoreThanIsLeft) {
  Stack stack(10);
  stack.Floor(0, 4);
  stack.Floor(1, 4);
  EXPECT_FALSE(stack.Propagate());
  // Floors of 10 - 7 + 1 overload it as well.
  const BoundLiteral ceiling{7, -10};
  EXPECT_THAT(stack.trail.Conflict(),
              testing::UnorderedElementsAre(BoundLiteral{0, 4}, BoundLiteral{2, 4}, ceiling));
}

TEST(EdgeFinding, PutsABufferThatDoesNotFitNextToASuffixBeforeIt) {
  Stack stack(10);
  stack.Floor(0, 2);
  stack.Floor(1, 2);
  ASSERT_TRUE(stack.Propagate());
  EXPECT_TRUE(stack.trail.IsTrue(stack.axis.Before(Side::kBottom, 2, 0)));
  EXPECT_TRUE(stack.trail.IsTrue(stack.axis.Before(Side::kBottom, 2, 1)));
  EXPECT_FALSE(stack.trail.IsFixed(IntegerOf(stack.packing.BelowView(0, 1))));
}

TEST(EdgeFinding, IsSilentWhereEverythingFits) {
  Stack stack(11);
  stack.Floor(0, 2);
  stack.Floor(1, 2);
  const int before = stack.trail.Size();
  ASSERT_TRUE(stack.Propagate());
  EXPECT_EQ(stack.trail.Size(), before);
}

}  // namespace
}  // namespace tessera::search::engines::lazy
