// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/order_search.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/order_search/memory_search.h"

namespace tessera::search::engines::order_search {

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

class OrderSearchSession final : public allocate::SizedSession {
 public:
  OrderSearchSession(const Problem& problem, const Ladder* ladder, uint64_t seed)
      : allocate::SizedSession("order-search", allocate::BankSupport::kNone, problem, ladder),
        seed_(seed) {}

  Result LowerPeak(const problem::PeakQuery& query, const base::Budget& budget,
                   const base::Stop& stop) override {
    Result result;
    if (!OpenCandidate(query.candidate, stop, result)) return result;
    strand_ = query.strand;
    Search({query.target, query.capacity, query.known}, budget, stop, result);
    return result;
  }

 private:
  struct Goal {
    Bytes target;    // ends the search
    Bytes capacity;  // a higher peak is no answer
    const problem::Allocation* known = nullptr;
  };

  void Reopen() override {
    memories_.clear();
    memories_.resize(Sized().memories.size());
  }

  void Answer(Bytes capacity, const base::Budget& budget, const base::Stop& stop,
              Result& result) override {
    Search({capacity, capacity}, budget, stop, result);
  }

  void Search(const Goal& goal, const base::Budget& budget, const base::Stop& stop,
              Result& result) {
    if (const auto unsupported = FindUnsupportedOne()) {
      result.status = Status::kUnsupported;
      result.reason = "order search does not support " + *unsupported;
      return;
    }
    const int64_t most = base::kMaxTotal / OrderSearchEngine::kPlacementsPerUnit;
    Effort effort(std::min(budget.units, most) * OrderSearchEngine::kPlacementsPerUnit, stop);
    const bool fits = SearchMemories(goal, effort);
    result.statistics.nodes = base::CeilDiv(effort.Spent(), OrderSearchEngine::kPlacementsPerUnit);
    if (!fits) {
      result.status = Status::kUnknown;
      result.reason = stop.Requested() ? "order search was stopped"
                                       : "order search reached its limit of " +
                                             std::to_string(budget.units) + " nodes";
      return;
    }
    result.status = Status::kFeasible;
    problem::Allocation& allocation = result.allocation.emplace();
    allocation.offsets.assign(Sized().buffers.size(), 0);
    for (const std::optional<MemorySearch>& memory : memories_) memory->CopyTo(allocation.offsets);
    allocation.modes = problem::ConstantModes(Sized());
    result.peak = memories_[0]->Peak();
  }

  std::optional<std::string> FindUnsupportedOne() const {
    for (size_t memory = 0; memory < memories_.size(); ++memory) {
      if (auto unsupported = FindUnsupportedBuffer(Sized(), memory)) return unsupported;
    }
    return std::nullopt;
  }

  // The other memories come first, because they only have to fit.
  bool SearchMemories(const Goal& goal, Effort& effort) {
    for (size_t i = memories_.size(); i-- > 0;) {
      std::optional<MemorySearch>& memory = memories_[i];
      if (!memory) memory.emplace(Sized(), i, seed_, strand_);
      if (goal.known != nullptr) memory->Adopt(goal.known->offsets);
      const Bytes own = Sized().memories[i].capacity;
      memory->Lower(i == 0 ? goal.target : own, effort);
      if (!memory->HasPlacement() || memory->Peak() > (i == 0 ? goal.capacity : own)) return false;
    }
    return true;
  }

  uint64_t seed_;
  size_t strand_ = 0;
  std::vector<std::optional<MemorySearch>> memories_;  // for the current sizes
};

}  // namespace

size_t OrderSearchEngine::Strands() const { return CoreSearch::kStrands; }

std::unique_ptr<problem::Session> OrderSearchEngine::Open(const Problem& problem,
                                                          const Ladder* ladder) const {
  return std::make_unique<OrderSearchSession>(problem, ladder, seed_);
}

}  // namespace tessera::search::engines::order_search
