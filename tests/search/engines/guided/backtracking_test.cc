// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "../../../draws.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/guided/learned_backtracking.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// The policy of major backtracks: its model, the targets that it is offered, and the search with
// it. That answers stay those of brute force is in soundness_test.cc.

namespace tessera::search::engines::guided {
namespace {

using problem::Problem;
using problem::Result;
using problem::Status;
namespace generate = problem::generate;

constexpr std::array<TreeNode, 8> kForest = {{{1, 1, 2.5F},
                                              {0, 3, 10},
                                              {-1, 0, 4},
                                              {-1, 0, 1},
                                              {-1, 0, 2},
                                              {2, 6, 0},
                                              {-1, 0, -0.5F},
                                              {-1, 0, 0.5F}}};
constexpr std::array<uint16_t, 2> kRoots = {0, 5};
constexpr BoostedTrees kTwoTrees = {kForest, kRoots, 100};

float ScoreOf(float a, float b, float c) { return Score(kTwoTrees, std::array{a, b, c}); }

TEST(BoostedTrees, SumOneLeafOfEachTree) {
  EXPECT_EQ(ScoreOf(9, 2, -1), 100 + 1 - 0.5F);
  EXPECT_EQ(ScoreOf(10, 2, -1), 100 + 2 - 0.5F);  // not below 10
  EXPECT_EQ(ScoreOf(9, 2.5F, 0), 100 + 4 + 0.5F);
}

bool IsFine(std::array<TreeNode, 8> forest, std::array<uint16_t, 2> roots, size_t features) {
  return IsWellFormed({forest, roots, 0}, features);
}

TEST(BoostedTrees, ThoseWhoseWalksLeaveTheNodesAreIllFormed) {
  static_assert(IsWellFormed(kTwoTrees, 3));
  EXPECT_FALSE(IsFine(kForest, kRoots, 2)) << "the second tree reads the third feature";
  EXPECT_FALSE(IsFine(kForest, {0, 8}, 3)) << "a root beyond the nodes";
  std::array<TreeNode, 8> forest = kForest;
  forest[5].left = 7;
  EXPECT_FALSE(IsFine(forest, kRoots, 3)) << "a right child beyond the nodes";
  forest[5].left = 5;
  EXPECT_FALSE(IsFine(forest, kRoots, 3)) << "a node that is its own child";
  forest = kForest;
  forest[2].feature = -2;
  EXPECT_FALSE(IsFine(forest, kRoots, 3)) << "neither a feature nor a leaf";
}

TEST(BacktrackingModel, ScoresAreThoseOfXGBoost) {
  std::ifstream file(SAMPLES);
  std::vector<float> scores;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream numbers(line);
    Features features = {};
    float expected = 0;
    for (float& feature : features) numbers >> feature;
    numbers >> expected;
    ASSERT_TRUE(numbers) << line;
    scores.push_back(Score(BacktrackingModel(), features));
    EXPECT_NEAR(scores.back(), expected, 1e-4) << line;
  }
  ASSERT_GE(scores.size(), 40U);
  EXPECT_GT(*std::max_element(scores.begin(), scores.end()), 5);
  EXPECT_LT(*std::min_element(scores.begin(), scores.end()), 2);
}

// The bytes of a file that are those of the model.
bool HoldsModel(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string content((std::istreambuf_iterator<char>(file)), {});
  EXPECT_FALSE(content.empty()) << path;
  const auto nodes = BacktrackingModel().nodes;
  const std::string_view bytes(reinterpret_cast<const char*>(nodes.data()), nodes.size_bytes());
  return content.find(bytes) != std::string::npos;
}

TEST(BacktrackingModel, IsPartOfTheLibraryButNotOfTheAllocatorAlone) {
  EXPECT_TRUE(HoldsModel(LIBRARY));
#ifdef ALLOCATE_ALONE
  EXPECT_FALSE(HoldsModel(ALLOCATE_ALONE));
#endif
}

// Searches that meet major backtracks soon.
GuidedOptions WithPolicy(Backtracking policy) {
  GuidedOptions options;
  options.descents = options.insured = false;
  options.recipes = {kRecipes.back()};
  options.backtracking = std::move(policy);
  return options;
}

Result Solve(const Problem& problem, const GuidedOptions& options, int64_t dead_ends) {
  const GuidedEngine engine(options);
  return engine.Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {dead_ends}, {});
}

