// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/cli/common_options.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/result.h"
#include "tessera/search/partition/answer/options_and_result.h"

namespace CLI {
class App;
}

// Folders that hold a proof of infeasibility (api/parts/certificate.h).
namespace tessera::cli {

class Console;

// The option of commands that can write the certificate of a Problem.
class CertificateWriter {
 public:
  void Declare(CLI::App& app);
  bool IsWanted() const { return !folder_.empty(); }
  void AddTo(Destinations& files) const;  // the folder

  // Proves the negative claim of `result` and writes the folder. Reports on stderr, also if no
  // proof was found; the answer then stands without a certificate. `document` has the sizes of the
  // named candidate. Any code other than kAnswer means that the folder could not be written.
  ExitCode Write(Console& console, Destinations& files,
                 const problem::files::ProblemDocument& document, const std::string& candidate,
                 std::optional<problem::Bytes> capacity, const problem::Result& result,
                 const SearchOptions& search, const base::Stop& stop,
                 const base::ProgressFunction& progress) const;

 private:
  std::string folder_;  // empty: no certificate requested
};

// The same option for a network that has no plan.
class RefutationWriter {
 public:
  void Declare(CLI::App& app);
  void AddTo(Destinations& files) const;  // the folder

  // Writes the refutation of `result`. Reports on stderr, also if there is none. Any code other
  // than kAnswer means that the folder could not be written.
  ExitCode Write(Console& console, Destinations& files, const graph::Graph& network,
                 const hw_profiles::Profile& profile,
                 const search::partition::answer::PartitionOptions& options,
                 const search::partition::answer::PartitionResult& result) const;

 private:
  std::string folder_;  // empty: no certificate requested
};

}  // namespace tessera::cli
