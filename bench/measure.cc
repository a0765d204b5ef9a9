#include "tessera/bench/measure.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tessera/encoder/lazy/lazy_engine.h"
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/greedy.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/allocate/repair.h"

namespace tessera::bench {

using Clock = std::chrono::steady_clock;
using problem::Problem;

namespace {

constexpr int kVerificationFailed = 70;

Measurement MeasureOnce(const Problem& question, const Task& task) {
  const search::GreedyEngine greedy;
  const search::CanonicalEngine canonical(task.seed);
  const encoder::LazyEngine lazy(encoder::LazyOptions{.seed = task.seed});
  const encoder::SatEngine sat(encoder::SatOptions{.seed = task.seed});
  const search::RepairEngine repair(task.seed);
  std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy, &sat, &repair};
  if (!task.engine.empty()) {
    std::erase_if(engines, [&](const problem::Engine* engine) { return engine->Name() != task.engine; });
  }
  const auto start = Clock::now();
  const base::Stop stop(start + std::chrono::microseconds(static_cast<int64_t>(task.seconds * 1e6)));
  search::AllocateOptions options;
  options.capacity = task.capacity;
  options.budget = task.budget;
  options.threads = task.threads;
  options.stop = &stop;
  auto result = search::Allocate(question, nullptr, 0, engines, options);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  if (!result) {
    std::fputs(base::Format(result.error()).c_str(), stderr);
    std::exit(kVerificationFailed);
  }
  return {*std::move(result), took.count()};
}

}  // namespace

Measurement Measure(const Problem& question, const Task& task) {
  Measurement best = MeasureOnce(question, task);
  for (int run = 1; run < task.runs; ++run) {
    Measurement again = MeasureOnce(question, task);
    if (again.milliseconds < best.milliseconds) best = std::move(again);
  }
  return best;
}

std::string Cell(const std::optional<double>& milliseconds) {
  if (!milliseconds) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", *milliseconds);
  return text;
}

}  // namespace tessera::bench
