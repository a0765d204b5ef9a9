#include "tessera/search/allocate/repair.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/checked.h"
#include "tessera/search/allocate/canonical_model.h"
#include "tessera/search/allocate/constraints.h"
#include "tessera/search/allocate/contracted_session.h"
#include "tessera/search/allocate/repair_search.h"
#include "tessera/search/allocate/sized_session.h"

namespace tessera::search {

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

// One memory. The search refers to the model, so neither moves.
struct RepairShop {
  RepairShop(const Problem& problem, int memory, uint64_t seed)
      : model(BuildModel(problem, memory)), search(model, seed) {}
  RepairShop(const RepairShop&) = delete;
  RepairShop& operator=(const RepairShop&) = delete;

  CanonicalModel model;
  RepairSearch search;
};

class RepairSession final : public SizedSession {
 public:
  RepairSession(const Problem& problem, const Ladder* ladder, uint64_t seed)
      : SizedSession("repair", BankSupport::kNone, problem, ladder), seed_(seed) {}

 private:
  void Reopen() override {
    shops_.clear();
    shops_.resize(Sized().memories.size());
    refusals_.assign(shops_.size(), "");
  }

  void Answer(Bytes capacity, const base::Budget& budget, const base::Stop& stop, Result& result) override {
    result.status = Status::kUnknown;
    problem::Allocation allocation;
    for (const problem::Buffer& buffer : Sized().buffers)
      allocation.offsets.push_back(buffer.offset.value_or(0));
    allocation.modes = ConstantModes(Sized());
    for (size_t memory = 0; memory < shops_.size(); ++memory) {
      const Bytes limit = memory == 0 ? capacity : Sized().memories[memory].capacity;
      if (!MendMemory(memory, limit, budget, stop, result)) return;
      const RepairShop& shop = *shops_[memory];
      for (size_t i = 0; i < shop.model.buffers.size(); ++i) {
        allocation.offsets[static_cast<size_t>(shop.model.buffers[i])] = shop.search.Offsets()[i];
      }
    }
    result.status = Status::kFeasible;
    result.peak = PeakOf(Sized(), allocation);
    result.allocation = std::move(allocation);
  }

  // False, with the reason in the result, where overlaps are left.
  bool MendMemory(size_t memory, Bytes capacity, const base::Budget& budget, const base::Stop& stop,
                  Result& result) {
    const std::string name = "memory '" + Sized().memories[memory].name + "'";
    if (const std::string refusal = Open(memory, stop.MemoryLimit()); !refusal.empty()) {
      result.reason = "repair does not take " + refusal;
      return false;
    }
    auto& [model, search] = *shops_[memory];
    if (!model.contradiction.empty() || model.fixed_top > capacity || !search.Confine(capacity)) {
      result.reason = "some buffer has no place of its own in " + name;
      return false;
    }
    const int64_t steps_of_unit = std::max<int64_t>(model.Count() / RepairEngine::kBuffersPerStep, 1);
    const int64_t units = std::min(budget.units - result.statistics.nodes, base::kMaxTotal / steps_of_unit);
    result.statistics.nodes += base::CeilDiv(search.Mend(units * steps_of_unit, stop), steps_of_unit);
    if (!search.HasOverlaps()) return true;
    result.reason = stop.Requested()
                        ? "repair was stopped"
                        : "repair reached its limit of " + std::to_string(budget.units) + " nodes";
    return false;
  }

  // Why the memory is too large, in words; empty if it is not.
  std::string Open(size_t memory, int64_t memory_limit) {
    if (shops_[memory]) return "";
    std::string& refusal = refusals_[memory];
    if (!refusal.empty()) return refusal;
    const auto number = static_cast<int>(memory);
    if (const auto oversize = FindOversize(Sized(), number, memory_limit)) return refusal = *oversize;
    auto shop = std::make_unique<RepairShop>(Sized(), number, seed_);
    int64_t ends = 0;
    for (int i = 0; i < shop->model.Count(); ++i)
      ends += static_cast<int64_t>(shop->model.neighbours[i].size());
    if (ends > 2 * RepairEngine::kMostPairs) {
      return refusal = "more than " + std::to_string(RepairEngine::kMostPairs) + " conflicts in memory '" +
                       Sized().memories[memory].name + "'";
    }
    shops_[memory] = std::move(shop);
    return "";
  }

  uint64_t seed_;
  // Of the sizes last asked for, by memory.
  std::vector<std::unique_ptr<RepairShop>> shops_;
  std::vector<std::string> refusals_;
};

}  // namespace

std::unique_ptr<problem::Session> RepairEngine::Open(const Problem& problem, const Ladder* ladder) const {
  return OpenContracted(Name(), problem, ladder, [this](const Problem& contracted, const Ladder* rungs) {
    return std::make_unique<RepairSession>(contracted, rungs, seed_);
  });
}

}  // namespace tessera::search
