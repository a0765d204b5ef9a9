#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "tessera/base/json_reader.h"
#include "tessera/plan/plan.h"

// The addresses outside the tile memory, as plan.json states them.
namespace tessera::plan {

nlohmann::ordered_json HomesToJson(const Plan& plan);

// The memory of each tensor whose role has several homes, by id; null where no role has.
nlohmann::ordered_json TensorHomesToJson(const Plan& plan);

// graph::Tensor::home of all tensors of a plan whose network and profile are known. `value` may be absent. Refuses tensors with one
// home, memories that are no home of the tensor, and tensors with several homes that are left out; whether the homes are right is not
// asked.
void ReadTensorHomes(const base::JsonValue& value, const base::JsonValue& network, Plan& plan);

// Of a plan whose network and profile are known. Refuses memories and tensors that these do not have, and peaks that contradict
// the offsets; whether everything is there, and rightly so, is not asked.
std::vector<Home> ReadHomes(const std::vector<base::JsonValue>& values, const Plan& plan);

}  // namespace tessera::plan
