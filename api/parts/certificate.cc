// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/certificate.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::api::parts {
namespace {

namespace proof = problem::proof;
namespace infeasibility = plan::verify::infeasibility;
using problem::Bytes;
using problem::Status;

constexpr Bytes kFarthest = Bytes{1} << 60;   // the greatest that a certificate can state
constexpr int64_t kProverBudget = 1'000'000;  // conflicts of each prover
constexpr size_t kMostBytes = size_t{64} << 20;

// Returns the largest capacity at which the answer states that nothing fits; nullopt if it does not
// state that.
std::optional<Bytes> FindRefutedCapacity(const problem::Problem& problem,
                                         std::optional<Bytes> capacity,
                                         const problem::Result& result) {
  if (result.status == Status::kInfeasible) {
    return std::min(capacity.value_or(problem.memories[0].capacity), kFarthest);
  }
  if (result.status == Status::kOptimal && result.peak.value_or(0) > 0) return *result.peak - 1;
  return std::nullopt;
}

// Returns the folder of the proof with that number, from 1.
std::string PlacementFolder(size_t number) { return fmt::format("placement-{}", number); }

base::Expected<void> ReadInto(CertificateFiles& files, const std::string& folder,
                              std::string name) {
  base::Expected<std::string> text = base::ReadInput(PathIn(folder, name));
  if (!text) return base::Unexpected(text.error());
  files.push_back({std::move(name), *std::move(text)});
  return {};
}

base::Expected<std::string_view> Find(const CertificateFiles& files, const std::string& folder,
                                      std::string_view name) {
  for (const base::Output& file : files) {
    if (file.path == name) return file.content;
  }
  base::Diagnostic fault;
  fault.file = PathIn(folder, name);
  fault.message = "the certificate has no such file";
  return base::Unexpected(std::move(fault));
}

}  // namespace

