#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tessera::cli {

// The options that choose a formula of a Problem; `encode` and `decode` must agree in them.
struct FormulaChoice {
  std::optional<int64_t> capacity;
  std::string rung;
  std::string integers = "auto";

  // Adds --capacity, --rung and --integers. Those that `exclude` (may be null) makes superfluous are refused
  // beside it.
  void Declare(CLI::App& app, CLI::Option* exclude);

  // `path` names the document's file, for messages. Refuses a Problem without a capacity.
  base::Expected<encoder::FormulaOptions> Resolve(const problem::ProblemDocument& document,
                                                  const std::string& path) const;
};

}  // namespace tessera::cli
