// SPDX-License-Identifier: Apache-2.0

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "tessera/encoder/formulation/encoded_session.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/encoder/smt/z3_engine.h"
#include "tessera/problem/validator.h"
#include "tessera/problem/well_formed.h"

// Each kind of rule changes an answer: what fits without the rule does not fit with it, or only
// elsewhere.
namespace tessera::encoder {
namespace {

using problem::Bytes;
using problem::Ladder;
using problem::Problem;
using problem::Requirement;
using problem::RequirementKind;
using problem::Result;
using problem::Rule;
using problem::Status;

struct Party {
  std::string name;
  std::shared_ptr<problem::Engine> engine;
};

class RulesOf : public testing::TestWithParam<Party> {
 protected:
  Result Solve(const Problem& problem) const {
    EXPECT_FALSE(problem::CheckWellFormed(problem).has_value());
    const base::Stop stop;
    const Bytes capacity = problem.memories[0].capacity;
    Result result = GetParam().engine->Open(problem, nullptr)->Solve(0, capacity, {}, stop);
    if (result.allocation) {
      EXPECT_TRUE(Validate(problem, *result.allocation, capacity).empty());
    }
    return result;
  }

  // The offsets of the buffers; nullopt where there is no placement.
  std::vector<Bytes> Place(const Problem& problem) const {
    const Result result = Solve(problem);
    return result.allocation ? result.allocation->offsets : std::vector<Bytes>();
  }

  // Each engine decides these problems; an invalid answer is no refutation.
  bool Fits(const Problem& problem) const {
    const Status status = Solve(problem).status;
    EXPECT_TRUE(status == Status::kFeasible || status == Status::kInfeasible);
    return status == Status::kFeasible;
  }
};

// Buffers a, b, ... of these sizes that live together in a memory of `capacity` bytes.
Problem Together(const std::vector<Bytes>& sizes, Bytes capacity) {
  Problem problem;
  problem.memories.emplace_back().capacity = capacity;
  for (const Bytes size : sizes) {
    problem::Buffer& buffer = problem.buffers.emplace_back();
    buffer.id = std::string(1, static_cast<char>('a' + problem.buffers.size() - 1));
    buffer.size = size;
    buffer.lifespans = {{0, 1}};
  }
  return problem;
}

Rule& AddRule(Problem& problem, RequirementKind kind, std::vector<int> buffers,
              std::vector<std::pair<int, int>> pairs = {}) {
  Rule& rule = problem.rules.emplace_back();
  rule.name = "test";
  rule.requirement.kind = kind;
  rule.buffers = std::move(buffers);
  rule.pairs = std::move(pairs);
  return rule;
}

TEST_P(RulesOf, AnOffsetResidue) {
  Problem problem = Together({3, 3}, 6);
  EXPECT_TRUE(Fits(problem));
  Rule& rule = AddRule(problem, RequirementKind::kOffset, {0, 1});
  rule.requirement.multiple = 4;
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 7;
  EXPECT_TRUE(Fits(problem));
  rule.requirement.residue = 1;
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, OffsetResiduesThatContradictEachOther) {
  Problem problem = Together({1}, 64);
  AddRule(problem, RequirementKind::kOffset, {0}).requirement.multiple = 6;
  Rule& rule = AddRule(problem, RequirementKind::kOffset, {0});
  rule.requirement.multiple = 4;
  rule.requirement.residue = 2;
  EXPECT_EQ(Place(problem).front() % 12, 6);
  rule.requirement.residue = 1;
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, AResidueBetweenTwoOperands) {
  Problem problem = Together({4, 4}, 9);
  Rule& rule = AddRule(problem, RequirementKind::kDifference, {}, {{0, 1}});
  rule.requirement.multiple = 7;
  rule.requirement.residue = 5;
  EXPECT_EQ(Place(problem), std::vector<Bytes>({0, 5}));
  rule.requirement.residue = 2;
  EXPECT_EQ(Place(problem), std::vector<Bytes>({5, 0}));
  rule.requirement.residue = 1;
  EXPECT_FALSE(Fits(problem));
}

// Modulo 24, which is no power of two, over addresses that need bits.
TEST_P(RulesOf, AResidueBetweenTwoOperandsFarApart) {
  Problem problem = Together({100, 100, 9000}, 10'000);
  Rule& rule = AddRule(problem, RequirementKind::kDifference, {}, {{0, 1}, {1, 2}});
  rule.requirement.multiple = 24;
  rule.requirement.residue = 7;
  const std::vector<Bytes> offsets = Place(problem);
  ASSERT_EQ(offsets.size(), 3U);
  EXPECT_EQ((offsets[1] - offsets[0] + 24'000) % 24, 7);
}

TEST_P(RulesOf, AWindow) {
  Problem problem = Together({4, 4}, 16);
  Rule& rule = AddRule(problem, RequirementKind::kWindow, {0, 1});
  rule.requirement.window = {3, 11};
  EXPECT_TRUE(Fits(problem));
  rule.requirement.window = {3, 10};
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, NoCrossingOfABoundary) {
  Problem problem = Together({5, 5, 5}, 16);
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kNoCrossing, {0, 1, 2}).requirement.multiple = 8;
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 21;
  EXPECT_TRUE(Fits(problem));
  problem.rules[0].requirement.multiple = 4;
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, NoCrossingOfABoundaryAmongManyAddresses) {
  Problem problem = Together({3000, 3000, 3000}, 3 * 4096 - 1000);
  problem.buffers[0].alignment = 8;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kNoCrossing, {0, 1, 2}).requirement.multiple = 4096;
  problem.memories[0].capacity = 2 * 4096 + 2999;
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 2 * 4096 + 3000;
  EXPECT_TRUE(Fits(problem));
}

TEST_P(RulesOf, NaturalAlignment) {
  Problem problem = Together({3, 3}, 6);
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kNaturalAlignment, {0, 1});
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 7;
  EXPECT_TRUE(Fits(problem));
}

// Two banks of eight bytes.
Problem InBanks(const std::vector<Bytes>& sizes) {
  Problem problem = Together(sizes, 16);
  problem.memories[0].banks = {{"low", {0, 8}, {}}, {"high", {8, 16}, {}}};
  return problem;
}

TEST_P(RulesOf, ASetOfBanks) {
  Problem problem = InBanks({4, 5});
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kBanks, {0, 1}).requirement.banks = {1};
  EXPECT_FALSE(Fits(problem));
  problem.buffers[1].size = 4;
  EXPECT_TRUE(Fits(problem));
}

TEST_P(RulesOf, SameBank) {
  Problem problem = InBanks({5, 5});
  problem.buffers[0].span = problem.buffers[1].span = problem::Span::kSingle;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kSameBank, {}, {{0, 1}});
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, DifferentBank) {
  Problem problem = InBanks({4, 4, 8});
  problem.buffers[2].offset = 8;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kDifferentBank, {}, {{0, 1}});
  EXPECT_FALSE(Fits(problem));
}

