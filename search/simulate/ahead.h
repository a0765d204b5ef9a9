#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"

namespace tessera::search {

// Constants that arrive beside the subgraph before the one that uses them (docs/program.md, "Ahead").
struct Ahead {
  // From one of their homes.
  struct Part {
    int home = 0;  // index into Profile::memories
    int64_t cycles = 0;
    int64_t bytes = 0;
  };
  bool own = false;        // this subgraph's were there when it began; their bytes still count as its own
  std::vector<Part> next;  // the next subgraph's, on their way to it while this one runs; each home once
};

// As the subgraph of that number finds it among the subgraphs of a program.
Ahead AheadOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
              std::span<const plan::Subgraph> subgraphs, size_t number);

}  // namespace tessera::search
