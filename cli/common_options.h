// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <tessera/call.h>

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/diagnostic.h"
#include "tessera/base/stop.h"
#include "tessera/encoder/export/formula.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

// Options that several commands share.
namespace tessera::cli {

// Numbers on the command line. All are decimal, with any number of leading zeros. Integers may be
// hexadecimal with the prefix 0x.

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
  const std::string& Word() const { return word_; }      // empty if it is not given

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

// When the process began: now, less the processor time that loading it took.
base::Stop::Clock::time_point ProcessBegin();

// The limits that end a call before its work is done.
struct CallLimits {
  base::Stop::Clock::time_point begin = ProcessBegin();  // commands are made before any work
  std::optional<double> timeout_s;
  std::optional<int64_t> memory_limit;  // bytes

  // `outcome` names the result at the end of the time or memory, for the help.
  void Declare(CLI::App& app, std::string_view outcome);

  // Returns the deadline. The time counts from the start of the process, so it includes reading.
  std::optional<base::Stop::Clock::time_point> Deadline() const;

  // Returns these limits, with a canceller, for a call of the library that begins now.
  CallOptions ForCall() const;

  // Limits the memory of a Stop that ends the process: to three quarters of what the process may
  // use, unless the options state another limit.
  void LimitLast(base::Stop& stop) const;
};

// The options of every command that runs a search.
struct SearchOptions : CallLimits {
  uint64_t seed = 0;
  std::optional<int64_t> budget;
  std::string engine;                     // empty: the default engines of the command
  std::vector<std::string> switched_off;  // rules of engines
  bool verbose = false;

  void Declare(CLI::App& app);
  base::Budget Limit(int64_t otherwise) const { return base::Budget{budget.value_or(otherwise)}; }

  // Returns these options, with a canceller, for a call of the library that begins now.
  tessera::SearchOptions ForSearch() const;

  // Returns the engines that the options name, or the default ones.
  api::parts::EngineSet Engines() const;
};

// The explanation of infeasible answers, shared by commands.
class Reasons {
 public:
  void Declare(CLI::App& app);
  bool AreOff() const { return off_; }

  // Returns the conflict of a Problem that is proven infeasible; nullopt if the user wants no
  // reasons. If `ladder` is not null, the problem has the sizes of its candidate `candidate`.
  std::optional<api::answers::Collision> Find(const problem::Problem& problem,
                                              problem::Bytes capacity, const SearchOptions& search,
                                              const base::Stop& stop,
                                              const problem::Ladder* ladder = nullptr,
                                              size_t candidate = 0) const;

 private:
  bool off_ = false;
};

}  // namespace tessera::cli
