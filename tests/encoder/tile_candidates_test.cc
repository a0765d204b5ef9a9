// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/validator.h"

// Moving along a ladder: an open session answers like a fresh one, in any order, and adds only
// clauses about sizes. And rules that are folded away allow the same allocations.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

problem::Buffer Live(const std::string& id, Bytes size, problem::Step lower, problem::Step upper) {
  problem::Buffer buffer;
  buffer.id = id;
  buffer.size = size;
  buffer.lifespans = {{lower, upper}};
  return buffer;
}

// A chain of two convolutions: input, middle and output maps of a tile, and weights that live the
// whole time.
Problem Chain(Bytes capacity) {
  Problem problem;
  problem.memories.emplace_back().capacity = capacity;
  problem.buffers = {Live("weights", 20, 0, 3), Live("input", 1, 0, 1), Live("middle", 1, 0, 2),
                     Live("output", 1, 1, 3)};
  return problem;
}

// Rows of the tile: the halo adds two rows to each map. At full height (8 rows of 8) there are no
// more rows to add.
Ladder RowsWithHalo() {
  Ladder ladder;
  for (const Bytes rows : {1, 2, 3, 4, 5, 6, 7, 8}) {
    const Bytes middle = std::min<Bytes>(rows + 2, 8);
    const Bytes input = std::min<Bytes>(middle + 2, 8);
    ladder.candidates.push_back(
        {"rows=" + std::to_string(rows), {20, input * 8, middle * 8, rows * 8}});
  }
  return ladder;
}

// At full height the line buffers of the halo vanish: the largest tile needs less than the one
// before it.
Ladder HaloVanishes() {
  return {
      {{"rows=4", {20, 32, 24, 16}}, {"rows=6", {20, 64, 48, 24}}, {"rows=8", {20, 40, 32, 24}}}};
}

struct Party {
  std::string name;
  std::shared_ptr<problem::Engine> engine;
};

class CandidatesOf : public testing::TestWithParam<Party> {
 protected:
  static Status Ask(problem::Session& session, size_t candidate, Bytes capacity) {
    const base::Stop stop;
    return session.Solve(candidate, capacity, {}, stop).status;
  }
  const problem::Engine& Engine() const { return *GetParam().engine; }
};

TEST_P(CandidatesOf, FindsTheLargestCandidateOfANonLinearLadder) {
  // input + middle + weights: 8 * (rows + 4) + 8 * (rows + 2) + 20, until both are clipped at 64.
  const Problem problem = Chain(120);
  const Ladder ladder = RowsWithHalo();
  const auto session = Engine().Open(problem, &ladder);
  const std::vector<Status> expected = {
      Status::kFeasible,   Status::kFeasible,   Status::kFeasible,   Status::kInfeasible,
      Status::kInfeasible, Status::kInfeasible, Status::kInfeasible, Status::kInfeasible};
  for (size_t candidate = 0; candidate < expected.size(); ++candidate)
    EXPECT_EQ(Ask(*session, candidate, 120), expected[candidate]) << candidate;
  for (size_t candidate = expected.size(); candidate-- > 0;)
    EXPECT_EQ(Ask(*session, candidate, 120), expected[candidate]) << candidate;
}

TEST_P(CandidatesOf, AnswersEachCandidateOnItsOwnWhereDominanceBreaks) {
  const Problem problem = Chain(100);
  const Ladder ladder = HaloVanishes();
  ASSERT_FALSE(Dominates(ladder.candidates[2], ladder.candidates[1]));
  const auto session = Engine().Open(problem, &ladder);
  EXPECT_EQ(Ask(*session, 1, 100), Status::kInfeasible);
  EXPECT_EQ(Ask(*session, 2, 100), Status::kFeasible);
  EXPECT_EQ(Ask(*session, 0, 100), Status::kFeasible);
}

TEST_P(CandidatesOf, CapacityMayRiseAndFallWithinASession) {
  const Problem problem = Chain(100);
  const Ladder ladder = HaloVanishes();
  const auto session = Engine().Open(problem, &ladder);
  EXPECT_EQ(Ask(*session, 2, 92), Status::kFeasible);
  EXPECT_EQ(Ask(*session, 2, 91), Status::kInfeasible);
  EXPECT_EQ(Ask(*session, 1, 132), Status::kFeasible);
  EXPECT_EQ(Ask(*session, 2, 91), Status::kInfeasible);
  EXPECT_EQ(Ask(*session, 2, 92), Status::kFeasible);
}

