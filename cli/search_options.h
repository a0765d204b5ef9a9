// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/api/answers/answer_text.h"
#include "tessera/api/parts/engine_set.h"
#include "tessera/base/stop.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/tile_candidates.h"

namespace CLI {
class App;
}

namespace tessera::cli {

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