// The third buffer fills one bank of each group, so two groups have 4 bytes left in one bank each.
TEST_P(RulesOf, SameBankGroup) {
  Problem problem = Together({4, 4, 8}, 16);
  for (Bytes bank = 0; bank < 4; ++bank)
    problem.memories[0].banks.push_back({"", {4 * bank, 4 * bank + 4}, {}});
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1}, {2, 3}};
  problem.buffers[2].offset = 4;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kSameBankGroup, {}, {{0, 1}});
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0, 3}, {2, 1}};
  EXPECT_TRUE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1, 2}};
  EXPECT_FALSE(Fits(problem));  // bank 3 is in no group
}

// A set is kept in one group: c alone fits the rest of its group, and a or b must share it.
TEST_P(RulesOf, SameBankGroupOfASet) {
  Problem problem = Together({4, 4, 4, 4}, 16);
  for (Bytes bank = 0; bank < 4; ++bank)
    problem.memories[0].banks.push_back({"", {4 * bank, 4 * bank + 4}, {}});
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1}, {2, 3}};
  problem.buffers[3].offset = 4;
  AddRule(problem, RequirementKind::kSameBankGroup, {0, 1}, {});
  EXPECT_TRUE(Fits(problem));
  problem.rules[0].buffers = {0, 1, 2};
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0, 2, 3}, {1}};
  EXPECT_TRUE(Fits(problem));
  problem.rules[0].buffers = {3};
  problem.memories[0].bank_sets["bank_groups"] = {{0, 2, 3}};
  EXPECT_FALSE(Fits(problem));  // bank 1 is in no group
}

