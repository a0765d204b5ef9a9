#include "tessera/cli/certificate_folders.h"

#include <fmt/core.h>
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/base/files.h"
#include "tessera/cli/console.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/proof/certificate.h"
#include "tessera/search/allocate/engine_queries.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::cli {

std::string PathIn(const std::string& folder, std::string_view name) {
  return (std::filesystem::path(folder) / name).string();
}

namespace {

namespace proof = problem::proof;
using problem::Bytes;
using problem::Status;

constexpr Bytes kFarthest = Bytes{1} << 60;   // of which a certificate can speak
constexpr int64_t kProverBudget = 1'000'000;  // conflicts of each prover

// The largest capacity at which the answer says that nothing fits; nullopt when it says no such
// thing.
std::optional<Bytes> FindRefutedCapacity(const problem::Problem& problem,
                                         std::optional<Bytes> capacity,
                                         const problem::Result& result) {
  if (result.status == Status::kInfeasible) {
    return std::min(capacity.value_or(problem.memories[0].capacity), kFarthest);
  }
  if (result.status == Status::kOptimal && result.peak.value_or(0) > 0) return *result.peak - 1;
  return std::nullopt;
}

base::Expected<void> WriteFolder(const std::string& folder,
                                 const problem::files::ProblemDocument& document,
                                 const proof::Claim& claim, std::string text) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error) {
    base::Diagnostic fault;
    fault.file = folder;
    fault.message = "cannot make this folder: " + error.message();
    return tl::unexpected(std::move(fault));
  }
  const problem::Ladder* ladder = document.ladder ? &*document.ladder : nullptr;
  const std::array<base::Output, 3> files = {
      base::Output{PathIn(folder, proof::kProblemName),
                   problem::files::WriteProblem(document.problem, ladder)},
      base::Output{PathIn(folder, proof::kProofName), std::move(text)},
      base::Output{PathIn(folder, proof::kManifestName), proof::WriteManifest(claim)}};
  return base::WriteTogether(files);
}

}  // namespace

void CertificateWriter::Declare(CLI::App& app) {
  app.add_option("--certificate", folder_,
                 "Where nothing fits, or nothing below the least peak, write a proof of that into "
                 "this folder; `tessera check --certificate` checks it. Engines that keep no proof "
                 "are proven right by one that does, with --budget of its own")
      ->type_name("DIR");
}

void CertificateWriter::AddTo(Destinations& files) const {
  files.WriteInto("--certificate", folder_,
                  {proof::kProblemName, proof::kProofName, proof::kManifestName});
}

ExitCode CertificateWriter::Write(Console& console, Destinations& files,
                                  const problem::files::ProblemDocument& document,
                                  const std::string& candidate, std::optional<Bytes> capacity,
                                  const problem::Result& result, const SearchOptions& search,
                                  const base::Stop& stop,
                                  const std::function<void(std::string_view)>& progress) const {
  if (folder_.empty()) return ExitCode::kAnswer;
  const std::optional<Bytes> refuted = FindRefutedCapacity(document.problem, capacity, result);
  if (!refuted) {
    console.Note("no certificate: the answer proves nothing impossible");
    return ExitCode::kAnswer;
  }
  const search::engines::lazy::LazyProver lazy({.seed = search.seed});
  const encoder::sat::SatProver cadical(search.seed);
  const std::array<const proof::Prover*, 2> provers = {&lazy, &cadical};
  const search::allocate::Certification certification = search::allocate::Certify(
      document.problem, *refuted, provers, search.Limit(kProverBudget), stop, progress);
  if (!certification.proof) {
    console.Note(fmt::format("no certificate was written: {}", certification.reason));
    return ExitCode::kAnswer;
  }
  proof::Claim claim{*refuted, std::nullopt, certification.prover};
  if (!candidate.empty()) claim.candidate = candidate;
  const size_t bytes = certification.proof->size();
  if (const auto written = WriteFolder(folder_, document, claim, *certification.proof); !written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(
      fmt::format("certificate in {}: nothing fits into {} bytes, proven by {} in {} bytes",
                  folder_, *refuted, certification.prover, bytes));
  return ExitCode::kAnswer;
}

base::Expected<proof::Judgement> CheckCertificateIn(const std::string& folder) {
  std::array<std::string, 3> texts;
  const std::array<std::string_view, 3> names = {proof::kManifestName, proof::kProblemName,
                                                 proof::kProofName};
  for (size_t i = 0; i < names.size(); ++i) {
    base::Expected<std::string> text = base::ReadInput(PathIn(folder, names[i]));
    if (!text) return tl::unexpected(text.error());
    texts[i] = *std::move(text);
  }
  base::Expected<proof::Judgement> judgement =
      proof::CheckCertificate({texts[0], texts[1], texts[2]});
  if (!judgement) judgement.error().file = PathIn(folder, judgement.error().file);
  return judgement;
}

namespace {

namespace proof = problem::proof;

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr std::string_view kRefutationName = "refutation.json";

// The folder of the proof with that number, from 1.
std::string PlacementIn(const std::string& folder, size_t number) {
  return PathIn(folder, fmt::format("placement-{}", number));
}

base::Expected<void> MakeFolder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (!error) return {};
  base::Diagnostic fault;
  fault.file = folder;
  fault.message = "cannot make this folder: " + error.message();
  return base::Unexpected(std::move(fault));
}

}  // namespace

