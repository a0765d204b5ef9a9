#include <gmock/gmock.h>

#include <array>

#include "tessera/encoder/lazy/lazy_prover.h"
#include "tessera/plan/refutation/document.h"
#include "tessera/plan/refutation/refute.h"
#include "tessera/problem/proof/checker.h"
#include "tessera/search/allocate/certify.h"
#include "tessera/tests/plan/fixture.h"

// The judge on questions small enough to see why there is no plan, and on proofs that prove
// nothing.
namespace tessera::plan::refutation {
namespace {

using problem::Bytes;
using problem::Problem;
using testing::HasSubstr;

const base::Stop kNever;

// x -> a -> m -> b -> y on the machine of 1 KiB, steps of their own for each transfer.
Plan Question() {
  Plan question;
  question.network = TwoConvs(4);
  question.profile = SmallProfile();
  question.run.searches_order = true;
  return question;
}

std::optional<std::string> Prove(const Problem& problem, Bytes capacity) {
  const encoder::LazyProver lazy;
  const std::array<const problem::proof::Prover*, 1> provers = {&lazy};
  return search::Certify(problem, capacity, provers, {.units = 10'000}, kNever, {}).proof;
}

std::optional<std::string> NoProof(const Problem&, Bytes) { return std::nullopt; }

hw_profiles::Memory& TileMemoryOf(Plan& question) {
  return question.profile.memories[static_cast<size_t>(question.profile.tile_memory)];
}

TEST(Judge, DoesNotRefuseWhatHasAPlan) {
  const Judgement judgement = Judge(Question(), Prove, kNever);
  EXPECT_FALSE(judgement.refutation);
  EXPECT_THAT(judgement.gap, HasSubstr("combination of subgraphs"));
}

TEST(Judge, SeesAnOperatorThatFitsNowhere) {
  Plan question = Question();
  TileMemoryOf(question).capacity_bytes = 40;
  const Judgement judgement = Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
}

TEST(Judge, SeesConstantsThatOverflowTheirHome) {
  Plan question = Question();
  const int home = hw_profiles::LayoutOf(question.profile, base::TensorRole::kConstant).home;
  question.profile.memories[static_cast<size_t>(home)].capacity_bytes = 100;
  const Judgement judgement = Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
  EXPECT_THAT(judgement.refutation->argument, HasSubstr("constants and states take"));
}

// Each convolution has 4 * 4 * 9 products for each of 4 x 4 results.
TEST(Judge, SeesLimitsThatNoPlanKeeps) {
  Plan question = Question();
  question.objective.limits = {{"macs", 2 * 4 * 4 * 9 * 16 - 1}};
  Judgement judgement = Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation) << judgement.gap;
  EXPECT_THAT(judgement.refutation->argument, HasSubstr("macs 4608 at least"));
  question.objective.limits = {{"macs", 2 * 4 * 4 * 9 * 16}};
  judgement = Judge(question, NoProof, kNever);
  EXPECT_FALSE(judgement.refutation);
}

// The least latency of a plan is between these two, which only the ways through tell.
TEST(Judge, AddsUpAlongTheWay) {
  Plan question = Question();
  int64_t refused = 0;
  int64_t open = 1 << 20;
  while (open - refused > 1) {
    const int64_t middle = refused + (open - refused) / 2;
    question.objective.limits = {{"latency", static_cast<double>(middle)}};
    (Judge(question, NoProof, kNever).refutation ? refused : open) = middle;
  }
  question.objective.limits = {{"latency", static_cast<double>(refused)}};
  const Judgement judgement = Judge(question, NoProof, kNever);
  ASSERT_TRUE(judgement.refutation);
  EXPECT_GT(judgement.refutation->ways, 0);
  EXPECT_GT(refused, 300);
}

// Where a step's bytes fit and their alignment does not, only a proof tells.
Plan Misaligned() {
  Plan question = Question();
  for (hw_profiles::RoleLayout& layout : question.profile.roles) layout.alignment_bytes = 512;
  return question;
}

TEST(Judge, NeedsAProofWhereTheBytesFit) {
  const Judgement without = Judge(Misaligned(), NoProof, kNever);
  EXPECT_FALSE(without.refutation);
  const Judgement with = Judge(Misaligned(), Prove, kNever);
  ASSERT_TRUE(with.refutation) << with.gap;
  EXPECT_FALSE(with.refutation->proofs.empty());
}

TEST(Judge, BelievesNoForgedProof) {
  const auto forged = [](const Problem&, Bytes) {
    return std::optional<std::string>("tessera-proof 1\nclause 1 :\nstack 0 :\nend\n");
  };
  EXPECT_FALSE(Judge(Misaligned(), forged, kNever).refutation);
  // A proof about another Problem.
  std::optional<std::string> first;
  const auto reused = [&first](const Problem& problem, Bytes capacity) {
    if (!first) first = Prove(problem, capacity);
    return first;
  };
  Plan question = Misaligned();
  question.network = TwoConvs(8);
  const Judgement judgement = Judge(question, reused, kNever);
  for (const PlacementProof& proof : judgement.refutation.value_or(Refutation()).proofs)
    EXPECT_TRUE(problem::proof::CheckProof(proof.problem, proof.capacity, proof.text).accepted);
}

TEST(Judge, GivesUpBeyondItsEffort) {
  const Judgement judgement = Judge(Misaligned(), Prove, kNever, {.work = 10, .proofs = 10});
  EXPECT_FALSE(judgement.refutation);
  EXPECT_THAT(judgement.gap, HasSubstr("more tiles and policies"));
  base::Stop stop;
  stop.Request();
  EXPECT_THAT(Judge(Misaligned(), Prove, stop).gap, HasSubstr("time ended"));
}

TEST(Judge, HoldsToDemands) {
  Plan question = Question();
  Demand demand;
  demand.kind = DemandKind::kSubgraph;
  demand.interval = {0, 1};
  demand.way.tile = {1, 4, 3, 4};
  question.demands = {demand};
  EXPECT_FALSE(Judge(question, Prove, kNever).refutation);
  question.demands.front().way.tile = {1, 3, 4, 4};  // the profile cuts no channels
  EXPECT_TRUE(Judge(question, Prove, kNever).refutation);
  question.demands = {
      demand,
      {.kind = DemandKind::kApart, .interval = {1, 1}, .tensor = -1, .way = {}, .memory = {}, .offset = 0}};
  EXPECT_TRUE(Judge(question, Prove, kNever).refutation);
}

TEST(Question, IsReadAsItWasWritten) {
  Plan question = Misaligned();
  question.objective.limits = {{"energy", 12.5}};
  question.run.keeps_borders = false;
  const std::string text = WriteRefutation(question, {});
  const auto read = ReadRefutation(text, "refutation.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_EQ(WriteRefutation(read->question, {}), text);
  EXPECT_FALSE(read->question.run.keeps_borders);
}

TEST(Document, IsHeldAgainstWhatIsFound) {
  const Refutation refutation{"it does not fit", 2, 3, 4, {}};
  const auto read = ReadRefutation(WriteRefutation(Question(), refutation), "refutation.json");
  ASSERT_TRUE(read) << base::Format(read.error());
  EXPECT_EQ(FindDifference(*read, refutation), "");
  for (Refutation other :
       {Refutation{"it fits", 2, 3, 4, {}}, Refutation{"it does not fit", 1, 3, 4, {}},
        Refutation{"it does not fit", 2, 2, 4, {}}, Refutation{"it does not fit", 2, 3, 5, {}},
        Refutation{"it does not fit", 2, 3, 4, {PlacementProof{}}}}) {
    EXPECT_NE(FindDifference(*read, other), "");
  }
}

}  // namespace
}  // namespace tessera::plan::refutation
