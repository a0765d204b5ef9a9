#pragma once

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "tessera/plan/holdings.h"

// Runs the planned program and writes down who touches which buffer when.
namespace tessera::plan {

struct UseOrder {
  bool operator()(const BufferUse& a, const BufferUse& b) const {
    return std::tie(a.kind, a.subgraph, a.tensor, a.op, a.parity, a.slot) <
           std::tie(b.kind, b.subgraph, b.tensor, b.op, b.parity, b.slot);
  }
};

// What was seen of a buffer, folded onto the steps of the program.
struct Sighting {
  std::vector<problem::Lifespan> lifespans;
  std::vector<problem::Access> accesses;  // by step, engine, kind; each once
};

// Steps at which one operator computes in one pass: C_k, or all of its slice loop. Passes may share a parity.
struct Turn {
  int op = 0;
  int parity = 0;
  problem::Lifespan steps;
};

struct Trace {
  std::vector<StepUse> steps;
  std::vector<problem::Loop> loops;               // ascending
  std::vector<problem::Lifespan> subgraph_steps;  // parallel to Plan::subgraphs
  std::vector<Turn> turns;
  std::vector<std::set<int>>
      cached;  // parallel to Plan::subgraphs: tensors of which rows stay from tile to tile
  std::map<BufferUse, Sighting, UseOrder> buffers;
};

// The whole program, each loop run often enough to see everything that it can do. Subgraphs cover the network, and
// no tensor of theirs has a fault. `cached` is Trace::cached; left out, nothing is. Cost: moments executed times tensors
// moved, plus buffers times moments.
Trace Execute(const Plan& plan, const std::vector<Users>& users, std::vector<std::set<int>> cached = {});

}  // namespace tessera::plan
