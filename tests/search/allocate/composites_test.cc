// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/composites.h"

#include <gmock/gmock.h>

#include "random_instance.h"
#include "tessera/problem/validator.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"

// Composites are compared with the definition: bytes that two parts share at a step.
namespace tessera::search::allocate {
namespace {

using problem::Problem;
using problem::RelationKind;
using problem::Status;
using testing::ElementsAre;
using testing::IsEmpty;

// Two or three groups of up to three parts in a small memory, some buffers alone.
Problem RandomComposites(base::Random& random) {
  Problem problem = RandomInstance(random);
  const auto count = static_cast<int>(problem.buffers.size());
  for (int i = 1; i < count; ++i) {
    if (!random.Chance(0.6)) continue;
    const auto first = static_cast<int>(random.Uniform(0, i - 1));
    const Bytes delta = random.Uniform(-4, 5);
    problem.relations.push_back({RelationKind::kColocate, first, i, delta});
  }
  return problem;
}

TEST(Composites, ForbidExactlyTheDistancesAtWhichPartsCollide) {
  base::Random random(7);
  int pairs = 0;
  for (int round = 0; round < 1000; ++round) {
    Problem problem = RandomComposites(random);
    const base::Stop never;
    const std::optional<Composites> composites = BuildComposites(problem, 0, never);
    ASSERT_TRUE(composites);
    if (!composites->contradiction.empty()) continue;
    for (int a = 0; a < static_cast<int>(composites->all.size()); ++a) {
      for (int b = 0; b < static_cast<int>(composites->all.size()); ++b) {
        if (a == b) continue;
        const auto& neighbours = composites->neighbours[static_cast<size_t>(a)];
        const auto found = std::find_if(neighbours.begin(), neighbours.end(),
                                        [b](const auto& each) { return each.other == b; });
        for (Bytes d = -20; d <= 20; ++d) {
          bool collides = false;
          for (const CompositePart& i : composites->all[static_cast<size_t>(a)].parts) {
            for (const CompositePart& j : composites->all[static_cast<size_t>(b)].parts) {
              const auto& x = problem.buffers[static_cast<size_t>(i.buffer)];
              const auto& y = problem.buffers[static_cast<size_t>(j.buffer)];
              const bool apart = Related(problem, RelationKind::kSeparate, i.buffer, j.buffer);
              const bool shares = Related(problem, RelationKind::kExclusive, i.buffer, j.buffer);
              if (!apart && (shares || !LiveTogether(x, y))) continue;
              collides |= i.at < d + j.at + y.size && d + j.at < i.at + x.size;
            }
          }
          const bool forbidden = found != neighbours.end() && NextOutside(found->forbidden, d) != d;
          ASSERT_EQ(forbidden, collides) << "round " << round << ", distance " << d;
          if (found == neighbours.end()) continue;
          ASSERT_EQ(LastOutside(found->forbidden, d) != d, collides) << "round " << round;
        }
        ++pairs;
      }
    }
  }
  EXPECT_GE(pairs, 2000);
}

TEST(Composites, EnginesAgreeWithBruteForce) {
  base::Random random(8);
  int feasible = 0, infeasible = 0, bounded = 0;
  for (int round = 0; round < 1500; ++round) {
    const Problem problem = RandomComposites(random);
    if (!HasFixedDistances(problem)) continue;
    const Bytes capacity = problem.memories[0].capacity;
    const bool fits = FitsByBruteForce(problem, capacity);
    const base::Stop never;
    const auto exact =
        engines::canonical::CanonicalEngine().Open(problem, nullptr)->Solve(0, capacity, {}, never);
    ASSERT_EQ(exact.status, fits ? Status::kFeasible : Status::kInfeasible) << "round " << round;
    const auto greedy =
        engines::greedy::GreedyEngine().Open(problem, nullptr)->Solve(0, capacity, {}, never);
    ASSERT_NE(greedy.status, fits ? Status::kInfeasible : Status::kFeasible) << "round " << round;
    for (const auto* result : {&exact, &greedy}) {
      if (!result->allocation) continue;
      const auto violations = Validate(problem, *result->allocation, capacity);
      ASSERT_THAT(violations, IsEmpty()) << "round " << round << ": " << violations.front().message;
    }
    (fits ? feasible : infeasible) += 1;
    if (!fits) continue;
    const std::optional<Bytes> least = LeastPeakByBruteForce(problem, capacity);
    ASSERT_LE(FindBound(problem, 0).bytes, *least) << "round " << round;
    ++bounded;
  }
  EXPECT_GE(feasible, 200);
  EXPECT_GE(infeasible, 200);
  EXPECT_GE(bounded, 200);
}

TEST(Composites, JoinAlignmentsAtTheirDistances) {
  Problem problem = MakeProblem({MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4)}, 64);
  problem.buffers[0].alignment = 8;
  problem.buffers[1].alignment = 6;
  problem.relations = {{RelationKind::kColocate, 0, 1, 4}};
  const Composites composites = FindComposites(problem, 0);
  ASSERT_EQ(composites.all.size(), 1);
  EXPECT_EQ(composites.all[0].modulus, 24);
  EXPECT_EQ(composites.all[0].residue, 8);  // 8 and 12
  EXPECT_EQ(composites.all[0].AlignUp(9), 32);
  EXPECT_EQ(composites.all[0].AlignDown(31), 8);
  problem.relations[0].delta = 5;
  EXPECT_FALSE(FindComposites(problem, 0).contradiction.empty());
}

// Rows of x die as rows of y are born: y lies over x, although both live at most steps.
TEST(Composites, ShareAddressesRowByRow) {
  constexpr int kRows = 8;
  constexpr Bytes kRow = 10;
  std::vector<problem::Buffer> buffers;
  for (int row = 0; row < kRows; ++row)
    buffers.push_back(MakeBuffer("x" + std::to_string(row), 0, row + 1, kRow));
  for (int row = 0; row < kRows; ++row)
    buffers.push_back(MakeBuffer("y" + std::to_string(row), row + 1, kRows + 1, kRow));
  Problem problem = MakeProblem(std::move(buffers), 1000);
  for (int row = 1; row < kRows; ++row) {
    problem.relations.push_back({RelationKind::kColocate, 0, row, row * kRow});
    problem.relations.push_back({RelationKind::kColocate, kRows, kRows + row, row * kRow});
  }
  const engines::greedy::GreedyEngine greedy;
  const engines::canonical::CanonicalEngine canonical;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  AllocateOptions options;
  options.minimize = true;
  const auto result = Allocate(problem, nullptr, 0, engines, options);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->status, Status::kOptimal);
  EXPECT_EQ(result->peak, kRows * kRow);
}

}  // namespace
}  // namespace tessera::search::allocate
