#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/validator.h"

namespace tessera::plan::verify {

// Whether the network is sound, the subgraphs cover each operator once and in order, and profile
// and shapes allow each tile and policy. Only where nothing is noted can a program be derived.
void CheckPartition(const Plan& plan, Findings& findings);

// The same of one subgraph's tile and policies alone, where network, profile and the cover are
// known to be sound.
void CheckSubgraph(const Plan& plan, size_t subgraph, Findings& findings);

// Whether the plan keeps to the constraint, which is about its own network.
bool Keeps(const Plan& plan, const PlanConstraint& constraint);

// Whether the plan keeps to all that was required of it. Its subgraphs cover its network.
void CheckConstraints(const Plan& plan, Findings& findings);

// What constraints leave of the ways to cut a network and to run its subgraphs. Operators of `plan`
// are in the order in which they run: operator i is number order[i] of the network that the
// constraints are about; tensors have the same numbers in both.

// Whether a plan that keeps the constraints may have the interval as a subgraph, with these
// boundary tensors kept.
bool MayBeSubgraph(const Plan& plan, std::span<const int> order, const std::vector<Users>& users,
                   graph::Interval interval, const std::vector<int>& kept);

// Whether the subgraph's tile and policies are those that are required of its operators; true where
// nothing is.
bool RunsAsRequired(const Plan& plan, std::span<const int> order, const Subgraph& subgraph);

// The constraint on the subgraph of just these operators, or nullptr.
const PlanConstraint* ConstraintOn(const Plan& plan, std::span<const int> order,
                                   graph::Interval interval);

// A tensor in its home, or in the tile memory that keeps it instead, all of it, while some
// neighbouring subgraphs run.
struct HomeStay {
  int memory = 0;  // index into the profile's memories, the tile memory among them
  int tensor = 0;
  base::TensorRole role = base::TensorRole::kBoundary;
  int64_t size = 1;
  int64_t alignment = 1;
  problem::Lifespan subgraphs;
};

// Every tensor that has a home, by tensor. The partition has passed CheckPartition. Cost: linear in
// the tensors and operands of the network.
std::vector<HomeStay> FindHomeStays(const Plan& plan);

// Derives what every memory other than the tile memory is home to, subgraph by subgraph, notes
// where it is more than there is room for, and holds the plan's homes and their addresses against
// it. The partition has passed CheckPartition. Cost: that of problem::Validate for each memory,
// plus tensors times subgraphs.
void CheckHomes(const Plan& plan, Findings& findings);

// Where the profile gives roles several homes: whether each tensor lives in the one that
// docs/program.md, "Several homes", gives it (graph::Tensor::home). Network and profile are sound.
// Cost: O(operators * tensors) where tensors take turns, and for each tensor the tensors of one
// memory.
void CheckAssignment(const Plan& plan, Findings& findings);

// Gives each tensor of the plan's network the home that the rule gives it.
void AssignHomes(Plan& plan);

// Holds the plan's steps, loops, buffers, relations, rules and memory against what was derived:
// nothing may be missing, and nothing may be there that was not derived.
void CheckProgram(const Plan& plan, const Derivation& derivation, Findings& findings);

// Recounts multiply-accumulates, off-chip bytes and peaks of each subgraph, and holds totals,
// parts, bounds, limits and score against each other. Latency and energy are a simulation's word;
// here they only have to add up. The allocation has an offset for each buffer.
void CheckMetrics(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan::verify
