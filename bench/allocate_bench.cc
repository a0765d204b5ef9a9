#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/csv.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/greedy.h"
#include "tessera/search/allocate/portfolio.h"

// allocate_bench DATA_FOLDER [RUNS]: decides MiniMalloc's challenging problems A..K in 1 048 576 bytes with
// default options and prints the best time of several runs, from a Problem in memory to a validated Result.
namespace {

namespace problem = tessera::problem;
namespace search = tessera::search;

constexpr problem::Bytes kCapacity = 1'048'576;

struct Measurement {
  problem::Result result;
  double milliseconds = 0;
};

// nullopt when an engine's answer failed verification, which is printed.
std::optional<Measurement> Measure(const problem::Problem& question, int runs) {
  const search::GreedyEngine greedy;
  const search::CanonicalEngine canonical;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  search::AllocateOptions options;
  options.capacity = kCapacity;
  std::optional<Measurement> best;
  for (int run = 0; run < runs; ++run) {
    const auto start = std::chrono::steady_clock::now();
    auto result = search::Allocate(question, nullptr, 0, engines, options);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    if (!result) {
      std::fputs(tessera::base::Format(result.error()).c_str(), stderr);
      return std::nullopt;
    }
    if (!best || took.count() < best->milliseconds) best = Measurement{*std::move(result), took.count()};
  }
  return best;
}

int Run(const std::filesystem::path& folder, int runs) {
  double total = 0;
  int solved = 0;
  std::printf("%-4s %8s  %-10s %-10s %10s %10s\n", "name", "buffers", "status", "engine", "time ms", "nodes");
  for (char name = 'A'; name <= 'K'; ++name) {
    const std::filesystem::path path = folder / (std::string(1, name) + ".1048576.csv");
    std::ifstream file(path);
    if (!file) {
      std::fprintf(stderr,
                   "allocate_bench: cannot read %s: the folder must hold A.1048576.csv to K.1048576.csv\n",
                   path.c_str());
      return 3;
    }
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const auto question = problem::ReadCsv(text, path.string());
    if (!question) {
      std::fputs(tessera::base::Format(question.error()).c_str(), stderr);
      return 3;
    }
    const auto measured = Measure(*question, runs);
    if (!measured) return 70;
    const problem::Result& result = measured->result;
    std::printf("%-4c %8zu  %-10s %-10s %10.3f %10lld\n", name, question->buffers.size(),
                std::string(problem::NameOf(result.status)).c_str(), result.engine.c_str(),
                measured->milliseconds, static_cast<long long>(result.statistics.nodes));
    total += measured->milliseconds;
    solved += result.allocation ? 1 : 0;
  }
  std::printf("total: %d of 11 placed in %.3f ms, best of %d runs each\n", solved, total, runs);
  return solved == 11 ? 0 : 10;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: allocate_bench DATA_FOLDER [RUNS]\n", stderr);
    return 2;
  }
  const int runs = argc == 3 ? std::max(1, std::atoi(argv[2])) : 5;
  if (!std::filesystem::is_directory(argv[1])) {
    std::fprintf(stderr, "allocate_bench: the folder %s is missing\n", argv[1]);
    return 3;
  }
  return Run(argv[1], runs);
}
