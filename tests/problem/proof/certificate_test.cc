// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/certificate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "../fixture.h"

namespace tessera::problem::proof {
namespace {

using testing::HasSubstr;

constexpr std::string_view kProof = "tessera-proof 1\nclause 1 :\nstack 0 1 :\nend\n";

class CertificateTest : public testing::Test {
 protected:
  Problem problem_ = PlainProblem({MakeBuffer("a", 0, 2, 3), MakeBuffer("b", 1, 3, 4)});
  Ladder ladder_{{{"rows=1", {1, 2}}, {"rows=2", {3, 4}}}};
};

TEST_F(CertificateTest, AManifestIsReadAsItWasWritten) {
  const Claim claim{1023, "rows=7", "lazy"};
  const auto read = ReadManifest(WriteManifest(claim), "manifest.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->capacity, 1023);
  EXPECT_EQ(read->candidate, "rows=7");
  EXPECT_EQ(read->prover, "lazy");
}

TEST_F(CertificateTest, ManifestsOfOtherVersionsAreRefused) {
  const auto read =
      ReadManifest(R"({"format": "tessera-certificate", "version": 2, "capacity": 1})", "m.json");
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().pointer, "/version");
}

TEST_F(CertificateTest, TheClaimIsAboutItsCapacity) {
  const std::string problem = files::WriteProblem(problem_);
  for (const auto& [capacity, accepted] : {std::pair(6, true), std::pair(7, false)}) {
    const std::string manifest = WriteManifest({capacity, std::nullopt, ""});
    const auto judgement = CheckCertificate({manifest, problem, kProof});
    ASSERT_TRUE(judgement);
    EXPECT_EQ(judgement->verdict.accepted, accepted) << capacity;
  }
}

TEST_F(CertificateTest, TheClaimIsAboutItsCandidate) {
  const std::string problem = files::WriteProblem(problem_, &ladder_);
  for (const auto& [candidate, accepted] :
       {std::pair("rows=1", false), std::pair("rows=2", true)}) {
    const std::string manifest = WriteManifest({6, candidate, ""});
    const auto judgement = CheckCertificate({manifest, problem, kProof});
    ASSERT_TRUE(judgement);
    EXPECT_EQ(judgement->verdict.accepted, accepted) << candidate;
  }
}

TEST_F(CertificateTest, AClaimAboutNoCandidateThatThereIsIsAFault) {
  const std::string with_ladder = files::WriteProblem(problem_, &ladder_);
  const std::string without = files::WriteProblem(problem_);
  const std::string other = WriteManifest({6, "rows=3", ""});
  const auto unknown = CheckCertificate({other, with_ladder, kProof});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, HasSubstr("no candidate 'rows=3'"));
  EXPECT_FALSE(CheckCertificate({other, without, kProof}));
  EXPECT_FALSE(CheckCertificate({WriteManifest({6, std::nullopt, ""}), with_ladder, kProof}));
}

}  // namespace
}  // namespace tessera::problem::proof
