// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <filesystem>

#include "command_line.h"

// `alloc --certificate` writes a proof; `check --certificate` accepts only a complete one.
namespace tessera::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Of three buffers that live together, two must lie on one side of the fixed one. Either side has 5
// bytes; two buffers need 6.
const std::string kSplit = R"({
  "format": "tessera-problem", "version": 1,
  "memories": [{"name": "sram", "capacity": 11}],
  "buffers": [{"id": "a", "size": 3, "lifespans": [[0, 1]]}, {"id": "b", "size": 3, "lifespans": [[0, 1]]},
              {"id": "c", "size": 3, "lifespans": [[0, 1]]}, {"id": "d", "size": 1, "lifespans": [[0, 1]], "offset": 5}]
})";

class CertificateCommandTest : public CommandLineTest {
 protected:
  CertificateCommandTest() { Write("split.json", kSplit); }

  Outcome Prove() {
    return Run({"alloc", "split.json", "--capacity", "11", "--certificate", "proof"});
  }
  Outcome Check(const std::vector<std::string>& more = {}) {
    Arguments arguments = {"check", "--certificate", "proof"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(CertificateCommandTest, WhatDoesNotFitIsProven) {
  const Outcome outcome = Prove();
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("certificate in proof: nothing fits into 11 bytes, proven by lazy"));
  const Outcome checked = Check();
  EXPECT_EQ(checked.exit_code, 0) << checked.err;
  EXPECT_THAT(checked.out, StartsWith("accepted: nothing fits into 11 bytes; 4 buffers, "));
  EXPECT_EQ(ReadJson("proof/manifest.json").at("capacity"), 11);
}

TEST_F(CertificateCommandTest, WhyTheLeastPeakIsLeastIsProven) {
  const Outcome outcome =
      Run({"alloc", "split.json", "--minimize", "--capacity", "100", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("peak         12"));
  EXPECT_EQ(ReadJson("proof/manifest.json").at("capacity"), 11);
  EXPECT_EQ(Check().exit_code, 0);
}

TEST_F(CertificateCommandTest, ALoadThatIsTooHighNeedsNoSearch) {
  const Outcome outcome = Run({"alloc", "split.json", "--capacity", "9", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_EQ(ReadJson("proof/manifest.json").at("prover"), "bound");
  EXPECT_EQ(Read("proof/proof.txt"), "tessera-proof 1\nclause 1 :\nstack 0 1 2 3 :\nend\n");
  EXPECT_EQ(Check().exit_code, 0);
}

TEST_F(CertificateCommandTest, BanksAndModesAreProvenByCadical) {
  const Outcome outcome = Run({"alloc", Shipped("examples/problems/patent_three_banks.json"),
                               "--capacity", "192", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_EQ(ReadJson("proof/manifest.json").at("prover"), "cadical");
  EXPECT_EQ(Check().exit_code, 0);
}

TEST_F(CertificateCommandTest, ACandidateIsNamedInTheClaim) {
  Write("candidates.json", Replace(kSplit, R"("offset": 5}])",
                                   R"("offset": 5}], "tile_candidates": {"candidates": [
    {"name": "small", "sizes": {"a": 1, "b": 1, "c": 1, "d": 1}},
    {"name": "large", "sizes": {"a": 3, "b": 3, "c": 3, "d": 1}}]})"));
  const Outcome outcome =
      Run({"alloc", "candidates.json", "--candidate", "large", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.err;
  EXPECT_EQ(Check({"--problem", "candidates.json"}).exit_code, 0);
  Write("proof/manifest.json", Replace(Read("proof/manifest.json"), "large", "small"));
  EXPECT_EQ(Check().exit_code, 5);
}

TEST_F(CertificateCommandTest, WhatFitsHasNoCertificate) {
  const Outcome outcome =
      Run({"alloc", "split.json", "--capacity", "20", "--certificate", "proof"});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(Folder() / "proof"));
}

TEST_F(CertificateCommandTest, WithoutBudgetForAProofTheAnswerStandsAlone) {
  const Outcome outcome =
      Run({"alloc", "split.json", "--capacity", "11", "--certificate", "proof", "--budget", "0"});
  EXPECT_EQ(outcome.exit_code, 10) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("no certificate"));
  EXPECT_FALSE(std::filesystem::exists(Folder() / "proof"));
}

TEST_F(CertificateCommandTest, ADamagedProofIsRefused) {
  ASSERT_EQ(Prove().exit_code, 20);
  const std::string proof = Read("proof/proof.txt");
  for (const std::string& damaged : {proof.substr(0, proof.size() - 4), proof + "end\n",
                                     proof.substr(0, proof.size() / 2), std::string("end\n")}) {
    Write("proof/proof.txt", damaged);
    const Outcome outcome = Check();
    EXPECT_EQ(outcome.exit_code, 5) << outcome.err;
    EXPECT_THAT(outcome.out, StartsWith("refused: 1 violation\n  proof.txt:"));
  }
  const auto json = ParseJson(Check({"--format", "json"}).out);
  EXPECT_EQ(json.at("status"), "refused");
  EXPECT_EQ(json.at("violations").size(), 1U);
}

TEST_F(CertificateCommandTest, AProofOfSomethingElseIsRefused) {
  ASSERT_EQ(Prove().exit_code, 20);
  EXPECT_EQ(Check({"--problem", "split.json", "--capacity", "11"}).exit_code, 0);
  EXPECT_EQ(Check({"--capacity", "10"}).exit_code, 0);
  EXPECT_EQ(Check({"--capacity", "12"}).exit_code, 5);
  Write("other.json", Replace(kSplit, R"("id": "c", "size": 3)", R"("id": "c", "size": 2)"));
  EXPECT_EQ(Check({"--problem", "other.json"}).exit_code, 5);
  Write("proof/manifest.json", Replace(Read("proof/manifest.json"), "11", "12"));
  EXPECT_EQ(Check().exit_code, 5);
  Write("proof/manifest.json", Replace(Read("proof/manifest.json"), "12", "11"));
  Write("proof/problem.json", Read("other.json"));
  EXPECT_EQ(Check().exit_code, 5);
}

TEST_F(CertificateCommandTest, WhatCannotBeReadIsNoClaim) {
  ASSERT_EQ(Prove().exit_code, 20);
  Write("proof/manifest.json",
        Replace(Read("proof/manifest.json"), R"("version": 1)", R"("version": 2)"));
  const Outcome outcome = Check();
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("proof/manifest.json"));
  EXPECT_EQ(Run({"check", "--certificate", "nowhere"}).exit_code, 3);
  EXPECT_EQ(Run({"check"}).exit_code, 2);
  EXPECT_EQ(Run({"check", "split.json", "--certificate", "proof"}).exit_code, 2);
}

TEST_F(CertificateCommandTest, AFolderThatCannotBeMadeEndsWith74) {
  Write("proof", "a file");
  EXPECT_EQ(Prove().exit_code, 74);
}

// x and y have 64 bytes each. The memory aligns both to 512.
const std::string kRelu = R"({
  "schema": 1, "name": "relu",
  "inputs": [{"id": "x", "shape": [1, 4, 4, 4]}],
  "operators": [{"id": "y", "kind": "elementwise", "inputs": ["x"], "function": "relu"}],
  "outputs": ["y"]
})";
const std::string kAlignedMachine = R"({
  "schema": 1, "name": "aligned", "clock_hz": 1.0e9, "tile_memory": "sram",
  "memories": {"dram": {"capacity_bytes": 65536}, "sram": {"capacity_bytes": 575, "alignment_bytes": 512}},
  "engines": {"pe": {"operators": {"elementwise": {}}}},
  "links": {"dma": {"between": ["dram", "sram"]}},
  "roles": {"network_input": {"home": "dram"}, "network_output": {"home": "dram"}, "boundary": {"home": "dram"}}
})";

class PlanCertificateTest : public CertificateCommandTest {
 protected:
  PlanCertificateTest() {
    Write("relu.json", kRelu);
    Write("aligned.json", kAlignedMachine);
  }

