#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tessera/plan/plan.h"

// Subgraphs that add up slice by slice: docs/program.md, "By depth".
namespace tessera::plan {

// One operator and what it multiplies.
struct DepthSlices {
  int op = -1;
  int64_t depth = 1;
  int64_t granule = 1;
  std::map<int, size_t> along;  // by tensor that is multiplied: the axis that runs over the depth
  int constant = -1;            // the one among them, if any,
  size_t channels = 0;          // its axis of output channels,
  size_t result_channels = 0;   // and the result's

  int64_t Count() const;
  int64_t DepthOf(int64_t slice) const;
};

// The depth of its slices, 0 where the subgraph's policy is another.
int64_t DepthOfSlices(const Plan& plan, const Subgraph& subgraph);

// nullopt where the subgraph's policy is another, or where it cannot be that.
std::optional<DepthSlices> FindDepthSlices(const Plan& plan, const Subgraph& subgraph);

// Why a subgraph with that policy cannot have it, apart from how its operands are held; empty if it can.
std::string DepthFault(const Plan& plan, const Subgraph& subgraph);

}  // namespace tessera::plan
