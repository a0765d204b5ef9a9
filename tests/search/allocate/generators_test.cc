// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>

#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/well_formed.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"

namespace tessera::search {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Status;
using problem::Step;
using testing::Each;
using testing::SizeIs;

constexpr uint64_t kSeeds = 25;

std::vector<Bytes> LoadsOf(const Problem& problem) {
  const problem::Lifespan horizon = problem::Horizon(problem);
  std::vector<Bytes> loads;
  for (Step step = horizon.lower; step < horizon.upper; ++step) {
    Bytes load = 0;
    for (const problem::Buffer& buffer : problem.buffers)
      load += LivesAt(buffer, step) ? buffer.size : 0;
    loads.push_back(load);
  }
  return loads;
}

Status DecideWithin(const problem::Engine& engine, const Problem& problem, int64_t units) {
  const base::Stop stop;
  return engine.Open(problem, nullptr)
      ->Solve(0, problem.memories[0].capacity, {units}, stop)
      .status;
}

struct Family {
  const char* name;
  std::function<Problem(uint64_t seed)> generate;
  size_t buffers;
};

std::vector<Family> Families() {
  return {
      {"perfect", [](uint64_t seed) { return problem::generate::MakePerfect({}, seed); }, 80},
      {"broken", [](uint64_t seed) { return problem::generate::MakeBroken({}, seed); }, 80},
      {"flat", [](uint64_t seed) { return problem::generate::MakeFlat(40, seed); }, 40},
      {"random", [](uint64_t seed) { return problem::generate::MakeRandom(100, 20, seed); }, 100},
      {"compiler-like", [](uint64_t seed) { return problem::generate::MakeCompilerLike(60, seed); },
       60},
      {"banked", [](uint64_t seed) { return problem::generate::MakeBanked({.buffers = 60}, seed); },
       60}};
}

TEST(Generators, ProblemsAreWellFormedAndOfTheSizeAskedFor) {
  for (const Family& family : Families()) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Problem problem = family.generate(seed);
      EXPECT_FALSE(CheckWellFormed(problem).has_value())
          << family.name << ' ' << CheckWellFormed(problem)->message;
      EXPECT_THAT(problem.buffers, SizeIs(family.buffers)) << family.name;
    }
  }
}

TEST(Generators, TheSeedAloneDecides) {
  for (const Family& family : Families()) {
    EXPECT_EQ(problem::files::WriteProblem(family.generate(7)),
              problem::files::WriteProblem(family.generate(7)))
        << family.name;
    EXPECT_NE(problem::files::WriteProblem(family.generate(7)),
              problem::files::WriteProblem(family.generate(8)))
        << family.name;
  }
}

TEST(Generators, PerfectFillsEveryStepToTheCapacity) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_THAT(LoadsOf(problem::generate::MakePerfect({30, 12, 64}, seed)), Each(64));
  }
}

TEST(Generators, PerfectIsFeasible) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(
        DecideWithin(engines::canonical::CanonicalEngine(),
                     problem::generate::MakePerfect({16, 12, 64}, seed), base::Budget{}.units),
        Status::kFeasible);
  }
}

TEST(Generators, PerfectCutsDownToSingleBytes) {
  EXPECT_THAT(problem::generate::MakePerfect({12, 3, 4}, 1).buffers, SizeIs(12));
}

TEST(Generators, BrokenKeepsTheLoadWithinTheCapacityAndGreedySolvesFew) {
  int greedy = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = problem::generate::MakeBroken({}, seed);
    EXPECT_LE(allocate::FindBound(problem, 0).bytes, problem.memories[0].capacity);
    EXPECT_NE(problem::files::WriteProblem(problem),
              problem::files::WriteProblem(problem::generate::MakePerfect({}, seed)));
    greedy += DecideWithin(engines::greedy::GreedyEngine(), problem, base::Budget{}.units) ==
                      Status::kFeasible
                  ? 1
                  : 0;
  }
  EXPECT_LE(greedy, static_cast<int>(kSeeds / 5));
}

// A search can decide small ones completely: both answers occur.
TEST(Generators, BrokenMayOrMayNotBeFeasible) {
  int feasible = 0, infeasible = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Status status = DecideWithin(engines::canonical::CanonicalEngine(),
                                       problem::generate::MakeBroken({20, 30, 256}, seed), 200'000);
    feasible += status == Status::kFeasible ? 1 : 0;
    infeasible += status == Status::kInfeasible ? 1 : 0;
  }
  EXPECT_GE(feasible, 1);
  EXPECT_GE(infeasible, 1);
}

