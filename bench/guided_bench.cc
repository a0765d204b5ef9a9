// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/bench/challenging_tables.h"
#include "tessera/encoder/sat/cadical_engine.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/guided/guided.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

// Prints tables about the guided engine (docs/guided-search.md). Each engine is asked alone.
namespace tessera::bench {
namespace {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
namespace generate = problem::generate;
using search::engines::guided::GuidedEngine;
using search::engines::guided::GuidedOptions;
using search::engines::guided::Heuristic;
using search::engines::guided::Recipe;

struct Settings {
  Arguments data;
  double seconds = 60;
  int64_t steps = 500'000;
  uint64_t seeds = 10;
  int slack_percent = 10;
};

// The engine, without one of its rules, or a heuristic alone: its buffer goes to the lowest valid
// position, and a dead end returns to the last decision.
struct Variant {
  std::string name;
  GuidedOptions options;
};

std::vector<Variant> AllVariants() {
  std::vector<Variant> variants = {{"guided", {}}};
  Variant& plain = variants.emplace_back("- phases", GuidedOptions());
  for (Recipe& recipe : plain.options.recipes) recipe.phases = false;
  variants.emplace_back("- descents", GuidedOptions()).options.descents = false;
  variants.emplace_back("- culprits", GuidedOptions()).options.culprits = false;
  variants.emplace_back("- stuck", GuidedOptions()).options.stuck = false;
  variants.emplace_back("- lessons", GuidedOptions()).options.lessons = false;
  Variant& published = variants.emplace_back("published", GuidedOptions());
  published.options.recipes = {published.options.recipes.back()};
  for (const auto& [name, heuristic] :
       {std::pair("size alone", Heuristic::kSize), std::pair("area alone", Heuristic::kArea),
        std::pair("lifetime alone", Heuristic::kLifetime),
        std::pair("lowest alone", Heuristic::kLowest)}) {
    GuidedOptions& options = variants.emplace_back(name, GuidedOptions()).options;
    options.recipes = {{.heuristics = {heuristic}, .phases = false}};
    options.descents = options.culprits = options.stuck = options.lessons = false;
  }
  return variants;
}

bool Wanted(const Settings& settings, const std::string& name) {
  return settings.data.engine.empty() || settings.data.engine == name;
}

struct Answer {
  Result result;
  double seconds = 0;
  bool Decided() const { return result.allocation || result.status == Status::kInfeasible; }
};

Answer Ask(const problem::Engine& engine, const Problem& problem, Bytes capacity, double seconds) {
  using Clock = base::Stop::Clock;
  const auto start = Clock::now();
  const base::Stop stop(start + std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  Answer answer;
  answer.result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
  answer.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return answer;
}

void PrintChallenging(const Settings& settings) {
  const auto challenges = ReadChallenges(settings.data);
  if (!challenges) return;
  std::printf("A..K at 1048576 bytes, at most %.0f s each: steps and seconds; ?: open\n",
              settings.seconds);
  for (const Variant& variant : AllVariants()) {
    if (!Wanted(settings, variant.name)) continue;
    int decided = 0;
    std::printf("%-15s", variant.name.c_str());
    for (const Problem& problem : *challenges) {
      const Answer answer = Ask(GuidedEngine(variant.options), problem,
                                problem.memories[0].capacity, settings.seconds);
      decided += answer.Decided() ? 1 : 0;
      std::printf(" %s%s %lld %.1f", problem.name.c_str(), answer.Decided() ? "" : "?",
                  static_cast<long long>(answer.result.statistics.nodes), answer.seconds);
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
      {"perfect 100",
       [](uint64_t seed) {
         return generate::MakePerfect({100, 120, 4096}, seed);
       }},
      {"broken 80",
       [](uint64_t seed) {
         return generate::MakeBroken({80, 100, 1024}, seed);
       }},
      {"broken 150",
       [](uint64_t seed) {
         return generate::MakeBroken({150, 200, 4096}, seed);
       }},
      {"flat 60", [](uint64_t seed) { return generate::MakeFlat(60, seed); }},
      {"flat 100", [](uint64_t seed) { return generate::MakeFlat(100, seed); }},
      {"random 300", [](uint64_t seed) { return generate::MakeRandom(300, 20, seed); }},
      {"compiler 250", [](uint64_t seed) { return generate::MakeCompilerLike(250, seed); }},
  };
}

// The lowest peak that other engines find in a second; for a perfect packing its capacity.
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
  uint64_t drawn = 0;
  int proven = 0;
  for (const Family& family : AllFamilies()) {
    for (uint64_t seed = 1; seed <= settings.seeds; ++seed) {
      ++drawn;
      const Problem problem = family.generate(seed);
      const bool perfect = family.name.starts_with("perfect");
      const Result lowest = LowestPeak(problem);
      if (!lowest.peak && !perfect) continue;
      const Bytes peak = perfect ? problem.memories[0].capacity : *lowest.peak;
      proven += perfect || lowest.status == Status::kOptimal ? 1 : 0;
      inputs.push_back({family.name, problem, peak});
      inputs.push_back({family.name, problem, peak * 11 / 10});
    }
  }
  std::printf(
      "%zu inputs: of %llu problems drawn those with a known peak, at the lowest one and at 1.1 "
      "times that; %d of %zu are proven least\n",
      inputs.size(), static_cast<unsigned long long>(drawn), proven, inputs.size() / 2);
  return inputs;
}

// Decided answers against those of the whole engine: how often, and the geometric mean of the
// ratios of steps.
class Comparison {
 public:
  void Note(const Answer& answer, const Answer& whole) {
    if (!answer.Decided() || !whole.Decided()) return;
    ++both_;
    logarithms_ += std::log(static_cast<double>(answer.result.statistics.nodes) /
                            static_cast<double>(whole.result.statistics.nodes));
  }
  int Both() const { return both_; }
  double Ratio() const { return std::exp(logarithms_ / std::max(both_, 1)); }

 private:
  int both_ = 0;
  double logarithms_ = 0;
};

void PrintFailures(const Settings& settings) {
  const std::vector<Input> inputs = DrawInputs(settings);
  std::printf("at most %lld steps and %.0f s each\n%-15s %8s %9s %19s\n",
              static_cast<long long>(settings.steps), settings.seconds, "", "failures", "seconds",
              "steps / whole (on)");
  std::vector<Answer> whole;
  std::vector<Variant> variants = AllVariants();
  for (Variant& variant : variants) {
    if (!whole.empty() && !Wanted(settings, variant.name)) continue;
    variant.options.most_steps = settings.steps;
    std::map<std::string, int> failed;
    Comparison comparison;
    double seconds = 0;
    int failures = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      Answer answer = Ask(GuidedEngine(variant.options), inputs[i].problem, inputs[i].capacity,
                          settings.seconds);
      if (!answer.Decided()) ++failures, ++failed[inputs[i].family];
      seconds += answer.seconds;
      if (whole.size() == i) whole.push_back(answer);
      comparison.Note(answer, whole[i]);
    }
    std::printf("%-15s %8d %9.1f %12.2f (%4d)  ", variant.name.c_str(), failures, seconds,
                comparison.Ratio(), comparison.Both());
    for (const auto& [family, count] : failed) std::printf(" %s: %d", family.c_str(), count);
    std::printf("\n");
  }
}

struct Share {
  int placed = 0, refuted = 0, soon = 0, where_first_is_open = 0;
  double seconds = 0;
};

// The engines that honour banks and modes.
void PrintBanked(const Settings& settings) {
  std::vector<std::unique_ptr<problem::Engine>> engines;
  engines.push_back(std::make_unique<encoder::sat::SatEngine>());
  engines.push_back(std::make_unique<GuidedEngine>());
  std::printf("banked, %d %% slack, at most %.0f s each\n%-8s %-8s %6s %6s %8s %5s %8s %9s %s\n",
              settings.slack_percent, settings.seconds, "buffers", "engine", "drawn", "placed",
              "refuted", "open", "in 1 s", "seconds", "decided where cadical is open");
  for (const int buffers : {50, 100, 200, 400}) {
    std::vector<Share> shares(engines.size());
    int open = 0;
    for (uint64_t seed = 1; seed <= settings.seeds; ++seed) {
      const Problem problem =
          generate::MakeBanked({buffers, buffers / 2, 8, 4, settings.slack_percent}, seed);
      bool first_decided = false;
      for (size_t e = 0; e < engines.size(); ++e) {
        const Answer answer =
            Ask(*engines[e], problem, problem.memories[0].capacity, settings.seconds);
        if (e == 0) first_decided = answer.Decided();
        Share& share = shares[e];
        share.placed += answer.result.allocation ? 1 : 0;
        share.refuted += answer.result.status == Status::kInfeasible ? 1 : 0;
        share.soon += answer.Decided() && answer.seconds <= 1 ? 1 : 0;
        share.where_first_is_open += answer.Decided() && !first_decided ? 1 : 0;
        share.seconds += answer.seconds;
      }
      open += first_decided ? 0 : 1;
    }
    for (size_t e = 0; e < engines.size(); ++e) {
      const Share& share = shares[e];
      const int drawn = static_cast<int>(settings.seeds);
      std::printf("%-8d %-8s %6d %6d %8d %5d %8d %9.1f %d of %d\n", buffers,
                  std::string(engines[e]->Name()).c_str(), drawn, share.placed, share.refuted,
                  drawn - share.placed - share.refuted, share.soon, share.seconds,
                  share.where_first_is_open, open);
    }
  }
}

// TelaMalloc's micro-instances.
void PrintMicro(const Settings& settings) {
  const auto stairs = [](int buffers, problem::Step apart) {
    Problem problem = generate::MakePerfect({1, 1, buffers}, 0);
    problem::Buffer buffer = problem.buffers[0];
    problem.buffers.clear();
    for (int i = 0; i < buffers; ++i) {
      buffer.id = "b" + std::to_string(i);
      buffer.size = 1;
      buffer.lifespans = {{i * apart, i * apart + 1}};
      problem.buffers.push_back(buffer);
    }
    return problem;
  };
  for (const auto& [name, problem] : {std::pair("10000 disjoint", stairs(10'000, 1)),
                                      std::pair("1000 overlapping", stairs(1000, 0))}) {
    const Answer answer =
        Ask(GuidedEngine(), problem, problem.memories[0].capacity, settings.seconds);
    std::printf("%-18s %s %.1f ms\n", name,
                std::string(problem::NameOf(answer.result.status)).c_str(), 1000 * answer.seconds);
  }
}

struct Table {
  std::string_view name;
  void (*print)(const Settings& settings);
};

constexpr Table kTables[] = {{"challenging", PrintChallenging},
                             {"failures", PrintFailures},
                             {"banked", PrintBanked},
                             {"micro", PrintMicro}};

// False if some argument is not known.
bool Read(int argc, char** argv, Settings& settings) {
  for (int i = 1; i < argc; i += 2) {
    const std::string_view word = argv[i];
    if (i + 1 == argc) return false;
    const char* value = argv[i + 1];
    if (word == "--data") {
      settings.data.data = value;
    } else if (word == "--seconds") {
      settings.seconds = std::atof(value);
    } else if (word == "--steps") {
      settings.steps = std::atoll(value);
    } else if (word == "--seeds") {
      settings.seeds = static_cast<uint64_t>(std::atoll(value));
    } else if (word == "--slack") {
      settings.slack_percent = std::atoi(value);
    } else if (word == "--variant") {
      settings.data.engine = value;
    } else if (word == "--table") {
      settings.data.table = value;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace
}  // namespace tessera::bench

int main(int argc, char** argv) {
  using tessera::bench::kTables;
  tessera::bench::Settings settings;
  const auto* table = std::end(kTables);
  if (tessera::bench::Read(argc, argv, settings)) {
    table = std::find_if(std::begin(kTables), std::end(kTables),
                         [&](const auto& each) { return each.name == settings.data.table; });
  }
  if (table == std::end(kTables)) {
    std::fputs(
        "usage: guided_bench --table challenging|failures|banked|micro [--data FOLDER] "
        "[--seconds S] [--steps N] [--seeds N] [--slack PERCENT] [--variant NAME]\n"
        "FOLDER, or its folder 'challenging', holds A.1048576.csv to K.1048576.csv.\n",
        stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  table->print(settings);
  return 0;
}
