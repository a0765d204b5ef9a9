// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/problem/files/problem_files.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI
namespace CLI {
class App;
}

// Numbers on the command line. All are decimal, with any number of leading zeros. Integers may be
// hexadecimal with the prefix 0x.
namespace tessera::cli {

// For CLI::Option::transform: an integer from `least` to `most`; "012" is 12.
CLI::Validator WholeNumber(int64_t least, int64_t most);

// The same in bytes from 0 to base::kMaxTotal, with an optional unit: b, k, m, g, t, p or e in
// either case, also as kb, ki and kib. All units are powers of 1024: 384Ki, 1MiB.
CLI::Validator ByteCount();

// Seconds, at least 0.
CLI::Validator Seconds();

// "0.5%" becomes parts per million.
CLI::Validator PartsPerMillion(int most_percent = 1000);

// A finite decimal number that is the whole word: "0.5", "2e9".
std::optional<double> ParseDecimal(std::string_view word);

// Options that several commands share.

// --format: the format of stdout.
class AnswerFormat {
 public:
  void Declare(CLI::App& app);
  bool IsJson() const { return format_ == "json"; }

 private:
  std::string format_ = "text";
};

// --lifetimes and the like: how a CSV states lives.
class LifetimesOption {
 public:
  CLI::Option* Declare(CLI::App& app);  // of the CSV that a command reads
  CLI::Option* Declare(CLI::App& app, std::string_view name, std::string_view what);
  std::optional<problem::files::Lifetimes> Get() const;  // nullopt if the option is not given

 private:
  std::string word_;
};

// --threads: by default the number of hardware threads.
class ThreadCount {
 public:
  ThreadCount();

  // `answer`: the result that does not depend on the number of threads, such as "plan".
  void Declare(CLI::App& app, std::string_view answer);
  int Get() const;  // fewer than asked for where the address space is too small for their stacks

 private:
  int threads_;
};

// The options that select a formula of a Problem. `encode` and `decode` must use the same values.
struct FormulaChoice {
  std::optional<int64_t> capacity;
  std::string candidate;
  std::string integers = "auto";

  // Adds --capacity, --candidate and --integers. Those that `exclude` makes superfluous are refused
  // together with it. `exclude` may be null.
  void Declare(CLI::App& app, CLI::Option* exclude);

  // `path` names the document's file, for messages. Refuses a Problem without a capacity.
  base::Expected<encoder::exports::FormulaOptions> Resolve(
      const problem::files::ProblemDocument& document, const std::string& path) const;
};

}  // namespace tessera::cli
