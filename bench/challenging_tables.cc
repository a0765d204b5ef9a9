// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/challenging_tables.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>

#include "tessera/base/diagnostic.h"
#include "tessera/base/random.h"
#include "tessera/bench/minimalloc.h"
#include "tessera/problem/files/problem_files.h"
#include "tessera/problem/generate/families.h"

namespace tessera::bench {

using problem::Problem;
using problem::Status;

namespace {

constexpr problem::Bytes kCapacity = 1'048'576;
constexpr problem::Bytes kLoadOfD = 986'112, kLoadOfJ = 989'184;
constexpr double kSecondsOfMiniMalloc = 60;
constexpr int64_t kUnits = 200'000;  // of speed-ups that end at a budget

std::optional<Problem> ReadChallenge(const std::filesystem::path& data, char name) {
  const std::string file_name = std::string(1, name) + ".1048576.csv";
  std::filesystem::path path = data / file_name;
  if (!std::filesystem::exists(path)) path = data / "challenging" / file_name;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "allocate_bench: neither %s nor its folder 'challenging' holds %s\n",
                 data.c_str(), file_name.c_str());
    return std::nullopt;
  }
  auto question =
      problem::files::ReadCsv(std::string{std::istreambuf_iterator<char>(file), {}}, path.string());
  if (!question) {
    std::fputs(base::Format(question.error()).c_str(), stderr);
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

}  // namespace

std::optional<std::vector<Problem>> ReadChallenges(const Arguments& arguments) {
  std::vector<Problem> challenges;
  for (char name = 'A'; name <= 'K'; ++name) {
    auto question = ReadChallenge(arguments.data, name);
    if (!question) return std::nullopt;
    challenges.push_back(*std::move(question));
  }
  return challenges;
}

void PrintDecided(const std::vector<Problem>& challenges, const Arguments& arguments) {
  std::printf("A..K decided in %lld bytes, best of %d runs\n", static_cast<long long>(kCapacity),
              arguments.runs);
  std::printf("%-4s %8s  %-10s %-10s %10s %10s %13s\n", "name", "buffers", "status", "engine",
              "time ms", "nodes", "minimalloc ms");
  double total = 0, their_total = 0;
  int theirs_solved = 0;
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] =
        Measure(question, {.capacity = kCapacity, .runs = arguments.runs});
    std::optional<double> theirs;
    if (!arguments.minimalloc.empty()) {
      theirs = RunMiniMalloc(arguments.minimalloc, question, kSecondsOfMiniMalloc);
    }
    std::printf("%-4s %8zu  %-10s %-10s %10.3f %10lld %13s\n", question.name.c_str(),
                question.buffers.size(), std::string(problem::NameOf(result.status)).c_str(),
                result.engine.c_str(), milliseconds,
                static_cast<long long>(result.statistics.nodes), Cell(theirs).c_str());
    total += milliseconds;
    their_total += theirs.value_or(0);
    theirs_solved += theirs ? 1 : 0;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf("%-4s %*.3f", "all", 46, total);
  if (theirs_solved > 0) std::printf(" %24.1f", their_total);
  std::printf("\npeak RSS %.1f MB", static_cast<double>(usage.ru_maxrss) / 1024);
  if (!arguments.minimalloc.empty())
    std::printf("; minimalloc solved %d of %zu, each in at most %.0f s", theirs_solved,
                challenges.size(), kSecondsOfMiniMalloc);
  std::printf("\n\n");
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
  std::printf("%-4s %-10s %10s %10s %10s %10s\n", "name", "status", "peak", "bound", "time ms",
              "nodes");
  for (const Problem& question : challenges) {
    const auto [result, milliseconds] =
        Measure(question, {.capacity = std::nullopt, .seconds = seconds, .threads = 2});
    std::printf("%-4s %-10s %10lld %10lld %10.1f %10lld\n", question.name.c_str(),
                std::string(problem::NameOf(result.status)).c_str(),
                static_cast<long long>(result.peak.value_or(-1)),
                static_cast<long long>(result.lower_bound), milliseconds,
                static_cast<long long>(result.statistics.nodes));
  }
  std::printf("\n");
}

