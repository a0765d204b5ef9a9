// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/reasons/fewest_modes.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <string>

#include "brute_force.h"
#include "random_problem.h"
#include "tessera/base/random.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/validator.h"

namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
using testing::ElementsAre;
using testing::IsEmpty;

Result DecideBySat(const Problem& problem, Bytes capacity, const base::Budget& budget) {
  static const sat::SatEngine engine;
  const base::Stop stop;
  return engine.Open(problem, nullptr)->Solve(0, capacity, budget, stop);
}

problem::Mode ModeOf(const std::string& row) {
  problem::Mode mode{row, {}};
  for (const char kind : row)
    mode.banks.push_back({false, {{"", kind == 'r' ? AccessKind::kRead : AccessKind::kWrite}}});
  return mode;
}

// The patent's double-buffered loop; one row of letters for each mode, one letter for each bank of
// a byte.
Problem DoubleBufferedLoop(const std::vector<std::string>& rows) {
  Problem problem;
  const auto add = [&](const std::string& id, AccessKind first, AccessKind second) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = id;
    buffer.lifespans = {{0, 2}};
    buffer.span = problem::Span::kSingle;
    buffer.accesses = {{0, "", first}, {1, "", second}};
  };
  add("ping", AccessKind::kRead, AccessKind::kWrite);
  add("pong", AccessKind::kWrite, AccessKind::kRead);
  add("weights", AccessKind::kRead, AccessKind::kRead);
  add("out", AccessKind::kWrite, AccessKind::kWrite);
  problem.loops = {{0, 2, {1, 2}}};
  problem::Memory& memory = problem.memories.emplace_back();
  memory.capacity = static_cast<Bytes>(rows.front().size());
  for (Bytes b = 0; b < memory.capacity; ++b) memory.banks.push_back({"", {b, b + 1}, {}});
  for (const std::string& row : rows) memory.modes.push_back(ModeOf(row));
  return problem;
}

search::reasons::ModeQuery Asked(const Problem& problem) {
  return {problem, problem.memories[0].capacity};
}

search::reasons::FewestModes FindFewest(const std::vector<search::reasons::ModeQuery>& queries) {
  return search::reasons::FindFewestModes(queries, DecideBySat, {});
}

TEST(FewestModesTest, ThePatentsFiveBanksNeedBothModes) {
  const search::reasons::FewestModes found =
      FindFewest({Asked(DoubleBufferedLoop({"rrwrw", "wwrrw"}))});
  EXPECT_EQ(found.status, Status::kOptimal);
  EXPECT_THAT(found.kept,
              ElementsAre(search::reasons::ModeId{0, 0}, search::reasons::ModeId{0, 1}));
  EXPECT_THAT(found.needs, testing::SizeIs(2));
}

TEST(FewestModesTest, AModeThatDoesNothingNewIsRemoved) {
  const Problem problem = DoubleBufferedLoop({"rrwrw", "wwwww", "wwrrw", "rrrrw"});
  const search::reasons::FewestModes found = FindFewest({Asked(problem)});
  EXPECT_EQ(found.status, Status::kOptimal);
  EXPECT_EQ(found.kept.size(), 2U);
  EXPECT_TRUE(
      problem::Validate(problem, found.allocations[0], problem.memories[0].capacity).empty());
}

TEST(FewestModesTest, ThreeBanksAreNotEnoughForAnyModes) {
  const search::reasons::FewestModes found =
      FindFewest({Asked(DoubleBufferedLoop({"rrw", "wwr"}))});
  EXPECT_EQ(found.status, Status::kInfeasible);
  EXPECT_THAT(found.kept, IsEmpty());
}

// Each query alone needs one mode; together they need both.
TEST(FewestModesTest, AllQueriesMustKeepAnAnswer) {
  Problem reads = DoubleBufferedLoop({"r", "w"});
  reads.loops.clear();
  reads.buffers.resize(1);
  reads.buffers[0].accesses = {{0, "", AccessKind::kRead}};
  Problem writes = reads;
  writes.buffers[0].accesses = {{0, "", AccessKind::kWrite}};
  EXPECT_THAT(FindFewest({Asked(reads)}).kept, ElementsAre(search::reasons::ModeId{0, 0}));
  EXPECT_THAT(FindFewest({Asked(writes)}).kept, ElementsAre(search::reasons::ModeId{0, 1}));
  const search::reasons::FewestModes both = FindFewest({Asked(reads), Asked(writes)});
  EXPECT_THAT(both.kept, ElementsAre(search::reasons::ModeId{0, 0}, search::reasons::ModeId{0, 1}));
  ASSERT_EQ(both.needs.size(), 2U);
  EXPECT_EQ(both.needs[0].query + both.needs[1].query, 1U);
}

TEST(FewestModesTest, AKnownAnswerWithOneModeNeedsNoSolve) {
  Problem problem = DoubleBufferedLoop({"r", "w"});
  problem.buffers.resize(1);
  problem.buffers[0].accesses = {{0, "", AccessKind::kRead}};
  search::reasons::ModeQuery query = Asked(problem);
  query.known = problem::Allocation{{0}, {{0, 0}}};
  const search::reasons::FewestModes found = FindFewest({query});
  EXPECT_EQ(found.status, Status::kOptimal);
  EXPECT_EQ(found.solves, 0);
  EXPECT_THAT(found.kept, ElementsAre(search::reasons::ModeId{0, 0}));
}

