// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/smt/z3_sink.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace tessera::encoder {
namespace {

class Z3SinkOf : public testing::Test {
 protected:
  bool Allows(const std::vector<formulation::Literal>& assumptions) {
    for (const z3::expr& statement : sink_.TakeRequired(1'000)) solver_.add(statement);
    z3::expr_vector assumed(context_);
    for (const formulation::Literal literal : assumptions)
      assumed.push_back(sink_.ExpressionOf(literal));
    if (solver_.check(assumed) != z3::sat) return false;
    sink_.SetModel(solver_.get_model());
    return true;
  }

  static constexpr int64_t kGreatest = 31;
  z3::context context_;
  z3::solver solver_{context_, "QF_FD"};
  smt::Z3Sink sink_{context_, kGreatest, 1'000};
};

TEST_F(Z3SinkOf, ConstantsAreLiterals) {
  EXPECT_TRUE(Allows({formulation::kTrue}));
  EXPECT_FALSE(Allows({formulation::kFalse}));
}

TEST_F(Z3SinkOf, IntegersTakeTheValuesOfTheirDomain) {
  const formulation::Integer x = sink_.NewInteger({2, 3, 4});
  for (int64_t value = 0; value <= 13; ++value) {
    const bool inside = value >= 2 && value <= 11 && (value - 2) % 3 == 0;
    EXPECT_EQ(Allows({sink_.AtLeast({x}, value), ~sink_.AtLeast({x}, value + 1)}), inside) << value;
    if (inside) {
      EXPECT_EQ(sink_.ValueOf(x), value);
    }
  }
}

// 31 + 31 needs six bits; in five it would wrap to 30 and the order would seem to hold.
TEST_F(Z3SinkOf, SumsAtTheUpperEndDoNotWrap) {
  const formulation::Integer x = sink_.NewInteger({0, 1, kGreatest + 1});
  const formulation::Integer y = sink_.NewInteger({0, 1, kGreatest + 1});
  const formulation::Literal guard = sink_.NewVariable();
  sink_.AddOrder(guard, {x, kGreatest}, {y, 0});
  EXPECT_TRUE(Allows({guard, sink_.AtLeast({y}, kGreatest)}));
  EXPECT_EQ(sink_.ValueOf(x), 0);
  EXPECT_FALSE(Allows({guard, sink_.AtLeast({x}, 1)}));
  EXPECT_TRUE(Allows({~guard, sink_.AtLeast({x}, kGreatest)}));
}

TEST_F(Z3SinkOf, NegativeDistancesMoveToTheOtherSide) {
  const formulation::Integer x = sink_.NewInteger({0, 1, kGreatest + 1});
  const formulation::Integer y = sink_.NewInteger({0, 1, kGreatest + 1});
  sink_.AddOrder(formulation::kTrue, {x, -4}, {y, 3});  // x <= y + 7
  EXPECT_TRUE(Allows({sink_.AtLeast({x}, 7), ~sink_.AtLeast({y}, 1)}));
  EXPECT_FALSE(Allows({sink_.AtLeast({x}, 8), ~sink_.AtLeast({y}, 1)}));
}

TEST_F(Z3SinkOf, ConstraintsBeyondTheLimitMakeItFull) {
  smt::Z3Sink small(context_, kGreatest, 1);
  small.NewInteger({0, 1, 4});
  EXPECT_FALSE(small.Full());
  small.Add({small.NewVariable()});
  EXPECT_TRUE(small.Full());
}

}  // namespace
}  // namespace tessera::encoder
