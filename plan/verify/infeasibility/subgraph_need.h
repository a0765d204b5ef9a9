// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/infeasibility/progress.h"
#include "tessera/plan/verify/residency.h"

// The bytes of the tile memory that one subgraph needs, in any order of the operators inside it and
// around it.
namespace tessera::plan::verify::infeasibility {

// Bytes that some step needs, and for messages the operator of the step and the tensor that takes
// most of them.
struct Need {
  int64_t bytes = 0;
  int op = -1;
  int tensor = -1;
};

class SubgraphNeeds {
 public:
  // `plan` states network and profile, with the homes of all tensors. The arguments must outlive
  // this object.
  SubgraphNeeds(const Plan& plan, const std::vector<Users>& users, const Dependences& dependences);

  // A lower bound for the subgraph of the operators that are done after it and not before it: under
  // every tile, policy and set of kept tensors. More than any memory has if there can be no such
  // subgraph. The bound is the best that is known if it is at most `enough`, and may be any that
  // exceeds it; the operator `around` is examined first. Cost: for each operator that may be its
  // last one, a few tiles.
  Need Of(const Progress& before, const Progress& after, int around, int64_t enough);

  // Operators visited so far, times tensors.
  int64_t Work() const { return work_; }

 private:
  // Puts the operators of the network into this order.
  void Reorder(const std::vector<int>& order);

  const Plan& plan_;
  const Dependences& dependences_;
  Plan ordered_;            // its network and profile, with the operators in ...
  std::vector<int> order_;  // ... this order
  std::vector<Users> users_;
  int64_t constants_ = 0;  // at home in the tile memory
  int64_t work_ = 0;
};

}  // namespace tessera::plan::verify::infeasibility
