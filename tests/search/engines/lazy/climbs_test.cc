// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tessera/base/random.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/tests/draws.h"

// Relations that raise bounds in turns, in memories of gigabytes. Raised a byte at a time, they
// would exhaust time and memory.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;
using problem::Result;
using problem::Status;

constexpr Bytes kHuge = Bytes{1} << 33;

problem::Buffer MakeBuffer(const std::string& id, Bytes size, problem::Lifespan life,
                           Bytes alignment = 1) {
  problem::Buffer buffer;
  buffer.id = id;
  buffer.size = size;
  buffer.lifespans = {life};
  buffer.alignment = alignment;
  return buffer;
}

Problem MakeProblem(std::vector<problem::Buffer> buffers, std::vector<Relation> relations) {
  Problem problem;
  problem.memories.resize(1);
  problem.memories[0].capacity = kHuge;
  problem.buffers = std::move(buffers);
  problem.relations = std::move(relations);
  return problem;
}

Result Ask(const Problem& problem) {
  return search::engines::lazy::LazyEngine()
      .Open(problem, nullptr)
      ->Solve(0, problem.memories[0].capacity, {20'000}, {});
}

// x lies 1 above y, and y 1 above x.
TEST(Climbs, OfTiesThatContradictEachOtherAreRefuted) {
  const Problem problem =
      MakeProblem({MakeBuffer("x", 7, {0, 2}), MakeBuffer("y", 7, {2, 3})},
                  {{RelationKind::kColocate, 0, 1, 1}, {RelationKind::kColocate, 1, 0, 1}});
  EXPECT_EQ(Ask(problem).status, Status::kInfeasible);
}

TEST(Climbs, OfAlignmentsThatLeaveNoOffsetAreRefuted) {
  const Problem problem =
      MakeProblem({MakeBuffer("a", 4, {0, 1}, 4), MakeBuffer("b", 4, {1, 2}, 4)},
                  {{RelationKind::kColocate, 0, 1, 1}});
  EXPECT_EQ(Ask(problem).status, Status::kInfeasible);
}

// x and y live together, and y would lie one byte below the end of x.
TEST(Climbs, OfTiedBuffersThatOverlapAreRefuted) {
  const Problem problem = MakeProblem(
      {MakeBuffer("x", 1'000'000'001, {0, 2}), MakeBuffer("z", 1'000'000'001, {2, 3}),
       MakeBuffer("y", 7, {0, 2})},
      {{RelationKind::kColocate, 0, 1, 0}, {RelationKind::kColocate, 1, 2, 1'000'000'000}});
  EXPECT_EQ(Ask(problem).status, Status::kInfeasible);
}

// c lives with both. It does not fit between a and b, 5 bytes apart. It fits above b if the
// capacity leaves space there.
TEST(Climbs, OfOrdersAndTiesAreConflictsThatTeach) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 3, {0, 2}), MakeBuffer("b", 3, {0, 2}), MakeBuffer("c", 6, {0, 2})},
      {{RelationKind::kColocate, 0, 1, 8}});
  EXPECT_EQ(Ask(problem).status, Status::kFeasible);
  problem.buffers[0].hint = 100;  // the order a, c, b is tried first
  problem.buffers[2].hint = 103;
  problem.buffers[1].hint = 108;
  const Result result = Ask(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(problem::Validate(problem, *result.allocation, kHuge, 1).empty());
}

// The proof system has no rule for cycles. The prover ends and claims nothing.
TEST(Climbs, EndTheProverToo) {
  const Problem problem =
      MakeProblem({MakeBuffer("a", 4, {0, 1}, 4), MakeBuffer("b", 4, {0, 1}, 4)},
                  {{RelationKind::kColocate, 0, 1, 1}});
  const problem::proof::Attempt attempt =
      search::engines::lazy::LazyProver().Prove(problem, kHuge, {20'000}, {});
  EXPECT_FALSE(attempt.proof);
  EXPECT_FALSE(attempt.reason.empty());
}

Problem DrawTied(base::Random& random) {
  Problem problem;
  problem.memories.resize(1);
  const auto buffers = static_cast<int>(random.Uniform(2, 3));
  for (int i = 0; i < buffers; ++i) {
    const problem::Step lower = random.Uniform(0, 3);
    problem.buffers.push_back(MakeBuffer(std::to_string(i), random.Uniform(1, 3),
                                         {lower, random.Uniform(lower + 1, 4)},
                                         int64_t{1} << random.Uniform(0, 2)));
  }
  std::map<std::pair<int, int>, bool> related;
  for (int64_t count = random.Uniform(1, 4); count > 0; --count) {
    const auto a = static_cast<int>(random.Uniform(0, buffers - 1));
    const auto b = static_cast<int>(random.Uniform(0, buffers - 1));
    if (a == b || !related.try_emplace(std::minmax(a, b), true).second) continue;
    const bool colocate = random.Chance(0.7);
    problem.relations.push_back({colocate ? RelationKind::kColocate : RelationKind::kAdjacent, a, b,
                                 colocate ? random.Uniform(-5, 5) : 0});
  }
  return problem;
}

// Whether some offsets up to `top` are a placement, by enumeration.
bool IsPlaced(const Problem& problem, Bytes top, problem::Allocation& allocation, size_t buffer) {
  if (buffer == problem.buffers.size())
    return problem::Validate(problem, allocation, kHuge, 1).empty();
  for (Bytes offset = 0; offset <= top; ++offset) {
    allocation.offsets[buffer] = offset;
    if (IsPlaced(problem, top, allocation, buffer + 1)) return true;
  }
  return false;
}

// A problem that has a placement has a low one, so 24 bytes are enough instead of gigabytes.
TEST(Climbs, AreDecidedAsByTryingEveryOffset) {
  base::Random random(11);
  int feasible = 0;
  int infeasible = 0;
  for (int i = 0; i < DrawsOf(600); ++i) {
    Problem problem = DrawTied(random);
    problem.memories[0].capacity = kHuge;
    problem::Allocation allocation;
    allocation.offsets.resize(problem.buffers.size());
    allocation.modes.resize(1);
    const bool fits = IsPlaced(problem, 24, allocation, 0);
    const Result result = Ask(problem);
    EXPECT_EQ(result.status, fits ? Status::kFeasible : Status::kInfeasible)
        << "draw " << i << ": " << result.reason << "\n"
        << problem::files::WriteProblem(problem);
    ++(fits ? feasible : infeasible);
  }
  ExpectEnough(feasible, DrawsOf(120));
  ExpectEnough(infeasible, DrawsOf(60));
}

}  // namespace
}  // namespace tessera::encoder
