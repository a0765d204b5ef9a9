#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tessera/cli/console.h"
#include "tessera/cli/destinations.h"
#include "tessera/problem/engine.h"

namespace CLI {
class App;
}

namespace tessera::cli {

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

  // Writes a file for each question, the largest kMost of them; with the same questions the same files.
  ExitCode Write(Console& console, Destinations& files, const Recording& recording) const;

  void AddTo(Destinations& files) const;  // the folder

  static constexpr size_t kMost = 200;

 private:
  std::string folder_;
};

}  // namespace tessera::cli
