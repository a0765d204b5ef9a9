#pragma once

#include <map>
#include <vector>

#include "tessera/plan/in_place.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/rules.h"
#include "tessera/plan/sizes.h"
#include "tessera/plan/trace.h"
#include "tessera/plan/traffic.h"

namespace tessera::plan {

// What a buffer is for: the tensor and its role, or the operator that works in it and "scratch".
struct Label {
  std::string name;
  std::string role;
  friend bool operator==(const Label&, const Label&) = default;
};

// Everything that follows from network, profile and partition alone: what the plan's problem must say.
struct Derivation {
  Trace trace;
  std::map<BufferUse, Footprint, UseOrder> footprints;  // of the trace's buffers
  std::map<BufferUse, Label, UseOrder> labels;          // likewise
  std::vector<InPlacePair> pairs;
  std::vector<RuleReach> rules;
  std::vector<Work> work;      // parallel to Plan::subgraphs
  std::vector<Metrics> costs;  // likewise, as CostOf gives them
};

// The partition has passed CheckPartition. Reads network, profile and subgraphs of the plan, nothing else.
Derivation Derive(const Plan& plan);

// "s0/x@1", "s2/conv/weights@0.1", "x": docs/program.md, Names.
std::string BufferId(const graph::Graph& network, const BufferUse& use);

// The tile memory as a problem states it.
problem::Memory TileMemory(const hw_profiles::Profile& profile);

// Another memory as the problem of its tensors states it: no access within a subgraph, so no modes.
problem::Memory HomeMemory(const hw_profiles::Profile& profile, int memory);

}  // namespace tessera::plan
