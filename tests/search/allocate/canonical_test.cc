// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/canonical/canonical.h"

#include <gmock/gmock.h>

#include <set>

#include "random_instance.h"
#include "tessera/problem/generate/families.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

namespace tessera::search {
namespace {

using problem::Problem;
using problem::RelationKind;
using problem::Result;
using problem::Status;
using testing::HasSubstr;

Result Decide(const Problem& problem, problem::Bytes capacity, int64_t units = base::Budget{}.units,
              uint64_t seed = 0) {
  const base::Stop stop;
  return engines::canonical::CanonicalEngine(seed)
      .Open(problem, nullptr)
      ->Solve(0, capacity, {units}, stop);
}

Problem MiniMallocExample() {
  return MakeProblem(
      {MakeBuffer("b1", 0, 3, 4), MakeBuffer("b2", 3, 9, 4), MakeBuffer("b3", 0, 9, 4),
       MakeBuffer("b4", 9, 21, 4), MakeBuffer("b5", 0, 21, 4)},
      12);
}

// The blobs of the patent's first figure: sizes 4, 3, 2, 5 in steps 1-2, 1-3, 2-3 and 3, both ends
// included.
Problem PatentFigure() {
  return MakeProblem({MakeBuffer("A", 1, 3, 4), MakeBuffer("B", 1, 4, 3), MakeBuffer("C", 2, 4, 2),
                      MakeBuffer("D", 3, 4, 5)},
                     10);
}

TEST(Canonical, FitsMiniMallocsExampleIntoTwelve) {
  EXPECT_EQ(Decide(MiniMallocExample(), 12).status, Status::kFeasible);
  EXPECT_EQ(Decide(MiniMallocExample(), 11).status, Status::kInfeasible);
}

TEST(Canonical, FindsOneOfTheTwelvePlacementsOfThePatentsFigure) {
  const Problem problem = PatentFigure();
  int placements = 0;
  ForEachPlacement(problem, 10, [&](const auto&) { return ++placements > 0; });
  EXPECT_EQ(placements, 12);
  const Result result = Decide(problem, 10);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(Validate(problem, *result.allocation, 10).empty());
}

TEST(Canonical, AgreesWithBruteForce) {
  base::Random random(1);
  int infeasible = 0;
  constexpr int kRounds = 4000;
  for (int round = 0; round < kRounds; ++round) {
    const Problem problem = RandomInstance(random);
    ASSERT_FALSE(CheckWellFormed(problem).has_value()) << CheckWellFormed(problem)->message;
    const problem::Bytes capacity = problem.memories[0].capacity;
    const bool fits = FitsByBruteForce(problem, capacity);
    const Result result = Decide(problem, capacity);
    ASSERT_EQ(result.status, fits ? Status::kFeasible : Status::kInfeasible) << "round " << round;
    infeasible += fits ? 0 : 1;
    if (!fits) continue;
    const auto violations = Validate(problem, *result.allocation, capacity);
    ASSERT_TRUE(violations.empty()) << "round " << round << ": " << violations.front().message;
  }
  EXPECT_GE(infeasible, kRounds * 3 / 10);
}

// A bound that refutes most instances would leave the search untested. Here the load always fits.
TEST(Canonical, AgreesWithBruteForceWhereTheLoadFits) {
  base::Random random(2);
  int infeasible = 0, searched = 0;
  for (int round = 0; searched < 1500; ++round) {
    Problem problem = RandomInstance(random);
    problem.relations.clear();
    problem::Bytes load = 0;
    for (problem::Step step = 0; step < 12; ++step) {
      problem::Bytes living = 0;
      for (const auto& buffer : problem.buffers) living += LivesAt(buffer, step) ? buffer.size : 0;
      load = std::max(load, living);
    }
    if (load > 12) continue;
    ++searched;
    const bool fits = FitsByBruteForce(problem, load);
    ASSERT_EQ(Decide(problem, load).status, fits ? Status::kFeasible : Status::kInfeasible)
        << "round " << round;
    infeasible += fits ? 0 : 1;
  }
  EXPECT_GE(infeasible, 300);
}

// Switches the rules on by the bits of `combination`.
engines::canonical::CanonicalOptions RulesOf(unsigned combination) {
  const auto has = [combination](unsigned rule) { return (combination >> rule & 1) != 0; };
  engines::canonical::CanonicalOptions options;
  options.seed = combination % 3;
  options.support = has(0);
  options.witness = has(1);
  options.sections = has(2);
  options.backjumping = has(3);
  options.interchangeable = has(4);
  options.decomposition = has(5);
  options.cache = has(6);
  options.cache_after = 0;
  options.both_directions = has(7);
  options.gap_fill = has(8);
  return options;
}

TEST(Canonical, EveryCombinationOfRulesAgreesWithBruteForce) {
  constexpr unsigned kCombinations = 1U << 9;
  constexpr int kRounds = 6;
  base::Random random(4);
  int infeasible = 0;
  for (unsigned combination = 0; combination < kCombinations; ++combination) {
    const engines::canonical::CanonicalEngine engine(RulesOf(combination));
    for (int round = 0; round < kRounds; ++round) {
      const Problem problem = RandomInstance(random);
      const problem::Bytes capacity = problem.memories[0].capacity;
      const bool fits = FitsByBruteForce(problem, capacity);
      const base::Stop stop;
      const Result result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
      ASSERT_EQ(result.status, fits ? Status::kFeasible : Status::kInfeasible)
          << "rules " << combination << ", round " << round;
      infeasible += fits ? 0 : 1;
      if (fits) {
        ASSERT_TRUE(Validate(problem, *result.allocation, capacity).empty());
      }
    }
  }
  EXPECT_GE(infeasible, static_cast<int>(kCombinations) * kRounds / 4);
}

// Mid-sized instances take thousands of nodes, so the cache finds entries and long jumps happen.
// Every second seed gives an infeasible instance.
TEST(Canonical, RulesDoNotChangeAnswersOfMidSizedInstances) {
  constexpr int64_t kUnits = 100'000;
  const std::vector<unsigned> combinations = {0b111111111, 0b110111111, 0b111110111, 0b111011111,
                                              0b111101111, 0b111111101, 0b111111110, 0b111111011};
  int decided = 0, infeasible = 0;
  for (const uint64_t seed : {14, 15, 20, 21, 36, 37, 41, 42}) {
    const Problem problem = problem::generate::MakeBroken({24, 80, 4096}, seed);
    std::optional<Status> answer;
    for (const unsigned combination : combinations) {
      const base::Stop stop;
      const Result result = engines::canonical::CanonicalEngine(RulesOf(combination))
                                .Open(problem, nullptr)
                                ->Solve(0, 4096, {kUnits}, stop);
      if (result.status == Status::kUnknown) continue;
      ++decided;
      ASSERT_EQ(result.status, answer.value_or(result.status))
          << "seed " << seed << ", rules " << combination;
      answer = result.status;
      infeasible += result.status == Status::kInfeasible ? 1 : 0;
    }
  }
  EXPECT_GE(decided, 48);
  EXPECT_GE(infeasible, 20);
}

// Some offsets of a placement are fixed at the placement's own peak, or at random. Fixed buffers
// cut the addresses into gaps that the others have to fill.
TEST(Canonical, AgreesWithBruteForceAmongFixedOffsets) {
  base::Random random(11);
  int feasible = 0, infeasible = 0;
  for (int round = 0; round < 3000; ++round) {
    constexpr problem::Bytes kCapacity = 12;
    Problem problem = MakeProblem({}, kCapacity);
    for (int i = 0; i < 6; ++i) {
      const problem::Step lower = random.Uniform(0, 3);
      problem.buffers.push_back(MakeBuffer("b" + std::to_string(i), lower,
                                           lower + random.Uniform(1, 3), random.Uniform(2, 5)));
    }
    for (int i = 0; i < 2; ++i) {
      problem::Buffer& buffer = problem.buffers[static_cast<size_t>(i)];
      buffer.offset = random.Uniform(0, kCapacity - buffer.size);
    }
    const bool fits = FitsByBruteForce(problem, kCapacity);
    const Result result = Decide(problem, kCapacity);
    ASSERT_EQ(result.status, fits ? Status::kFeasible : Status::kInfeasible) << "round " << round;
    ++(fits ? feasible : infeasible);
    if (fits) {
      ASSERT_TRUE(Validate(problem, *result.allocation, kCapacity).empty()) << round;
    }
  }
  EXPECT_GE(feasible, 300);
  EXPECT_GE(infeasible, 300);
}

// A perfect packing with a fifth of its offsets fixed is solved with few nodes, and by the rule of
// gaps alone where sums of bytes do not help.
TEST(Canonical, FillsTheGapsBetweenFixedBuffers) {
  int solved = 0;
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    Problem problem = problem::generate::MakePerfect({30, 40, 256}, seed);
    const Result known = Decide(problem, 256, 2'000'000);
    if (!known.allocation) continue;
    for (size_t i = 0; i < problem.buffers.size(); i += 5)
      problem.buffers[i].offset = known.allocation->offsets[i];
    const Result result = Decide(problem, 256, 2'000'000);
    if (result.status == Status::kUnknown) continue;
    ASSERT_EQ(result.status, Status::kFeasible) << seed;
    ASSERT_TRUE(Validate(problem, *result.allocation, 256).empty()) << seed;
    ++solved;
  }
  EXPECT_GE(solved, 10);
}

TEST(Canonical, AlignsABufferToItsOwnAlignmentNotItsNeighbours) {
  Problem problem = MakeProblem({MakeBuffer("coarse", 0, 2, 8), MakeBuffer("fine", 0, 2, 3)}, 11);
  problem.buffers[0].alignment = 8;
  EXPECT_EQ(Decide(problem, 11).status, Status::kFeasible);  // fine lies at 8, a multiple of 1
  problem.buffers[0].size = 9;
  EXPECT_EQ(Decide(problem, 12).status,
            Status::kFeasible);  // at 9; rounded up to 16 it would not fit
  problem.buffers[1].alignment = 4;
  EXPECT_EQ(Decide(problem, 15).status, Status::kFeasible);  // at 12
  EXPECT_EQ(Decide(problem, 14).status, Status::kInfeasible);
}

TEST(Canonical, ALimitIsUnknownNeverInfeasible) {
  const Result result = Decide(PatentFigure(), 10, 1);
  EXPECT_EQ(result.status, Status::kUnknown);
  EXPECT_THAT(result.reason, HasSubstr("limit of 1 nodes"));
  EXPECT_FALSE(result.allocation.has_value());
}

TEST(Canonical, AnotherCallGoesOnWithTheRestarts) {
  const Problem problem = problem::generate::MakeFlat(30, 16);  // needs several calls
  const auto session = engines::canonical::CanonicalEngine().Open(problem, nullptr);
  const base::Stop stop;
  std::vector<Status> answers;
  while (answers.empty() || (answers.back() == Status::kUnknown && answers.size() < 1000)) {
    answers.push_back(session->Solve(0, problem.memories[0].capacity, {200}, stop).status);
  }
  EXPECT_EQ(answers.back(), Status::kFeasible);
  EXPECT_GE(answers.size(), 2U);
}

TEST(Canonical, AStopRequestedBeforehandIsUnknown) {
  base::Stop stop;
  stop.Request();
  const Problem problem = PatentFigure();
  EXPECT_EQ(
      engines::canonical::CanonicalEngine().Open(problem, nullptr)->Solve(0, 9, {}, stop).status,
      Status::kUnknown);
}

// Small buffers that are delayed must rest on each other: they raise each other up to the capacity,
// by their sizes at a time.
TEST(Canonical, AStopEndsBuffersThatRaiseEachOther) {
  using Drawn = std::pair<std::vector<problem::Lifespan>, problem::Bytes>;
  const std::vector<Drawn> drawn = {{{{0, 21}}, 656},
                                    {{{0, 21}}, 656},
                                    {{{0, 21}}, 1680},
                                    {{{0, 21}}, 144},
                                    {{{0, 21}}, 144},
                                    {{{0, 21}}, 656},
                                    {{{0, 21}}, 1680},
                                    {{{0, 21}}, 144},
                                    {{{0, 21}}, 656},
                                    {{{0, 21}}, 144},
                                    {{{0, 2}, {11, 21}}, 231206936},
                                    {{{1, 12}}, 231206936},
                                    {{{1, 3}}, 360010800},
                                    {{{11, 13}}, 360010800},
                                    {{{2, 4}}, 270408112},
                                    {{{12, 14}}, 270408112},
                                    {{{3, 5}}, 129603888},
                                    {{{13, 15}}, 129603888},
                                    {{{4, 6}}, 129603888},
                                    {{{14, 16}}, 129603888},
                                    {{{5, 7}}, 129603888},
                                    {{{15, 17}}, 129603888},
                                    {{{6, 8}}, 78402352},
                                    {{{16, 18}}, 78402352},
                                    {{{7, 9}}, 14400432},
                                    {{{17, 19}}, 14400432},
                                    {{{8, 10}}, 14400432},
                                    {{{18, 20}}, 14400432},
                                    {{{9, 11}}, 1600048},
                                    {{{19, 21}}, 1600048},
                                    {{{10, 22}}, 800024},
                                    {{{1, 11}, {20, 21}}, 800024}};
  constexpr problem::Bytes kCapacity = 862'432'440;
  Problem problem = MakeProblem({}, kCapacity);
  problem.memories[0].alignment = 16;
  for (const auto& [lifespans, size] : drawn) {
    problem::Buffer buffer = MakeBuffer("b" + std::to_string(problem.buffers.size()), 0, 1, size);
    buffer.lifespans = lifespans;
    problem.buffers.push_back(std::move(buffer));
  }
  const engines::canonical::CanonicalEngine engine;
  std::set<int64_t> nodes;
  for (const int64_t poll : {100, 250}) {
    const base::Stop stop(base::Stop::AtPoll{poll});
    const Result result = engine.Open(problem, nullptr)->Solve(0, kCapacity, {}, stop);
    EXPECT_EQ(result.status, Status::kUnknown);
    EXPECT_EQ(stop.Polls(), poll);
    nodes.insert(result.statistics.nodes);
  }
  EXPECT_EQ(nodes.size(), 1U);  // all within one node
}

TEST(Canonical, SolvesEachCandidateOfALadder) {
  const Problem problem = MiniMallocExample();
  const problem::Ladder ladder{{{"half", {2, 2, 2, 2, 2}}, {"full", {4, 4, 4, 4, 4}}}};
  const auto session = engines::canonical::CanonicalEngine().Open(problem, &ladder);
  const base::Stop stop;
  EXPECT_EQ(session->Solve(0, 6, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(1, 6, {}, stop).status, Status::kInfeasible);
  EXPECT_EQ(session->Solve(0, 5, {}, stop).status, Status::kInfeasible);
  EXPECT_EQ(session->Solve(2, 6, {}, stop).status, Status::kInvalid);
}

TEST(Canonical, SameSeedSameAnswer) {
  base::Random random(3);
  for (int round = 0; round < 100; ++round) {
    const Problem problem = RandomInstance(random);
    const Result first = Decide(problem, 12, 1000, 5), second = Decide(problem, 12, 1000, 5);
    ASSERT_EQ(first.status, second.status);
    ASSERT_EQ(first.statistics.nodes, second.statistics.nodes);
    if (first.allocation) {
      ASSERT_EQ(first.allocation->offsets, second.allocation->offsets);
    }
  }
}

TEST(Canonical, FillsEveryMemoryWithinItsOwnCapacity) {
  Problem problem = MakeProblem(
      {MakeBuffer("a", 0, 2, 4), MakeBuffer("b", 0, 2, 4), MakeBuffer("c", 0, 2, 4)}, 4);
  problem.memories.push_back(problem.memories[0]);
  problem.memories[1].name = "tcm";
  problem.memories[1].capacity = 8;
  problem.buffers[1].memory = problem.buffers[2].memory = 1;
  EXPECT_EQ(Decide(problem, 4).status, Status::kFeasible);
  problem.memories[1].capacity = 7;
  const Result result = Decide(problem, 4);
  EXPECT_EQ(result.status, Status::kInfeasible);
  EXPECT_THAT(result.reason, HasSubstr("'tcm'"));
}

// The search is eight thousand decisions deep here and must not recurse on the machine's stack.
TEST(Canonical, GoesDeepWithoutRecursion) {
  std::vector<problem::Buffer> buffers;
  for (int i = 0; i < 8000; ++i)
    buffers.push_back(MakeBuffer("b" + std::to_string(i), i, i + 2, 1 + i % 3));
  const Problem problem = MakeProblem(std::move(buffers), 5);
  EXPECT_EQ(Decide(problem, 5).status, Status::kFeasible);
}

struct Unsupported {
  const char* words;
  std::function<void(Problem&)> state;
};

TEST(Canonical, RefusesWhatItCannotHonourByName) {
  const auto with_banks = [](Problem& problem) {
    problem.memories[0].banks = {{"low", {0, 6}, {}}, {"high", {6, 12}, {}}};
  };
  const std::vector<Unsupported> cases = {
      {"'adjacent' between b1 and b2",
       [](Problem& p) {
         p.relations = {{RelationKind::kAdjacent, 0, 1, 0}};
       }},
      {"'same bank' between b1 and b2",
       [](Problem& p) {
         p.relations = {{RelationKind::kSameBank, 0, 1, 0}};
       }},
      {"'different bank' between b1 and b2",
       [](Problem& p) {
         p.relations = {{RelationKind::kDifferentBank, 0, 1, 0}};
       }},
      {"the banks in which b3 must lie",
       [&](Problem& p) {
         with_banks(p);
         p.buffers[2].span = problem::Span::kSingle;
       }},
      {"the banks in which b3 must lie",
       [&](Problem& p) {
         with_banks(p);
         p.buffers[2].allowed_banks = {1};
       }},
      {"the ports of memory 'sram'",
       [&](Problem& p) {
         with_banks(p);
         p.memories[0].banks[0].ports.total = 1;
         p.buffers[0].accesses = {{0, "pe", problem::AccessKind::kRead}};
       }},
      {"the modes of memory 'sram'",
       [&](Problem& p) {
         with_banks(p);
         p.memories[0].modes = {{"sleep", {{true, {}}, {false, {}}}}};
       }},
  };
  for (const Unsupported& unsupported : cases) {
    Problem problem = MiniMallocExample();
    unsupported.state(problem);
    const Result result = Decide(problem, 12);
    EXPECT_EQ(result.status, Status::kUnsupported) << unsupported.words;
    EXPECT_THAT(result.reason, HasSubstr(unsupported.words));
  }
}

TEST(Canonical, ConstraintsThatRestrictNothingAreNoObstacle) {
  Problem problem = MiniMallocExample();
  problem.memories[0].banks = {{"low", {0, 6}, {}}, {"high", {6, 12}, {}}};
  problem.memories[0].modes = {
      {"sleep", {{true, {}}, {true, {}}}},
      {"run",
       {{false, {{"", problem::AccessKind::kRead}}}, {false, {{"", problem::AccessKind::kRead}}}}}};
  problem.buffers[0].accesses = {{0, "pe", problem::AccessKind::kRead}};
  const Result result = Decide(problem, 12);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_EQ(result.allocation->modes[0], std::vector<int>(21, 1));
  EXPECT_TRUE(Validate(problem, *result.allocation, 12).empty());
}

}  // namespace
}  // namespace tessera::search
