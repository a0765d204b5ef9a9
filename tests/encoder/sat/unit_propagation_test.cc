// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/sat/unit_propagation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace tessera::encoder {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class UnitPropagationTest : public testing::Test {
 protected:
  void Add(int32_t number, const std::vector<int>& literals) { propagation_.Add(number, literals); }
  bool Refutes(const std::vector<int>& literals) { return propagation_.Refutes(literals); }

  sat::UnitPropagation propagation_;
};

TEST_F(UnitPropagationTest, ChainsLeadFromTheNegationToTheContradiction) {
  Add(0, {-1, 2});
  Add(1, {-2, 3});
  Add(2, {-3, -1, 4});
  Add(3, {5, 6});
  EXPECT_TRUE(Refutes({-1, 4}));
  EXPECT_THAT(propagation_.Chain(), ElementsAre(0, 2, 1));
  EXPECT_FALSE(Refutes({1, 4}));
  EXPECT_TRUE(Refutes({-1, 3}));
  EXPECT_THAT(propagation_.Chain(), ElementsAre(0, 1));
}

TEST_F(UnitPropagationTest, PermanentLiteralsAreReportedOnceAndLeftOutOfChains) {
  Add(7, {1});
  Add(8, {-1, 2});
  const auto units = propagation_.TakeUnits();
  ASSERT_EQ(units.size(), 2U);
  EXPECT_EQ(units[0].literal, 1);
  EXPECT_EQ(units[0].clause, 7);
  EXPECT_EQ(units[1].literal, 2);
  EXPECT_EQ(units[1].clause, 8);
  EXPECT_THAT(propagation_.TakeUnits(), IsEmpty());
  Add(9, {-2, -3, 4});
  EXPECT_TRUE(Refutes({-3, 4}));
  EXPECT_THAT(propagation_.Chain(), ElementsAre(9));
  EXPECT_TRUE(Refutes({2, 5}));
  EXPECT_THAT(propagation_.Chain(), IsEmpty());
}

TEST_F(UnitPropagationTest, AClauseWhoseLiteralsAllFailIsTheContradiction) {
  Add(0, {1});
  Add(1, {-1, 2});
  EXPECT_FALSE(propagation_.Contradiction());
  Add(2, {-2, -1});
  EXPECT_EQ(propagation_.Contradiction(), 2);
}

TEST_F(UnitPropagationTest, DeletedClausesNoLongerPropagate) {
  Add(0, {-1, 2, 3});
  EXPECT_TRUE(Refutes({-1, 3, 2}));
  propagation_.Delete(std::array{3, -1, 2});
  EXPECT_FALSE(Refutes({-1, 3, 2}));
}

}  // namespace
}  // namespace tessera::encoder
