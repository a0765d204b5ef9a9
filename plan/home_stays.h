#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/plan.h"

namespace tessera::plan {

// A tensor in its home, or in the tile memory that keeps it instead, all of it, while some neighbouring subgraphs run.
struct HomeStay {
  int memory = 0;  // index into the profile's memories, the tile memory among them
  int tensor = 0;
  base::TensorRole role = base::TensorRole::kBorder;
  int64_t size = 1;
  int64_t alignment = 1;
  problem::Lifespan subgraphs;
};

// Every tensor that has a home, by tensor. The partition has passed CheckPartition. Cost: linear in the tensors and operands of
// the network.
std::vector<HomeStay> FindHomeStays(const Plan& plan);

}  // namespace tessera::plan
