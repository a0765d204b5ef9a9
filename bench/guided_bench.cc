#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/random.h"
#include "tessera/bench/challenging_tables.h"
#include "tessera/bench/problem_generators.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Prints tables about the guided engine: MiniMalloc's challenging problems, steps and failures on
// generated inputs, and Problems with banks and modes. Each engine is asked alone.
namespace tessera::bench {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
using search::engines::guided::GuidedEngine;
using search::engines::guided::GuidedOptions;
using search::engines::guided::Heuristic;
using search::engines::guided::Recipe;

struct Settings {
  Arguments data;
  double seconds = 60;
  int64_t steps = 500'000;
  uint64_t seeds = 10;
};

// The engine with one rule left out, or a heuristic alone: the best buffer by one measure goes to
// its lowest valid position, and a dead end returns to the last decision.
struct Variant {
  std::string name;
  GuidedOptions options;
};

std::vector<Variant> AllVariants() {
  std::vector<Variant> variants = {{"guided", {}}};
  if (const char* h = getenv("H")) {
    variants[0].options.recipes.clear();
    variants[0].options.recipes.emplace_back();
    for (; *h; ++h) {
      if (*h == '-') { variants[0].options.recipes.emplace_back(); continue; }
      if (*h == 'n') { variants[0].options.recipes.back().phases = false; continue; }
      variants[0].options.recipes.back().heuristics.push_back(static_cast<Heuristic>(*h - '0'));
    }
    if (getenv("NOSTUCK")) variants[0].options.stuck = false;
  }
  if (getenv("MANY")) {
    const auto add = [&](const char* name, std::vector<Recipe> recipes) { GuidedOptions o; o.recipes = recipes; variants.push_back({name, o}); };
    const std::vector<Heuristic> low = {Heuristic::kLowest};
    add("3n-3", {{true, low, false}, {false, low, true}, {false, {Heuristic::kBlamed}, false}});
    add("bool", {{true, low, false}});
    add("1bool", {{false, low, false}, {true, low, false}, {false, low, true}, {true, low, false}});
  }
  return variants;
}

struct Answer {
  Result result;
  double seconds = 0;
  bool Decided() const { return result.allocation || result.status == Status::kInfeasible; }
};

Answer Ask(const problem::Engine& engine, const Problem& problem, Bytes capacity, int64_t steps,
           double seconds) {
  using Clock = base::Stop::Clock;
  const auto start = Clock::now();
  const base::Stop stop(start + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  Answer answer;
  answer.result = engine.Open(problem, nullptr)->Solve(0, capacity, {steps}, stop);
  answer.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return answer;
}

void PrintChallenging(const Settings& settings) {
  const auto challenges = ReadChallenges(settings.data);
  if (!challenges) return;
  std::printf("A..K at 1048576 bytes, at most %.0f s each: steps, dead ends and seconds\n",
              settings.seconds);
  for (const Variant& variant : AllVariants()) {
    if (!settings.data.engine.empty() && settings.data.engine != variant.name) continue;
    int decided = 0;
    std::printf("%-15s", variant.name.c_str());
    for (const Problem& problem : *challenges) {
      if (const char* only = getenv("ONLY"); only && !strstr(only, problem.name.c_str())) continue;
      const Answer answer = Ask(GuidedEngine(variant.options), problem,
                                problem.memories[0].capacity, settings.steps, settings.seconds);
      decided += answer.Decided() ? 1 : 0;
      std::printf(" %s%s %lld/%lld %.1f", problem.name.c_str(), answer.Decided() ? "" : "?",
                  static_cast<long long>(answer.result.statistics.nodes),
                  static_cast<long long>(answer.result.statistics.conflicts), answer.seconds);
    }
    std::printf("  decided %d\n", decided);
  }
}

// An input at a capacity at which a placement is known.
struct Input {
  std::string family;
  Problem problem;
  Bytes capacity = 0;
};

struct Family {
  std::string name;
  std::function<Problem(uint64_t seed)> generate;
};

std::vector<Family> AllFamilies() {
  return {
      {"perfect 100", [](uint64_t seed) { return GeneratePerfect({100, 120, 4096}, seed); }},
      {"broken 80", [](uint64_t seed) { return GenerateBroken({80, 100, 1024}, seed); }},
      {"broken 150", [](uint64_t seed) { return GenerateBroken({150, 200, 4096}, seed); }},
      {"flat 60", [](uint64_t seed) { return GenerateFlat(60, seed); }},
      {"flat 100", [](uint64_t seed) { return GenerateFlat(100, seed); }},
      {"random 300", [](uint64_t seed) { return GenerateRandom(300, 20, seed); }},
      {"compiler 250", [](uint64_t seed) { return GenerateCompilerLike(250, seed); }},
  };
}

// The lowest peak that the other engines find in a second, and whether it is proven least.
Result LowestPeak(const Problem& problem) {
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical;
  const search::engines::lazy::LazyEngine lazy;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy};
  const base::Stop stop(base::Stop::Clock::now() + std::chrono::seconds(1));
  search::allocate::AllocateOptions options;
  options.stop = &stop;
  auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  return result ? *std::move(result) : Result();
}

std::vector<Input> DrawInputs(const Settings& settings) {
  std::vector<Input> inputs;
  int proven = 0;
  for (const Family& family : AllFamilies()) {
    for (uint64_t seed = 1; seed <= settings.seeds; ++seed) {
      const Problem problem = family.generate(seed);
      Result lowest = LowestPeak(problem);
      if (family.name.starts_with("perfect")) lowest.peak = problem.memories[0].capacity, lowest.status = Status::kOptimal;
      if (!lowest.peak) continue;
      proven += lowest.status == Status::kOptimal ? 1 : 0;
      inputs.push_back({family.name, problem, *lowest.peak});
      inputs.push_back({family.name, problem, *lowest.peak * 11 / 10});
    }
  }
  std::printf("%zu inputs: each problem at its lowest known peak and at 1.1 times that; of %zu "
              "peaks %d are proven least\n",
              inputs.size(), inputs.size() / 2, proven);
  return inputs;
}

void PrintFailures(const Settings& settings) {
  const std::vector<Input> inputs = DrawInputs(settings);
  std::printf("%-15s %8s %8s  steps where both decide, by those of the whole engine\n", "", "failures", "seconds");
  std::vector<Answer> whole;
  for (const Variant& variant : AllVariants()) {
    std::vector<Answer> answers;
    int failures = 0, both = 0;
    double seconds = 0, logarithms = 0;
    std::string by_family;
    std::map<std::string, int> failed;
    for (const Input& input : inputs) {
      answers.push_back(Ask(GuidedEngine(variant.options), input.problem, input.capacity,
                            settings.steps, settings.seconds));
      failures += answers.back().Decided() ? 0 : 1;
      if (!answers.back().Decided()) ++failed[input.family];
      seconds += answers.back().seconds;
    }
    if (whole.empty()) whole = answers;
    for (size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i].Decided() || !whole[i].Decided()) continue;
      ++both;
      logarithms += std::log(static_cast<double>(answers[i].result.statistics.nodes) /
                             static_cast<double>(whole[i].result.statistics.nodes));
    }
    std::printf("%-15s %8d %8.1f  %.2f on %d;", variant.name.c_str(), failures, seconds, std::exp(logarithms / std::max(both, 1)), both);
    for (const auto& [family, count] : failed) std::printf(" %s: %d", family.c_str(), count);
    std::printf("\n");
  }
}

