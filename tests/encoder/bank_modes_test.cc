// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "brute_force.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/validator.h"

// The patent's double-buffered loop has two passes with ping and pong exchanged. The modes of the
// banks decide which bank is read and which is written at a time.
//
//     pass 0   reads ping, weights    writes out, pong
//     pass 1   reads pong, weights    writes out, ping
namespace tessera::encoder {
namespace {

using problem::Access;
using problem::AccessKind;
using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

constexpr Bytes kBankSize = 64;
enum : size_t { kPing, kPong, kWeights, kOut };

problem::Mode ModeOf(const std::string& row) {
  problem::Mode mode{row, {}};
  for (const char kind : row)
    mode.banks.push_back({false, {{"", kind == 'r' ? AccessKind::kRead : AccessKind::kWrite}}});
  return mode;
}

problem::Buffer Operand(const std::string& id, std::vector<AccessKind> kinds) {
  problem::Buffer buffer;
  buffer.id = id;
  buffer.size = 16;
  buffer.alignment = 4;
  buffer.span = problem::Span::kSingle;
  buffer.lifespans = {{0, 2}};
  for (size_t pass = 0; pass < kinds.size(); ++pass) {
    buffer.accesses.push_back({static_cast<problem::Step>(pass), "", kinds[pass]});
  }
  return buffer;
}

// One row of letters for each mode, one letter for each bank; `passes` passes of the loop exist.
Problem DoubleBufferedLoop(const std::string& mode0, const std::string& mode1, size_t passes = 2) {
  constexpr AccessKind kRead = AccessKind::kRead;
  constexpr AccessKind kWrite = AccessKind::kWrite;
  Problem problem;
  problem.name = "double-buffered loop";
  problem.buffers = {Operand("ping", {kRead, kWrite}), Operand("pong", {kWrite, kRead}),
                     Operand("weights", {kRead, kRead}), Operand("out", {kWrite, kWrite})};
  for (problem::Buffer& buffer : problem.buffers) buffer.accesses.resize(passes, Access{});
  problem.loops = {{0, 2, {1, 2}}};
  problem::Memory& memory = problem.memories.emplace_back();
  memory.name = "sram";
  for (size_t b = 0; b < mode0.size(); ++b) {
    const auto begin = static_cast<Bytes>(b) * kBankSize;
    memory.banks.push_back({"bank" + std::to_string(b), {begin, begin + kBankSize}, {}});
  }
  memory.capacity = static_cast<Bytes>(mode0.size()) * kBankSize;
  memory.modes = {ModeOf(mode0), ModeOf(mode1)};
  return problem;
}

// The number of assignments of one bank to each buffer that admit a schedule, according to
// `engine`.
int CountAssignments(const problem::Engine& engine, Problem problem) {
  const auto banks = static_cast<int>(problem.memories[0].banks.size());
  int count = 0;
  for (int code = 0; code < banks * banks * banks * banks; ++code) {
    int rest = code;
    for (problem::Buffer& buffer : problem.buffers) {
      buffer.allowed_banks = {rest % banks};
      rest /= banks;
    }
    const base::Stop stop;
    const Result result =
        engine.Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, stop);
    EXPECT_NE(result.status, Status::kUnknown);
    if (result.status == Status::kFeasible) ++count;
  }
  return count;
}

struct Party {
  std::string name;
  std::shared_ptr<problem::Engine> engine;
};

class BankModesOf : public testing::TestWithParam<Party> {
 protected:
  const problem::Engine& Engine() const { return *GetParam().engine; }
  Result Solve(const Problem& problem) const {
    const base::Stop stop;
    return Engine().Open(problem, nullptr)->Solve(0, problem.memories[0].capacity, {}, stop);
  }
};

TEST_P(BankModesOf, EightAssignmentsSatisfyOnePassOnThreeBanks) {
  EXPECT_EQ(CountAssignments(Engine(), DoubleBufferedLoop("rrw", "wwr", 1)), 8);
}

TEST_P(BankModesOf, NoneSatisfiesBothPassesOnThreeBanks) {
  EXPECT_EQ(Solve(DoubleBufferedLoop("rrw", "wwr")).status, Status::kInfeasible);
  EXPECT_EQ(CountAssignments(Engine(), DoubleBufferedLoop("rrw", "wwr")), 0);
}

TEST_P(BankModesOf, FiveBanksAreSolvedWithAChangeOfMode) {
  const Problem problem = DoubleBufferedLoop("rrwrw", "wwrrw");
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  EXPECT_TRUE(problem::Validate(problem, *result.allocation, problem.memories[0].capacity).empty());
  ASSERT_EQ(result.allocation->modes[0].size(), 2U);
  EXPECT_NE(result.allocation->modes[0][0], result.allocation->modes[0][1]);
  EXPECT_EQ(result.allocation->offsets[kWeights] / kBankSize, 3);
  EXPECT_EQ(result.allocation->offsets[kOut] / kBankSize, 4);
}

TEST_P(BankModesOf, FourAssignmentsWorkOnFiveBanks) {
  EXPECT_EQ(CountAssignments(Engine(), DoubleBufferedLoop("rrwrw", "wwrrw")), 4);
}

TEST_P(BankModesOf, ATransitionThatTheBackEdgeNeedsIsNotForgotten) {
  Problem problem = DoubleBufferedLoop("rrwrw", "wwrrw");
  problem.memories[0].transitions = {{0, 1}};  // forward, but not back
  EXPECT_EQ(Solve(problem).status, Status::kInfeasible);
  problem.memories[0].transitions->emplace_back(1, 0);
  EXPECT_EQ(Solve(problem).status, Status::kFeasible);
}

TEST_P(BankModesOf, OffsetsAreMultiplesOfTheAlignment) {
  Problem problem = DoubleBufferedLoop("rrwrw", "wwrrw");
  for (problem::Buffer& buffer : problem.buffers)
    buffer.size = 15;  // so that the granularity alone does not align
  const Result result = Solve(problem);
  ASSERT_EQ(result.status, Status::kFeasible);
  for (const Bytes offset : result.allocation->offsets) EXPECT_EQ(offset % 4, 0);
}

INSTANTIATE_TEST_SUITE_P(Engines, BankModesOf,
                         testing::Values(Party{"cadical", std::make_shared<sat::SatEngine>()},
                                         Party{"z3", std::make_shared<smt::Z3Engine>()}),
                         [](const testing::TestParamInfo<Party>& info) { return info.param.name; });

TEST(BankModes, EnumerationFindsNoScheduleWithoutAChange) {
  Problem problem = DoubleBufferedLoop("rrwrw", "wwrrw");
  for (problem::Bank& bank : problem.memories[0].banks)
    bank.range = {bank.range.begin / 64, bank.range.end / 64};
  for (problem::Buffer& buffer : problem.buffers) buffer.size = buffer.alignment = 1;
  EXPECT_TRUE(Enumerate(problem, 5).has_value());
  EXPECT_FALSE(Enumerate(problem, 5, ModeChanges::kForbidden).has_value());
}

}  // namespace
}  // namespace tessera::encoder