// The last level of the range of a level: 0 to 4, 5 to 8, 9 to 16 ...
size_t TopOf(size_t level) {
  size_t top = 4;
  while (top < level) top *= 2;
  return top;
}

TEST(BacktrackTargets, AscendBeforeThePointThatFailedWithOneInEachRangeOfLevels) {
  int checked = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    Solve(generate::MakeFlat(60, seed), WithPolicy([&](const MajorBacktrack& backtrack) {
            ++checked;
            const size_t failed = backtrack.buffers.size() - 1;
            std::vector<bool> covered(failed + 1);
            int before = -1;
            for (const Target& target : backtrack.targets) {
              EXPECT_GT(target.point, before);
              EXPECT_LT(target.point, static_cast<int>(failed));
              before = target.point;
              covered[std::min(TopOf(static_cast<size_t>(before)), failed - 1)] = true;
            }
            for (size_t point = 0; point < failed; ++point)
              EXPECT_TRUE(covered[std::min(TopOf(point), failed - 1)]) << point;
            return std::nullopt;
          }),
          300);
  }
  ExpectEnough(checked, 500);
}

// Each number is derived here from the question once more.
TEST(BacktrackTargets, FeaturesDescribeThePlacementOfTheTarget) {
  int checked = 0;
  double returns = 0, inside = 0, blamed = 0;
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    int asked = 0;
    Solve(generate::MakeFlat(60, seed), WithPolicy([&](const MajorBacktrack& backtrack) {
            const auto& buffers = backtrack.problem.buffers;
            const auto capacity = static_cast<double>(backtrack.capacity);
            problem::Step last = 0;
            for (const auto& buffer : buffers) last = std::max(last, buffer.lifespans[0].upper);
            for (const Target& target : backtrack.targets) {
              const auto at = [&](Feature feature) {
                return static_cast<double>(target.features[static_cast<size_t>(feature)]);
              };
              const auto placed = static_cast<size_t>(target.point);
              const auto& buffer = buffers[static_cast<size_t>(backtrack.buffers[placed])];
              const problem::Lifespan life = buffer.lifespans[0];
              EXPECT_FLOAT_EQ(at(Feature::kSize), static_cast<double>(buffer.size) / capacity);
              EXPECT_LE(at(Feature::kLifetime), 1);
              EXPECT_GE(at(Feature::kLifetime) * static_cast<double>(last) * 1.001,
                        static_cast<double>(life.upper - life.lower));
              double most = 0;
              for (problem::Step step = life.lower; step < life.upper; ++step) {
                double live = 0;
                for (const auto& other : buffers) {
                  const problem::Lifespan& its = other.lifespans[0];
                  if (its.lower <= step && step < its.upper)
                    live += static_cast<double>(other.size);
                }
                most = std::max(most, live);
              }
              EXPECT_FLOAT_EQ(at(Feature::kContention), most / capacity);
              EXPECT_EQ(at(Feature::kLevel), target.point);
              EXPECT_EQ(at(Feature::kDistance) + target.point + 1, backtrack.buffers.size());
              EXPECT_LE(at(Feature::kInside), at(Feature::kBacktracks));
              EXPECT_LE(at(Feature::kReturns), at(Feature::kInside));
              EXPECT_GE(at(Feature::kBacktracks), asked);
              returns += at(Feature::kReturns);
              inside += at(Feature::kInside);
              blamed += at(Feature::kBlamed);
              ++checked;
            }
            ++asked;
            return std::nullopt;
          }),
          100);
  }
  ExpectEnough(checked, 1000);
  EXPECT_GT(returns, 100);
  EXPECT_GT(inside, returns);
  EXPECT_GT(blamed, 100);
}

