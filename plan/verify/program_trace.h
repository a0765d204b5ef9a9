// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/plan/verify/residency.h"

// Executes the planned program and records which operator or link touches which buffer at which
// step.
namespace tessera::plan::verify {

// The observed use of a buffer, folded onto the steps of the program.
struct ObservedUse {
  std::vector<problem::Lifespan> lifespans;
  std::vector<problem::Access> accesses;  // by step, engine, kind; each once
};

// Steps at which one operator computes in one pass: C_k, or all of its slice loop. Passes may share
// a phase.
struct OperatorSteps {
  int op = 0;
  int phase = 0;
  problem::Lifespan steps;
};

struct Trace {
  std::vector<StepUse> steps;
  std::vector<problem::Loop> loops;               // ascending
  std::vector<problem::Lifespan> subgraph_steps;  // parallel to Plan::subgraphs
  std::vector<OperatorSteps> turns;
  // parallel to Plan::subgraphs: tensors whose rows stay from tile to tile
  std::vector<std::set<int>> cached;
  std::map<BufferUse, ObservedUse> buffers;
};

// Executes the whole program. Each loop runs often enough to show all its behaviours. Subgraphs
// cover the network, and none of their tensors has a fault. `cached` is Trace::cached; if it is
// left out, nothing is cached. Cost: moments executed times tensors moved, plus buffers times
// moments.
Trace Execute(const Plan& plan, const std::vector<Users>& users,
              std::vector<std::set<int>> cached = {});

}  // namespace tessera::plan::verify