  Outcome Plan(const std::vector<std::string>& more = {}) {
    Arguments arguments = {"plan", "relu.json", "--hw", "aligned.json", "--certificate", "proof"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Run(arguments);
  }
};

TEST_F(PlanCertificateTest, WhatHasNoPlanIsProven) {
  const Outcome outcome = Plan();
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("certificate in proof: no plan exists; 1 placement"));
  const Outcome checked = Check();
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  EXPECT_THAT(checked.out, StartsWith("accepted: no plan exists: "));
  EXPECT_EQ(ReadJson("proof/refutation.json").at("placements"), 1);
  EXPECT_EQ(Run({"check", "--certificate", "proof/placement-1"}).exit_code, 0);
}

TEST_F(PlanCertificateTest, WithoutTimeOrMemoryItIsNeitherAcceptedNorRefused) {
  ASSERT_EQ(Plan().exit_code, 20);
  for (const std::string limit : {"timeout", "memory-limit"}) {
    const Outcome checked = Run({"check", "--certificate", "proof", "--" + limit, "0"});
    EXPECT_EQ(checked.exit_code, 10) << checked.out << checked.err;
    EXPECT_EQ(checked.out, "unknown: --" + limit +
                               " ended the check of the proof before its end; nothing is wrong so "
                               "far\n");
  }
}

TEST_F(PlanCertificateTest, ABoundNeedsNoPlacement) {
  const Outcome outcome = Plan({"--limit", "off_chip_bytes=63"});
  EXPECT_EQ(outcome.exit_code, 20) << outcome.out << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(Folder() / "proof/placement-1"));
  EXPECT_EQ(Check().exit_code, 0);
}