void PrintBanked(const Settings& settings) {
  const encoder::sat::SatEngine sat;
  std::vector<std::pair<std::string, std::unique_ptr<problem::Engine>>> engines;
  engines.emplace_back("cadical", std::make_unique<encoder::sat::SatEngine>());
  for (const Variant& v : AllVariants()) {
  engines.emplace_back(v.name, std::make_unique<GuidedEngine>(v.options)); }
  int slack = getenv("SLACK") ? atoi(getenv("SLACK")) : 10;
  for (const int buffers : {50, 100, 200, 400}) {
    if (getenv("BUF") && atoi(getenv("BUF")) != buffers) continue;
    for (auto& [name, engine] : engines) {
      std::printf("%d %-10s", buffers, name.c_str());
      int f = 0, n = 0; double total = 0;
      for (uint64_t seed = 1; seed <= settings.seeds; ++seed) {
        const Problem problem = GenerateBanked({buffers, buffers / 2, 8, 4, slack}, seed);
        const Answer a = Ask(*engine, problem, problem.memories[0].capacity, base::kMaxTotal, settings.seconds);
        std::printf(" %s%.1f", a.result.allocation ? "f" : a.Decided() ? "n" : "?", a.seconds);
        f += a.result.allocation ? 1 : 0; n += a.result.status == Status::kInfeasible; total += a.seconds;
      }
      std::printf("  feasible %d infeasible %d  %.1f s\n", f, n, total);
    }
  }
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using tessera::bench::Settings;
  Settings settings;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    if (word == "--data") settings.data.data = argv[i + 1];
    if (word == "--seconds") settings.seconds = std::atof(argv[i + 1]);
    if (word == "--steps") settings.steps = std::atoll(argv[i + 1]);
    if (word == "--seeds") settings.seeds = static_cast<uint64_t>(std::atoll(argv[i + 1]));
    if (word == "--engine") settings.data.engine = argv[i + 1];
    if (word == "--table") settings.data.table = argv[i + 1];
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (settings.data.table == "banked") {
    tessera::bench::PrintBanked(settings);
  } else if (settings.data.table == "failures") {
    tessera::bench::PrintFailures(settings);
  } else {
    tessera::bench::PrintChallenging(settings);
  }
  return 0;
}
