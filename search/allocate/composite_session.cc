// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/composite_session.h"

#include "tessera/problem/result.h"

namespace tessera::search::allocate {

void CompositeSession::Reopen() {
  composites_.clear();
  composites_.resize(Sized().memories.size());
  Restart(composites_.size());
}

bool CompositeSession::SolveMemory(size_t memory, Bytes capacity, const base::Budget& budget,
                                   const base::Stop& stop, problem::Result& result) {
  std::optional<Composites>& composites = composites_[memory];
  if (!composites) composites = BuildComposites(Sized(), static_cast<int>(memory), stop);
  result.status = problem::Status::kUnknown;
  if (!composites) {
    result.reason = "the search was stopped before it began";
    return false;
  }
  if (!composites->contradiction.empty()) {
    result.status = problem::Status::kInfeasible;
    result.reason = composites->contradiction;
    return false;
  }
  if (!composites->are_exact) {
    result.reason = "colocated buffers have alignments with a common multiple beyond 2^61 bytes";
    return false;
  }
  const std::optional<std::vector<Bytes>> bases =
      Place(memory, *composites, capacity, budget.units - result.statistics.nodes, stop, result);
  if (!bases) return false;
  result.status = problem::Status::kFeasible;
  composites->CopyTo(*bases, result.allocation->offsets);
  return true;
}

}  // namespace tessera::search::allocate
