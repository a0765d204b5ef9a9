#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "tessera/problem/csv.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/generators.h"
#include "tessera/search/allocate/greedy.h"
#include "tessera/search/allocate/portfolio.h"

// allocate_bench DATA_FOLDER [RUNS]: what greedy orders and canonical search do on one thread with default
// options, as tables. DATA_FOLDER holds MiniMalloc's challenging problems A.1048576.csv to K.1048576.csv. Times
// run from a Problem in memory to a validated Result. Two minutes at most.
namespace {

namespace problem = tessera::problem;
namespace search = tessera::search;
using Clock = std::chrono::steady_clock;
using problem::Problem;
using problem::Status;

constexpr problem::Bytes kCapacity = 1'048'576;
constexpr int kVerificationFailed = 70;

struct Measurement {
  problem::Result result;
  double milliseconds = 0;
};

struct Task {
  std::optional<problem::Bytes> capacity;  // nullopt: minimise
  uint64_t seed = 0;
  double seconds = 10;  // limit
  int runs = 1;         // the best counts
};

Measurement MeasureOnce(const Problem& question, const Task& task) {
  const search::GreedyEngine greedy;
  const search::CanonicalEngine canonical(task.seed);
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical};
  const auto start = Clock::now();
  const tessera::base::Stop stop(start +
                                 std::chrono::milliseconds(static_cast<int64_t>(task.seconds * 1000)));
  search::AllocateOptions options;
  options.capacity = task.capacity;
  options.stop = &stop;
  auto result = search::Allocate(question, nullptr, 0, engines, options);
  const std::chrono::duration<double, std::milli> took = Clock::now() - start;
  if (!result) {
    std::fputs(tessera::base::Format(result.error()).c_str(), stderr);
    std::exit(kVerificationFailed);
  }
  return {*std::move(result), took.count()};
}

Measurement Measure(const Problem& question, const Task& task) {
  Measurement best = MeasureOnce(question, task);
  for (int run = 1; run < task.runs; ++run) {
    Measurement again = MeasureOnce(question, task);
    if (again.milliseconds < best.milliseconds) best = std::move(again);
  }
  return best;
}

std::optional<Problem> ReadChallenge(const std::filesystem::path& folder, char name) {
  const std::filesystem::path path = folder / (std::string(1, name) + ".1048576.csv");
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr,
                 "allocate_bench: cannot read %s: the folder must hold A.1048576.csv to K.1048576.csv\n",
                 path.c_str());
    return std::nullopt;
  }
  auto question = problem::ReadCsv(std::string{std::istreambuf_iterator<char>(file), {}}, path.string());
  if (!question) {
    std::fputs(tessera::base::Format(question.error()).c_str(), stderr);
    return std::nullopt;
  }
  question->name = name;
  return *std::move(question);
}

Problem ReverseTime(Problem question) {
  for (problem::Buffer& buffer : question.buffers) {
    for (problem::Lifespan& life : buffer.lifespans) life = {-life.upper, -life.lower};
    std::reverse(buffer.lifespans.begin(), buffer.lifespans.end());
  }
  return question;
}

void PrintDecided(const std::vector<Problem>& challenges, int runs) {
  std::printf("A..K decided in %lld bytes, best of %d runs\n", static_cast<long long>(kCapacity), runs);
  std::printf("%-4s %8s  %-10s %-10s %10s %10s\n", "name", "buffers", "status", "engine", "time ms", "nodes");
  double total = 0;
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] = Measure(question, {.capacity = kCapacity, .runs = runs});
    std::printf("%-4s %8zu  %-10s %-10s %10.3f %10lld\n", question.name.c_str(), question.buffers.size(),
                std::string(problem::NameOf(result.status)).c_str(), result.engine.c_str(), milliseconds,
                static_cast<long long>(result.statistics.nodes));
    total += milliseconds;
  }
  std::printf("%-4s %*.3f\n\n", "all", 46, total);
}

void PrintSeeds(const std::vector<Problem>& challenges, int runs) {
  std::printf("A..K in total, by seed and direction of time, ms, best of %d runs\n", runs);
  std::printf("%-6s %10s %10s\n", "seed", "as given", "reversed");
  for (uint64_t seed = 0; seed <= 10; ++seed) {
    double given = 0, reversed = 0;
    const Task task{.capacity = kCapacity, .seed = seed, .runs = runs};
    for (const Problem& question : challenges) {
      given += Measure(question, task).milliseconds;
      reversed += Measure(ReverseTime(question), task).milliseconds;
    }
    std::printf("%-6llu %10.3f %10.3f\n", static_cast<unsigned long long>(seed), given, reversed);
  }
  std::printf("\n");
}

