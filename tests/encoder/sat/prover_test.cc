// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/plain_formula.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/problem/proof/checker.h"

// CaDiCaL's proofs over everything that a Problem can state.

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;

class SatProverOnRandomProblems : public testing::TestWithParam<uint64_t> {};

TEST_P(SatProverOnRandomProblems, ProvesExactlyWhatBruteForceFindsInfeasible) {
  constexpr int kProblems = 500;
  base::Random random(GetParam());
  int infeasible = 0;
  for (int i = 0; i < kProblems; ++i) {
    const Problem problem = DrawProblem(random);
    const Bytes capacity = problem.memories[0].capacity;
    const Attempt attempt = sat::SatProver().Prove(problem, capacity, {}, {});
    ASSERT_NE(attempt.proof.has_value(), Enumerate(problem, capacity).has_value())
        << "problem " << i << ": " << attempt.reason;
    if (!attempt.proof) {
      EXPECT_EQ(attempt.reason, "what a proof can speak of leaves a placement");
      continue;
    }
    ++infeasible;
    const auto verdict = problem::proof::CheckProof(problem, capacity, *attempt.proof);
    ASSERT_TRUE(verdict.accepted) << "problem " << i << ", line " << verdict.line << ": "
                                  << verdict.flaw << "\n"
                                  << *attempt.proof;
  }
  EXPECT_GE(infeasible * 100, 30 * kProblems);
}

INSTANTIATE_TEST_SUITE_P(Seeds, SatProverOnRandomProblems, testing::Values(11, 12, 13, 14));

