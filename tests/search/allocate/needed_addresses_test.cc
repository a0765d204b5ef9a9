// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/needed_addresses.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "random_instance.h"
#include "scripted_engine.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/tests/draws.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::Result;
using problem::Status;

Result LeastPeak(const Problem& problem, const problem::Engine& engine) {
  const std::vector<const problem::Engine*> engines = {&engine};
  const base::Expected<Result> result = allocate::Allocate(problem, nullptr, 0, engines, {});
  EXPECT_TRUE(result.has_value());
  return result ? *result : Result{};
}

// Engines search no address of 2^61 and more. So where one is needed, or may be, nothing is
// refuted.
class FarAddresses : public testing::Test {
 protected:
  static constexpr problem::Bytes kFar = base::kMaxTotal / 2;

  static Status StatusOf(const Problem& problem) {
    return LeastPeak(problem, engines::canonical::CanonicalEngine()).status;
  }
  static Problem TwoSmall() {
    return MakeProblem({MakeBuffer("A", 0, 2, 4), MakeBuffer("B", 0, 2, 4)}, base::kMaxTotal);
  }
};

TEST_F(FarAddresses, OfSizesAndOffsetsAreUnsupported) {
  EXPECT_EQ(StatusOf(MakeProblem({MakeBuffer("A", 0, 2, kFar)}, base::kMaxTotal)),
            Status::kUnsupported);
  EXPECT_EQ(StatusOf(MakeProblem({MakeBuffer("A", 0, 2, kFar / 2), MakeBuffer("B", 0, 2, kFar / 2)},
                                 base::kMaxTotal)),
            Status::kUnsupported);
  Problem fixed = TwoSmall();
  fixed.buffers[0].offset = kFar;
  EXPECT_EQ(StatusOf(fixed), Status::kUnsupported);
}

TEST_F(FarAddresses, OfOtherNumbersAreNotRefuted) {
  std::vector<Problem> problems(4, TwoSmall());
  problems[0].memories[0].reserved.push_back({{0, kFar}, ""});
  problems[1].relations.push_back({problem::RelationKind::kColocate, 0, 1, kFar});
  for (problem::Buffer& buffer : problems[2].buffers) buffer.alignment = kFar;
  problem::Rule window;
  window.requirement.kind = problem::RequirementKind::kWindow;
  window.requirement.window = {kFar, base::kMaxTotal};
  window.buffers = {0};
  problems[3].rules.push_back(window);
  for (const Problem& problem : problems) {
    const Status status = StatusOf(problem);
    EXPECT_TRUE(status == Status::kUnknown || status == Status::kUnsupported);
  }
}

// One to three buffers, and requirements with small numbers.
Problem DrawRequirements(base::Random& random) {
  const int count = static_cast<int>(random.Uniform(1, 3));
  Problem problem = MakeProblem({}, 1 << 20);
  for (int i = 0; i < count; ++i) {
    problem.buffers.push_back(MakeBuffer("b" + std::to_string(i), random.Uniform(0, 1),
                                         random.Uniform(2, 3), random.Uniform(1, 2)));
    if (random.Chance(0.2)) problem.buffers.back().alignment = 2;
    if (random.Chance(0.1)) problem.buffers.back().offset = 2 * random.Uniform(0, 3);
  }
  if (random.Chance(0.2)) problem.memories[0].reserved.push_back({{1, random.Uniform(2, 4)}, ""});
  const auto draw = [&] { return static_cast<int>(random.Uniform(0, count - 1)); };
  for (int left = static_cast<int>(random.Uniform(0, 3)); left > 0; --left) {
    const int a = draw(), b = draw();
    if (random.Chance(0.3)) {
      using problem::RelationKind;
      const RelationKind kind =
          random.Chance(0.5) ? RelationKind::kColocate : RelationKind::kSeparate;
      const problem::Bytes delta = kind == RelationKind::kColocate ? random.Uniform(-3, 3) : 0;
      if (a != b) problem.relations.push_back({kind, a, b, delta});
      continue;
    }
    using problem::RequirementKind;
    constexpr std::array kKinds = {
        RequirementKind::kOffset,           RequirementKind::kDifference, RequirementKind::kWindow,
        RequirementKind::kNoCrossing,       RequirementKind::kDistance,   RequirementKind::kGuard,
        RequirementKind::kNaturalAlignment, RequirementKind::kXorDistance};
    problem::Rule rule;
    rule.requirement.kind = kKinds[static_cast<size_t>(random.Uniform(0, kKinds.size() - 1))];
    rule.requirement.multiple = 2;
    rule.requirement.residue = random.Uniform(0, 1);
    const bool is_xor = rule.requirement.kind == RequirementKind::kXorDistance;
    rule.requirement.distance = random.Uniform(is_xor ? 0 : -3, 3);
    const problem::Bytes begin = random.Uniform(0, 4);
    rule.requirement.window = {begin, begin + random.Uniform(2, 40)};
    rule.requirement.after = random.Uniform(0, 2);
    if (problem::TraitsOf(rule.requirement.kind).pairwise) {
      rule.pairs = {{a, b}};
      if (a == b) continue;
      const int c = draw();
      if (c != a && c != b) rule.pairs.emplace_back(b, c);
    } else {
      rule.buffers = {a};
    }
    problem.rules.push_back(rule);
  }
  return problem;
}