namespace {

// Problems that are hard for every engine, so that both lanes have work for many rounds. Problems
// that would take too long have a budget, which makes the work the same on every run, instead of a
// deadline.
class SpeedUp {
 public:
  SpeedUp() {
    std::printf(
        "the same hard problems on one and on two threads, ms\n%-22s %-10s %10s %10s %7s %s\n",
        "name", "status", "one", "two", "ratio", "answers");
  }

  void Compare(const std::string& name, const Problem& question,
               std::optional<problem::Bytes> capacity, base::Budget budget) {
    Task task{.capacity = capacity, .seconds = 300, .budget = budget};
    const Measurement one = Measure(question, task);
    task.threads = 2;
    const Measurement two = Measure(question, task);
    const auto offsets = [](const Measurement& m) {
      return m.result.allocation ? m.result.allocation->offsets : std::vector<problem::Bytes>{};
    };
    const bool same = one.result.status == two.result.status && offsets(one) == offsets(two) &&
                      one.result.lower_bound == two.result.lower_bound;
    Print(name, problem::NameOf(one.result.status), one.milliseconds, two.milliseconds, same);
    one_ += one.milliseconds;
    two_ += two.milliseconds;
    same_ = same_ && same;
  }

  ~SpeedUp() {
    Print("all", "", one_, two_, same_);
    std::printf("\n");
  }

 private:
  static void Print(const std::string& name, std::string_view status, double one, double two,
                    bool same) {
    std::printf("%-22s %-10s %10.1f %10.1f %7.2f %s\n", name.c_str(), std::string(status).c_str(),
                one, two, one / two, same ? "the same" : "DIFFER");
  }

  double one_ = 0, two_ = 0;
  bool same_ = true;
};

}  // namespace

void PrintSpeedUp(const std::vector<Problem>& challenges) {
  SpeedUp table;
  const auto decide = [&](const std::string& name, const Problem& question) {
    table.Compare(name, question, question.memories[0].capacity, {});
  };
  for (const uint64_t seed : {3, 5, 6, 9}) {
    decide("broken 80, seed " + std::to_string(seed), problem::generate::MakeBroken({}, seed));
  }
  for (const uint64_t seed : {1, 4}) {
    decide("broken 200, seed " + std::to_string(seed),
           problem::generate::MakeBroken({200, 200, 4096}, seed));
  }
  for (const char name : {'D', 'J'}) {
    const Problem& question = challenges.at(static_cast<size_t>(name - 'A'));
    table.Compare(std::string(1, name) + " minimised", question, std::nullopt, {kUnits});
  }
}

// Prints how long after its deadline a call returns. No engine decides these Problems in time.
void PrintDeadlines(const std::vector<Problem>& challenges) {
  constexpr int kCalls = 100;
  base::Random random(1);
  std::vector<double> late;
  for (int call = 0; call < kCalls; ++call) {
    const Problem& question = challenges.at(static_cast<size_t>((call % 2 == 0 ? 'D' : 'J') - 'A'));
    const problem::Bytes capacity = call % 2 == 0 ? kLoadOfD : kLoadOfJ;
    const double seconds = static_cast<double>(random.Uniform(5, 150)) / 1000;
    const auto [result, milliseconds] =
        Measure(question, {.capacity = capacity, .seconds = seconds, .threads = 2});
    if (result.status == Status::kUnknown) late.push_back(milliseconds - 1000 * seconds);
  }
  std::sort(late.begin(), late.end());
  if (late.empty()) return;
  const auto in_time = std::count_if(late.begin(), late.end(), [](double ms) { return ms <= 50; });
  std::printf(
      "deadlines of 5 to 150 ms: %td of %zu calls that met theirs returned within 50 ms, the worst "
      "after "
      "%.1f ms\n\n",
      in_time, late.size(), late.back());
}

}  // namespace tessera::bench
