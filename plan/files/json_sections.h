#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// The parts of plan.json that nothing else follows from. Each refuses, through the value's reader,
// what is not as it should be, and then returns something empty.
namespace tessera::plan::files {

graph::Graph ReadEmbeddedNetwork(const base::JsonValue& value);
hw_profiles::Profile ReadEmbeddedProfile(const base::JsonValue& value);
Objective ReadObjective(const base::JsonValue& value);
uint64_t ReadSeed(const base::JsonValue& value);

// "kept": ids of tensors, in any order; the indices ascending.
std::vector<int> ReadKept(const std::vector<base::JsonValue>& ids, const graph::Graph& network);

// "operators", "tile" and "policies" of a subgraph.
Subgraph ReadCut(base::JsonObject& object, const graph::Graph& network);

// Constraints of a plan, as plan.json tells it ("constraints"): as a file of constraints does
// (docs/demands.md).

nlohmann::ordered_json ConstraintsToJson(const Plan& plan);

// Of a plan whose network and profile are read. Refuses operators, tensors and memories that these
// do not have.
std::vector<PlanConstraint> ReadConstraints(const base::JsonValue& value, const Plan& plan);

// The addresses outside the tile memory, as plan.json states them.

nlohmann::ordered_json HomesToJson(const Plan& plan);

// The memory of each tensor whose role has several homes, by id; null where no role has.
nlohmann::ordered_json TensorHomesToJson(const Plan& plan);

// graph::Tensor::home of all tensors of a plan whose network and profile are known. `value` may be
// absent. Refuses tensors with one home, memories that are no home of the tensor, and tensors with
// several homes that are left out; whether the homes are right is not asked.
void ReadTensorHomes(const base::JsonValue& value, const base::JsonValue& network, Plan& plan);

// Of a plan whose network and profile are known. Refuses memories and tensors that these do not
// have, and peaks that contradict the offsets; whether everything is there, and rightly so, is not
// asked.
std::vector<Home> ReadHomes(const std::vector<base::JsonValue>& values, const Plan& plan);

// The rejected alternatives of a subgraph, as plan.json tells it ("rejected").

nlohmann::ordered_json RejectedAlternativesToJson(const Subgraph& subgraph,
                                                  const graph::Graph& network);

// Refuses operators that the network does not have or that lie before the subgraph.
std::vector<RejectedAlternative> ReadRejectedAlternatives(
    const std::vector<base::JsonValue>& values, const Subgraph& subgraph,
    const graph::Graph& network);

// How a plan came to be, as plan.json states it ("run").

nlohmann::ordered_json RunToJson(const Plan& plan);

// Of a plan whose network is read. Refuses operators that it does not have, and an order that does
// not name each operator once.
Run ReadRun(const base::JsonValue& value, const Plan& plan);

// "lowering" of a plan whose network, profile and subgraphs are known. Refuses names that these do
// not have, numbers of jobs, operands, loops and axes that are none, and what follows from the rest
// and contradicts it. Whether it does what the plan says is not asked.
Program ReadProgram(const std::vector<base::JsonValue>& values, const Plan& plan);

// "lowering" of plan.json (docs/plan-format.md). The plan has one.
nlohmann::ordered_json ToJson(const Plan& plan);

}  // namespace tessera::plan::files
