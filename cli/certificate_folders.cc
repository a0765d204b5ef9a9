// SPDX-License-Identifier: Apache-2.0

#include "tessera/cli/certificate_folders.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "tessera/api/parts/certificate.h"
#include "tessera/base/files.h"
#include "tessera/cli/console.h"
#include "tessera/problem/proof/certificate.h"
#include "tessera/search/partition/answer/refusal.h"

namespace tessera::cli {

namespace proof = problem::proof;

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
                                  const std::string& candidate,
                                  std::optional<problem::Bytes> capacity,
                                  const problem::Result& result, const SearchOptions& search,
                                  const base::Stop& stop,
                                  const base::ProgressFunction& progress) const {
  if (folder_.empty()) return ExitCode::kAnswer;
  const api::parts::ProblemCertificate made = api::parts::CertifyProblem(
      document, result, {candidate, capacity, search.seed, search.budget, progress}, stop);
  if (made.files.empty()) {
    console.Note(fmt::format("no certificate: {}", made.reason));
    return ExitCode::kAnswer;
  }
  const HeldInterrupts held;
  if (const auto written = base::WriteInto(folder_, made.files); !written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(
      fmt::format("certificate in {}: nothing fits into {} bytes, proven by {} in {} bytes",
                  folder_, made.refuted, made.prover, made.proof_bytes));
  return ExitCode::kAnswer;
}

void RefutationWriter::Declare(CLI::App& app) {
  app.add_option("--certificate", folder_,
                 "Where no plan exists, write the proof of that into this folder; `tessera check "
                 "--certificate` checks it")
      ->type_name("DIR");
}

void RefutationWriter::AddTo(Destinations& files) const {
  files.WriteInto("--certificate", folder_, {api::parts::kRefutationName});
}

ExitCode RefutationWriter::Write(Console& console, Destinations& files, const graph::Graph& network,
                                 const hw_profiles::Profile& profile,
                                 const search::partition::answer::PartitionOptions& options,
                                 const search::partition::answer::PartitionResult& result) const {
  if (folder_.empty()) return ExitCode::kAnswer;
  if (!result.refutation) {
    console.Note("no certificate: the answer proves nothing impossible");
    return ExitCode::kAnswer;
  }
  const plan::Plan question = search::partition::answer::QuestionOf(network, profile, options);
  const base::Expected<api::parts::CertificateFiles> made =
      api::parts::CertifyRefutation(question, *result.refutation);
  const base::Expected<void> written =
      made ? base::WriteInto(folder_, *made) : base::Unexpected(made.error());
  if (!written) {
    console.Refuse(written.error());
    return ExitCode::kCannotWrite;
  }
  files.NoteSaved(folder_);
  console.Note(fmt::format("certificate in {}: no plan exists; {} placements are proven impossible",
                           folder_, result.refutation->proofs.size()));
  return ExitCode::kAnswer;
}

}  // namespace tessera::cli
