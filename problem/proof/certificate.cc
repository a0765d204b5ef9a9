// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/proof/certificate.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tessera/base/arithmetic.h"
#include "tessera/base/json_document.h"
#include "tessera/base/json_reader.h"
#include "tessera/base/text.h"

namespace tessera::problem::proof {
namespace {

constexpr std::string_view kFormat = "tessera-certificate";

// The Problem with the sizes of the claim.
base::Expected<Problem> AtClaimedCandidate(const files::ProblemDocument& document,
                                           const Claim& claim) {
  if (!document.ladder && !claim.candidate) return document.problem;
  base::Diagnostic fault;
  fault.file = kManifestName;
  std::vector<std::string_view> names;
  if (document.ladder) {
    for (const CandidateSizes& candidate : document.ladder->candidates)
      names.push_back(candidate.name);
    const auto candidate = std::find(names.begin(), names.end(), claim.candidate.value_or(""));
    if (claim.candidate && candidate != names.end()) {
      return AtCandidate(
          document.problem,
          document.ladder->candidates[static_cast<size_t>(candidate - names.begin())]);
    }
  }
  fault.pointer = "/candidate";
  fault.message = claim.candidate ? "the problem has no candidate '" + *claim.candidate + "'"
                                  : "the problem has tile candidates";
  fault.expected = names.empty() ? "no candidate, as the problem has no tile candidates"
                                 : "one of " + base::Join(names);
  return base::Unexpected(std::move(fault));
}

}  // namespace

std::string WriteManifest(const Claim& claim) {
  nlohmann::ordered_json manifest;
  manifest["format"] = kFormat;
  manifest["version"] = 1;
  manifest["capacity"] = claim.capacity;
  if (claim.candidate) manifest["candidate"] = *claim.candidate;
  manifest["prover"] = claim.prover;
  return base::WriteJson(manifest);
}

base::Expected<Claim> ReadManifest(std::string_view text, std::string_view file) {
  base::JsonReader reader(text, std::string(file));
  Claim claim;
  {
    base::JsonObject root = reader.Root().Object();
    root.Format(kFormat, 1);
    claim.capacity = root.Integer("capacity", {0, base::kMaxTotal});
    if (const base::JsonValue candidate = root.Optional("candidate"))
      claim.candidate = candidate.String();
    claim.prover = root.String("prover", "");
  }
  return reader.Finish(std::move(claim));
}

base::Expected<CheckedCertificate> CheckCertificate(const CertificateTexts& texts) {
  base::Expected<Claim> claim = ReadManifest(texts.manifest, kManifestName);
  if (!claim) return base::Unexpected(claim.error());
  const base::Expected<files::ProblemDocument> document =
      files::ReadProblem(texts.problem, kProblemName);
  if (!document) return base::Unexpected(document.error());
  base::Expected<Problem> problem = AtClaimedCandidate(*document, *claim);
  if (!problem) return base::Unexpected(problem.error());
  CheckedCertificate checked{*std::move(claim), *std::move(problem), {}};
  checked.verdict = CheckProof(checked.problem, checked.claim.capacity, texts.proof);
  return checked;
}

}  // namespace tessera::problem::proof
