#include <sys/resource.h>

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

#include "tessera/base/random.h"
#include "tessera/bench/minimalloc.h"
#include "tessera/encoder/lazy/lazy_engine.h"
#include "tessera/encoder/sat/sat_engine.h"
#include "tessera/problem/csv.h"
#include "tessera/search/allocate/canonical.h"
#include "tessera/search/allocate/generators.h"
#include "tessera/search/allocate/greedy.h"
#include "tessera/search/allocate/portfolio.h"

// What the allocator's engines do together, with default options, as tables. Times run from a Problem in memory
// to a validated Result.
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
  int threads = 1;
  std::string engine = {};  // asked alone; empty: all
};

struct Arguments {
  std::filesystem::path data;
  int runs = 5;
  std::string minimalloc;  // its program; empty: not run
  std::string engine;      // asked alone; empty: all
  std::string table;       // printed alone; empty: all
};

Measurement MeasureOnce(const Problem& question, const Task& task) {
  const search::GreedyEngine greedy;
  const search::CanonicalEngine canonical(task.seed);
  const tessera::encoder::LazyEngine lazy(tessera::encoder::LazyOptions{.seed = task.seed});
  const tessera::encoder::SatEngine sat(tessera::encoder::SatOptions{.seed = task.seed});
  std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy, &sat};
  if (!task.engine.empty()) {
    std::erase_if(engines, [&](const problem::Engine* engine) { return engine->Name() != task.engine; });
  }
  const auto start = Clock::now();
  const tessera::base::Stop stop(start + std::chrono::microseconds(static_cast<int64_t>(task.seconds * 1e6)));
  search::AllocateOptions options;
  options.capacity = task.capacity;
  options.threads = task.threads;
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

std::string Cell(const std::optional<double>& milliseconds) {
  if (!milliseconds) return "-";
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", *milliseconds);
  return text;
}

std::optional<Problem> ReadChallenge(const std::filesystem::path& folder, char name) {
  const std::filesystem::path path = folder / (std::string(1, name) + ".1048576.csv");
  std::ifstream file(path);
  if (!file) {
    std::fprintf(
        stderr,
        "allocate_bench: cannot read %s: the folder must hold A.1048576.csv to K.1048576.csv; --engine asks "
        "one\n"
        "engine alone about the families; tables: decided seeds deadlines threads minimal families\n",
        path.c_str());
    return std::nullopt;
  }
  auto question = problem::ReadCsv(std::string{std::istreambuf_iterator<char>(file), {}}, path.string());
  if (!question) {
    std::fputs(tessera::base::Format(question.error()).c_str(), stderr);
    return std::nullopt;
  }
  question->name = name;
  question->memories[0].capacity = kCapacity;
  return *std::move(question);
}

Problem ReverseTime(Problem question) {
  for (problem::Buffer& buffer : question.buffers) {
    for (problem::Lifespan& life : buffer.lifespans) life = {-life.upper, -life.lower};
    std::reverse(buffer.lifespans.begin(), buffer.lifespans.end());
  }
  return question;
}

void PrintDecided(const std::vector<Problem>& challenges, const Arguments& arguments) {
  std::printf("A..K decided in %lld bytes, best of %d runs\n", static_cast<long long>(kCapacity),
              arguments.runs);
  std::printf("%-4s %8s  %-10s %-10s %10s %10s %13s\n", "name", "buffers", "status", "engine", "time ms",
              "nodes", "minimalloc ms");
  double total = 0;
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] = Measure(question, {.capacity = kCapacity, .runs = arguments.runs});
    std::optional<double> theirs;
    if (!arguments.minimalloc.empty()) {
      theirs = tessera::bench::RunMiniMalloc(arguments.minimalloc, question, 60);
    }
    std::printf("%-4s %8zu  %-10s %-10s %10.3f %10lld %13s\n", question.name.c_str(), question.buffers.size(),
                std::string(problem::NameOf(result.status)).c_str(), result.engine.c_str(), milliseconds,
                static_cast<long long>(result.statistics.nodes), Cell(theirs).c_str());
    total += milliseconds;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-4s %*.3f\npeak RSS %.1f MB\n\n", "all", 46, total,
              static_cast<double>(usage.ru_maxrss) / 1024);
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
  std::printf("A..K minimised on two threads, at most %.0f s each\n", seconds);
  std::printf("%-4s %-10s %10s %10s %10s %10s\n", "name", "status", "peak", "bound", "time ms", "nodes");
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] =
        Measure(question, {.capacity = std::nullopt, .seconds = seconds, .threads = 2});
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
    const bool solved = result.status == Status::kOptimal || (!family.minimise && result.allocation);
    placed += solved ? 1 : 0;
    infeasible += result.status == Status::kInfeasible ? 1 : 0;
    open += !solved && result.status != Status::kInfeasible ? 1 : 0;
    greedy += solved && result.engine == "greedy" ? 1 : 0;
    times.push_back(milliseconds);
    if (compare && tessera::bench::RunMiniMalloc(arguments.minimalloc, question, family.seconds)) ++theirs;
  }
  std::sort(times.begin(), times.end());
  std::printf("%-18s %6llu %7d %7d %6d %7d %10.3f %10.1f %11s\n", family.name.c_str(),
              static_cast<unsigned long long>(family.seeds), placed, infeasible, open, greedy,
              times[times.size() / 2], times.back(), compare ? std::to_string(theirs).c_str() : "-");
  std::fflush(stdout);
}

