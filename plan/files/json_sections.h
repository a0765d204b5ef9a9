// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// The sections of plan.json that are not derived from others. Each function refuses invalid input
// through the value's reader and then returns an empty result.
namespace tessera::plan::files {

// The greatest number of a slot that a file may state.
inline constexpr int64_t kMostSlots = int64_t{1} << 20;

graph::Graph ReadEmbeddedNetwork(const base::JsonValue& value);
hw_profiles::Profile ReadEmbeddedProfile(const base::JsonValue& value);
Objective ReadObjective(const base::JsonValue& value);
uint64_t ReadSeed(const base::JsonValue& value);

// "kept": ids of tensors in any order. Returns ascending indices.
std::vector<int> ReadKept(const std::vector<base::JsonValue>& ids, const graph::Graph& network);

// "operators", "tile" and "policies" of a subgraph; a draft may leave out "halo".
Subgraph ReadCut(base::JsonObject& object, const graph::Graph& network, base::Presence halo);

// The constraints of a plan in plan.json ("constraints"), in the form of a constraints file
// (docs/constraints.md).
nlohmann::ordered_json ConstraintsToJson(const Plan& plan);

// The plan's network and profile are known. Refuses operators, tensors and memories that they do
// not contain.
std::vector<PlanConstraint> ReadConstraints(const base::JsonValue& value, const Plan& plan);

// The addresses outside the tile memory in plan.json.
nlohmann::ordered_json HomesToJson(const Plan& plan);

// The memory of each tensor whose role has several homes, by id; null if no role has several.
nlohmann::ordered_json TensorHomesToJson(const Plan& plan);

// graph::Tensor::home of all tensors of a plan whose network and profile are known. `value` may be
// absent. Refuses tensors with one home, memories that are not a home of the tensor, and missing
// tensors with several homes. It does not check whether the homes are correct.
void ReadTensorHomes(const base::JsonValue& value, const base::JsonValue& network, Plan& plan);

// The plan's network and profile are known. Refuses memories and tensors that they do not contain,
// and peaks that contradict the offsets. It does not check completeness or correctness.
std::vector<Home> ReadHomes(const std::vector<base::JsonValue>& values, const Plan& plan);

// The rejected alternatives of a subgraph in plan.json ("rejected_alternatives").
nlohmann::ordered_json RejectedAlternativesToJson(const Subgraph& subgraph,
                                                  const graph::Graph& network);

// Refuses operators that are not in the network or that lie before the subgraph.
std::vector<RejectedAlternative> ReadRejectedAlternatives(
    const std::vector<base::JsonValue>& values, const Subgraph& subgraph,
    const graph::Graph& network);

// How a plan was produced, in plan.json ("run").
nlohmann::ordered_json RunToJson(const Plan& plan);

// The plan's network is known. Refuses operators that are not in it, and an order that does not
// name each operator once.
Run ReadRun(const base::JsonValue& value, const Plan& plan);

// "lowering" of a plan whose network, profile and subgraphs are known. Refuses names that they do
// not contain, numbers that are not those of a job, operand, loop or axis, and derived entries that
// contradict the rest. It does not check whether the lowering performs the plan.
Program ReadProgram(const std::vector<base::JsonValue>& values, const Plan& plan);

// "lowering" of plan.json (docs/plan-format.md). The plan must have a lowering.
nlohmann::ordered_json ToJson(const Plan& plan);

}  // namespace tessera::plan::files
