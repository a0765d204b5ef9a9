// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "tessera/problem/proof/proof_text.h"

namespace tessera::problem::proof {
namespace {

using Hints = std::vector<Log::Hint>;

class LogTest : public testing::Test {
 protected:
  Log::Hint AddAxiom(int64_t subject, const std::vector<ProofLiteral>& literals) {
    return log_.AddAxiom(Ground::kStack, std::array{subject}, literals);
  }

  Log log_;
};

TEST_F(LogTest, AnAxiomStandsWhereItIsApplied) {
  const Log::Hint axiom = AddAxiom(3, {Below(1, 2), AtLeast(0, 8)});
  log_.AddClause({}, Hints{axiom});
  EXPECT_EQ(log_.Write(), "tessera-proof 1\nclause 1 :\nstack 3 : b1,2 x0>=8\nend\n");
}

TEST_F(LogTest, AnAxiomThatIsAppliedTwiceGetsANumber) {
  const Log::Hint axiom = AddAxiom(3, {Below(1, 2)});
  const Log::Hint same = AddAxiom(3, {Below(1, 2)});
  EXPECT_EQ(axiom.index, same.index);
  const std::vector<ProofLiteral> two = {Under(0, 4), ~Touches(0, 1)};
  const Log::Hint clause = log_.AddClause(two, Hints{axiom});
  log_.AddClause({}, Hints{same, clause});
  EXPECT_EQ(log_.Write(),
            "tessera-proof 1\ngiven 1 stack 3 : b1,2\nclause 2 : x0<4 !t0,1\nuse 1\nclause 3 "
            ":\nuse 1 2\nend\n");
}

TEST_F(LogTest, WhatDidNotHelpIsLeftOutAndTheRestIsNumberedAnew) {
  const std::vector<ProofLiteral> two = {InMode(0, 5, 1), Under(0, 4)};
  log_.AddClause(two, Hints{AddAxiom(1, {})});
  const Log::Hint needed = log_.AddClause(two, Hints{AddAxiom(2, {})});
  log_.AddClause({}, Hints{needed});
  EXPECT_EQ(log_.Write(),
            "tessera-proof 1\nclause 1 : m0,5,1 x0<4\nstack 2 :\nclause 2 :\nuse 1\nend\n");
}

TEST_F(LogTest, ClausesOfOneLiteralAreKept) {
  log_.AddClause(std::array{Under(0, 4)}, Hints{AddAxiom(1, {})});
  log_.AddClause({}, Hints{});
  EXPECT_EQ(log_.Write(), "tessera-proof 1\nclause 1 : x0<4\nstack 1 :\nclause 2 :\nend\n");
}

TEST_F(LogTest, ThereIsNoProofBeforeTheEmptyClause) {
  EXPECT_EQ(log_.Write(), std::nullopt);
  log_.AddClause(std::array{Under(0, 4)}, Hints{});
  EXPECT_EQ(log_.Write(), std::nullopt);
}

}  // namespace
}  // namespace tessera::problem::proof