TEST_F(PlanCertificateTest, IsTheSameOnAnyNumberOfThreads) {
  ASSERT_EQ(Plan().exit_code, 20);
  const std::string first = Read("proof/refutation.json") + Read("proof/placement-1/proof.txt");
  ASSERT_EQ(Plan({"--threads", "2"}).exit_code, 20);
  EXPECT_EQ(Read("proof/refutation.json") + Read("proof/placement-1/proof.txt"), first);
}

TEST_F(PlanCertificateTest, AnAlteredQuestionIsRefused) {
  ASSERT_EQ(Plan().exit_code, 20);
  const std::string text = Read("proof/refutation.json");
  Write("proof/refutation.json",
        Replace(text, "\"capacity_bytes\": 575", "\"capacity_bytes\": 576"));
  const Outcome roomier = Check();
  EXPECT_EQ(roomier.exit_code, 5) << roomier.out << roomier.err;
  Write("proof/refutation.json", Replace(text, "\"placements\": 1", "\"placements\": 2"));
  EXPECT_EQ(Run({"check", "--certificate", "proof"}).exit_code, 5);
  Write("proof/refutation.json", Replace(text, "\"version\": 1", "\"version\": 2"));
  EXPECT_EQ(Check().exit_code, 3);
}

TEST_F(PlanCertificateTest, AMissingOrForgedPlacementIsRefused) {
  ASSERT_EQ(Plan().exit_code, 20);
  Write("proof/placement-1/proof.txt", "tessera-proof 1\nclause 1 :\nstack 0 :\nend\n");
  EXPECT_EQ(Check().exit_code, 5);
  std::filesystem::remove_all(Folder() / "proof/placement-1");
  const Outcome missing = Check();
  EXPECT_EQ(missing.exit_code, 5);
  EXPECT_THAT(missing.out, HasSubstr("no proof shows"));
}

TEST_F(PlanCertificateTest, WhatHasAPlanHasNoCertificate) {
  Write("aligned.json", Replace(kAlignedMachine, "575", "576"));
  const Outcome outcome = Plan();
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(Folder() / "proof"));
}

TEST_F(PlanCertificateTest, IsAboutANetworkAlone) {
  ASSERT_EQ(Plan().exit_code, 20);
  EXPECT_EQ(Check({"--capacity", "10"}).exit_code, 2);
}

}  // namespace
}  // namespace tessera::cli
