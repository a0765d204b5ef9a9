// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/derivation.h"
#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/validator.h"

namespace tessera::plan::verify {

// Whether this is the index of a tensor.
bool HasTensor(const graph::Graph& network, int tensor);

// Checks that tensors have shapes, and that operators read what was made before them.
void CheckNetwork(const graph::Graph& network, Findings& findings);

// Checks that the network is sound, that the subgraphs cover each operator once and in order, and
// that profile and shapes allow each tile and policy. A program can be derived only if there are no
// findings.
void CheckPartition(const Plan& plan, Findings& findings);

// Performs the checks of CheckPartition on the tile and the policies of one subgraph. Network,
// profile and the cover are known to be sound.
void CheckSubgraph(const Plan& plan, size_t subgraph, Findings& findings);

// Whether the plan satisfies the constraint, which refers to its own network.
bool Keeps(const Plan& plan, const PlanConstraint& constraint);

// Checks that the plan satisfies all its constraints. Its subgraphs cover its network.
void CheckConstraints(const Plan& plan, Findings& findings);

// The functions up to ConstraintOn determine which cuts and tile configurations the constraints
// allow. Operators of `plan` are in execution order: operator i is number order[i] of the network
// to which the constraints refer. Tensors have the same numbers in both.

// Whether a plan that satisfies the constraints may have the interval as a subgraph, with these
// boundary tensors kept.
bool MayBeSubgraph(const Plan& plan, std::span<const int> order, const std::vector<Users>& users,
                   graph::Interval interval, const std::vector<int>& kept);

// Whether the subgraph's tile and policies are those that are required for its operators; true if
// there is no requirement.
bool RunsAsRequired(const Plan& plan, std::span<const int> order, const Subgraph& subgraph);

// The constraint on the subgraph of exactly these operators, or nullptr.
const PlanConstraint* ConstraintOn(const Plan& plan, std::span<const int> order,
                                   graph::Interval interval);

// A whole tensor in its home, or in the tile memory if it is kept there, while some consecutive
// subgraphs run.
struct HomeStay {
  int memory = 0;  // index into the profile's memories, which include the tile memory
  int tensor = 0;
  base::TensorRole role = base::TensorRole::kBoundary;
  int64_t size = 1;
  int64_t alignment = 1;
  problem::Lifespan subgraphs;
};

// All tensors that have a home, by tensor. The partition has passed CheckPartition. Cost: linear in
// the tensors and operands of the network.
std::vector<HomeStay> FindHomeStays(const Plan& plan);

// Derives the contents of every memory other than the tile memory, subgraph by subgraph. Records
// where they exceed the capacity, and compares the plan's homes and their addresses with them. The
// partition has passed CheckPartition. Cost: that of problem::Validate for each memory, plus
// tensors times subgraphs.
void CheckHomes(const Plan& plan, Findings& findings);

// For profiles that give roles several homes: checks that each tensor has the home that
// docs/program.md, "Several homes", assigns to it (graph::Tensor::home). Network and profile are
// sound. Cost: O(operators * tensors) if tensors share lines, and for each tensor the tensors of
// one memory.
void CheckAssignment(const Plan& plan, Findings& findings);

// Assigns the home of the rule to each tensor of the plan's network.
void AssignHomes(Plan& plan);

// Compares the plan's steps, loops, buffers, relations, rules and memory with the derivation.
// Nothing may be missing, and nothing may be there that was not derived.
void CheckProgram(const Plan& plan, const Derivation& derivation, Findings& findings);

// Compares the metrics of each subgraph with those of the derivation and with recounted peaks, and
// compares totals, parts, bounds, limits and score with each other. The allocation has an offset
// for each buffer.
void CheckMetrics(const Plan& plan, const Derivation& derivation, Findings& findings);

}  // namespace tessera::plan::verify
