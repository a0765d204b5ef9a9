#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/stop.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/cli/search_options.h"
#include "tessera/problem/json.h"
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

  // Proves what `result` says is impossible and writes the folder: the capacity asked for, where nothing fits; one
  // byte less than the least peak, where that was found. Says so on stderr, also where nothing could be proven; the
  // answer then stands without a certificate. `document` has the sizes of the rung named. Other codes than kAnswer
  // mean that the folder could not be written.
  ExitCode Write(Console& console, Destinations& files, const problem::ProblemDocument& document,
                 const std::string& rung, std::optional<problem::Bytes> capacity,
                 const problem::Result& result, const SearchOptions& search, const base::Stop& stop,
                 const std::function<void(std::string_view)>& progress) const;

 private:
  std::string folder_;  // empty: none is wanted
};

// The certificate in a folder, checked. A diagnostic where it cannot be read, or says nothing about a Problem.
base::Expected<problem::proof::Judgement> CheckCertificateIn(const std::string& folder);

}  // namespace tessera::cli
