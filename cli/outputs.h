#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/cli/exit_code.h"
#include "tessera/cli/files.h"
#include "tessera/plan/plan.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/files/problem_files.h"

namespace CLI {
class App;
}

namespace tessera::cli {

// The exit code of an answer. An answer that a signal cut short but that holds an allocation is
// kInterrupted too.
ExitCode ExitCodeOf(const problem::Result& result);

// The answer in the form that the path's suffix names: .csv, .json or .svg. It holds an allocation;
// for .svg an explanation does as well, whose collision is drawn.
base::Expected<std::string> RenderAllocation(const std::string& path,
                                             const problem::Problem& problem,
                                             const problem::files::AllocationDocument& document);

// Whether every path ends in .csv, .json or .svg; says so on the console where one does not.
bool CheckSuffixes(Console& console, const std::vector<std::string>& paths);

// Why one of the files could not be written for any answer, as CSV cannot state every Problem; to
// be asked before the work.
std::optional<base::Diagnostic> FindUnwritable(const std::vector<std::string>& paths,
                                               const problem::Problem& problem);

// Writes the answer to every path, each by itself; without an allocation only pictures of what
// collides. kAnswer when all is well.
ExitCode WriteAllocations(Console& console, Destinations& files,
                          const std::vector<std::string>& paths, const problem::Problem& problem,
                          const problem::files::AllocationDocument& document);

// The answer in a few lines for people.
std::string DescribeAllocation(const problem::Problem& problem,
                               const problem::files::AllocationDocument& document);

// The files that a command with a plan for an answer writes.
struct PlanOutputs {
  void Declare(CLI::App& app);

  // Whether the names make sense; says so on the console where one does not.
  bool Check(Console& console) const;

  void AddTo(Destinations& files) const;  // all of them

  // What the files get, not written yet.
  std::vector<Output> Render(const plan::Plan& plan) const;

  std::vector<std::string> paths;  // .json, .svg or .html
  std::string header;              // C; empty: none
};

// `--dump-problems DIR`: what engines were asked, as files that `tessera alloc` answers again.
class ProblemDump {
 public:
  class Recorder;

  // The engines of a run, listened to. The engines outlive it.
  class Recording {
   public:
    Recording(std::vector<const problem::Engine*> engines, bool listens);
    Recording(Recording&&) noexcept;
    ~Recording();
    const std::vector<const problem::Engine*>& Engines() const { return engines_; }
    const Recorder* Heard() const { return recorder_.get(); }

   private:
    std::unique_ptr<Recorder>
        recorder_;  // stands in for the first engine, which is asked every question; null: nobody listens
    std::vector<const problem::Engine*> engines_;
  };

  void Declare(CLI::App& app);
  Recording Record(const std::vector<const problem::Engine*>& engines) const;

  // Writes a file for each question, the largest kMost of them; with the same questions the same
  // files.
  ExitCode Write(Console& console, Destinations& files, const Recording& recording) const;

  void AddTo(Destinations& files) const;  // the folder

  static constexpr size_t kMost = 200;

 private:
  std::string folder_;
};

}  // namespace tessera::cli
