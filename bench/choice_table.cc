// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/instances_tables.h"
#include "tessera/problem/figures.h"
#include "tessera/problem/generate/catalog.h"
#include "tessera/search/choose/choose.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/engines/local_search/local_search.h"

namespace tessera::bench {
namespace {

using problem::Problem;
using problem::generate::Parameter;
using problem::generate::Request;

// Makes a problem whose capacity is half of its load. `spares_traffic`: values are bytes times
// accesses; otherwise they are uniform.
Problem MakeChoiceProblem(const char* family, int buffers, uint64_t seed, bool spares_traffic) {
  Request request;
  request.family = family;
  request.buffers = buffers;
  request.seed = seed;
  request.values = true;
  if (std::string(family) == "random")
    request.parameters[static_cast<size_t>(Parameter::kAlive)] = std::min(100, buffers / 3);
  Problem problem = *Generate(request);
  if (!spares_traffic) {
    base::Random random(seed);
    for (problem::Buffer& buffer : problem.buffers) buffer.value = random.Uniform(1, 1'000);
  }
  problem.memories[0].capacity = FiguresOf(problem, 0).load / 2;
  return problem;
}

search::choose::Choice ChooseWithin(const Problem& problem, double seconds) {
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical{{}};
  const search::engines::local_search::LocalSearchEngine local(1);
  const search::engines::lazy::LazyEngine lazy{{}};
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &local, &lazy};
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::duration_cast<base::Stop::Clock::duration>(
                            std::chrono::duration<double>(seconds)));
  search::choose::ChooseOptions options;
  options.budget.units = 500'000;
  options.stop = &stop;
  return *search::choose::Choose(problem, engines, options);
}

void PrintChoices(const char* family, int buffers, int seeds, bool spares_traffic, double seconds) {
  int proven = 0;
  double worst_gap = 0;
  std::vector<double> times;
  for (int seed = 1; seed <= seeds; ++seed) {
    const Problem problem =
        MakeChoiceProblem(family, buffers, static_cast<uint64_t>(seed), spares_traffic);
    const double before = ProcessSeconds();
    const search::choose::Choice choice = ChooseWithin(problem, seconds);
    times.push_back(ProcessSeconds() - before);
    proven += choice.status == problem::Status::kOptimal ? 1 : 0;
    const auto gap = static_cast<double>(choice.bound - choice.value);
    worst_gap = std::max(worst_gap, 100 * gap / static_cast<double>(choice.bound));
  }
  std::sort(times.begin(), times.end());
  std::printf("%-14s %-8s %8d %6d of %-6d %9.3f %9.3f %9.3f\n", family,
              spares_traffic ? "traffic" : "uniform", buffers, proven, seeds, worst_gap,
              times[times.size() / 2], times.back());
}

}  // namespace

void PrintChoice(const Settings& settings) {
  std::printf(
      "choice of the most valuable buffers at half the load; limit %.0f s, 1 thread\n"
      "%-14s %-8s %8s %16s %9s %9s %9s\n",
      settings.seconds, "family", "values", "buffers", "proven", "gap %", "median s", "worst s");
  for (const char* family : {"random", "compiler-like"}) {
    for (const bool spares_traffic : {false, true}) {
      PrintChoices(family, 60, 50, spares_traffic, settings.seconds);
      PrintChoices(family, 10'000, 3, spares_traffic, settings.seconds / 2);
    }
  }
}

}  // namespace tessera::bench
