#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/cli/search_options.h"
#include "tessera/plan/verify/infeasibility/refutation.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/proof/certificate.h"

namespace CLI {
class App;
}

// Folders that hold a proof of infeasibility (problem/proof/certificate.h).
namespace tessera::cli {

std::string PathIn(const std::string& folder, std::string_view name);

class Console;

// The option of commands that can write a certificate.
class CertificateWriter {
 public:
  void Declare(CLI::App& app);
  void AddTo(Destinations& files) const;  // the folder

  // Proves the negative claim of `result` and writes the folder. The claim is the requested
  // capacity if nothing fits, or one byte less than the least peak if that was found. Reports on
  // stderr, also if no proof was found; the answer then stands without a certificate. `document`
  // has the sizes of the named candidate. Any code other than kAnswer means that the folder could
  // not be written.
  ExitCode Write(Console& console, Destinations& files,
                 const problem::files::ProblemDocument& document, const std::string& candidate,
                 std::optional<problem::Bytes> capacity, const problem::Result& result,
                 const SearchOptions& search, const base::Stop& stop,
                 const std::function<void(std::string_view)>& progress) const;

 private:
  std::string folder_;  // empty: no certificate requested
};

// Checks the certificate in a folder. The error is a diagnostic if it cannot be read, or does not
// concern a Problem.
base::Expected<problem::proof::Judgement> CheckCertificateIn(const std::string& folder);

// Folders that hold the proof that a network has no plan (docs/certificate-format.md, "Certificates
// of plans").

// Registers this folder in `files` as an output of the call.
void AddRefutation(Destinations& files, const std::string& folder);

// Writes the folder: the question, and each proof about a placement as a certificate of its own.
// Refuses more than 64 MiB.
base::Expected<void> WriteRefutationIn(const std::string& folder, const plan::Plan& question,
                                       const plan::verify::infeasibility::Refutation& refutation);

// Whether the folder holds such a proof.
bool HoldsRefutation(const std::string& folder);

// Judges the question again, with only the proofs in the folder. The error is a diagnostic if they
// cannot be read. After the stop, nothing is known.
base::Expected<plan::verify::infeasibility::Judgement> CheckRefutationIn(const std::string& folder,
                                                                         const base::Stop& stop);

}  // namespace tessera::cli
