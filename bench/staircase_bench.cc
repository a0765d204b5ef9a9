// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tessera/base/files.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/graph/import/yaml/network_yaml.h"
#include "tessera/hw_profiles/profile_yaml.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/lazy/lazy_engine.h"
#include "tessera/search/tiling/engine_cache.h"
#include "tessera/search/tiling/feasible_frontier.h"

// Computes the staircases of all intervals of a network up to a length; each thread handles whole
// intervals. The defaults are the 702 intervals of MobileNetV2 of at most 12 operators on
// edge_npu_1mib.
namespace {

using namespace tessera;

constexpr const char* kUsage =
    "usage: staircase_bench [--network FILE] [--hw FILE] [--length MOST] [--threads N] [--budget "
    "UNITS] "
    "[--cache "
    "BYTES]\n";

struct Arguments {
  std::string network = "examples/networks/mobilenet_v2.yaml";
  std::string profile = "hw_profiles/edge_npu_1mib.yaml";
  int length = 12;
  int threads = 2;
  int64_t budget = 200'000;
  size_t cache = tessera::search::tiling::ResultCache::kUsualBytes;
};

std::optional<Arguments> Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i += 2) {
    if (i + 1 == argc) return std::nullopt;
    const std::string word = argv[i];
    const char* value = argv[i + 1];
    if (word == "--network") {
      arguments.network = value;
    } else if (word == "--hw") {
      arguments.profile = value;
    } else if (word == "--length") {
      arguments.length = std::max(1, std::atoi(value));
    } else if (word == "--threads") {
      arguments.threads = std::max(1, std::atoi(value));
    } else if (word == "--budget") {
      arguments.budget = std::atoll(value);
    } else if (word == "--cache") {
      arguments.cache = std::strtoull(value, nullptr, 10);
    } else {
      return std::nullopt;
    }
  }
  return arguments;
}

tessera::base::Expected<std::string> ReadFile(std::string_view path) {
  return tessera::base::ReadInput(std::string(path));
}

struct Totals {
  int64_t intervals = 0;
  int64_t refused = 0;  // not even one tile can be built
  int64_t shapes = 0;
  int64_t candidates = 0;
  int64_t staircases = 0;
  int64_t complete = 0;
  int64_t corners = 0;
  int64_t proven = 0;
  int64_t questions = 0;
  double longest_ms = 0;

  void Add(const tessera::search::tiling::Staircase& staircase) {
    shapes += CountShapes(staircase.grid);
    candidates += static_cast<int64_t>(staircase.tiles.Candidates().size());
    questions += staircase.tiles.Solves();
    for (const tessera::search::tiling::PolicyStaircase& policy : staircase.policies) {
      ++staircases;
      complete += policy.complete ? 1 : 0;
      corners += static_cast<int64_t>(policy.corners.size());
      proven += std::count_if(
          policy.corners.begin(), policy.corners.end(),
          [](const tessera::search::tiling::Corner& corner) { return corner.proven; });
    }
  }
};

double Milliseconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

Totals Run(const tessera::graph::Graph& network, const tessera::hw_profiles::Profile& profile,
           const Arguments& arguments, const tessera::search::tiling::Engines& engines) {
  std::vector<tessera::graph::Interval> intervals;
  const int operators = static_cast<int>(network.operators.size());
  for (int first = 0; first < operators; ++first) {
    for (int last = first; last < std::min(operators, first + arguments.length); ++last)
      intervals.push_back({first, last});
  }
  Totals totals;
  std::mutex mutex;
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    const tessera::base::Stop never;
    tessera::search::tiling::TileOptions options;
    options.engines = engines;
    options.budget = tessera::base::Budget{arguments.budget};
    for (size_t i = next++; i < intervals.size(); i = next++) {
      const auto start = std::chrono::steady_clock::now();
      const auto staircase =
          tessera::search::tiling::FindStaircase(network, profile, intervals[i], options, never);
      const double elapsed = Milliseconds(std::chrono::steady_clock::now() - start);
      const std::lock_guard lock(mutex);
      ++totals.intervals;
      totals.longest_ms = std::max(totals.longest_ms, elapsed);
      if (staircase) {
        totals.Add(*staircase);
      } else {
        ++totals.refused;
      }
    }
  };
  std::vector<std::thread> threads;
  for (int i = 1; i < arguments.threads; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  return totals;
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = Parse(argc, argv);
  if (!arguments) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  const auto network = ReadFile(arguments->network).and_then([&](const std::string& text) {
    return tessera::graph::import::yaml::ReadNetwork(text, arguments->network);
  });
  const auto profile = ReadFile(arguments->profile).and_then([&](const std::string& text) {
    return tessera::hw_profiles::ReadProfile(text, arguments->profile, ReadFile);
  });
  if (!network || !profile) {
    fmt::print(stderr, "{}\n", (network ? profile.error() : network.error()).message);
    return 3;
  }
  const tessera::search::engines::greedy::GreedyEngine greedy;
  const tessera::search::engines::canonical::CanonicalEngine canonical;
  const tessera::search::engines::lazy::LazyEngine lazy;
  const tessera::encoder::sat::SatEngine sat;
  const tessera::search::tiling::CachedEngines engines({&greedy, &canonical, &lazy, &sat},
                                                       arguments->cache);

  const auto start = std::chrono::steady_clock::now();
  const std::clock_t cpu = std::clock();
  const Totals totals = Run(*network, *profile, *arguments, engines.Pointers());
  const double wall = Milliseconds(std::chrono::steady_clock::now() - start) / 1e3;
  const double used = static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC;

  const tessera::search::tiling::ResultCache::Counts cache = engines.Count();
  fmt::print("intervals    {}, refused {}, the longest took {:.0f} ms\n", totals.intervals,
             totals.refused, totals.longest_ms);
  fmt::print("shapes       {}, times policies {}\n", totals.shapes, totals.candidates);
  fmt::print("staircases   {}, complete {}\n", totals.staircases, totals.complete);
  fmt::print("corners      {}, proven {} ({:.2f} %)\n", totals.corners, totals.proven,
             totals.corners > 0
                 ? 100.0 * static_cast<double>(totals.proven) / static_cast<double>(totals.corners)
                 : 100.0);
  fmt::print("questions    {}, answered from the cache {} of {}, {} kB held\n", totals.questions,
             cache.hits, cache.hits + cache.misses, cache.bytes / 1000);
  fmt::print("time         {:.2f} s on {} threads, {:.2f} s of processor\n", wall,
             arguments->threads, used);
  return 0;
}
