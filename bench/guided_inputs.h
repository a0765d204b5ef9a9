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

// What the tables about the guided engine (docs/guided-search.md) share. Each engine is asked
// alone.
namespace tessera::bench {

struct GuidedSettings {
  Arguments data;
  double seconds = 60;  // for one question
  int64_t steps = 500'000;
  uint64_t seeds = 10;
  int slack_percent = 10;
};

// The engine, without one of its rules, or a heuristic alone: its buffer goes to the lowest valid
// position, and a dead end returns to the last decision.
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
// `seconds` is a limit by the clock.
GuidedAnswer AskEngine(const problem::Engine& engine, const problem::Problem& problem,
                       problem::Bytes capacity, double seconds);

// A question at a capacity at which a placement is known.
struct GuidedInput {
  std::string family;
  problem::Problem problem;
  problem::Bytes capacity = 0;
};
// Problems of families of problem/generate/families.h, so many of each, each at the lowest known
// peak and at 1.1 times that. Problems without a known peak are left out. With `unseen`, only
// families that the model of backtracking was not trained on (backtrack_samples.h).
std::vector<GuidedInput> DrawGuidedInputs(uint64_t seeds, bool unseen);

// Failures of each variant.
void PrintGuidedFailures(const GuidedSettings& settings);

// Learned backtracking against the search without it.
void PrintGuidedLearning(const GuidedSettings& settings);

}  // namespace tessera::bench
