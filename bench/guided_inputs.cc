// SPDX-License-Identifier: Apache-2.0

#include "tessera/bench/guided_inputs.h"

#include <chrono>
#include <cstdio>
#include <functional>
#include <utility>

#include "tessera/bench/cpu_clock.h"
#include "tessera/problem/generate/families.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/engines/canonical/canonical.h"
#include "tessera/search/engines/greedy/greedy.h"
#include "tessera/search/engines/guided/learned_backtracking.h"
#include "tessera/search/engines/lazy/lazy_engine.h"

namespace tessera::bench {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;
namespace generate = problem::generate;
using search::engines::guided::GuidedOptions;
using search::engines::guided::Heuristic;
using search::engines::guided::LearnedBacktracking;
using search::engines::guided::Recipe;

std::vector<GuidedVariant> AllGuidedVariants() {
  std::vector<GuidedVariant> variants;
  const auto add = [&](const char* name) -> GuidedOptions& {
    variants.push_back({name, {}});
    return variants.back().options;
  };
  add("guided");
  for (Recipe& recipe : add("- phases").recipes) recipe.phases = false;
  add("- descents").descents = false;
  add("- culprits").culprits = false;
  add("- stuck").stuck = false;
  add("- lessons").lessons = false;
  GuidedOptions& learned = add("+ learning");
  learned.backtracking = LearnedBacktracking();
  learned.insured = false;
  add("guided-learned").backtracking = LearnedBacktracking();
  GuidedOptions& published = add("published");
  published.recipes = {published.recipes.back()};
  for (const auto& [name, heuristic] :
       {std::pair("size alone", Heuristic::kSize), std::pair("area alone", Heuristic::kArea),
        std::pair("lifetime alone", Heuristic::kLifetime),
        std::pair("lowest alone", Heuristic::kLowest)}) {
    GuidedOptions& options = add(name);
    options.recipes = {{.heuristics = {heuristic}, .phases = false}};
    options.descents = options.culprits = options.stuck = options.lessons = false;
  }
  return variants;
}

GuidedAnswer AskEngine(const problem::Engine& engine, const Problem& problem, Bytes capacity,
                       double seconds) {
  const base::Stop stop(base::Stop::Clock::now() +
                        std::chrono::microseconds(static_cast<int64_t>(seconds * 1e6)));
  const double start = ProcessSeconds();
  GuidedAnswer answer;
  answer.result = engine.Open(problem, nullptr)->Solve(0, capacity, {}, stop);
  answer.seconds = ProcessSeconds() - start;
  return answer;
}

namespace {

struct Family {
  std::string name;
  bool unseen = false;  // by the training of backtracking
  std::function<Problem(uint64_t seed)> generate;
};

std::vector<Family> AllFamilies() {
  const auto perfect = [](generate::PackingShape shape) {
    return [shape](uint64_t seed) { return generate::MakePerfect(shape, seed); };
  };
  const auto broken = [](generate::PackingShape shape) {
    return [shape](uint64_t seed) { return generate::MakeBroken(shape, seed); };
  };
  const auto flat = [](int buffers) {
    return [buffers](uint64_t seed) { return generate::MakeFlat(buffers, seed); };
  };
  return {
      {"flat 60", true, flat(60)},
      {"flat 100", true, flat(100)},
      {"flat 150", true, flat(150)},
      {"random 300", true, [](uint64_t seed) { return generate::MakeRandom(300, 20, seed); }},
      {"perfect 100", false, perfect({100, 120, 4096})},
      {"perfect 200", false, perfect({200, 200, 4096})},
      {"broken 80", false, broken({80, 100, 1024})},
      {"broken 150", false, broken({150, 200, 4096})},
      {"compiler 250", false, [](uint64_t seed) { return generate::MakeCompilerLike(250, seed); }},
  };
}

// Returns the lowest peak that other engines find within so many units of their work; for a perfect
// packing its capacity.
Result LowestPeak(const Problem& problem) {
  constexpr int64_t kWork = 20'000;
  const search::engines::greedy::GreedyEngine greedy;
  const search::engines::canonical::CanonicalEngine canonical;
  const search::engines::lazy::LazyEngine lazy;
  const std::vector<const problem::Engine*> engines = {&greedy, &canonical, &lazy};
  search::allocate::AllocateOptions options;
  options.budget = {kWork};
  auto result = search::allocate::Allocate(problem, nullptr, 0, engines, options);
  return result ? *std::move(result) : Result();
}

}  // namespace

std::vector<GuidedInput> DrawGuidedInputs(uint64_t seeds, bool unseen) {
  std::vector<GuidedInput> inputs;
  int drawn = 0;
  int proven = 0;
  for (const Family& family : AllFamilies()) {
    if (unseen && !family.unseen) continue;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      ++drawn;
      const Problem problem = family.generate(seed);
      const bool perfect = family.name.starts_with("perfect");
      const Result lowest = perfect ? Result() : LowestPeak(problem);
      if (!lowest.peak && !perfect) continue;
      const Bytes peak = perfect ? problem.memories[0].capacity : *lowest.peak;
      proven += perfect || lowest.status == Status::kOptimal ? 1 : 0;
      inputs.push_back({family.name, problem, peak});
      inputs.push_back({family.name, problem, peak * 11 / 10});
    }
  }
  std::printf(
      "%zu inputs: of %d problems drawn those with a known peak, at the lowest one and at 1.1 "
      "times that; %d of %zu are proven least\n",
      inputs.size(), drawn, proven, inputs.size() / 2);
  return inputs;
}

}  // namespace tessera::bench
