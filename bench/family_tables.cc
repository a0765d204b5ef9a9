// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/family_tables.h"

#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include "tessera/bench/minimalloc.h"
#include "tessera/problem/generate/families.h"

namespace tessera::bench {

using problem::Problem;
using problem::Status;

namespace {

struct Family {
  std::string name;
  std::function<Problem(uint64_t seed)> generate;
  uint64_t seeds;  // 1 .. seeds
  bool minimise;   // or decide at the Problem's own capacity
  double seconds;  // limit for each
  int threads = 1;
  int runs = 1;  // the best counts
};

void PrintFamily(const Family& family, const Arguments& arguments) {
  int placed = 0, infeasible = 0, open = 0, greedy = 0, theirs = 0;
  const bool compare = !arguments.minimalloc.empty() && !family.minimise;
  std::vector<double> times;
  for (uint64_t seed = 1; seed <= family.seeds; ++seed) {
    const Problem question = family.generate(seed);
    Task task{.capacity = std::nullopt,
              .seconds = family.seconds,
              .runs = family.runs,
              .threads = family.threads,
              .engine = arguments.engine};
    if (!family.minimise) task.capacity = question.memories[0].capacity;
    const auto [result, milliseconds] = Measure(question, task);
    const bool solved =
        result.status == Status::kOptimal || (!family.minimise && result.allocation);
    placed += solved ? 1 : 0;
    infeasible += result.status == Status::kInfeasible ? 1 : 0;
    open += !solved && result.status != Status::kInfeasible ? 1 : 0;
    greedy += solved && result.engine == "greedy" ? 1 : 0;
    times.push_back(milliseconds);
    if (compare && RunMiniMalloc(arguments.minimalloc, question, family.seconds)) ++theirs;
  }
  std::sort(times.begin(), times.end());
  std::printf("%-18s %6llu %7d %7d %6d %7d %10.3f %10.1f %11s\n", family.name.c_str(),
              static_cast<unsigned long long>(family.seeds), placed, infeasible, open,
              100 * greedy / static_cast<int>(family.seeds), times[times.size() / 2], times.back(),
              compare ? std::to_string(theirs).c_str() : "-");
  std::fflush(stdout);
}

void PrintFamilyHeader(const char* title) {
  std::printf("%s\n%-18s %6s %7s %7s %6s %7s %10s %10s %11s\n", title, "family", "number", "solved",
              "infeas.", "open", "greedy%", "median ms", "worst ms", "minimalloc");
}

}  // namespace

void PrintFamilies(const Arguments& arguments) {
  PrintFamilyHeader("generated families: decided at their capacity, or minimised (min)");
  const auto perfect = [](uint64_t seed) { return problem::generate::MakePerfect({}, seed); };
  const auto broken = [](uint64_t seed) { return problem::generate::MakeBroken({}, seed); };
  PrintFamily({"perfect 80", perfect, 12, false, 1}, arguments);
  PrintFamily({"broken 80", broken, 12, false, 1}, arguments);
  for (const int buffers : {20, 30, 40, 50, 60, 120}) {
    const auto flat = [buffers](uint64_t seed) {
      return problem::generate::MakeFlat(buffers, seed);
    };
    PrintFamily({"flat " + std::to_string(buffers), flat, 25, false, buffers == 120 ? 5.0 : 1.0, 2},
                arguments);
  }
  const auto random = [](uint64_t seed) { return problem::generate::MakeRandom(1000, 30, seed); };
  PrintFamily({"random 1000 min", random, 5, true, 1}, arguments);
  const auto compiler = [](uint64_t seed) {
    return problem::generate::MakeCompilerLike(2 + static_cast<int>(seed * 248 / 323), seed);
  };
  PrintFamily({"compiler-like min", compiler, 323, true, 1}, arguments);
}

// The instances have no seed.
void PrintMicro(const Arguments& arguments) {
  PrintFamilyHeader("TelaMalloc's micro-instances");
  const auto stairs = [](int buffers, problem::Step apart) {
    return [buffers, apart](uint64_t) {
      Problem question = problem::generate::MakePerfect({1, 1, buffers}, 0);
      problem::Buffer buffer = question.buffers[0];
      question.buffers.clear();
      for (int i = 0; i < buffers; ++i) {
        buffer.id = "b" + std::to_string(i);
        buffer.size = 1;
        buffer.lifespans = {{i * apart, i * apart + 1}};
        question.buffers.push_back(buffer);
      }
      return question;
    };
  };
  PrintFamily({"10000 disjoint", stairs(10'000, 1), 1, false, 10, 1, arguments.runs}, arguments);
  PrintFamily({"1000 overlapping", stairs(1000, 0), 1, false, 10, 1, arguments.runs}, arguments);
}

}  // namespace tessera::bench