void AddRefutation(Destinations& files, const std::string& folder) {
  files.WriteInto("--certificate", folder, {kRefutationName});
}

base::Expected<void> WriteRefutationIn(const std::string& folder, const plan::Plan& question,
                                       const plan::verify::infeasibility::Refutation& refutation) {
  std::vector<base::Output> files;
  for (size_t i = 0; i < refutation.proofs.size(); ++i) {
    const plan::verify::infeasibility::PlacementProof& placement = refutation.proofs[i];
    const std::string place = PlacementIn(folder, i + 1);
    files.push_back(
        {PathIn(place, proof::kProblemName), problem::files::WriteProblem(placement.problem)});
    files.push_back({PathIn(place, proof::kProofName), placement.text});
    files.push_back({PathIn(place, proof::kManifestName),
                     proof::WriteManifest({placement.capacity, {}, "plan"})});
  }
  files.push_back({PathIn(folder, kRefutationName),
                   plan::verify::infeasibility::WriteRefutation(question, refutation)});
  size_t bytes = 0;
  for (const base::Output& file : files) bytes += file.content.size();
  if (bytes > kMostBytes) {
    base::Diagnostic fault;
    fault.file = folder;
    fault.message = fmt::format("the certificate has {} bytes", bytes);
    fault.expected = fmt::format("{} at most", kMostBytes);
    return base::Unexpected(std::move(fault));
  }
  if (auto made = MakeFolder(folder); !made) return made;
  for (size_t i = 0; i < refutation.proofs.size(); ++i) {
    if (auto made = MakeFolder(PlacementIn(folder, i + 1)); !made) return made;
  }
  return base::WriteTogether(files);
}

bool HoldsRefutation(const std::string& folder) {
  std::error_code error;
  return std::filesystem::exists(PathIn(folder, kRefutationName), error);
}

base::Expected<plan::verify::infeasibility::Judgement> CheckRefutationIn(const std::string& folder,
                                                                         const base::Stop& stop) {
  const std::string path = PathIn(folder, kRefutationName);
  const base::Expected<std::string> text = base::ReadInput(path);
  if (!text) return base::Unexpected(text.error());
  const base::Expected<plan::verify::infeasibility::Document> document =
      plan::verify::infeasibility::ReadRefutation(*text, path);
  if (!document) return base::Unexpected(document.error());
  std::map<std::string, std::string> proofs;  // by Problem
  std::error_code error;
  for (size_t number = 1; std::filesystem::exists(PlacementIn(folder, number), error); ++number) {
    const std::string place = PlacementIn(folder, number);
    const base::Expected<std::string> about = base::ReadInput(PathIn(place, proof::kProblemName));
    if (!about) return base::Unexpected(about.error());
    base::Expected<std::string> why = base::ReadInput(PathIn(place, proof::kProofName));
    if (!why) return base::Unexpected(why.error());
    const auto problem = problem::files::ReadProblem(*about, PathIn(place, proof::kProblemName));
    if (!problem) return base::Unexpected(problem.error());
    proofs.emplace(problem::files::WriteProblem(problem->problem), *std::move(why));
  }
  const auto find_proof = [&proofs](const problem::Problem& problem,
                                    problem::Bytes) -> std::optional<std::string> {
    const auto known = proofs.find(problem::files::WriteProblem(problem));
    return known == proofs.end() ? std::nullopt : std::optional(known->second);
  };
  plan::verify::infeasibility::Judgement judgement =
      plan::verify::infeasibility::Judge(document->question, find_proof, stop);
  if (!judgement.refutation) return judgement;
  if (std::string difference = FindDifference(*document, *judgement.refutation);
      !difference.empty())
    return plan::verify::infeasibility::Judgement{std::nullopt, std::move(difference)};
  return judgement;
}

}  // namespace tessera::cli
