// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/run_log.h"

namespace tessera::search::allocate {

using problem::Status;

namespace {

std::string WorkIn(const problem::Statistics& statistics) {
  return std::to_string(statistics.nodes) + " nodes, " + std::to_string(statistics.backtracks) +
         " backtracks, " + std::to_string(statistics.conflicts) + " conflicts";
}

}  // namespace

void RunLog::Add(const EngineRun& run, problem::Bytes bound) {
  Accumulate(total_, run.statistics);
  Accumulate(by_engine_[std::string(run.engine)], run.statistics);
  if (!progress_) return;
  std::string line(run.engine);
  if (run.peak) {
    line += ": peak " + std::to_string(*run.peak) + ", bound " + std::to_string(bound);
  } else if (run.status == Status::kInfeasible) {
    line += ": nothing fits into " + std::to_string(run.capacity);
  } else if (run.status == Status::kUnsupported) {
    line += ": does not support the problem";
  } else {
    line += ": no answer yet for " + std::to_string(run.capacity);
  }
  line += " (" + WorkIn(run.statistics) + ")";
  base::Progress progress = {.line = line, .phase = "peak"};
  if (run.peak) {
    progress.incumbent = static_cast<double>(*run.peak);
    progress.bound = static_cast<double>(bound);
  }
  progress_(progress);
  if (run.description.empty()) return;
  line = std::string(run.engine) + ": " + run.description;
  progress_({.line = line, .phase = "peak"});
}

void RunLog::TellTotals() const {
  if (!progress_) return;
  for (const auto& [engine, statistics] : by_engine_) {
    const std::string line = engine + ": in all " + WorkIn(statistics);
    progress_({.line = line, .phase = "work"});
  }
}

std::string_view WhyUnproven(const base::Stop& stop, bool budget_is_spent, bool lacks_memory) {
  if (stop.IsOutOfMemory()) return "the memory limit was reached before the least peak was proven";
  if (stop.Requested()) return "stopped before the least peak was proven";
  if (budget_is_spent) return "the budget was spent before the least peak was proven";
  if (lacks_memory) return "memory was exhausted before the least peak was proven";
  if (stop.HasDeclined())
    return "the memory limit was too small for engines that could decide a lower peak";
  return "no engine could decide a lower peak";
}

}  // namespace tessera::search::allocate
