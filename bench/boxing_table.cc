// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/instances_tables.h"
#include "tessera/bench/measure.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/engines/boxing/boxing_engine.h"

namespace tessera::bench {
namespace {

using problem::Problem;
using search::engines::boxing::BoxingOptions;
using search::engines::boxing::BoxSearch;
using search::engines::boxing::Bytes;
using search::engines::order_search::Effort;
using search::engines::order_search::Instance;

constexpr int kIterations = 100;

struct Variant {
  const char* name;
  void (*switch_off)(BoxingOptions&);
};

constexpr Variant kVariants[] = {
    {"all", [](BoxingOptions&) {}},
    {"no invariants", [](BoxingOptions& o) { o.latent_invariants = false; }},
    {"no calibration", [](BoxingOptions& o) { o.calibration = false; }},
    {"no points", [](BoxingOptions& o) { o.critical_points = false; }},
    {"no unboxing", [](BoxingOptions& o) { o.unboxing = false; }},
    {"no dummy", [](BoxingOptions& o) { o.dummy_job = false; }}};

double MebibytesOver(Bytes top, Bytes load) { return static_cast<double>(top - load) / (1 << 20); }

// Prints the medians of the tops after so many iterations, and of the first placement.
void PrintInstance(const std::string& name, const Problem& problem, double seconds) {
  const Instance instance = search::engines::order_search::MakeInstance(problem, 0);
  std::printf("%-22s %8d", name.c_str(), instance.Count());
  bool has_first = false;
  for (const Variant& variant : kVariants) {
    BoxingOptions options;
    variant.switch_off(options);
    std::vector<Bytes> tops;
    int least_iterations = kIterations;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      const base::Stop stop;
      Effort effort(base::kMaxTotal, stop);
      BoxSearch search(instance, {}, seed, options);
      search.Iterate(effort);
      if (!has_first) std::printf(" %10.2f", MebibytesOver(search.Top(), instance.greatest_load));
      has_first = true;
      const double end = ProcessSeconds() + seconds;
      while (search.Iterations() < kIterations && ProcessSeconds() < end &&
             search.Top() > instance.greatest_load)
        search.Iterate(effort);
      const bool is_done = search.Top() == instance.greatest_load;
      if (!is_done) least_iterations = std::min(least_iterations, search.Iterations());
      tops.push_back(search.Top());
    }
    std::sort(tops.begin(), tops.end());
    std::printf(" %13.2f%s", MebibytesOver(tops[1], instance.greatest_load),
                least_iterations < kIterations ? "*" : " ");
  }
  std::printf("\n");
}

}  // namespace

void PrintBoxing(const Settings& settings) {
  std::printf(
      "boxing: MiB over the load after %d iterations, median of 3 seeds; *: fewer within %.0f "
      "processor seconds\n",
      kIterations, settings.seconds);
  std::printf("%-22s %8s %10s", "instance", "buffers", "first fit");
  for (const Variant& variant : kVariants) std::printf(" %13s ", variant.name);
  std::printf("\n");
  for (const char* name : {"G_1", "resnet50", "pangu_2.6B", "S_1"}) {
    const auto problem = ReadProblem(settings.data / "large" / (std::string(name) + ".csv"));
    if (problem) PrintInstance(name, *problem, settings.seconds);
  }
  for (const int buffers : {1'000, 10'000}) {
    for (const int alive : {30, 300}) {
      if (alive * 10 > buffers) continue;
      PrintInstance("log-uniform, " + std::to_string(alive) + " alive",
                    problem::generate::MakeLogUniform(buffers, alive, 1), settings.seconds);
    }
  }
}

}  // namespace tessera::bench