TEST(FewestModesTest, WhatIsUnknownIsNotCalledLeast) {
  search::reasons::ModeQuery query = Asked(DoubleBufferedLoop({"rrwrw", "wwrrw"}));
  query.known = Enumerate(query.problem, query.capacity);
  ASSERT_TRUE(query.known.has_value());
  const search::reasons::Decide shrugs = [](const Problem&, Bytes, const base::Budget&) {
    return Result{};
  };
  const search::reasons::FewestModes found =
      search::reasons::FindFewestModes(std::vector<search::reasons::ModeQuery>{query}, shrugs, {});
  EXPECT_EQ(found.status, Status::kFeasible);
  EXPECT_EQ(found.kept.size(), 2U);
}

TEST(FewestModesTest, TransitionsBetweenWhatRemainsRemain) {
  Problem problem = DoubleBufferedLoop({"rr", "rw", "ww"});
  problem.memories[0].transitions = {{0, 1}, {1, 2}, {2, 0}};
  const Problem reduced =
      search::reasons::WithModes(problem, std::vector<search::reasons::ModeId>{{0, 0}, {0, 2}});
  EXPECT_EQ(reduced.memories[0].modes.size(), 2U);
  EXPECT_EQ(reduced.memories[0].modes[1].name, "ww");
  EXPECT_THAT(*reduced.memories[0].transitions, ElementsAre(std::pair(1, 0)));
}

TEST(FewestModesTest, WiresThatNoModeUsesAreFreed) {
  Problem problem = DoubleBufferedLoop({"rr", "rw"});
  problem.memories[0].modes[0].banks[1].allowed.push_back({"dma", AccessKind::kWrite});
  EXPECT_THAT(
      search::reasons::FindFreedAccesses(problem, std::vector<search::reasons::ModeId>{{0, 0}}),
      ElementsAre(search::reasons::FreedAccess{0, 1, {"", AccessKind::kWrite}}));
  EXPECT_THAT(
      search::reasons::FindFreedAccesses(problem, std::vector<search::reasons::ModeId>{{0, 1}}),
      ElementsAre(search::reasons::FreedAccess{0, 1, {"", AccessKind::kRead}}));
}

// The least number of modes by enumeration of all subsets that leave each memory one mode; 0 when
// all modes together are not enough.
int LeastByEnumeration(const std::vector<Problem>& problems) {
  std::vector<search::reasons::ModeId> modes;
  const std::vector<problem::Memory>& memories = problems.front().memories;
  for (size_t m = 0; m < memories.size(); ++m) {
    for (size_t k = 0; k < memories[m].modes.size(); ++k)
      modes.push_back({static_cast<int>(m), static_cast<int>(k)});
  }
  int least = 0;
  for (unsigned chosen = 1; chosen < 1U << modes.size(); ++chosen) {
    if (least > 0 && std::popcount(chosen) >= least) continue;
    std::vector<search::reasons::ModeId> kept;
    for (size_t i = 0; i < modes.size(); ++i) {
      if ((chosen >> i & 1U) != 0) kept.push_back(modes[i]);
    }
    const bool enough = std::all_of(problems.begin(), problems.end(), [&](const Problem& problem) {
      const Problem reduced = search::reasons::WithModes(problem, kept);
      for (size_t m = 0; m < memories.size(); ++m) {
        if (!memories[m].modes.empty() && reduced.memories[m].modes.empty()) return false;
      }
      return Enumerate(reduced, reduced.memories[0].capacity).has_value();
    });
    if (enough) least = std::popcount(chosen);
  }
  return least;
}

// The other half of the accesses: a second Problem on the same memories.
Problem WithoutEveryOther(Problem problem, size_t phase) {
  for (size_t i = 0; i < problem.buffers.size(); ++i) {
    if (i % 2 == phase) problem.buffers[i].accesses.clear();
  }
  return problem;
}

TEST(FewestModesTest, AreAsFewAsAnySubsetThatIsEnough) {
  base::Random random(7);
  int reduced = 0;
  int several = 0;
  for (int i = 0; i < 150 && !HasFailure(); ++i) {
    SCOPED_TRACE("problem " + std::to_string(i));
    const Problem whole = DrawProblem(random);
    const bool has_modes =
        std::any_of(whole.memories.begin(), whole.memories.end(),
                    [](const problem::Memory& memory) { return !memory.modes.empty(); });
    if (!has_modes) continue;
    const std::vector<Problem> problems = {WithoutEveryOther(whole, 0),
                                           WithoutEveryOther(whole, 1)};
    std::vector<search::reasons::ModeQuery> queries;
    for (const Problem& problem : problems) queries.push_back(Asked(problem));
    const search::reasons::FewestModes found = FindFewest(queries);
    const int least = LeastByEnumeration(problems);
    EXPECT_EQ(found.status, least == 0 ? Status::kInfeasible : Status::kOptimal);
    EXPECT_EQ(static_cast<int>(found.kept.size()), least);
    for (size_t q = 0; q < found.allocations.size(); ++q)
      EXPECT_TRUE(
          problem::Validate(problems[q], found.allocations[q], problems[q].memories[0].capacity)
              .empty());
    reduced += least == 1 ? 1 : 0;
    several += least > 1 ? 1 : 0;
  }
  EXPECT_GE(reduced, 15);
  EXPECT_GE(several, 15);
}

}  // namespace
}  // namespace tessera::encoder
