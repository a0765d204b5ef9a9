// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/problem/result.h"
#include "tessera/search/allocate/lanes.h"

namespace tessera::search::allocate {

// Adds up the work of the engines of a portfolio, and reports each turn to the user.
class RunLog {
 public:
  explicit RunLog(const base::ProgressFunction& progress) : progress_(progress) {}

  // Counts a run, and reports it with the current bound.
  void Add(const EngineRun& run, problem::Bytes bound);

  // Reports the work of each engine.
  void TellTotals() const;

  const problem::Statistics& Total() const { return total_; }

 private:
  const base::ProgressFunction& progress_;  // may be empty
  problem::Statistics total_;
  std::map<std::string, problem::Statistics> by_engine_;
};

// Returns why the search ended before the least peak was proven.
std::string_view WhyUnproven(const base::Stop& stop, bool budget_is_spent, bool lacks_memory);

}  // namespace tessera::search::allocate
