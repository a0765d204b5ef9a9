#include "tessera/cli/certificates.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <filesystem>

#include "tessera/base/checked.h"
#include "tessera/cli/console.h"
#include "tessera/cli/files.h"
#include "tessera/encoder/lazy/lazy_prover.h"
#include "tessera/encoder/sat/sat_prover.h"
#include "tessera/search/allocate/certify.h"

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

// The largest capacity at which the answer says that nothing fits; nullopt when it says no such thing.
std::optional<Bytes> FindRefutedCapacity(const problem::Problem& problem, std::optional<Bytes> capacity,
                                         const problem::Result& result) {
  if (result.status == Status::kInfeasible) {
    return std::min(capacity.value_or(problem.memories[0].capacity), kFarthest);
  }
  if (result.status == Status::kOptimal && result.peak.value_or(0) > 0) return *result.peak - 1;
  return std::nullopt;
}

base::Expected<void> WriteFolder(const std::string& folder, const problem::ProblemDocument& document,
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
  const std::array<Output, 3> files = {
      Output{PathIn(folder, proof::kProblemName), problem::WriteProblem(document.problem, ladder)},
      Output{PathIn(folder, proof::kProofName), std::move(text)},
      Output{PathIn(folder, proof::kManifestName), proof::WriteManifest(claim)}};
  return WriteTogether(files);
}

}  // namespace

void CertificateWriter::Declare(CLI::App& app) {
  app.add_option(
         "--certificate", folder_,
         "Where nothing fits, or nothing below the least peak, write a proof of that into this folder; "
         "`tessera check --certificate` checks it. Engines that keep no proof are proven right by one that "
         "does, with --budget of its own")
      ->type_name("DIR");
}

void CertificateWriter::AddTo(Destinations& files) const {
  files.WriteInto("--certificate", folder_, {proof::kProblemName, proof::kProofName, proof::kManifestName});
}

ExitCode CertificateWriter::Write(Console& console, Destinations& files,
                                  const problem::ProblemDocument& document, const std::string& rung,
                                  std::optional<Bytes> capacity, const problem::Result& result,
                                  const SearchOptions& search, const base::Stop& stop,
                                  const std::function<void(std::string_view)>& progress) const {
  if (folder_.empty()) return ExitCode::kAnswer;
  const std::optional<Bytes> refuted = FindRefutedCapacity(document.problem, capacity, result);
  if (!refuted) {
    console.Note("no certificate: the answer proves nothing impossible");
    return ExitCode::kAnswer;
  }
  const encoder::LazyProver lazy({.seed = search.seed});
  const encoder::SatProver cadical(search.seed);
  const std::array<const proof::Prover*, 2> provers = {&lazy, &cadical};
  const search::Certification certification =
      search::Certify(document.problem, *refuted, provers, search.Limit(kProverBudget), stop, progress);
  if (!certification.proof) {
    console.Note(fmt::format("no certificate was written: {}", certification.reason));
    return ExitCode::kAnswer;
  }
  proof::Claim claim{*refuted, std::nullopt, certification.prover};
  if (!rung.empty()) claim.rung = rung;
  const size_t bytes = certification.proof->size();
  if (const auto written = WriteFolder(folder_, document, claim, *certification.proof); !written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(fmt::format("certificate in {}: nothing fits into {} bytes, proven by {} in {} bytes", folder_,
                           *refuted, certification.prover, bytes));
  return ExitCode::kAnswer;
}

base::Expected<proof::Judgement> CheckCertificateIn(const std::string& folder) {
  std::array<std::string, 3> texts;
  const std::array<std::string_view, 3> names = {proof::kManifestName, proof::kProblemName,
                                                 proof::kProofName};
  for (size_t i = 0; i < names.size(); ++i) {
    base::Expected<std::string> text = ReadInput(PathIn(folder, names[i]));
    if (!text) return tl::unexpected(text.error());
    texts[i] = *std::move(text);
  }
  base::Expected<proof::Judgement> judgement = proof::CheckCertificate({texts[0], texts[1], texts[2]});
  if (!judgement) judgement.error().file = PathIn(folder, judgement.error().file);
  return judgement;
}

}  // namespace tessera::cli
