#include "tessera/cli/formula_options.h"

#include <CLI/CLI.hpp>

#include "tessera/base/checked.h"
#include "tessera/cli/inputs.h"
#include "tessera/cli/numbers.h"

namespace tessera::cli {

void FormulaChoice::Declare(CLI::App& app, CLI::Option* exclude) {
  const auto alone = [exclude](CLI::Option* option) {
    if (exclude != nullptr) option->excludes(exclude);
  };
  alone(app.add_option("--capacity", capacity, "Bytes of the (first) memory; suffixes as in 384Ki")
            ->transform(ByteCount()));
  alone(app.add_option("--rung", rung,
                       "The rung of the file's ladder whose sizes count; without it each rung is a variable "
                       "and one of them must hold"));
  alone(app.add_option("--integers", integers,
                       "How DIMACS says addresses: a variable for each bound (order), for each digit (bits), "
                       "or what suits their number (auto)")
            ->check(CLI::IsMember({"auto", "order", "bits"}))
            ->capture_default_str());
}

base::Expected<encoder::FormulaOptions> FormulaChoice::Resolve(const problem::ProblemDocument& document,
                                                               const std::string& path) const {
  encoder::FormulaOptions options;
  options.capacity = capacity.value_or(document.problem.memories[0].capacity);
  if (options.capacity >= base::kMaxTotal) {
    base::Diagnostic fault;
    fault.file = path;
    fault.message = "the file does not say how large the memory is";
    fault.hint = "add --capacity BYTES";
    return tl::unexpected(std::move(fault));
  }
  if (!rung.empty()) {
    const base::Expected<size_t> index = FindRung(document, rung, path);
    if (!index) return tl::unexpected(index.error());
    options.rung = *index;
  }
  options.integers = integers == "order"  ? encoder::IntegerEncoding::kOrder
                     : integers == "bits" ? encoder::IntegerEncoding::kBits
                                          : encoder::IntegerEncoding::kByMagnitude;
  return options;
}

}  // namespace tessera::cli
