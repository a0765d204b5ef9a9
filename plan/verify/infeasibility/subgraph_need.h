// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

// The progress of a plan between two of its subgraphs, in any order of the operators.
namespace tessera::plan::verify::infeasibility {

// By operator, whether it is done. The set contains all operators on which its members depend.
using Done = std::vector<bool>;

// The dependences between operators.
class Dependences {
 public:
  // State imposes no order, so the results also cover orders that are impossible for a plan.
  Dependences(const graph::Graph& network, const std::vector<Users>& users);

  // The makers of the operands of an operator, ascending.
  const std::vector<int>& MakersFor(int op) const { return makers_[static_cast<size_t>(op)]; }

  // Whether every order has `first` before `second`.
  bool Precedes(int first, int second) const {
    return before_[static_cast<size_t>(second)][static_cast<size_t>(first)];
  }

 private:
  std::vector<std::vector<int>> makers_;
  std::vector<std::vector<bool>> before_;  // by operator: those that it depends on, directly or not
};

// A moment between two subgraphs, or before the first or after the last.
struct Progress {
  Done done;
  std::vector<int> held;  // tensors that lie whole in the tile memory at that moment, ascending
  int64_t bytes = 0;      // the bytes of these tensors
};

// The bytes of a tensor as a whole buffer, if it is at home in the tile memory in every subgraph
// that it enters or leaves; 0 for others, for constants, and for states and their next values,
// which may lie in one place.
int64_t WholeBytes(const Plan& plan, int tensor);

// Whether a tensor outlives that moment: it exists, and is needed later.
bool IsHeldAt(const Plan& plan, const std::vector<Users>& users, int tensor, const Done& done);

Progress ProgressAt(const Plan& plan, const std::vector<Users>& users, Done done);

// Every moment at which a plan may begin or end a subgraph, each once. nullopt if there are more
// than `most`. Cost: operators and tensors for each.
std::optional<std::vector<Progress>> FindProgress(const Plan& plan, const std::vector<Users>& users,
                                                  const Dependences& dependences, size_t most);

// The bytes of the tile memory that one subgraph needs, in any order of the operators inside it and
// around it.

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