void PrintMinimal(const std::vector<Problem>& challenges, double seconds) {
  std::printf("A..K minimised, at most %.0f s each\n", seconds);
  std::printf("%-4s %-10s %10s %10s %10s %10s\n", "name", "status", "peak", "bound", "time ms", "nodes");
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] = Measure(question, {.capacity = std::nullopt, .seconds = seconds});
    std::printf("%-4s %-10s %10lld %10lld %10.1f %10lld\n", question.name.c_str(),
                std::string(problem::NameOf(result.status)).c_str(),
                static_cast<long long>(result.peak.value_or(-1)), static_cast<long long>(result.lower_bound),
                milliseconds, static_cast<long long>(result.statistics.nodes));
  }
  std::printf("\n");
}

struct Family {
  std::string name;
  std::function<Problem(uint64_t seed)> generate;
  uint64_t seeds;  // 1 .. seeds
  bool minimise;   // or decide at the Problem's own capacity
  double seconds;  // limit for each
};

void PrintFamily(const Family& family) {
  int placed = 0, infeasible = 0, open = 0, greedy = 0;
  std::vector<double> times;
  for (uint64_t seed = 1; seed <= family.seeds; ++seed) {
    const Problem question = family.generate(seed);
    Task task{.capacity = std::nullopt, .seconds = family.seconds};
    if (!family.minimise) task.capacity = question.memories[0].capacity;
    const auto [result, milliseconds] = Measure(question, task);
    const bool solved = result.status == Status::kOptimal || (!family.minimise && result.allocation);
    placed += solved ? 1 : 0;
    infeasible += result.status == Status::kInfeasible ? 1 : 0;
    open += !solved && result.status != Status::kInfeasible ? 1 : 0;
    greedy += solved && result.engine == "greedy" ? 1 : 0;
    times.push_back(milliseconds);
  }
  std::sort(times.begin(), times.end());
  std::printf("%-18s %6llu %7d %7d %6d %7d %10.3f %10.1f\n", family.name.c_str(),
              static_cast<unsigned long long>(family.seeds), placed, infeasible, open, greedy,
              times[times.size() / 2], times.back());
}

void PrintFamilies() {
  std::printf("generated families: decided at their capacity, or minimised (min)\n");
  std::printf("%-18s %6s %7s %7s %6s %7s %10s %10s\n", "family", "number", "solved", "infeas.", "open",
              "greedy", "median ms", "worst ms");
  const auto perfect = [](uint64_t seed) { return search::GeneratePerfect({}, seed); };
  const auto broken = [](uint64_t seed) { return search::GenerateBroken({}, seed); };
  PrintFamily({"perfect 80", perfect, 12, false, 1});
  PrintFamily({"broken 80", broken, 12, false, 1});
  for (const int buffers : {20, 30, 40, 50, 60, 120}) {
    const auto flat = [buffers](uint64_t seed) { return search::GenerateFlat(buffers, seed); };
    PrintFamily({"flat " + std::to_string(buffers), flat, 25, false, buffers == 120 ? 0.5 : 1.0});
  }
  const auto random = [](uint64_t seed) { return search::GenerateRandom(1000, 30, seed); };
  PrintFamily({"random 1000 min", random, 5, true, 1});
  const auto compiler = [](uint64_t seed) {
    return search::GenerateCompilerLike(2 + static_cast<int>(seed * 248 / 323), seed);
  };
  PrintFamily({"compiler-like min", compiler, 323, true, 1});
  // TelaMalloc's micro-instances, which have no seed.
  const auto stairs = [](int buffers, problem::Step apart) {
    return [buffers, apart](uint64_t) {
      Problem question = search::GeneratePerfect({1, 1, buffers}, 0);
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
  PrintFamily({"10000 disjoint", stairs(10'000, 1), 1, false, 10});
  PrintFamily({"1000 overlapping", stairs(1000, 0), 1, false, 10});
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fputs("usage: allocate_bench DATA_FOLDER [RUNS]\n", stderr);
    return 2;
  }
  const int runs = argc == 3 ? std::max(1, std::atoi(argv[2])) : 5;
  std::vector<Problem> challenges;
  for (char name = 'A'; name <= 'K'; ++name) {
    auto question = ReadChallenge(argv[1], name);
    if (!question) return 3;
    challenges.push_back(*std::move(question));
  }
  PrintDecided(challenges, runs);
  PrintSeeds(challenges, std::min(runs, 3));
  PrintMinimal(challenges, 20);
  PrintFamilies();
  return 0;
}
