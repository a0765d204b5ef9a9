// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/files.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/files/problem_files.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// Returns the exit code of an answer. An answer that a signal cut off is kInterrupted, even if it
// has an allocation.
ExitCode ExitCodeOf(const problem::Result& result);

// Whether every path of --output has one of the suffixes (FormatSuffixOf), of which there are at
// least two. Reports a wrong path on the console.
bool CheckSuffixes(Console& console, const std::vector<std::string>& paths,
                   std::initializer_list<std::string_view> suffixes);

// Returns whether the path of an HTML report ends in .html, or has no suffix, as for a pipe.
// Reports a wrong path on the console.
bool CheckReport(Console& console, const std::string& path);

// Returns why one of the files could not be written for any answer, as CSV cannot express every
// Problem, or nullopt. Call it before the work.
std::optional<base::Diagnostic> FindUnwritable(const std::vector<std::string>& paths,
                                               const problem::Problem& problem);

// Writes the answer to every path, each separately; without an allocation, only pictures of the
// conflict. Returns kAnswer if all succeed.
ExitCode WriteAllocations(
    Console& console, Destinations& files, const std::vector<std::string>& paths,
    const problem::Problem& problem, const problem::files::AllocationDocument& document,
    problem::files::Lifetimes lifetimes = problem::files::Lifetimes::kHalfOpen);

// Returns the answer in a few lines of text.
std::string DescribeAllocation(const problem::Problem& problem,
                               const problem::files::AllocationDocument& document);

// The output files of a command whose answer is a plan.
struct PlanOutputs {
  void Declare(CLI::App& app);

  // Returns whether the names are valid. Reports a wrong name on the console.
  bool Check(Console& console) const;

  void AddTo(Destinations& files) const;  // all of them

  // Returns the content of the files without writing them.
  std::vector<base::Output> Render(const plan::Plan& plan) const;

  std::vector<std::string> paths;  // .json, .svg, .html or .csv
  std::string header;              // C; empty: none
};

// `--dump-problems DIR`: the Problems given to engines, as files for `tessera alloc`.
class ProblemDump {
 public:
  class Recorder;

  // The engines of a run, with a recorder. The engines must outlive it.
  class Recording {
   public:
    Recording(std::vector<const problem::Engine*> engines, bool listens);
    Recording(Recording&&) noexcept;
    ~Recording();
    const std::vector<const problem::Engine*>& Engines() const { return engines_; }
    const Recorder* Heard() const { return recorder_.get(); }

   private:
    // Replaces the first engine, which receives every query; null: nothing is recorded.
    std::unique_ptr<Recorder> recorder_;
    std::vector<const problem::Engine*> engines_;
  };

  void Declare(CLI::App& app);
  Recording Record(const std::vector<const problem::Engine*>& engines) const;

  // Writes one file for each query, at most the kMost largest. The same queries give the same
  // files.
  ExitCode Write(Console& console, Destinations& files, const Recording& recording) const;

  void AddTo(Destinations& files) const;  // the folder

  static constexpr size_t kMost = 200;

 private:
  std::string folder_;
};

}  // namespace tessera::cli
