// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "brute_force.h"
#include "random_packing.h"
#include "tessera/base/random.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Every infeasible answer of the lazy engine comes with a proof that the checker accepts.

namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::proof::Attempt;

TEST(LazyProver, ProvesExactlyWhatBruteForceFindsInfeasible) {
  int infeasible = 0;
  for (uint64_t seed = 1; seed <= 2400; ++seed) {
    base::Random random(seed);
    const Problem problem = DrawPacking(random);
    const search::engines::lazy::LazyProver prover(DrawOptions(random));
    const Bytes capacity = problem.memories[0].capacity;
    const Attempt attempt = prover.Prove(problem, capacity, {}, {});
    ASSERT_NE(attempt.proof.has_value(), Enumerate(problem, capacity).has_value())
        << "seed " << seed << ": " << attempt.reason;
    if (!attempt.proof) continue;
    ++infeasible;
    const auto verdict = problem::proof::CheckProof(problem, capacity, *attempt.proof);
    ASSERT_TRUE(verdict.accepted) << "seed " << seed << ", line " << verdict.line << ": "
                                  << verdict.flaw << "\n"
                                  << *attempt.proof;
  }
  EXPECT_GE(infeasible, 2400 * 3 / 10);
}

// Three buffers stay from the first step to the second. The buffers that leave and enter do not
// matter.
TEST(LazyProver, BuffersThatStayAndAreTooMuchAloneAreAStack) {
  Problem problem;
  problem.memories.resize(1);
  const std::vector<std::pair<Bytes, problem::Lifespan>> buffers = {
      {4, {0, 2}}, {4, {0, 2}}, {4, {0, 2}}, {1, {0, 1}}, {1, {1, 2}}};
  for (const auto& [size, lifespan] : buffers) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = std::to_string(problem.buffers.size());
    buffer.size = size;
    buffer.lifespans = {lifespan};
  }
  search::engines::lazy::LazyOptions options;
  options.edge_finding = false;
  const Attempt attempt = search::engines::lazy::LazyProver(options).Prove(problem, 11, {}, {});
  ASSERT_TRUE(attempt.proof) << attempt.reason;
  EXPECT_EQ(*attempt.proof, "tessera-proof 1\nclause 1 :\nstack 0 1 2 3 :\nend\n");
  EXPECT_TRUE(problem::proof::CheckProof(problem, 11, *attempt.proof).accepted);
}

}  // namespace
}  // namespace tessera::encoder
