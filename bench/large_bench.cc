// SPDX-License-Identifier: Apache-2.0

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/bench/cpu_clock.h"
#include "tessera/bench/measure.h"
#include "tessera/bench/order_baselines.h"
#include "tessera/problem/generate/families.h"

// Tables about large instances, and about instances with fixed offsets. Times are processor time of
// all threads, because wall clock on a shared machine says little; answers are limited by wall
// clock.
namespace tessera::bench {
namespace {

using problem::Bytes;
using problem::Problem;

double PercentOver(Bytes peak, Bytes load) {
  return 100.0 * static_cast<double>(peak - load) / static_cast<double>(load);
}

// Prints the first answer (one unit of work), the answer after the limit, and two baselines.
void PrintLarge(const std::string& name, const Problem& question, double seconds) {
  Task task{.capacity = std::nullopt, .seconds = 10 * seconds, .threads = 2};
  task.budget.units = 1;
  double before = ProcessSeconds();
  const Measurement first = Measure(question, task);
  const double first_seconds = ProcessSeconds() - before;
  task.budget = {};
  task.seconds = seconds;
  before = ProcessSeconds();
  const Measurement last = Measure(question, task);
  const double last_seconds = ProcessSeconds() - before;
  const Bytes load = last.result.lower_bound;
  const auto over = [load](const problem::Result& result) {
    char text[32] = "-";
    if (result.peak) std::snprintf(text, sizeof text, "%.2f", PercentOver(*result.peak, load));
    return std::string(text);
  };
  std::printf("%-24s %9zu %9s %9.2f %9s %9.2f %9.2f %9.2f\n", name.c_str(), question.buffers.size(),
              over(first.result).c_str(), first_seconds, over(last.result).c_str(), last_seconds,
              PercentOver(BestFitPeak(question), load),
              PercentOver(HillClimbingPeak(question, 1, seconds / 2), load));
}

void PrintLargeTable(const std::filesystem::path& data, double seconds, int most) {
  std::printf("large instances: %% over the load, processor seconds; limit %.0f s, 2 threads\n",
              seconds);
  std::printf("%-24s %9s %9s %9s %9s %9s %9s %9s\n", "instance", "buffers", "first", "seconds",
              "last", "seconds", "best fit", "climbing");
  for (const char* name : {"G_1", "resnet50", "Y_1", "pangu_2.6B", "S_1"}) {
    const auto question = ReadProblem(data / "large" / (std::string(name) + ".csv"));
    if (question) PrintLarge(name, *question, seconds);
  }
  for (const int buffers : {3'000, 10'000, 30'000, 100'000, 1'000'000}) {
    for (const int alive : {30, 300, 500, 3'000, 20'000}) {
      const bool is_million = buffers == 1'000'000;
      if (buffers > most || alive * 10 > buffers) continue;
      if (is_million != (alive == 500 || alive == 20'000)) continue;
      const std::string name = std::to_string(buffers) + ", " + std::to_string(alive) + " alive";
      PrintLarge(name, problem::generate::MakeLogUniform(buffers, alive, 1), seconds);
    }
  }
}

// Fixes a share of the offsets of a known placement, chosen at random.
Problem FixSome(Problem question, const std::vector<Bytes>& offsets, double share, uint64_t seed) {
  base::Random random(seed);
  for (size_t i = 0; i < offsets.size(); ++i) {
    if (random.Chance(share)) question.buffers[i].offset = offsets[i];
  }
  return question;
}

void PrintFixed(const std::filesystem::path& data, double seconds, int draws) {
  static constexpr Bytes kCapacity = 1'048'576;
  std::printf(
      "A to K with offsets fixed from a placement: decided of %d draws within %.0f s, "
      "median processor ms\n%-4s %10s %12s %10s %12s %10s\n",
      draws, seconds, "", "free ms", "a tenth", "ms", "a half", "ms");
  for (char name = 'A'; name <= 'K'; ++name) {
    const std::string file = std::string(1, name) + ".1048576.csv";
    std::optional<Problem> question = ReadProblem(data / file);
    if (!question) question = ReadProblem(data / "challenging" / file);
    if (!question) continue;
    const Task task{.capacity = kCapacity, .seconds = seconds, .threads = 2};
    double before = ProcessSeconds();
    const Measurement known = Measure(*question, task);
    std::printf("%c    %10.1f", name, 1e3 * (ProcessSeconds() - before));
    for (const double share : {0.1, 0.5}) {
      int decided = 0;
      std::vector<double> times;
      for (int draw = 1; draw <= draws && known.result.allocation; ++draw) {
        const Problem fixed = FixSome(*question, known.result.allocation->offsets, share,
                                      static_cast<uint64_t>(draw));
        before = ProcessSeconds();
        decided += Measure(fixed, task).result.allocation ? 1 : 0;
        times.push_back(1e3 * (ProcessSeconds() - before));
      }
      std::sort(times.begin(), times.end());
      std::printf(" %12d %10.1f", decided, times.empty() ? 0 : times[times.size() / 2]);
    }
    std::printf("\n");
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fputs(
        "usage: large_bench DATA_FOLDER [SECONDS] [MOST_BUFFERS] [DRAWS]\n"
        "DATA_FOLDER holds MiniMalloc's challenging problems A.1048576.csv to K.1048576.csv, "
        "itself "
        "or in a folder\n"
        "'challenging', and in a folder 'large' G_1.csv, S_1.csv, Y_1.csv, pangu_2.6B.csv and "
        "resnet50.csv; those\n"
        "that are missing are left out. SECONDS limit each answer (10); generated instances have "
        "at "
        "most\n"
        "MOST_BUFFERS (100000); offsets are fixed by DRAWS draws for each problem (5).\n",
        stderr);
    return 2;
  }
  const std::filesystem::path data = argv[1];
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const int most = argc > 3 ? std::atoi(argv[3]) : 100'000;
  const int draws = argc > 4 ? std::atoi(argv[4]) : 5;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  tessera::bench::PrintLargeTable(data, seconds, most);
  std::printf("\n");
  tessera::bench::PrintFixed(data, seconds, draws);
  return 0;
}