TEST_P(CandidatesOf, RefusesACandidateThatDoesNotExist) {
  const Problem problem = Chain(100);
  const Ladder ladder = HaloVanishes();
  EXPECT_EQ(Ask(*Engine().Open(problem, &ladder), 3, 100), Status::kInvalid);
}

// Random ladders over random Problems, with sizes that rise, fall and repeat.
TEST_P(CandidatesOf, SessionAgreesWithFreshSolvesInAnyOrder) {
  base::Random random(7);
  int feasible = 0;
  int asked = 0;
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    const Problem problem = DrawProblem(random);
    Ladder ladder;
    for (int r = 0; r < 4; ++r) {
      ladder.candidates.push_back({"r" + std::to_string(r), {}});
      for (size_t b = 0; b < problem.buffers.size(); ++b)
        ladder.candidates.back().sizes.push_back(random.Uniform(1, 3));
    }
    const auto session = Engine().Open(problem, &ladder);
    for (int question = 0; question < 8; ++question) {
      const auto candidate = static_cast<size_t>(random.Uniform(0, 3));
      const Bytes capacity = problem.memories[0].capacity - random.Uniform(-1, 2);
      const Problem sized = AtCandidate(problem, ladder.candidates[candidate]);
      const base::Stop stop;
      const Result kept = session->Solve(candidate, capacity, {}, stop);
      const Result fresh = Engine().Open(sized, nullptr)->Solve(0, capacity, {}, stop);
      EXPECT_EQ(kept.status, fresh.status)
          << "candidate " << candidate << ", capacity " << capacity;
      if (kept.allocation) {
        EXPECT_TRUE(problem::Validate(sized, *kept.allocation, capacity).empty());
      }
      feasible += kept.status == Status::kFeasible ? 1 : 0;
      ++asked;
    }
  }
  EXPECT_GT(feasible, asked / 10);
  EXPECT_LT(feasible, asked * 9 / 10);
}

INSTANTIATE_TEST_SUITE_P(
    Engines, CandidatesOf,
    testing::Values(Party{"order", std::make_shared<sat::SatEngine>(sat::SatOptions{
                                       0, sat::IntegerEncoding::kOrder})},
                    Party{"bits", std::make_shared<sat::SatEngine>(sat::SatOptions{
                                      0, sat::IntegerEncoding::kBits})},
                    Party{"z3", std::make_shared<smt::Z3Engine>()}),
    [](const testing::TestParamInfo<Party>& info) { return info.param.name; });

// A loop over three banks whose modes exchange reading and writing, so that every part of the
// formulation has clauses.
Problem BankedLoop() {
  Problem problem = Chain(256);
  problem::Memory& memory = problem.memories[0];
  memory.banks = {{"a", {0, 96}, {}}, {"b", {96, 192}, {}}, {"c", {192, 256}, {}}};
  memory.banks[0].ports.total = 1;
  const problem::BankMode read{false, {{"", problem::AccessKind::kRead}}};
  const problem::BankMode write{false, {{"", problem::AccessKind::kWrite}}};
  memory.modes = {{"rwr", {read, write, read}}, {"wrw", {write, read, write}}};
  memory.transitions = {{0, 1}, {1, 0}};
  memory.reserved = {{{0, 4}, "vectors"}};
  problem.buffers[1].accesses = {{0, "", problem::AccessKind::kRead}};
  problem.buffers[2].accesses = {{0, "", problem::AccessKind::kWrite},
                                 {1, "", problem::AccessKind::kRead}};
  problem.buffers[3].accesses = {{1, "", problem::AccessKind::kWrite}};
  problem.relations = {{problem::RelationKind::kDifferentBank, 1, 2, 0}};
  problem.loops = {{0, 2, {2}}};
  return problem;
}