// The second must begin where the first ends, and also a byte later.
TEST(SatProver, GuardsComeBetweenAdjacentBuffersToo) {
  Problem problem;
  problem.memories.resize(1);
  for (const char* const id : {"a", "b"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = 1;
    buffer.lifespans = {{0, 1}};
  }
  problem.relations = {{problem::RelationKind::kAdjacent, 0, 1, 0}};
  problem::Rule& rule = problem.rules.emplace_back();
  rule.requirement.kind = problem::RequirementKind::kGuard;
  rule.requirement.after = 1;
  rule.buffers = {0};
  const Attempt attempt = sat::SatProver().Prove(problem, 4, {}, {});
  ASSERT_TRUE(attempt.proof) << attempt.reason;
  EXPECT_TRUE(problem::proof::CheckProof(problem, 4, *attempt.proof).accepted);
  problem.buffers[1].lifespans = {{1, 2}};
  EXPECT_FALSE(sat::SatProver().Prove(problem, 4, {}, {}).proof);
}

// b lies 4 above a, so d must lie 4 above c. a and b leave [0, 4) and [12, 19), which is too
// little.
TEST(SatProver, SpeaksOfCommonDistances) {
  Problem problem;
  problem.memories.resize(1);
  for (const char* const id : {"a", "b", "c", "d"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = 4;
    buffer.lifespans = {{0, 1}};
  }
  problem.buffers[0].offset = 4;
  problem.buffers[1].offset = 8;
  problem.rules.emplace_back().requirement.kind = problem::RequirementKind::kCommonDelta;
  problem.rules[0].pairs = {{0, 1}, {2, 3}};
  const Attempt attempt = sat::SatProver().Prove(problem, 19, {}, {});
  ASSERT_TRUE(attempt.proof) << attempt.reason;
  EXPECT_NE(attempt.proof->find("delta 0 0 1"), std::string::npos);
  EXPECT_TRUE(problem::proof::CheckProof(problem, 19, *attempt.proof).accepted);
  EXPECT_FALSE(problem::proof::CheckProof(problem, 20, *attempt.proof).accepted);
  problem.rules[0].pairs[1] = {2, 1};
  EXPECT_FALSE(problem::proof::CheckProof(problem, 19, *attempt.proof).accepted);
  problem.rules.clear();
  EXPECT_FALSE(problem::proof::CheckProof(problem, 19, *attempt.proof).accepted);
}

// 300 buffers of about 3 000 offsets each.
TEST(SatProver, WritesNoFormulaAfterAStop) {
  Problem problem;
  problem.memories.emplace_back().capacity = 3'300;
  for (int i = 0; i < 300; ++i) {
    problem::Buffer buffer;
    buffer.id = "b" + std::to_string(i);
    buffer.size = 100 + i;
    buffer.lifespans = {{0, 2}};
    problem.buffers.push_back(buffer);
  }
  const sat::SatProver prover;
  for (const int64_t poll : {1, 20, 300, 310}) {
    const base::Stop stop(base::Stop::AtPoll{poll});
    EXPECT_EQ(prover.Prove(problem, 3'300, {.units = 10'000}, stop).reason, "stopped") << poll;
  }
}

// Five live together and need 60 of 59 bytes.
TEST(SatProver, HasAProofOrWasStoppedAtEachPoll) {
  Problem problem;
  problem.memories.emplace_back().capacity = 59;
  for (int i = 0; i < 5; ++i) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = "b" + std::to_string(i);
    buffer.size = 10 + i;
    buffer.lifespans = {{0, 1}};
  }
  const base::Stop never(base::Stop::AtPoll{1'000'000'000});
  const Attempt whole = sat::SatProver().Prove(problem, 59, {.units = 100'000}, never);
  ASSERT_TRUE(whole.proof) << whole.reason;
  int64_t stopped = 0;
  for (int64_t k = 1; k <= never.Polls(); k += 1 + k / 20) {
    const base::Stop stop(base::Stop::AtPoll{k});
    const Attempt attempt = sat::SatProver().Prove(problem, 59, {.units = 100'000}, stop);
    if (!attempt.proof) {
      ++stopped;
      EXPECT_EQ(attempt.reason, "stopped") << k;
    } else {
      EXPECT_EQ(attempt.proof, whole.proof) << k;
    }
  }
  EXPECT_GT(stopped, 5);
}

// Two buffers with 1 000 offsets each: 999 variables and 998 chains for each buffer.
TEST(PlainFormula, IsFullBeforeItExceedsItsLimit) {
  Problem problem;
  problem.memories.emplace_back().capacity = 1'000;
  for (const char* const id : {"a", "b"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = 1;
    buffer.lifespans = {{0, 1}};
  }
  const base::Stop stop;
  const sat::PlainFormula whole(problem, 1'000, 1'000'000, 1'000'000, stop);
  EXPECT_FALSE(whole.Full());
  EXPECT_FALSE(whole.Weakened());
  ASSERT_GT(whole.Size(), 2 * 998);
  EXPECT_TRUE(whole.At(0).free);
  EXPECT_EQ(whole.MeaningOf(1), problem::proof::AtLeast(0, 1));
  EXPECT_EQ(whole.MeaningOf(999), problem::proof::AtLeast(0, 999));
  EXPECT_EQ(whole.MeaningOf(-1000), problem::proof::Under(1, 1));
  EXPECT_EQ(whole.MeaningOf(1999), problem::proof::Below(0, 1));
  for (const size_t limit : {size_t{500}, size_t{1'900}, size_t{1'998}, whole.Size() - 1}) {
    const sat::PlainFormula formula(problem, 1'000, 1'000'000, limit, stop);
    EXPECT_TRUE(formula.Full()) << limit;
    EXPECT_LE(formula.Size(), limit);
  }
}

// Three buffers on two banks of a megabyte: no two of them fit on one bank, whatever their offsets.
TEST(SatProver, ComparesWithSomeOffsetsWhereThereAreTooManyForAll) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].capacity = 2 << 20;
  problem.memories[0].banks = {{"low", {0, 1 << 20}, {}}, {"high", {1 << 20, 2 << 20}, {}}};
  for (const char* const id : {"a", "b", "c"}) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.size = (1 << 19) + 1;
    buffer.lifespans = {{0, 1}};
    buffer.span = problem::Span::kSingle;
  }
  const Attempt attempt = sat::SatProver().Prove(problem, 2 << 20, {}, {});
  ASSERT_TRUE(attempt.proof) << attempt.reason;
  EXPECT_TRUE(problem::proof::CheckProof(problem, 2 << 20, *attempt.proof).accepted);
  problem.buffers[2].size -= 2;
  EXPECT_FALSE(problem::proof::CheckProof(problem, 2 << 20, *attempt.proof).accepted);
}

}  // namespace
}  // namespace tessera::encoder