// At each step another buffer fills the group that the set uses at the other step. The fixed
// buffers behind the banks make the steps parts that are large enough to be solved apart.
TEST_P(RulesOf, SameBankGroupOfBuffersThatNeverLiveTogether) {
  constexpr Bytes kFixed = 4;
  Problem problem = InBanks({8, 8, 8, 8});
  problem.memories[0].capacity += kFixed;
  for (int i = 0; i < 2 * kFixed; ++i) {
    problem::Buffer& fixed = problem.buffers.emplace_back();
    fixed.id = "fixed" + std::to_string(i);
    fixed.lifespans = {{i % 2, i % 2 + 1}};
    fixed.offset = 16 + i / 2;
  }
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  for (size_t i : {0, 1}) problem.buffers[i].lifespans = {{0, 1}};
  for (size_t i : {2, 3}) problem.buffers[i].lifespans = {{1, 2}};
  problem.buffers[1].offset = 0;
  problem.buffers[3].offset = 8;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kSameBankGroup, {0, 2}, {});
  EXPECT_FALSE(Fits(problem));
}

// One buffer of the pair, or of a set, may not lie in two groups, even if the other lies outside
// all banks.
TEST_P(RulesOf, SameBankGroupOfOneBuffer) {
  Problem problem = InBanks({10, 1});
  problem.memories[0].capacity = 17;
  problem.buffers[1].offset = 16;
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kSameBankGroup, {}, {{0, 1}});
  EXPECT_FALSE(Fits(problem));
  problem.rules[0].pairs.clear();
  problem.rules[0].buffers = {0};
  EXPECT_FALSE(Fits(problem));
  problem.buffers[0].size = 8;
  EXPECT_TRUE(Fits(problem));
}

// Two banks of each of two groups: the pair must not meet in one group, in which it fits.
TEST_P(RulesOf, DifferentBankGroup) {
  Problem problem = Together({4, 4, 8}, 16);
  for (Bytes bank = 0; bank < 4; ++bank)
    problem.memories[0].banks.push_back({"", {4 * bank, 4 * bank + 4}, {}});
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1}, {2, 3}};
  problem.buffers[2].offset = 8;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kDifferentBankGroup, {}, {{0, 1}});
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0, 3}, {1, 2}};
  EXPECT_TRUE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0, 1}};
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{0}};
  EXPECT_TRUE(Fits(problem));  // bank 1 is in no group
}

// Three buffers need three groups, also if they never live together.
TEST_P(RulesOf, DifferentBankGroupOfASet) {
  Problem problem = InBanks({8, 8, 8});
  for (size_t i : {0, 1, 2})
    problem.buffers[i].lifespans = {{static_cast<int>(i), static_cast<int>(i) + 1}};
  problem.memories[0].bank_sets["bank_groups"] = {{0}, {1}};
  AddRule(problem, RequirementKind::kDifferentBankGroup, {0, 1}, {});
  EXPECT_TRUE(Fits(problem));
  problem.rules[0].buffers = {0, 1, 2};
  EXPECT_FALSE(Fits(problem));
  problem.rules[0].sizes = {2, 8};
  problem.buffers[2].size = 1;
  EXPECT_TRUE(Fits(problem));
  problem.buffers[2].size = 2;
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].bank_sets["bank_groups"] = {{1}};
  EXPECT_TRUE(Fits(problem));  // bank 0 is in no group
}

// Clauses about rules, with so many banks in groups of two.
int64_t ClausesOfOneGroup(Bytes banks) {
  Problem problem = Together({1, 1}, banks);
  problem::BankSets& groups = problem.memories[0].bank_sets["bank_groups"];
  for (Bytes bank = 0; bank < banks; ++bank) {
    problem.memories[0].banks.push_back({"", {bank, bank + 1}, {}});
    if (bank % 2 == 0) groups.push_back({static_cast<int>(bank), static_cast<int>(bank) + 1});
  }
  AddRule(problem, RequirementKind::kSameBankGroup, {}, {{0, 1}});
  formulation::EncodedSession session("cadical", problem, nullptr,
                                      sat::CadicalBackends({0, sat::IntegerEncoding::kOrder}));
  const base::Stop stop;
  EXPECT_EQ(session.Solve(0, banks, {}, stop).status, Status::kFeasible);
  return session.Counts()[static_cast<size_t>(formulation::Topic::kRules)];
}

TEST(SameBankGroup, TakesClausesInProportionToTheBanks) {
  const int64_t few = ClausesOfOneGroup(16);
  const int64_t more = ClausesOfOneGroup(32);
  EXPECT_GT(few, 16);
  EXPECT_EQ(more - few, 2 * (few - ClausesOfOneGroup(8)));
  EXPECT_EQ(ClausesOfOneGroup(64) - more, 2 * (more - few));
}

