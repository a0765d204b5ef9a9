// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <array>
#include <numeric>

#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/tests/plan/fixture.h"

// The judge on questions small enough to see why there is no plan, and on invalid proofs.
namespace tessera::plan::refutation {
namespace {

using problem::Bytes;
using problem::Problem;
using testing::HasSubstr;

const base::Stop kNever;

// x -> a -> m -> b -> y on the machine of 1 KiB, with a step for each transfer.
Plan Question() {
  Plan question;
  question.network = TwoConvs(4);
  question.profile = SmallProfile();
  question.run.searches_order = true;
  return question;
}

std::optional<std::string> Prove(const Problem& problem, Bytes capacity) {
  const search::engines::lazy::LazyProver lazy;
  const std::array<const problem::proof::Prover*, 1> provers = {&lazy};
  return search::allocate::Certify(problem, capacity, provers, {.units = 10'000}, kNever, {}).proof;
}

std::optional<std::string> NoProof(const Problem&, Bytes) { return std::nullopt; }

hw_profiles::Memory& TileMemoryOf(Plan& question) {
  return question.profile.memories[static_cast<size_t>(question.profile.tile_memory)];
}

TEST(Judge, DoesNotRefuseWhatHasAPlan) {
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(Question(), Prove, kNever);
  EXPECT_FALSE(judgement.refutation);
  EXPECT_THAT(judgement.gap, HasSubstr("combination of subgraphs"));
}

TEST(Judge, SeesAnOperatorThatFitsNowhere) {
  Plan question = Question();
  TileMemoryOf(question).capacity_bytes = 40;
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
}

TEST(Judge, SeesConstantsThatOverflowTheirHome) {
  Plan question = Question();
  const int home = hw_profiles::LayoutOf(question.profile, base::TensorRole::kConstant).home;
  question.profile.memories[static_cast<size_t>(home)].capacity_bytes = 100;
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
  EXPECT_THAT(judgement.refutation->argument, HasSubstr("constants and states take"));
}

// x and y have 4 channels of 4 x 4 bytes each.
TEST(Judge, SeesInputsAndOutputsThatOverflowTheirHome) {
  for (const base::TensorRole role :
       {base::TensorRole::kNetworkInput, base::TensorRole::kNetworkOutput}) {
    Plan question = Question();
    hw_profiles::Memory store =
        question.profile
            .memories[static_cast<size_t>(hw_profiles::LayoutOf(question.profile, role).home)];
    store.name = "store";
    store.capacity_bytes = 63;
    hw_profiles::Link link = question.profile.links.front();
    link.name = "to_store";
    link.first = question.profile.tile_memory;
    link.second = static_cast<int>(question.profile.memories.size());
    question.profile.memories.push_back(store);
    question.profile.links.push_back(link);
    question.profile.roles[static_cast<size_t>(role)].home = link.second;
    const verify::infeasibility::RefutationResult judgement =
        verify::infeasibility::Judge(question, NoProof, kNever);
    ASSERT_TRUE(judgement.refutation) << judgement.gap;
    EXPECT_THAT(judgement.refutation->argument, HasSubstr("take 64 bytes of memory 'store'"));
  }
}

// The bytes of a row that is padded to blocks of channels pass 64 bits.
TEST(Judge, RefutesHomesInNetworksOfAnySize) {
  Plan question = Question();
  for (graph::Tensor& tensor : question.network.tensors) {
    if (!tensor.constant) tensor.shape = {1, 1, 1, int64_t{1} << 56};
  }
  for (hw_profiles::RoleLayout& role : question.profile.roles) role.channel_block = 1 << 10;
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
  EXPECT_THAT(judgement.refutation->argument, HasSubstr("network inputs take"));
}

// Each convolution has 4 * 4 * 9 products for each of 4 x 4 results.
TEST(Judge, SeesLimitsThatNoPlanKeeps) {
  Plan question = Question();
  question.objective.limits = {{"macs", 2 * 4 * 4 * 9 * 16 - 1}};
  verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
  EXPECT_THAT(judgement.refutation->argument, HasSubstr("macs 4608 at least"));
  question.objective.limits = {{"macs", 2 * 4 * 4 * 9 * 16}};
  judgement = verify::infeasibility::Judge(question, NoProof, kNever);
  EXPECT_FALSE(judgement.refutation);
}

// The least latency of a plan is between these two; only the sum along a path finds it.
TEST(Judge, AddsUpAlongThePath) {
  Plan question = Question();
  int64_t refused = 0;
  int64_t open = 1 << 20;
  while (open - refused > 1) {
    const int64_t middle = refused + (open - refused) / 2;
    question.objective.limits = {{"latency", static_cast<double>(middle)}};
    (verify::infeasibility::Judge(question, NoProof, kNever).refutation ? refused : open) = middle;
  }
  question.objective.limits = {{"latency", static_cast<double>(refused)}};
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation);
  EXPECT_GT(judgement.refutation->configs, 0);
  EXPECT_GT(refused, 300);
}

// One subgraph may exceed the limit of a ratio if another one makes up for it; a maximum counts in
// each subgraph.
TEST(Judge, SeesLimitsOfRatiosAndMaxima) {
  for (const std::string metric : {"power", "bandwidth_average", "bandwidth_peak"}) {
    Plan question = Question();
    question.profile.clock_hz = 1e9;
    double refused = 0;
    double open = 1e9;
    for (int i = 0; i < 60; ++i) {
      const double middle = refused + (open - refused) / 2;
      question.objective.limits = {{metric, middle}};
      (verify::infeasibility::Judge(question, NoProof, kNever).refutation ? refused : open) =
          middle;
    }
    EXPECT_GT(refused, 0) << metric;
    EXPECT_LT(open, 1e8) << metric;
  }
}

// Tensors that share bytes may lie in less than their sizes, but not below what is there at the
// beginning or at the end.
TEST(Judge, RefutesLimitsOfTheOffChipPeakByWholeTensorsOnlyWhereTheyAreWhole) {
  const auto least_open = [](OffChip method) {
    Plan question = Question();
    question.run.off_chip = method;
    question.run.keeps_boundaries = false;
    PlanConstraint apart;
    apart.kind = PlanConstraintKind::kApart;
    apart.interval = {1, 1};
    question.constraints = {apart};
    int64_t refused = 0;
    int64_t open = 4096;
    while (refused + 1 < open) {
      const int64_t limit = std::midpoint(refused, open);
      question.objective.limits = {{"off_chip_peak", static_cast<double>(limit)}};
      (verify::infeasibility::Judge(question, NoProof, kNever).refutation ? refused : open) = limit;
    }
    return open;
  };
  EXPECT_GT(least_open(OffChip::kTileAware), 1);
  EXPECT_GT(least_open(OffChip::kWhole), least_open(OffChip::kTileAware));
  EXPECT_LT(least_open(OffChip::kWhole), 4096);
}

// The latency is then a lower bound, and a ratio over it may be less than it seems.
TEST(Judge, RefutesNoRatioOfUnknownWork) {
  Plan question = Question();
  graph::Operator& last = question.network.operators.back();
  last.kind = base::OperatorKind::kOpaque;
  last.macs.reset();
  hw_profiles::Throughput& opaque = question.profile.engines[0].throughputs.emplace_back();
  opaque.kind = base::OperatorKind::kOpaque;
  opaque.cycles_per_output = 1;
  for (const std::string metric : {"power", "bandwidth_average", "bandwidth_peak"}) {
    question.objective.limits = {{metric, 1e-9}};
    EXPECT_FALSE(verify::infeasibility::Judge(question, NoProof, kNever).refutation) << metric;
  }
  question.objective.limits = {{"latency", 1}};
  EXPECT_TRUE(verify::infeasibility::Judge(question, NoProof, kNever).refutation);
}

// The step's bytes fit, but not with their alignment. Only a proof decides that.
Plan Misaligned() {
  Plan question = Question();
  for (hw_profiles::RoleLayout& layout : question.profile.roles) layout.alignment_bytes = 512;
  return question;
}

TEST(Judge, NeedsAProofWhereTheBytesFit) {
  const verify::infeasibility::RefutationResult without =
      verify::infeasibility::Judge(Misaligned(), NoProof, kNever);
  EXPECT_FALSE(without.refutation);
  const verify::infeasibility::RefutationResult with =
      verify::infeasibility::Judge(Misaligned(), Prove, kNever);
  ASSERT_TRUE(with.refutation) << with.gap;
  EXPECT_FALSE(with.refutation->proofs.empty());
}

TEST(Judge, BelievesNoForgedProof) {
  const auto forged = [](const Problem&, Bytes) {
    return std::optional<std::string>("tessera-proof 1\nclause 1 :\nstack 0 :\nend\n");
  };
  EXPECT_FALSE(verify::infeasibility::Judge(Misaligned(), forged, kNever).refutation);
  // A proof about another Problem.
  std::optional<std::string> first;
  const auto reused = [&first](const Problem& problem, Bytes capacity) {
    if (!first) first = Prove(problem, capacity);
    return first;
  };
  Plan question = Misaligned();
  question.network = TwoConvs(8);
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(question, reused, kNever);
  for (const verify::infeasibility::PlacementProof& proof :
       judgement.refutation.value_or(verify::infeasibility::Refutation()).proofs)
    EXPECT_TRUE(problem::proof::CheckProof(proof.problem, proof.capacity, proof.text).accepted);
}

TEST(Judge, GivesUpBeyondItsEffort) {
  const verify::infeasibility::RefutationResult judgement =
      verify::infeasibility::Judge(Misaligned(), Prove, kNever, {.work = 10, .proofs = 10});
  EXPECT_FALSE(judgement.refutation);
  EXPECT_THAT(judgement.gap, HasSubstr("more tiles and policies"));
  base::Stop stop;
  stop.Request();
  EXPECT_THAT(verify::infeasibility::Judge(Misaligned(), Prove, stop).gap, HasSubstr("time ended"));
}

TEST(Judge, HoldsToConstraints) {
  Plan question = Question();
  PlanConstraint constraint;
  constraint.kind = PlanConstraintKind::kSubgraph;
  constraint.interval = {0, 1};
  constraint.config.tile = {1, 4, 3, 4};
  question.constraints = {constraint};
  EXPECT_FALSE(verify::infeasibility::Judge(question, Prove, kNever).refutation);
  question.constraints.front().config.tile = {1, 3, 4, 4};  // the profile cuts no channels
  EXPECT_TRUE(verify::infeasibility::Judge(question, Prove, kNever).refutation);
  question.constraints = {constraint,
                          {.kind = PlanConstraintKind::kApart,
                           .interval = {1, 1},
                           .tensor = -1,
                           .config = {},
                           .memory = {},
                           .offset = 0}};
  EXPECT_TRUE(verify::infeasibility::Judge(question, Prove, kNever).refutation);
}

TEST(Question, IsReadAsItWasWritten) {
  Plan question = Misaligned();
  question.objective.limits = {{"energy", 12.5}};
  question.run.keeps_boundaries = false;
  const std::string text = verify::infeasibility::WriteRefutation(question, {});
  const auto read = verify::infeasibility::ReadRefutation(text, "refutation.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_EQ(verify::infeasibility::WriteRefutation(read->question, {}), text);
  EXPECT_FALSE(read->question.run.keeps_boundaries);
}

TEST(Document, IsHeldAgainstWhatIsFound) {
  const verify::infeasibility::Refutation refutation{"it does not fit", 2, 3, 4, {}};
  const auto read = verify::infeasibility::ReadRefutation(
      verify::infeasibility::WriteRefutation(Question(), refutation), "refutation.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_EQ(verify::infeasibility::FindDifference(*read, refutation), "");
  for (verify::infeasibility::Refutation other :
       {verify::infeasibility::Refutation{"it fits", 2, 3, 4, {}},
        verify::infeasibility::Refutation{"it does not fit", 1, 3, 4, {}},
        verify::infeasibility::Refutation{"it does not fit", 2, 2, 4, {}},
        verify::infeasibility::Refutation{"it does not fit", 2, 3, 5, {}},
        verify::infeasibility::Refutation{
            "it does not fit", 2, 3, 4, {verify::infeasibility::PlacementProof{}}}}) {
    EXPECT_NE(verify::infeasibility::FindDifference(*read, other), "");
  }
}

}  // namespace
}  // namespace tessera::plan::refutation
