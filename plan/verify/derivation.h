#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/in_place.h"
#include "tessera/plan/verify/program_trace.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::verify {

// A rule of the profile and what it is about in this program: buffers, or pairs of them.
struct RuleMatch {
  const hw_profiles::Rule* rule = nullptr;
  std::set<BufferUse, UseOrder> buffers;
  std::vector<std::pair<BufferUse, BufferUse>> pairs;
};

// The profile's rules that are about anything (docs/program.md, "Rules"), found by asking of each
// buffer that the trace saw, and of each two, whether the rule is about them. Cost: rules *
// buffers^2 of a subgraph * operators.
std::vector<RuleMatch> FindRules(const Plan& plan, const std::vector<Users>& users,
                                 const Trace& trace);

// What a buffer is for: the tensor and its role, or the operator that works in it and "scratch".
struct Label {
  std::string name;
  std::string role;
  friend bool operator==(const Label&, const Label&) = default;
};

// Everything that follows from network, profile and partition alone: what the plan's problem must
// say.
struct Derivation {
  Trace trace;
  std::map<BufferUse, Footprint, UseOrder> footprints;  // of the trace's buffers
  std::map<BufferUse, Label, UseOrder> labels;          // likewise
  std::vector<InPlacePair> pairs;
  std::vector<RuleMatch> rules;
  std::vector<Work> work;      // parallel to Plan::subgraphs
  std::vector<Metrics> costs;  // likewise, as CostOf gives them
};

// The partition has passed CheckPartition. Reads network, profile and subgraphs of the plan,
// nothing else.
Derivation Derive(const Plan& plan);

// "s0/x@1", "s2/conv/weights@0.1", "x": docs/program.md, Names.
std::string BufferId(const graph::Graph& network, const BufferUse& use);

// The tile memory as a problem states it.
problem::Memory TileMemory(const hw_profiles::Profile& profile);

// Another memory as the problem of its tensors states it: no access within a subgraph, so no modes.
problem::Memory HomeMemory(const hw_profiles::Profile& profile, int memory);

// The Problem of the tile memory that follows from a derivation, as far as it concerns the steps in
// `steps`: buffers that live then, with the parts of their lifespans and accesses that lie there,
// what relates them, and the rules about them. Step `steps.lower` becomes step 0. For all steps of
// the program this is the Problem that CheckProgram compares a plan's with; for some of them each
// placement of that one contains a placement of this one.
problem::Problem ProblemOf(const Plan& plan, const Derivation& derivation, problem::Lifespan steps);

// Bytes that some step needs at least in memories[0]: buffers that live then, those that share one
// place counted once. Cost: buffers times steps.
problem::Bytes LeastLoad(const problem::Problem& problem);

// Bytes of the memory that are not reserved.
problem::Bytes FreeBytes(const problem::Memory& memory, problem::Bytes capacity);

}  // namespace tessera::plan::verify
