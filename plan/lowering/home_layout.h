#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"

namespace tessera::plan::lowering {

// Where a tensor lies in its home.
struct HomeLayout {
  int memory = 0;
  int64_t address = 0;
  int64_t table = 0;             // address of a constant's table
  std::vector<int64_t> strides;  // bytes, for each axis
};

// nullopt where the plan gives the tensor no address outside the tile memory. Pads are not stored there.
std::optional<HomeLayout> FindAtHome(const Plan& plan, int tensor);

}  // namespace tessera::plan::lowering