TEST_P(RulesOf, ADistance) {
  Problem problem = Together({4, 4}, 9);
  AddRule(problem, RequirementKind::kDistance, {}, {{0, 1}}).requirement.distance = -5;
  EXPECT_EQ(Place(problem), std::vector<Bytes>({5, 0}));
  problem.rules[0].requirement.distance = 3;  // a distance permits no overlap
  EXPECT_FALSE(Fits(problem));
}

TEST_P(RulesOf, AnXorDistance) {
  Problem problem = Together({4, 4, 8}, 16);
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kXorDistance, {}, {{0, 1}}).requirement.distance = 8;
  EXPECT_FALSE(Fits(problem));  // two fours, eight bytes apart, leave no eight contiguous bytes
  problem.rules[0].requirement.distance = 4;
  EXPECT_TRUE(Fits(problem));
}

// The mask is a multiple of no granularity but 4, though all sizes are multiples of 12.
TEST_P(RulesOf, AnXorDistanceAmongManyAddresses) {
  Problem problem = Together({1200, 1200, 12'000}, 30'000);
  AddRule(problem, RequirementKind::kXorDistance, {}, {{0, 1}}).requirement.distance = 16'384 + 4;
  const std::vector<Bytes> offsets = Place(problem);
  ASSERT_EQ(offsets.size(), 3U);
  EXPECT_EQ(offsets[0] ^ offsets[1], 16'388);
}

TEST_P(RulesOf, AGuardBetweenBuffersAndAtTheEnd) {
  Problem problem = Together({4, 4}, 9);
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kGuard, {0}).requirement.after = 2;
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 10;
  EXPECT_TRUE(Fits(problem));
  problem.rules[0].buffers = {0, 1};
  EXPECT_FALSE(Fits(problem));
  problem.memories[0].capacity = 12;
  EXPECT_TRUE(Fits(problem));
}

TEST_P(RulesOf, AGuardIsNoConcernOfOtherSteps) {
  Problem problem = Together({4, 4}, 6);
  problem.buffers[1].lifespans = {{1, 2}};
  AddRule(problem, RequirementKind::kGuard, {0, 1}).requirement.after = 2;
  EXPECT_TRUE(Fits(problem));
}

TEST_P(RulesOf, AGuardNextToAnAdjacentBuffer) {
  Problem problem = Together({4, 4}, 16);
  problem.relations = {{problem::RelationKind::kAdjacent, 0, 1, 0}};
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kGuard, {0}).requirement.after = 1;
  EXPECT_FALSE(Fits(problem));
  problem.buffers[0].size = 3;
  problem.buffers[1].alignment = 4;
  EXPECT_TRUE(Fits(problem));
}

TEST_P(RulesOf, OneDeltaForAllPairs) {
  Problem problem = Together({2, 2, 2, 2}, 9);
  problem.buffers[0].offset = 0;
  problem.buffers[2].offset = 3;
  EXPECT_TRUE(Fits(problem));
  AddRule(problem, RequirementKind::kCommonDelta, {}, {{0, 1}, {2, 3}});
  EXPECT_EQ(Place(problem), std::vector<Bytes>());
  problem.memories[0].capacity = 10;
  EXPECT_EQ(Place(problem), std::vector<Bytes>({0, 5, 3, 8}));
}

