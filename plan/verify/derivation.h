// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/plan/plan.h"
#include "tessera/plan/verify/buffer_sizes.h"
#include "tessera/plan/verify/in_place.h"
#include "tessera/plan/verify/program_trace.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/work_count.h"
#include "tessera/problem/problem.h"

namespace tessera::plan::verify {

// A rule of the profile with the buffers, or pairs of buffers, to which it applies in this program.
struct RuleMatch {
  const hw_profiles::Rule* rule = nullptr;
  std::set<BufferUse> buffers;
  std::vector<std::pair<BufferUse, BufferUse>> pairs;
};

// The profile's rules that apply to some buffer or pair (docs/program.md, "Rules"). Tests each
// buffer of the trace, and each pair, against each rule. Cost: rules * buffers^2 of a subgraph *
// operators.
std::vector<RuleMatch> FindRules(const Plan& plan, const std::vector<Users>& users,
                                 const Trace& trace);

// The use of a buffer: the tensor and its role, or the operator that works in it and "scratch".
struct Label {
  std::string name;
  std::string role;
  friend bool operator==(const Label&, const Label&) = default;
};

// All data that follows from network, profile and partition alone. The plan's problem must state
// the same.
struct Derivation {
  Trace trace;
  std::map<BufferUse, Footprint> footprints;  // of the trace's buffers
  std::map<BufferUse, Label> labels;          // of the trace's buffers
  std::vector<InPlacePair> pairs;
  std::vector<RuleMatch> rules;
  std::vector<Work> work;      // parallel to Plan::subgraphs
  std::vector<Metrics> costs;  // parallel to Plan::subgraphs, as CostOf returns them
};

// The partition has passed CheckPartition. Reads only network, profile and subgraphs of the plan.
Derivation Derive(const Plan& plan);

// The same; nullopt if the work, in tiles times operators, was cut off.
std::optional<Derivation> DeriveWithin(const Plan& plan, base::GraceWork& work);

// "s0/x@1", "s2/conv/weights@0.1", "x": docs/program.md, Names.
std::string BufferId(const graph::Graph& network, const BufferUse& use);

// The tile memory in the form of a problem.
problem::Memory TileMemory(const hw_profiles::Profile& profile);

// Another memory in the form of the problem of its tensors. There are no accesses within a
// subgraph, so there are no modes.
problem::Memory HomeMemory(const hw_profiles::Profile& profile, int memory);

// The Problem of the tile memory that follows from a derivation, restricted to the steps in
// `steps`: the buffers that live then, with the parts of their lifespans and accesses that lie
// there, their relations, and their rules. Step `steps.lower` becomes step 0. For all steps of the
// program this is the Problem with which CheckProgram compares a plan's. For some steps, each
// placement of the whole Problem contains a placement of this one.
problem::Problem ProblemOf(const Plan& plan, const Derivation& derivation, problem::Lifespan steps);

// A lower bound of the bytes that some step needs in memories[0]. It counts the buffers that live
// at the step; those that share one place count once. Cost: buffers times steps.
problem::Bytes LeastLoad(const problem::Problem& problem);

// Bytes of the memory that are not reserved.
problem::Bytes FreeBytes(const problem::Memory& memory, problem::Bytes capacity);

}  // namespace tessera::plan::verify
