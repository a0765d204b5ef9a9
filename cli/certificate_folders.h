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

// Folders with a proof that nothing fits (problem/proof/certificate.h).
namespace tessera::cli {

std::string PathIn(const std::string& folder, std::string_view name);

class Console;

// The option of commands that can write one.
class CertificateWriter {
 public:
  void Declare(CLI::App& app);
  void AddTo(Destinations& files) const;  // the folder

  // Proves what `result` says is impossible and writes the folder: the capacity asked for, where
  // nothing fits; one byte less than the least peak, where that was found. Says so on stderr, also
  // where nothing could be proven; the answer then stands without a certificate. `document` has the
  // sizes of the candidate named. Other codes than kAnswer mean that the folder could not be
  // written.
  ExitCode Write(Console& console, Destinations& files,
                 const problem::files::ProblemDocument& document, const std::string& candidate,
                 std::optional<problem::Bytes> capacity, const problem::Result& result,
                 const SearchOptions& search, const base::Stop& stop,
                 const std::function<void(std::string_view)>& progress) const;

 private:
  std::string folder_;  // empty: none is wanted
};

// The certificate in a folder, checked. A diagnostic where it cannot be read, or says nothing about
// a Problem.
base::Expected<problem::proof::Judgement> CheckCertificateIn(const std::string& folder);

// Folders with the proof that a network has no plan (docs/certificate-format.md, "Certificates of
// plans").

// Tells `files` that a call writes this folder.
void AddRefutation(Destinations& files, const std::string& folder);

// Writes the folder: the question, and each proof about a placement as a certificate of its own.
// Refuses more than 64 MiB.
base::Expected<void> WriteRefutationIn(const std::string& folder, const plan::Plan& question,
                                       const plan::verify::infeasibility::Refutation& refutation);

// Whether the folder holds such a proof.
bool HoldsRefutation(const std::string& folder);

// Judges the question again, with the proofs in the folder alone. A diagnostic where they cannot be
// read.
base::Expected<plan::verify::infeasibility::Judgement> CheckRefutationIn(const std::string& folder);

}  // namespace tessera::cli