TEST(LadderClauses, LaterCandidatesAddSizesAndNothingElse) {
  const Problem problem = BankedLoop();
  const Ladder ladder = RowsWithHalo();
  for (const sat::IntegerEncoding encoding :
       {sat::IntegerEncoding::kOrder, sat::IntegerEncoding::kBits}) {
    formulation::EncodedSession session("cadical", problem, &ladder,
                                        sat::CadicalBackends({0, encoding}));
    const base::Stop stop;
    EXPECT_EQ(session.Solve(0, 256, {}, stop).status, Status::kFeasible);
    const formulation::TopicCounts first = session.Counts();
    for (const formulation::Topic topic :
         {formulation::Topic::kLiveness, formulation::Topic::kRelations,
          formulation::Topic::kAddresses, formulation::Topic::kBanks, formulation::Topic::kModes}) {
      EXPECT_GT(first[static_cast<size_t>(topic)], 0) << static_cast<int>(topic);
    }
    for (size_t candidate = 1; candidate < ladder.candidates.size(); ++candidate)
      session.Solve(candidate, 256, {}, stop);
    const formulation::TopicCounts later = session.Counts();
    for (size_t topic = 0; topic < formulation::kTopicCount; ++topic) {
      if (static_cast<formulation::Topic>(topic) == formulation::Topic::kSizes) {
        EXPECT_GT(later[topic], first[topic]);
      } else {
        EXPECT_EQ(later[topic], first[topic]) << topic;
      }
    }
    for (size_t candidate = 0; candidate < ladder.candidates.size(); ++candidate)
      session.Solve(candidate, 256, {}, stop);
    EXPECT_EQ(session.Counts(), later) << "a candidate seen before adds nothing";
  }
}

TEST(LadderClauses, ASmallerCapacityAddsOneClauseABuffer) {
  const Problem problem = Chain(120);
  const Ladder ladder = RowsWithHalo();
  formulation::EncodedSession session("cadical", problem, &ladder,
                                      sat::CadicalBackends({0, sat::IntegerEncoding::kOrder}));
  const base::Stop stop;
  session.Solve(0, 120, {}, stop);
  formulation::TopicCounts expected = session.Counts();
  session.Solve(0, 100, {}, stop);
  expected[static_cast<size_t>(formulation::Topic::kCapacity)] += 4;
  EXPECT_EQ(session.Counts(), expected);
}

void RemoveBanks(Problem& problem) {
  problem::Memory& memory = problem.memories[0];
  memory.banks.clear();
  memory.modes.clear();
  memory.transitions.reset();
  memory.bank_sets.clear();
  for (problem::Buffer& buffer : problem.buffers) {
    if (buffer.memory == 0) buffer.allowed_banks.clear();
  }
}

// Adds one or two rules about windows, for all buffers of a memory or for some.
void DrawWindows(base::Random& random, Problem& problem) {
  std::erase_if(problem.rules, [](const problem::Rule& rule) {
    return rule.requirement.kind != problem::RequirementKind::kWindow;
  });
  const auto last = static_cast<int64_t>(problem.memories.size()) - 1;
  for (int64_t count = random.Uniform(1, 2); count > 0; --count) {
    const auto memory = static_cast<int>(random.Uniform(0, last));
    const Bytes capacity = problem.memories[static_cast<size_t>(memory)].capacity;
    problem::Rule rule;
    rule.requirement.kind = problem::RequirementKind::kWindow;
    rule.requirement.window.begin = random.Uniform(0, capacity / 3);
    rule.requirement.window.end = random.Uniform(capacity / 2, capacity + 4);
    const bool all = random.Chance(0.5);
    for (int i = 0; i < static_cast<int>(problem.buffers.size()); ++i) {
      const bool is_there = problem.buffers[static_cast<size_t>(i)].memory == memory;
      if (is_there && (all || random.Chance(0.5))) rule.buffers.push_back(i);
    }
    if (!rule.buffers.empty()) problem.rules.push_back(std::move(rule));
  }
}

// The capacity may be less or more than that of the Problem.
TEST(FoldedWindows, AllowTheSameAllocations) {
  int reserved = 0;
  int banks = 0;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    Problem problem = DrawProblem(random);
    if (random.Chance(0.5)) RemoveBanks(problem);
    DrawWindows(random, problem);
    const Bytes capacity = problem.memories[0].capacity + random.Uniform(-3, 3);
    const Problem folded = FoldWindows(FoldRules(problem, nullptr), capacity);
    const auto before = Enumerate(problem, capacity);
    const auto after = Enumerate(folded, capacity);
    ASSERT_EQ(before.has_value(), after.has_value());
    if (before) {
      EXPECT_EQ(before->offsets, after->offsets);
    }
    if (problem.rules.empty() || !folded.rules.empty()) continue;
    const bool cut = folded.memories[0].banks.size() > problem.memories[0].banks.size();
    ++(cut ? banks : reserved);
  }
  EXPECT_GE(reserved, 150);
  EXPECT_GE(banks, 60);
}

}  // namespace
}  // namespace tessera::encoder