std::string PathIn(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

ProblemCertificate CertifyProblem(const problem::files::ProblemDocument& document,
                                  const problem::Result& result, const CertifyCall& call,
                                  const base::Stop& stop) {
  ProblemCertificate made;
  const std::optional<Bytes> refuted = FindRefutedCapacity(document.problem, call.capacity, result);
  if (!refuted) {
    made.reason = "the answer proves nothing impossible";
    return made;
  }
  const search::engines::lazy::LazyProver lazy({.seed = call.seed});
  const encoder::sat::SatProver cadical(call.seed);
  const std::array<const proof::Prover*, 2> provers = {&lazy, &cadical};
  search::allocate::Certification certification = search::allocate::Certify(
      document.problem, *refuted, provers, base::Budget{call.budget.value_or(kProverBudget)}, stop,
      call.progress);
  made.reason = certification.reason;
  if (!certification.proof) return made;
  made.refuted = *refuted;
  made.prover = certification.prover;
  made.proof_bytes = certification.proof->size();
  proof::Claim claim{*refuted, std::nullopt, certification.prover};
  if (!call.candidate.empty()) claim.candidate = call.candidate;
  const problem::Ladder* ladder = document.ladder ? &*document.ladder : nullptr;
  made.files = {
      {std::string(proof::kProblemName), problem::files::WriteProblem(document.problem, ladder)},
      {std::string(proof::kProofName), *std::move(certification.proof)},
      {std::string(proof::kManifestName), proof::WriteManifest(claim)}};
  return made;
}

base::Expected<CertificateFiles> CertifyRefutation(const plan::Plan& question,
                                                   const infeasibility::Refutation& refutation) {
  CertificateFiles files;
  for (size_t i = 0; i < refutation.proofs.size(); ++i) {
    const infeasibility::PlacementProof& placement = refutation.proofs[i];
    const std::string place = PlacementFolder(i + 1);
    files.push_back(
        {PathIn(place, proof::kProblemName), problem::files::WriteProblem(placement.problem)});
    files.push_back({PathIn(place, proof::kProofName), placement.text});
    files.push_back({PathIn(place, proof::kManifestName),
                     proof::WriteManifest({placement.capacity, {}, "plan"})});
  }
  files.push_back(
      {std::string(kRefutationName), infeasibility::WriteRefutation(question, refutation)});
  size_t bytes = 0;
  for (const base::Output& file : files) bytes += file.content.size();
  if (bytes <= kMostBytes) return files;
  base::Diagnostic fault;
  fault.message = fmt::format("the certificate has {} bytes", bytes);
  fault.expected = fmt::format("{} at most", kMostBytes);
  return base::Unexpected(std::move(fault));
}

base::Expected<CertificateFiles> ReadCertificate(const std::string& folder) {
  CertificateFiles files;
  std::error_code error;
  if (!std::filesystem::exists(PathIn(folder, kRefutationName), error)) {
    for (const std::string_view name :
         {proof::kManifestName, proof::kProblemName, proof::kProofName}) {
      if (auto read = ReadInto(files, folder, std::string(name)); !read)
        return base::Unexpected(read.error());
    }
    return files;
  }
  if (auto read = ReadInto(files, folder, std::string(kRefutationName)); !read)
    return base::Unexpected(read.error());
  for (size_t number = 1; std::filesystem::exists(PathIn(folder, PlacementFolder(number)), error);
       ++number) {
    for (const std::string_view name : {proof::kProblemName, proof::kProofName}) {
      if (auto read = ReadInto(files, folder, PathIn(PlacementFolder(number), name)); !read)
        return base::Unexpected(read.error());
    }
  }
  return files;
}

bool IsRefutation(const CertificateFiles& files) {
  return std::any_of(files.begin(), files.end(),
                     [](const base::Output& file) { return file.path == kRefutationName; });
}

base::Expected<proof::CheckedCertificate> CheckProblemCertificate(const CertificateFiles& files,
                                                                  const std::string& folder) {
  std::array<std::string_view, 3> texts;
  const std::array<std::string_view, 3> names = {proof::kManifestName, proof::kProblemName,
                                                 proof::kProofName};
  for (size_t i = 0; i < names.size(); ++i) {
    const base::Expected<std::string_view> text = Find(files, folder, names[i]);
    if (!text) return base::Unexpected(text.error());
    texts[i] = *text;
  }
  base::Expected<proof::CheckedCertificate> checked =
      proof::CheckCertificate({texts[0], texts[1], texts[2]});
  if (!checked) checked.error().file = PathIn(folder, checked.error().file);
  return checked;
}

base::Expected<infeasibility::RefutationResult> CheckRefutation(const CertificateFiles& files,
                                                                const std::string& folder,
                                                                const base::Stop& stop) {
  const base::Expected<std::string_view> text = Find(files, folder, kRefutationName);
  if (!text) return base::Unexpected(text.error());
  const base::Expected<infeasibility::Document> document =
      infeasibility::ReadRefutation(*text, PathIn(folder, kRefutationName));
  if (!document) return base::Unexpected(document.error());
  std::map<std::string, std::string> proofs;  // by Problem
  for (const base::Output& file : files) {
    const std::filesystem::path path = file.path;
    if (!path.has_parent_path() || path.filename() != proof::kProblemName) continue;
    const auto problem = problem::files::ReadProblem(file.content, PathIn(folder, file.path));
    if (!problem) return base::Unexpected(problem.error());
    const base::Expected<std::string_view> why =
        Find(files, folder, PathIn(path.parent_path().string(), proof::kProofName));
    if (!why) return base::Unexpected(why.error());
    proofs.emplace(problem::files::WriteProblem(problem->problem), *why);
  }
  const auto find_proof = [&proofs](const problem::Problem& problem,
                                    Bytes) -> std::optional<std::string> {
    const auto known = proofs.find(problem::files::WriteProblem(problem));
    return known == proofs.end() ? std::nullopt : std::optional(known->second);
  };
  infeasibility::RefutationResult checked =
      infeasibility::Judge(document->question, find_proof, stop);
  if (!checked.refutation) return checked;
  if (std::string difference = FindDifference(*document, *checked.refutation); !difference.empty())
    return infeasibility::RefutationResult{std::nullopt, std::move(difference)};
  return checked;
}

}  // namespace tessera::api::parts