void PrintFamilies(const Arguments& arguments) {
  std::printf("generated families: decided at their capacity, or minimised (min)\n");
  std::printf("%-18s %6s %7s %7s %6s %7s %10s %10s %11s\n", "family", "number", "solved", "infeas.", "open",
              "greedy", "median ms", "worst ms", "minimalloc");
  const auto perfect = [](uint64_t seed) { return search::GeneratePerfect({}, seed); };
  const auto broken = [](uint64_t seed) { return search::GenerateBroken({}, seed); };
  PrintFamily({"perfect 80", perfect, 12, false, 1}, arguments);
  PrintFamily({"broken 80", broken, 12, false, 1}, arguments);
  for (const int buffers : {20, 30, 40, 50, 60, 120}) {
    const auto flat = [buffers](uint64_t seed) { return search::GenerateFlat(buffers, seed); };
    PrintFamily({"flat " + std::to_string(buffers), flat, 25, false, buffers == 120 ? 5.0 : 1.0, 2},
                arguments);
  }
  const auto random = [](uint64_t seed) { return search::GenerateRandom(1000, 30, seed); };
  PrintFamily({"random 1000 min", random, 5, true, 1}, arguments);
  const auto compiler = [](uint64_t seed) {
    return search::GenerateCompilerLike(2 + static_cast<int>(seed * 248 / 323), seed);
  };
  PrintFamily({"compiler-like min", compiler, 323, true, 1}, arguments);
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
  PrintFamily({"10000 disjoint", stairs(10'000, 1), 1, false, 10, 1, 5}, arguments);
  PrintFamily({"1000 overlapping", stairs(1000, 0), 1, false, 10, 1, 5}, arguments);
}

// The hard ones: each takes several rounds, and can be decided.
void PrintSpeedUp() {
  std::printf("the same hard problems on one and on two threads, ms\n%-16s %10s %10s %10s\n", "name", "one",
              "two", "ratio");
  double one = 0, two = 0;
  const auto compare = [&](const std::string& name, const Problem& question) {
    Task task{.capacity = question.memories[0].capacity};
    const double alone = Measure(question, task).milliseconds;
    task.threads = 2;
    const double together = Measure(question, task).milliseconds;
    std::printf("%-16s %10.1f %10.1f %10.2f\n", name.c_str(), alone, together, alone / together);
    one += alone;
    two += together;
  };
  for (const uint64_t seed : {1, 3, 5, 6, 8, 9}) {
    compare("broken 80, " + std::to_string(seed), search::GenerateBroken({}, seed));
  }
  std::printf("%-16s %10.1f %10.1f %10.2f\n\n", "all", one, two, one / two);
}

// How long after its deadline a call returns. Nobody decides these in time.
void PrintDeadlines(const std::vector<Problem>& challenges) {
  constexpr int kCalls = 100;
  tessera::base::Random random(1);
  std::vector<double> late;
  for (int call = 0; call < kCalls; ++call) {
    const Problem& question = challenges.at(static_cast<size_t>((call % 2 == 0 ? 'D' : 'J') - 'A'));
    const problem::Bytes capacity = call % 2 == 0 ? 986'112 : 989'184;  // the load
    const double seconds = static_cast<double>(random.Uniform(5, 150)) / 1000;
    const auto [result, milliseconds] =
        Measure(question, {.capacity = capacity, .seconds = seconds, .threads = 2});
    if (result.status == Status::kUnknown) late.push_back(milliseconds - 1000 * seconds);
  }
  std::sort(late.begin(), late.end());
  if (late.empty()) return;
  const auto in_time = std::count_if(late.begin(), late.end(), [](double ms) { return ms <= 50; });
  std::printf(
      "deadlines of 5 to 150 ms: %td of %zu calls that met theirs returned within 50 ms, the worst after "
      "%.1f ms\n\n",
      in_time, late.size(), late.back());
}

std::optional<Arguments> Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const bool takes_value =
        word == "--runs" || word == "--minimalloc" || word == "--engine" || word == "--table";
    if (takes_value && i + 1 == argc) return std::nullopt;
    if (word == "--runs") {
      arguments.runs = std::max(1, std::atoi(argv[++i]));
    } else if (word == "--minimalloc") {
      arguments.minimalloc = argv[++i];
    } else if (word == "--engine") {
      arguments.engine = argv[++i];
    } else if (word == "--table") {
      arguments.table = argv[++i];
    } else if (word.starts_with("-") || !arguments.data.empty()) {
      return std::nullopt;
    } else {
      arguments.data = word;
    }
  }
  return arguments.data.empty() ? std::nullopt : std::optional(arguments);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Arguments> arguments = Parse(argc, argv);
  if (!arguments) {
    std::fputs(
        "usage: allocate_bench DATA_FOLDER [--runs N] [--minimalloc PROGRAM] [--engine NAME] [--table NAME]\n"
        "DATA_FOLDER holds MiniMalloc's challenging problems A.1048576.csv to K.1048576.csv; --engine asks "
        "one\n"
        "engine alone about the families; tables: decided seeds deadlines threads minimal families\n",
        stderr);
    return 2;
  }
  std::vector<Problem> challenges;
  for (char name = 'A'; name <= 'K'; ++name) {
    auto question = ReadChallenge(arguments->data, name);
    if (!question) return 3;
    challenges.push_back(*std::move(question));
  }
  const auto wanted = [&](const char* table) {
    return arguments->table.empty() || arguments->table == table;
  };
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (wanted("decided")) PrintDecided(challenges, *arguments);
  if (wanted("seeds")) PrintSeeds(challenges, std::min(arguments->runs, 3));
  if (wanted("deadlines")) PrintDeadlines(challenges);
  if (wanted("threads")) PrintSpeedUp();
  if (wanted("minimal")) PrintMinimal(challenges, 20);
  if (wanted("families")) PrintFamilies(*arguments);
  return 0;
}