// The least top of any placement with offsets below `end`; nullopt if there is none.
std::optional<problem::Bytes> LeastTop(const Problem& problem, problem::Bytes end) {
  std::optional<problem::Bytes> least;
  problem::Allocation allocation;
  allocation.offsets.assign(problem.buffers.size(), 0);
  for (size_t at = 0; at < allocation.offsets.size();) {
    problem::Bytes top = 0;
    for (size_t i = 0; i < allocation.offsets.size(); ++i)
      top = std::max(top, allocation.offsets[i] + problem.buffers[i].size);
    if ((!least || top < *least) && Validate(problem, allocation, 1 << 20).empty()) least = top;
    for (at = 0; at < allocation.offsets.size() && ++allocation.offsets[at] == end; ++at)
      allocation.offsets[at] = 0;
  }
  return least;
}

TEST(FarthestNeeded, HoldsAPlacementWhereThereIsOne) {
  base::Random random(61);
  int bounded = 0;
  for (int round = 0; round < DrawsOf(400); ++round) {
    const Problem problem = DrawRequirements(random);
    if (problem::CheckWellFormed(problem)) continue;
    const allocate::NeededAddresses farthest = allocate::FarthestNeeded(problem);
    const std::optional<problem::Bytes> least = LeastTop(problem, 28);
    if (farthest.is_guess || !least) continue;
    EXPECT_LE(*least, farthest.end) << problem::files::WriteProblem(problem);
    ++bounded;
  }
  ExpectEnough(bounded, DrawsOf(150));
}

// The distance is longer than all other numbers of the problem add up to.
TEST(FarthestNeeded, HasRoomForDistances) {
  Problem problem = MakeProblem({MakeBuffer("A", 0, 1, 1), MakeBuffer("B", 0, 1, 1)}, 1 << 20);
  problem::Rule rule;
  rule.requirement.kind = problem::RequirementKind::kDistance;
  rule.requirement.distance = 1000;
  rule.pairs = {{0, 1}};
  problem.rules.push_back(rule);
  const allocate::NeededAddresses farthest = allocate::FarthestNeeded(problem);
  EXPECT_FALSE(farthest.is_guess);
  EXPECT_GE(farthest.end, 1001);
}

// Pairs at one distance may need more room than all numbers of the problem add up to.
TEST(Allocate, AGuessedCapacityRefutesNothing) {
  constexpr problem::Bytes kPlace = 700'000;
  Problem problem = MakeProblem({MakeBuffer("A", 0, 1, 4), MakeBuffer("B", 0, 1, 4),
                                 MakeBuffer("C", 1, 2, 4), MakeBuffer("D", 1, 2, 4)},
                                1 << 20);
  problem::Rule rule;
  rule.requirement.kind = problem::RequirementKind::kCommonDelta;
  rule.pairs = {{0, 1}, {2, 3}};
  problem.rules.push_back(rule);
  problem::Bytes least = 1 << 20;
  const ScriptedEngine picky("picky", [&least](problem::Bytes capacity) {
    least = std::min(least, capacity);
    Result result = Answer(capacity < kPlace + 4 ? Status::kInfeasible : Status::kFeasible);
    if (result.status == Status::kFeasible)
      result.allocation = problem::Allocation{{0, capacity - 4, 0, capacity - 4}, {}};
    return result;
  });
  const Result result = LeastPeak(problem, picky);
  EXPECT_EQ(result.status, Status::kOptimal);
  EXPECT_EQ(result.peak, kPlace + 4);
  EXPECT_LT(least, 100);
}

}  // namespace
}  // namespace tessera::search
