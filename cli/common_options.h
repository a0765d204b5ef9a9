#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace CLI {
class App;
}

// Numbers on the command line. All are decimal, whatever zeros they begin with; whole ones may be
// hexadecimal behind 0x.
namespace tessera::cli {

// For CLI::Option::transform: a whole number from `least` to `most`, "012" for 12.
CLI::Validator WholeNumber(int64_t least, int64_t most);

// The same in bytes from 0 to base::kMaxTotal, perhaps with a unit: b, k, m, g, t, p or e in either
// case, also as kb, ki and kib. All units are powers of 1024: 384Ki, 1MiB.
CLI::Validator ByteCount();

// Seconds from 0 up.
CLI::Validator Seconds();

// A finite decimal number, all of the word: "0.5", "2e9".
std::optional<double> ParseDecimal(std::string_view word);

// The options that several commands have in common.

// --format: what stdout gets.
class AnswerFormat {
 public:
  void Declare(CLI::App& app);
  bool IsJson() const { return format_ == "json"; }

 private:
  std::string format_ = "text";
};

// --threads: as many as the machine has, unless given.
class ThreadCount {
 public:
  ThreadCount();

  // `answer`: what the threads never change, as "plan".
  void Declare(CLI::App& app, std::string_view answer);
  int Get() const { return threads_; }

 private:
  int threads_;
};

// The options that choose a formula of a Problem; `encode` and `decode` must agree in them.
struct FormulaChoice {
  std::optional<int64_t> capacity;
  std::string candidate;
  std::string integers = "auto";

  // Adds --capacity, --candidate and --integers. Those that `exclude` (may be null) makes
  // superfluous are refused beside it.
  void Declare(CLI::App& app, CLI::Option* exclude);

  // `path` names the document's file, for messages. Refuses a Problem without a capacity.
  base::Expected<encoder::exports::FormulaOptions> Resolve(
      const problem::files::ProblemDocument& document, const std::string& path) const;
};

}  // namespace tessera::cli
