// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tessera/bench/measure.h"
#include "tessera/problem/engine.h"
#include "tessera/problem/problem.h"
#include "tessera/problem/result.h"
#include "tessera/search/engines/guided/guided.h"

// The common part of the tables about the guided engine (docs/guided-search.md). Each engine runs
// alone.
namespace tessera::bench {

struct GuidedSettings {
  Arguments data;
  double seconds = 60;  // for one question
  int64_t steps = 500'000;
  uint64_t seeds = 10;
  int slack_percent = 10;
};

// A variant of the engine: without one of its rules, or with one heuristic alone, which puts its
// buffer at the lowest valid position and returns to the last decision at a dead end.
struct GuidedVariant {
  std::string name;
  search::engines::guided::GuidedOptions options;
};
std::vector<GuidedVariant> AllGuidedVariants();

struct GuidedAnswer {
  problem::Result result;
  double seconds = 0;  // of processor time
  bool Decided() const {
    return result.allocation || result.status == problem::Status::kInfeasible;
  }
};
// Runs the engine with a limit of `seconds` by the clock.
GuidedAnswer AskEngine(const problem::Engine& engine, const problem::Problem& problem,
                       problem::Bytes capacity, double seconds);

// A question at a capacity at which a placement is known.
struct GuidedInput {
  std::string family;
  problem::Problem problem;
  problem::Bytes capacity = 0;
};
// Draws Problems of families of problem/generate/families.h, `seeds` of each, each at the lowest
// known peak and at 1.1 times that. Problems without a known peak are left out. With `unseen`, only
// families that the model of backtracking was not trained on (backtrack_samples.h).
std::vector<GuidedInput> DrawGuidedInputs(uint64_t seeds, bool unseen);

// Prints the failures of each variant.
void PrintGuidedFailures(const GuidedSettings& settings);

// Compares learned backtracking with the search without it.
void PrintGuidedLearning(const GuidedSettings& settings);

}  // namespace tessera::bench
