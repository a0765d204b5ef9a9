// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>
#include <tessera/tessera.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "fixture.h"

// The parts of the C++ interface other than plans and allocations: tiles, formulas, modes,
// certificates, edited plans and explanations.
namespace tessera::tests {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

const std::string kBanks = TESSERA_SOURCE_DIR "/hw_profiles/three_bank_two_mode.yaml";
const std::string kPatentChain = TESSERA_SOURCE_DIR "/examples/networks/patent_chain.yaml";

// What the command prints with these words, which must succeed.
std::string Printed(const std::string& words, int code = 0, const std::string& errors = "&1") {
  const std::string file = testing::TempDir() + "questions_" + std::to_string(getpid()) + ".out";
  const std::string line =
      std::string(TESSERA_COMMAND) + " " + words + " >" + file + " 2>" + errors;
  const int ended = std::system(line.c_str());
  EXPECT_EQ(WEXITSTATUS(ended), code) << line;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  return text.str();
}

TEST(Tiles, AreThoseOfTheCommand) {
  const Network network = Must(Network::Load(kNetwork));
  TileOptions options;
  options.operators = "block1_expand..block1_project";
  const TileAnswer answer = Must(FindTiles(network, Npu(), options));
  const std::string words = "tile " + kNetwork + " --hw " + kProfile +
                            " --ops block1_expand..block1_project --format json";
  EXPECT_EQ(answer.json, Printed(words));
  EXPECT_EQ(answer.outcome, Outcome::kFeasible);
  EXPECT_THAT(answer.largest, Not(IsEmpty()));
  EXPECT_FALSE(answer.stopped);
  ASSERT_THAT(answer.tiles, Not(IsEmpty()));
  for (const Tile& tile : answer.tiles) {
    EXPECT_TRUE(tile.is_corner);
    EXPECT_GT(tile.tiles, 0);
    ASSERT_TRUE(tile.latency_cycles && tile.energy_pj && tile.off_chip_bytes && tile.peak);
    EXPECT_GE(*tile.peak, tile.lower_bound);
  }
  options.all = true;
  const TileAnswer all = Must(FindTiles(network, Npu(), options));
  EXPECT_GT(all.tiles.size(), answer.tiles.size());
}

TEST(Tiles, HaveTheNotesOfTheCommand) {
  const std::string path = testing::TempDir() + "unknown_" + std::to_string(getpid()) + ".yaml";
  std::ofstream(path) << "schema: 1\nname: unknown\ndtype: int8\ninputs:\n"
                         "  - {id: x, shape: [1, 3, 32, 32]}\noperators:\n"
                         "  - {id: warp, kind: opaque, inputs: [x], accesses: [full], outputs: "
                         "[{id: warped, shape: [1, 3, 32, 32]}]}\noutputs: [warped]\n";
  const TileAnswer answer = Must(FindTiles(Must(Network::Load(path)), Npu()));
  EXPECT_THAT(answer.json, HasSubstr("unknown"));
  const std::string words = "tile " + path + " --hw " + kProfile + " --format json";
  EXPECT_EQ(answer.json, Printed(words, 0, "/dev/null"));
  std::filesystem::remove(path);
}

TEST(Tiles, OneOfThemIsRefusedWithAReason) {
  const Network network = Must(Network::Load(kNetwork));
  const Profile small = Must(Npu().With("/memories/sram/capacity_bytes", "131072"));
  TileOptions options;
  options.operators = "block1_expand..block1_project";
  options.tile = "56x56";
  const TileAnswer answer = Must(FindTiles(network, small, options));
  EXPECT_EQ(answer.outcome, Outcome::kInfeasible);
  EXPECT_THAT(answer.largest, IsEmpty());
  EXPECT_THAT(answer.explanation, Not(IsEmpty()));
  options.explain = false;
  EXPECT_THAT(Must(FindTiles(network, small, options)).explanation, IsEmpty());
  options.tile = "57x1000";
  EXPECT_THAT(FindTiles(network, small, options).Error().text, HasSubstr("nearest"));
  options.operators = "block1_expnd";
  EXPECT_THAT(FindTiles(network, small, options).Error().hint, HasSubstr("block1_expand"));
}

TEST(Tiles, OfALadderAreItsCandidates) {
  const Problem problem =
      Must(Problem::Load(TESSERA_SOURCE_DIR "/examples/problems/halo_candidates.json"));
  const TileAnswer answer = Must(FindTiles(problem));
  EXPECT_EQ(answer.tiles.size(), problem.Candidates().size());
  EXPECT_THAT(problem.Candidates(), Contains(answer.largest));
  EXPECT_EQ(FindTiles(ThreeBuffers()).Error().status, CallStatus::kBadInput);
  TileOptions options;
  options.tile = "7x7";
  EXPECT_EQ(FindTiles(problem, options).Error().status, CallStatus::kBadInput);
}

TEST(Tiles, BecomeProblems) {
  const Network network = Must(Network::Load(kPatentChain));
  const Profile profile = Must(Profile::Load(kBanks));
  const Problem problem = Must(MakeProblem(network, profile, {"", "rows=2", ""}));
  EXPECT_GT(problem.BufferCount(), 0U);
  EXPECT_EQ(Must(Encode(problem)).text, Printed("encode " + kPatentChain + " --hw " + kBanks +
                                                " --tile rows=2 --format dimacs"));
  EXPECT_EQ(MakeProblem(network, profile, {"", "rows=2", "by magic"}).Error().status,
            CallStatus::kBadInput);
}

// cryptominisat5 is a package that scripts/install-packages installs.
TEST(Formulas, AreSolvedByOthers) {
  const Problem problem = ThreeBuffers();
  FormulaOptions options;
  options.capacity = 12;
  const Formula formula = Must(Encode(problem, options));
  EXPECT_THAT(formula.sizes, Not(IsEmpty()));
  const std::string file = testing::TempDir() + "formula.cnf";
  std::ofstream(file) << formula.text;
  const std::string model = testing::TempDir() + "model.txt";
  ASSERT_NE(std::system(("cryptominisat5 --verb 0 " + file + " >" + model).c_str()), -1);
  std::ostringstream text;
  text << std::ifstream(model).rdbuf();
  const AllocateAnswer answer = Must(Decode(problem, formula.text, text.str()));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_TRUE(answer.allocation);
  EXPECT_EQ(answer.allocation->Peak(), 12);
  EXPECT_TRUE(Must(Check(*answer.allocation)).accepted);
}

TEST(Formulas, AreNotBelieved) {
  const Problem problem = ThreeBuffers();
  FormulaOptions options;
  EXPECT_THAT(Encode(problem, options).Error().message, HasSubstr("how large the memory is"));
  options.capacity = 11;
  const std::string formula = Must(Encode(problem, options)).text;
  const AllocateAnswer claim = Must(Decode(problem, formula, "s UNSATISFIABLE\n"));
  EXPECT_EQ(claim.outcome, Outcome::kUnknown);
  EXPECT_THAT(claim.reason, HasSubstr("without a proof"));
  EXPECT_EQ(Decode(problem, formula, "s SATISFIABLE\n", "model").Error().file, "model");
  EXPECT_EQ(Decode(problem, "p cnf 1 1\n1 0\n", "s SATISFIABLE\nv 1 0\n").Error().status,
            CallStatus::kBadInput);
  options.format = "smt";
  EXPECT_THAT(Encode(problem, options).Error().text, HasSubstr("smtlib"));
  options = {};
  options.candidate = "rows=7";
  options.capacity = 12;
  EXPECT_EQ(Encode(problem, options).Error().status, CallStatus::kBadInput);
}

TEST(ModesOfAChip, AreThoseOfTheCommand) {
  const std::string file = TESSERA_SOURCE_DIR "/examples/problems/patent_five_banks.json";
  const Problem problem = Must(Problem::Load(file));
  const ModesAnswer answer = Must(Modes(std::vector<Problem>{problem}));
  EXPECT_EQ(answer.outcome, Outcome::kOptimal);
  ASSERT_THAT(answer.memories, Not(IsEmpty()));
  EXPECT_THAT(answer.memories[0].keep, Not(IsEmpty()));
  const std::string printed = Printed("modes " + file);
  EXPECT_EQ(answer.text.substr(0, answer.text.find('\n')), printed.substr(0, printed.find('\n')));
  // What remains still has an allocation.
  EXPECT_TRUE(Must(Allocate(Must(Problem::Parse(answer.reduced)))).allocation);
  EXPECT_EQ(Modes(std::vector<Problem>{}).Error().status, CallStatus::kBadInput);
  EXPECT_THAT(Modes(std::vector<Problem>{ThreeBuffers()}).Error().text, HasSubstr("no memory has"));
}

TEST(ModesOfAChip, RemainInAProfile) {
  const Plan plan = PlanOf(Must(Network::Load(kPatentChain)), Must(Profile::Load(kBanks)));
  const ModesAnswer answer = Must(Modes(std::vector<Plan>{plan}));
  ASSERT_NE(answer.outcome, Outcome::kUnknown);
  const Profile reduced = Must(Profile::Parse(answer.reduced));
  EXPECT_TRUE(Must(MakePlan(Must(Network::Load(kPatentChain)), reduced)).plan);
}

TEST(Certificates, ProveThatNothingFits) {
  AllocateOptions options;
  options.capacity = 11;
  options.certify = true;
  const AllocateAnswer answer = Must(Allocate(ThreeBuffers(), options));
  ASSERT_TRUE(answer.certificate) << answer.no_certificate;
  const CertificateReport report = Must(Check(*answer.certificate));
  EXPECT_TRUE(report.accepted);
  EXPECT_EQ(report.claim, "nothing fits into 11 bytes");
  const std::string folder = testing::TempDir() + "library_certificate";
  ASSERT_TRUE(answer.certificate->Save(folder));
  EXPECT_THAT(Printed("check --certificate " + folder), StartsWith("accepted"));
  EXPECT_EQ(Must(Certificate::Load(folder)).Files().size(), 3U);
  std::ofstream(folder + "/proof.txt") << "tessera-proof 1\n";
  const Result<CertificateReport> altered = Check(Must(Certificate::Load(folder)));
  EXPECT_TRUE(!altered || !altered->accepted);
  EXPECT_EQ(Certificate::Load("/no/such/folder").Error().status, CallStatus::kBadInput);
}

TEST(Certificates, OfALeastPeakSpeakOfOneByteLess) {
  AllocateOptions options;
  options.certify = true;
  const AllocateAnswer answer = Must(Allocate(ThreeBuffers(), options));
  ASSERT_TRUE(answer.certificate);
  EXPECT_EQ(Must(Check(*answer.certificate)).claim, "nothing fits into 11 bytes");
  options.capacity = 100;
  const AllocateAnswer any = Must(Allocate(ThreeBuffers(), options));
  EXPECT_EQ(any.certificate.has_value(), any.no_certificate.empty());
}

TEST(Certificates, ProveThatThereIsNoPlan) {
  PlanOptions options;
  options.limits = {{"peak", 1}};
  options.certify = true;
  options.explain = true;
  const PlanAnswer answer = Must(MakePlan(Chain(), Npu(), options));
  ASSERT_EQ(answer.outcome, Outcome::kInfeasible);
  ASSERT_TRUE(answer.certificate);
  EXPECT_THAT(answer.remedies, Not(IsEmpty()));
  const CertificateReport report = Must(Check(*answer.certificate));
  EXPECT_TRUE(report.accepted);
  EXPECT_THAT(report.claim, StartsWith("no plan exists"));
  const std::string folder = testing::TempDir() + "library_refutation";
  ASSERT_TRUE(answer.certificate->Save(folder));
  EXPECT_THAT(Printed("check --certificate " + folder), StartsWith("accepted: no plan exists"));
}

TEST(Explanations, NameWhatCollides) {
  AllocateOptions options;
  options.capacity = 11;
  const Explanation why = Must(Explain(ThreeBuffers(), options));
  EXPECT_EQ(why.outcome, Outcome::kInfeasible);
  EXPECT_THAT(why.summary, HasSubstr("12 bytes"));
  EXPECT_THAT(why.conditions, Not(IsEmpty()));
  EXPECT_TRUE(why.minimal);
  EXPECT_THAT(why.changes, Contains(HasSubstr("1 byte more")));
  options.capacity = 12;
  const Explanation fits = Must(Explain(ThreeBuffers(), options));
  EXPECT_EQ(fits.outcome, Outcome::kFeasible);
  EXPECT_THAT(fits.conditions, IsEmpty());
}

TEST(EditedPlans, ArePricedAgain) {
  const Plan plan = PlanOf(Chain(), Npu());
  const EvaluateAnswer same = Must(Evaluate(plan));
  ASSERT_TRUE(same.plan) << same.reason;
  EXPECT_EQ(same.plan->FindMetric("latency")->value, plan.FindMetric("latency")->value);
  CheckOptions check;
  check.search = false;
  EXPECT_TRUE(Must(Check(*same.plan, check)).accepted);

  const std::string file = testing::TempDir() + "library_edited.json";
  ASSERT_TRUE(plan.Save(file));
  EXPECT_THAT(Printed("eval " + file + " --format json"), HasSubstr("\"latency_cycles\""));
}

TEST(EditedPlans, ThatFitNowhereAreExplained) {
  std::string text = Json(PlanOf(Must(Network::Load(kNetwork)), Npu()));
  const std::string key = "\"capacity_bytes\": 1048576";
  for (size_t at = text.find(key); at != std::string::npos; at = text.find(key, at))
    text.replace(at, key.size(), "\"capacity_bytes\": 131072");
  EvaluateOptions options;
  options.move = true;
  const Result<EvaluateAnswer> answer = Evaluate(text, options);
  ASSERT_TRUE(answer) << answer.Error().text;
  EXPECT_FALSE(answer->plan);
  EXPECT_EQ(answer->outcome, Outcome::kInfeasible);
  EXPECT_THAT(answer->explanation, Not(IsEmpty()));
  EXPECT_EQ(Evaluate("{}", options, "mine.json").Error().file, "mine.json");
}

TEST(Executions, CountWhatRan) {
  const ExecuteReport report = Must(Execute(PlanOf(Chain(), Npu())));
  EXPECT_TRUE(report.accepted) << report.open;
  EXPECT_GT(report.tiles, 0);
  EXPECT_GE(report.operators, 2);
  EXPECT_GT(report.bytes_moved, 0);
  EXPECT_GT(report.cells_checked, 0);
}

}  // namespace
}  // namespace tessera::tests