// The policy picks one thing, and the search does it.
TEST(Backtracking, TheSearchReturnsToThePointThatThePolicyPicks) {
  int followed = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    GuidedOptions options = WithPolicy({});
    options.stuck = false;
    std::vector<int> kept;  // what lies before the point picked last
    options.backtracking = [&](const MajorBacktrack& backtrack) {
      if (!kept.empty() && backtrack.buffers.size() > kept.size()) {
        EXPECT_TRUE(std::equal(kept.begin(), kept.end(), backtrack.buffers.begin()));
        ++followed;
      }
      const int picked = backtrack.targets.front().point;
      kept.assign(backtrack.buffers.begin(), backtrack.buffers.begin() + picked);
      return std::optional<int>(picked);
    };
    Solve(generate::MakeFlat(60, seed), options, 60);
  }
  ExpectEnough(followed, 50);
}

TEST(LearnedBacktracking, ChangesTheSearchAndGivesTheSameBytesEachTime) {
  int changed = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    const Problem problem = generate::MakeFlat(50, seed);
    const Result first = Solve(problem, WithPolicy(LearnedBacktracking()), 500);
    const Result again = Solve(problem, WithPolicy(LearnedBacktracking()), 500);
    const Result without = Solve(problem, WithPolicy({}), 500);
    EXPECT_EQ(first.status, again.status);
    EXPECT_EQ(first.statistics.nodes, again.statistics.nodes);
    ASSERT_EQ(first.allocation.has_value(), again.allocation.has_value());
    if (first.allocation) {
      EXPECT_EQ(first.allocation->offsets, again.allocation->offsets);
    }
    changed += first.statistics.nodes != without.statistics.nodes ? 1 : 0;
  }
  EXPECT_GE(changed, 3);
}

// The search without the policy has at least half of the dead ends, and decides alone what it
// decides within its head start.
TEST(LearnedBacktracking, TakesAtMostTwiceTheDeadEndsOfTheSearchWithoutIt) {
  int equal = 0, twice = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    const Problem problem = generate::MakeFlat(40, seed);
    GuidedOptions options = WithPolicy({});
    const Result without = Solve(problem, options, 500);
    options = WithPolicy(LearnedBacktracking());
    options.insured = true;
    options.head_start = 30;
    const Result with = Solve(problem, options, 1000);
    if (without.status == Status::kUnknown) continue;
    ASSERT_EQ(with.status, without.status) << seed;
    const int64_t alone = without.statistics.conflicts;
    EXPECT_LE(with.statistics.conflicts, 2 * alone) << seed;
    if (alone < options.head_start) {
      EXPECT_EQ(with.statistics.nodes, without.statistics.nodes) << seed;
      ++equal;
    } else {
      ++twice;
    }
  }
  ExpectEnough(equal, 5);
  ExpectEnough(twice, 3);
}

TEST(LearnedBacktracking, AnswersAsTheLazyEngineDoes) {
  int placed = 0, refuted = 0;
  for (uint64_t seed = 1; seed <= static_cast<uint64_t>(DrawsOf(20)); ++seed) {
    const Problem problem = seed % 2 == 0 ? generate::MakeBroken({40, 50, 512}, seed)
                                          : generate::MakePerfect({24, 20, 64}, seed);
    const Result expected =
        lazy::LazyEngine().Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, {});
    GuidedOptions options;
    options.backtracking = LearnedBacktracking();
    options.head_start = 5;
    const Result result = Solve(problem, options, 1'000'000);
    EXPECT_EQ(result.engine, "guided-learned");
    ASSERT_EQ(result.status, expected.status) << seed;
    ++(result.allocation ? placed : refuted);
    if (!result.allocation) continue;
    const auto violations =
        problem::Validate(problem, *result.allocation, problem.memories[0].capacity);
    EXPECT_TRUE(violations.empty()) << seed;
  }
  ExpectEnough(placed, DrawsOf(10));
  ExpectEnough(refuted, LeastOf(3));
}

}  // namespace
}  // namespace tessera::search::engines::guided