TEST_P(RulesOf, ARuleAboutSizesFollowsTheCandidate) {
  Problem problem = Together({1, 1}, 12);
  Rule& rule = AddRule(problem, RequirementKind::kOffset, {0, 1});
  rule.requirement.multiple = 8;
  rule.sizes.least = 5;
  const Ladder ladder{{{"small", {4, 4}}, {"large", {5, 5}}, {"mixed", {5, 4}}}};
  const base::Stop stop;
  const auto session = GetParam().engine->Open(problem, &ladder);
  EXPECT_EQ(session->Solve(0, 8, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(1, 12, {}, stop).status, Status::kInfeasible);
  EXPECT_EQ(session->Solve(1, 13, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(2, 9, {}, stop).status, Status::kFeasible);
}

TEST_P(RulesOf, AGuardAboutSizesFollowsTheCandidateAndTheCapacity) {
  Problem problem = Together({1, 1}, 16);
  Rule& rule = AddRule(problem, RequirementKind::kGuard, {0, 1});
  rule.requirement.after = 2;
  rule.sizes.least = 5;
  const Ladder ladder{{{"small", {4, 4}}, {"large", {5, 5}}}};
  const base::Stop stop;
  const auto session = GetParam().engine->Open(problem, &ladder);
  EXPECT_EQ(session->Solve(0, 14, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(0, 13, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(1, 13, {}, stop).status, Status::kInfeasible);
  EXPECT_EQ(session->Solve(1, 14, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(0, 8, {}, stop).status, Status::kFeasible);
}

TEST_P(RulesOf, NaturalAlignmentFollowsTheCandidate) {
  Problem problem = Together({1, 1}, 16);
  AddRule(problem, RequirementKind::kNaturalAlignment, {0, 1});
  const Ladder ladder{{{"four", {4, 4}}, {"five", {5, 5}}}};
  const base::Stop stop;
  const auto session = GetParam().engine->Open(problem, &ladder);
  EXPECT_EQ(session->Solve(0, 8, {}, stop).status, Status::kFeasible);
  EXPECT_EQ(session->Solve(1, 12, {}, stop).status, Status::kInfeasible);
  EXPECT_EQ(session->Solve(1, 13, {}, stop).status, Status::kFeasible);
}

// Reuse of a's place by b costs 5, by c costs 3; one of the two must reuse it.
TEST_P(RulesOf, CostsAreMinimisedOnRequest) {
  Problem problem = Together({4, 4, 4}, 8);
  problem.buffers[1].lifespans = problem.buffers[2].lifespans = {{1, 2}};
  problem.costs = {{"", problem::CostKind::kReuse, 5, 0, 1, 0},
                   {"", problem::CostKind::kReuse, 3, 2, 0, 0}};
  const base::Stop stop;
  const auto session = GetParam().engine->Open(problem, nullptr);
  const Result result = session->Minimise(0, 8, {}, stop);
  ASSERT_EQ(result.status, Status::kFeasible) << result.reason;
  EXPECT_EQ(result.cost, 3);
  EXPECT_EQ(result.least_cost, 3);
  EXPECT_EQ(CostOf(problem, *result.allocation), 3);
  EXPECT_EQ(session->Minimise(0, 12, {}, stop).cost, 0);
  EXPECT_EQ(session->Minimise(0, 7, {}, stop).status, Status::kInfeasible);
}

// Both buffers could share the mode that allows everything, or each have its own mode.
TEST_P(RulesOf, ModeSwitchesAreMinimisedOnRequest) {
  Problem problem = InBanks({8, 8});
  problem.buffers[1].lifespans = {{1, 2}};
  problem.buffers[0].accesses = {{0, "", problem::AccessKind::kRead}};
  problem.buffers[1].accesses = {{1, "", problem::AccessKind::kWrite}};
  const problem::BankMode read = {false, {{"", problem::AccessKind::kRead}}};
  const problem::BankMode write = {false, {{"", problem::AccessKind::kWrite}}};
  problem.memories[0].modes = {
      {"reads", {read, read}}, {"writes", {write, write}}, {"both", {read, write}}};
  problem.costs = {{"", problem::CostKind::kModeSwitch, 7, 0, 0, 0}};
  const base::Stop stop;
  const Result result = GetParam().engine->Open(problem, nullptr)->Minimise(0, 16, {}, stop);
  ASSERT_EQ(result.status, Status::kFeasible) << result.reason;
  EXPECT_EQ(result.cost, 0);
  EXPECT_EQ(result.allocation->offsets, std::vector<Bytes>({0, 8}));
  problem.memories[0].modes.pop_back();
  EXPECT_EQ(GetParam().engine->Open(problem, nullptr)->Minimise(0, 16, {}, stop).least_cost, 7);
}

INSTANTIATE_TEST_SUITE_P(
    Engines, RulesOf,
    testing::Values(Party{"order", std::make_shared<sat::SatEngine>(sat::SatOptions{
                                       0, sat::IntegerEncoding::kOrder})},
                    Party{"bits", std::make_shared<sat::SatEngine>(sat::SatOptions{
                                      0, sat::IntegerEncoding::kBits})},
                    Party{"z3", std::make_shared<smt::Z3Engine>()}),
    [](const testing::TestParamInfo<Party>& info) { return info.param.name; });

}  // namespace
}  // namespace tessera::encoder
