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

  // A lower bound for the subgraph of the operators that are in `after` and not in `before`, under
  // every tile, policy and set of kept tensors. The result exceeds every memory if no such subgraph
  // can exist. It is the best known bound if that is at most `enough`; otherwise it may be any
  // known bound above `enough`. The operator `around` is examined first. Cost: for each operator
  // that may be its last one, a few tiles.
  Need Of(const Progress& before, const Progress& after, int around, int64_t enough);

  // Operators visited so far, times tensors.
  int64_t Work() const { return work_; }

 private:
  // Puts the operators of the network into this order.
  void Reorder(const std::vector<int>& order);

  const Plan& plan_;
  const Dependences& dependences_;
  Plan ordered_;            // the plan's network and profile, with the operators in `order_`
  std::vector<int> order_;  // the current order of the operators
  std::vector<Users> users_;
  int64_t constants_ = 0;  // at home in the tile memory
  int64_t work_ = 0;
};

}  // namespace tessera::plan::verify::infeasibility
