// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/proof/checker.h"

// A certificate is a folder of three files. It claims that a Problem has no placement within a
// given number of bytes. docs/certificate-format.md is the reference.
//
//     manifest.json    "tessera-certificate", version 1: the claim
//     problem.json     "tessera-problem", version 1: the Problem of the claim
//     proof.txt        "tessera-proof", version 1: the proof (proof_text.h)
namespace tessera::problem::proof {

inline constexpr std::string_view kManifestName = "manifest.json";
inline constexpr std::string_view kProblemName = "problem.json";
inline constexpr std::string_view kProofName = "proof.txt";

struct Claim {
  Bytes capacity = 0;  // of memories[0]: nothing fits
  // the tile candidate of the Problem's ladder, if it has one, whose sizes are used
  std::optional<std::string> candidate;
  std::string prover;  // for people
};

std::string WriteManifest(const Claim& claim);

base::Expected<Claim> ReadManifest(std::string_view text, std::string_view file);

// The contents of the three files.
struct CertificateTexts {
  std::string_view manifest;
  std::string_view problem;
  std::string_view proof;
};

struct CheckedCertificate {
  Claim claim;
  Problem problem;  // with the sizes of the candidate
  ProofCheck verdict;
};

// Reads the claim and the Problem and checks the proof. A refused proof is not an error: the
// verdict has the reason. A claim that cannot be read is an error. Cost: that of CheckProof.
base::Expected<CheckedCertificate> CheckCertificate(const CertificateTexts& texts);

}  // namespace tessera::problem::proof
