// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/instances_tables.h"
#include "tessera/bench/measure.h"
#include "tessera/problem/figures.h"
#include "tessera/problem/generate/catalog.h"

namespace tessera::bench {
namespace {

using problem::Problem;
using problem::generate::Parameter;
using problem::generate::Request;

struct Shape {
  const char* family;
  int buffers;
  int alive;  // 0: the family has no such parameter
};

constexpr Shape kShapes[] = {{"perfect", 20, 0},
                             {"perfect", 40, 0},
                             {"perfect", 100, 0},
                             {"perfect", 200, 0},
                             {"broken", 20, 0},
                             {"broken", 40, 0},
                             {"broken", 100, 0},
                             {"broken", 200, 0},
                             {"flat", 20, 0},
                             {"flat", 60, 0},
                             {"flat", 120, 0},
                             {"random", 60, 20},
                             {"random", 200, 50},
                             {"random", 1'000, 30},
                             {"random", 5'000, 100},
                             {"log-uniform", 60, 20},
                             {"log-uniform", 200, 10},
                             {"log-uniform", 1'000, 30},
                             {"log-uniform", 1'000, 100},
                             {"log-uniform", 3'000, 300},
                             {"log-uniform", 10'000, 30},
                             {"compiler-like", 60, 0},
                             {"compiler-like", 250, 0},
                             {"compiler-like", 2'000, 0},
                             {"equal", 1'000, 50},
                             {"disjoint", 1'000, 0}};

// Returns ranks from 1; equal values share the mean of their ranks.
std::vector<double> RanksOf(const std::vector<double>& values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t i = 0; i < order.size();) {
    size_t end = i;
    while (end < order.size() && values[order[end]] == values[order[i]]) ++end;
    for (size_t at = i; at < end; ++at) ranks[order[at]] = (static_cast<double>(i + end) + 1) / 2;
    i = end;
  }
  return ranks;
}

// Spearman's: the correlation of the ranks.
double RankCorrelation(const std::vector<double>& a, const std::vector<double>& b) {
  const std::vector<double> x = RanksOf(a), y = RanksOf(b);
  const double mean = (static_cast<double>(x.size()) + 1) / 2;
  double both = 0, first = 0, second = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    both += (x[i] - mean) * (y[i] - mean);
    first += (x[i] - mean) * (x[i] - mean);
    second += (y[i] - mean) * (y[i] - mean);
  }
  return both / std::sqrt(first * second);
}

}  // namespace

void PrintHardness(const Settings& settings) {
  const double seconds = settings.seconds;
  static constexpr uint64_t kSeeds = 3;
  std::printf("predicted hardness and processor time of the least peak; limit %.0f s, 1 thread\n",
              seconds);
  std::printf("%-16s %8s %6s %5s %9s %12s\n", "family", "buffers", "alive", "seed", "hardness",
              "ms");
  std::vector<double> predicted, measured;
  for (const Shape& shape : kShapes) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      Request request;
      request.family = shape.family;
      request.buffers = shape.buffers;
      request.seed = seed;
      if (shape.alive > 0) request.parameters[static_cast<size_t>(Parameter::kAlive)] = shape.alive;
      Problem problem = *Generate(request);
      problem.memories[0].capacity = base::kMaxTotal;
      predicted.push_back(PredictedHardness(problem, FiguresOf(problem, 0)));
      const double before = ProcessSeconds();
      const Measurement answer = Measure(problem, {.capacity = std::nullopt, .seconds = seconds});
      const double ms = 1e3 * (ProcessSeconds() - before);
      const bool is_open = answer.result.status != problem::Status::kOptimal;
      measured.push_back(is_open ? 1e3 * seconds : std::min(ms, 1e3 * seconds));
      std::printf("%-16s %8d %6d %5d %9.2f %12s\n", shape.family, shape.buffers, shape.alive,
                  static_cast<int>(seed), predicted.back(), is_open ? "open" : Cell(ms).c_str());
    }
  }
  std::printf("rank correlation (Spearman): %.2f\n", RankCorrelation(predicted, measured));
}

void PrintElementary(const Settings& settings) {
  std::printf("elementary cases: processor seconds from the Problem to the proven answer\n");
  std::printf("%-10s %9s %10s %9s\n", "family", "buffers", "status", "seconds");
  for (const char* family : {"disjoint", "equal"}) {
    for (const int buffers : {1'000, 100'000, 1'000'000}) {
      Request request;
      request.family = family;
      request.buffers = buffers;
      const Problem problem = *Generate(request);
      const double before = ProcessSeconds();
      const Measurement answer =
          Measure(problem, {.capacity = std::nullopt, .seconds = settings.seconds});
      std::printf("%-10s %9d %10s %9.2f\n", family, buffers,
                  std::string(NameOf(answer.result.status)).c_str(), ProcessSeconds() - before);
    }
  }
}

}  // namespace tessera::bench
