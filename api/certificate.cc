// SPDX-License-Identifier: Apache-2.0

#include "tessera/api/parts/certificate.h"

#include <tessera/certificate.h>

#include <filesystem>
#include <utility>

#include "tessera/api/content.h"
#include "tessera/base/files.h"

namespace tessera::api {
namespace {

constexpr const char* kName = "certificate";  // in messages

parts::CertificateFiles FilesOf(const Certificate::Content& content) {
  parts::CertificateFiles files;
  for (const auto& [name, text] : content.files) files.push_back({name, text});
  return files;
}

Result<CertificateReport> CheckPlanProof(const parts::CertificateFiles& files,
                                         const CallOptions& options) {
  const CallStop stop(options);
  const auto judgement = parts::CheckRefutation(files, kName, stop.Get());
  if (!judgement) return BadInput(judgement.error());
  CertificateReport report;
  if (stop.Get().HasCutOff()) {
    report.open = "cut off before its end";
  } else if (!judgement->refutation) {
    report.findings.push_back(judgement->gap);
  } else {
    report.accepted = true;
    report.claim = "no plan exists: " + judgement->refutation->argument;
  }
  return report;
}

Result<CertificateReport> CheckProof(const Certificate::Content& content,
                                     const CallOptions& options) {
  const parts::CertificateFiles files = FilesOf(content);
  if (parts::IsRefutation(files)) return CheckPlanProof(files, options);
  const auto judgement = parts::CheckProblemCertificate(files, kName);
  if (!judgement) return BadInput(judgement.error());
  const problem::proof::ProofCheck& verdict = judgement->verdict;
  CertificateReport report;
  report.accepted = verdict.accepted;
  if (verdict.accepted) {
    report.claim = "nothing fits into " + std::to_string(judgement->claim.capacity) + " bytes";
  } else {
    report.findings.push_back("line " + std::to_string(verdict.line) +
                              " of the proof: " + verdict.flaw);
  }
  return report;
}

}  // namespace

std::optional<Error> Certify(const Problem& problem, const AllocateOptions& options,
                             const parts::AllocationAnswer& found, const base::Stop& stop,
                             AllocateAnswer& answer) {
  parts::ProblemCertificate made = parts::CertifyProblem(
      problem.Get().document, found.result,
      {"", found.capacity, options.seed, options.budget, OneAtATime(options)}, stop);
  if (made.files.empty()) {
    answer.no_certificate = std::move(made.reason);
  } else {
    answer.certificate = AsCertificate(std::move(made.files));
  }
  return std::nullopt;
}

Certificate AsCertificate(parts::CertificateFiles files) {
  Certificate::Content content;
  for (base::Output& file : files)
    content.files.emplace_back(std::move(file.path), std::move(file.content));
  return Certificate(std::make_shared<const Certificate::Content>(std::move(content)));
}

}  // namespace tessera::api

namespace tessera {
inline namespace v0 {

Certificate::Certificate(std::shared_ptr<const Content> content) noexcept
    : content_(std::move(content)) {}

Result<Certificate> Certificate::Load(const std::string& folder) {
  return api::Guarded([&]() -> Result<Certificate> {
    base::Expected<api::parts::CertificateFiles> files = api::parts::ReadCertificate(folder);
    if (!files) return api::BadInput(files.error());
    return api::AsCertificate(*std::move(files));
  });
}

Result<Certificate> Certificate::FromFiles(
    const std::vector<std::pair<std::string, std::string>>& files) {
  return api::Guarded([&]() -> Result<Certificate> {
    for (const auto& [name, text] : files) {
      const std::filesystem::path path(name);
      if (path.empty() || path.is_absolute() || *path.lexically_normal().begin() == "..")
        return api::BadArgument("'" + name + "' is no file in the folder of a certificate",
                                "a path relative to the folder");
    }
    return Certificate(std::make_shared<const Content>(Content{files}));
  });
}

Result<Done> Certificate::Save(const std::string& folder) const {
  return api::Guarded([&]() -> Result<Done> {
    const auto written = base::WriteInto(folder, api::FilesOf(*content_));
    if (!written) return api::BadInput(written.error());
    return Done{};
  });
}

const std::vector<std::pair<std::string, std::string>>& Certificate::Files() const noexcept {
  return content_->files;
}

Result<CertificateReport> Check(const Certificate& certificate, const CallOptions& options) {
  return api::Guarded([&] { return api::CheckProof(certificate.Get(), options); });
}

}  // namespace v0
}  // namespace tessera