TEST(Generators, FlatHasItsLoadForCapacityAndGreedySolvesFew) {
  int greedy = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = problem::generate::MakeFlat(40, seed);
    EXPECT_EQ(allocate::FindBound(problem, 0).bytes, problem.memories[0].capacity);
    const problem::Lifespan horizon = problem::Horizon(problem);
    EXPECT_LE(horizon.upper, 24);
    greedy += DecideWithin(engines::greedy::GreedyEngine(), problem, base::Budget{}.units) ==
                      Status::kFeasible
                  ? 1
                  : 0;
  }
  EXPECT_LE(greedy, static_cast<int>(kSeeds / 5));
}

TEST(Generators, RandomHasTheConcurrencyAskedFor) {
  const Problem problem = problem::generate::MakeRandom(2000, 50, 3);
  const problem::Lifespan horizon = problem::Horizon(problem);
  Step lived = 0;
  for (const problem::Buffer& buffer : problem.buffers) {
    lived += buffer.lifespans[0].upper - buffer.lifespans[0].lower;
    EXPECT_TRUE(64 <= buffer.size && buffer.size <= 16 << 20);
  }
  EXPECT_NEAR(static_cast<double>(lived) / static_cast<double>(horizon.upper - horizon.lower), 50,
              2);
}

// A buffer and its accesses at one step.
struct User {
  Bytes size;
  problem::AccessKind kind;
};

// Whether users from `next` on find space in banks that permit them, by trying all.
bool FindRoom(const std::vector<User>& users, const problem::Mode& mode, std::vector<Bytes>& room,
              size_t next) {
  if (next == users.size()) return true;
  for (size_t bank = 0; bank < room.size(); ++bank) {
    const auto& allowed = mode.banks[bank].allowed;
    const bool permits = std::any_of(
        allowed.begin(), allowed.end(),
        [&](const problem::Permission& permission) { return permission.kind == users[next].kind; });
    if (!permits || room[bank] < users[next].size) continue;
    room[bank] -= users[next].size;
    const bool found = FindRoom(users, mode, room, next + 1);
    room[bank] += users[next].size;
    if (found) return true;
  }
  return false;
}

TEST(Generators, EachStepOfABankedProblemAloneHasAFeasibleMode) {
  for (const problem::generate::BankedShape& shape :
       {problem::generate::BankedShape{}, problem::generate::BankedShape{30, 20, 3, 2, 20},
        problem::generate::BankedShape{9, 20, 1, 1, 40}}) {
    for (uint64_t seed = 0; seed < kSeeds; ++seed) {
      const Problem problem = problem::generate::MakeBanked(shape, seed);
      const problem::Memory& memory = problem.memories[0];
      ASSERT_THAT(memory.banks, SizeIs(static_cast<size_t>(shape.banks)));
      ASSERT_THAT(memory.modes, SizeIs(static_cast<size_t>(shape.modes)));
      std::vector<Bytes> room(memory.banks.size(), memory.capacity / shape.banks);
      for (Step step = 0; step < shape.steps; ++step) {
        std::vector<User> users;
        for (const problem::Buffer& buffer : problem.buffers) {
          for (const problem::Access& access : buffer.accesses) {
            if (access.step == step) users.push_back({buffer.size, access.kind});
          }
        }
        EXPECT_TRUE(
            std::any_of(memory.modes.begin(), memory.modes.end(),
                        [&](const problem::Mode& mode) { return FindRoom(users, mode, room, 0); }))
            << problem.name << ", step " << step;
      }
    }
  }
}

TEST(Generators, BankedLeavesLittleSlackOverTheHeaviestStep) {
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Problem problem = problem::generate::MakeBanked({}, seed);
    const std::vector<Bytes> loads = LoadsOf(problem);
    const Bytes load = *std::max_element(loads.begin(), loads.end());
    EXPECT_LE(load, problem.memories[0].capacity);
    EXPECT_GE(load * 2, problem.memories[0].capacity);
  }
}

}  // namespace
}  // namespace tessera::search
