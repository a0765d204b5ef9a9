// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/files.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/proof/certificate.h"
#include "tessera/problem/result.h"

// Certificates of both kinds (docs/certificate-format.md) as sets of files: of a Problem without a
// placement, and of a network without a plan.
namespace tessera::api::parts {

// Names relative to the folder of the certificate: "proof.txt", "placement-1/problem.json".
using CertificateFiles = std::vector<base::Output>;

inline constexpr std::string_view kRefutationName = "refutation.json";

std::string PathIn(const std::string& folder, std::string_view name);

// A certificate of a Problem, or the reason why there is none.
struct ProblemCertificate {
  CertificateFiles files;      // empty: there is none
  problem::Bytes refuted = 0;  // nothing fits into so many bytes
  std::string prover;
  size_t proof_bytes = 0;
  std::string reason;  // why there is none
};

struct CertifyCall {
  std::string candidate;                   // whose sizes the Problem has; empty: there are none
  std::optional<problem::Bytes> capacity;  // within which the answer was sought
  uint64_t seed = 0;
  std::optional<int64_t> budget;  // of each prover
  base::ProgressFunction progress;
};

// Proves the negative claim of `result`: that nothing fits into the requested capacity, or, if the
// least peak was found, into one byte less. Engines keep no proofs, so provers derive the claim
// again. `document` has the sizes of the named candidate.
ProblemCertificate CertifyProblem(const problem::files::ProblemDocument& document,
                                  const problem::Result& result, const CertifyCall& call,
                                  const base::Stop& stop);

// Returns the certificate that a network has no plan: the question, and each proof about a
// placement as a separate certificate. Refuses more than 64 MiB.
base::Expected<CertificateFiles> CertifyRefutation(
    const plan::Plan& question, const plan::verify::infeasibility::Refutation& refutation);

base::Expected<CertificateFiles> ReadCertificate(const std::string& folder);

// Returns whether the certificate is about a network.
bool IsRefutation(const CertificateFiles& files);

// Checks the certificate of a Problem. The error is a diagnostic if it cannot be read, or does not
// concern a Problem. `folder` is for messages.
base::Expected<problem::proof::CheckedCertificate> CheckProblemCertificate(
    const CertificateFiles& files, const std::string& folder);

// Judges the question of a network again, with only the proofs of the certificate. The error is a
// diagnostic if the proofs cannot be read. If the stop ends the check, the result is open.
base::Expected<plan::verify::infeasibility::RefutationResult> CheckRefutation(
    const CertificateFiles& files, const std::string& folder, const base::Stop& stop);

}  // namespace tessera::api::parts
