// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/measure.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/base/files.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"
#include "tessera/search/engines/order_search/order_search.h"

namespace tessera::bench {

using Clock = std::chrono::steady_clock;
using problem::Problem;

namespace {

constexpr int kVerificationFailed = 70;

Measurement MeasureOnce(const Problem& question, const Task& task) {
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical(task.seed);
  const search::engines::lazy::LazyEngine lazy(
      search::engines::lazy::LazyOptions{.seed = task.seed});
  const encoder::sat::SatEngine sat(encoder::sat::SatOptions{.seed = task.seed});
  const search::engines::local_search::LocalSearchEngine local_search(task.seed);
  const search::engines::order_search::OrderSearchEngine order_search(task.seed);
  std::vector<const problem::Engine*> engines = {&greedy, &canonical,    &lazy,
                                                 &sat,    &local_search, &order_search};
  if (!task.engine.empty()) {
    std::erase_if(engines,
                  [&](const problem::Engine* engine) { return engine->Name() != task.engine; });
  }
  const auto start = Clock::now();
  const base::Stop stop(start +
                        std::chrono::microseconds(static_cast<int64_t>(task.seconds * 1e6)));
  search::allocate::AllocateOptions options;
  options.capacity = task.capacity;
  options.budget = task.budget;
  options.threads = task.threads;
  options.stop = &stop;
  auto result = search::allocate::Allocate(question, nullptr, 0, engines, options);
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

std::optional<Problem> ReadProblem(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  auto problem = base::ReadInput(path.string()).and_then([&](const std::string& text) {
    return problem::files::ReadCsv(text, path.string());
  });
  if (problem) return *std::move(problem);
  std::fputs(base::Format(problem.error()).c_str(), stderr);
  return std::nullopt;
}

}  // namespace tessera::bench
