#include "tessera/search/allocate/greedy.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/constraints.h"
#include "tessera/search/allocate/contracted_session.h"
#include "tessera/search/allocate/greedy_placement.h"
#include "tessera/search/allocate/sized_session.h"

namespace tessera::search {

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

struct Recipe {
  GreedyOrder order;
  Fit fit;
};

constexpr Recipe kRecipes[] = {
    {GreedyOrder::kContention, Fit::kFirst}, {GreedyOrder::kSize, Fit::kFirst},
    {GreedyOrder::kArea, Fit::kFirst},       {GreedyOrder::kLifetime, Fit::kFirst},
    {GreedyOrder::kBirth, Fit::kBest},       {GreedyOrder::kDeath, Fit::kBest},
    {GreedyOrder::kSize, Fit::kBest},        {GreedyOrder::kBirth, Fit::kFirst},
};

enum class PassOutcome : uint8_t { kFits, kAllTried, kLimit, kStopped };

// The passes over one memory, made one after the other as capacities ask for them. A pass ends where it first
// exceeds the capacity, so a larger one may ask for it again.
class MemoryPasses {
 public:
  MemoryPasses(const Problem& problem, int memory) : problem_(problem), memory_(memory) {}

  const Bound& LowerBound() {
    if (!bound_) bound_ = FindBound(problem_, memory_);
    return *bound_;
  }

  // Makes passes until one keeps within the capacity. `units` is lowered by the buffers of each pass.
  PassOutcome Reach(Bytes capacity, int64_t& units, const base::Stop& stop) {
    if (!placement_) {
      placement_.emplace(problem_, memory_);
      hinted_ = placement_->HasHints() ? std::size(kRecipes) : 0;
      too_small_.assign(hinted_ + std::size(kRecipes), -1);
    }
    for (size_t pass = 0; pass < too_small_.size() && peak_ > capacity; ++pass) {
      if (too_small_[pass] >= capacity) continue;
      if (stop.Requested()) return PassOutcome::kStopped;
      if (units <= 0) return PassOutcome::kLimit;
      const Recipe& recipe = kRecipes[pass % std::size(kRecipes)];
      auto offsets = placement_->Place(recipe.order, recipe.fit, pass < hinted_, capacity, stop);
      units -= static_cast<int64_t>(placement_->Buffers().size());
      if (!offsets && stop.Requested()) return PassOutcome::kStopped;
      too_small_[pass] = capacity;
      if (offsets) {
        Keep(*std::move(offsets));
        too_small_[pass] = peak_ - 1;
      }
    }
    return peak_ <= capacity ? PassOutcome::kFits : PassOutcome::kAllTried;
  }

  void CopyTo(std::vector<Bytes>& offsets) const {
    for (size_t i = 0; i < best_.size(); ++i)
      offsets[static_cast<size_t>(placement_->Buffers()[i])] = best_[i];
  }

 private:
  void Keep(std::vector<Bytes> offsets) {
    best_ = std::move(offsets);
    peak_ = 0;
    for (size_t i = 0; i < best_.size(); ++i) {
      const auto buffer = static_cast<size_t>(placement_->Buffers()[i]);
      peak_ = std::max(peak_, best_[i] + problem_.buffers[buffer].size);
    }
  }

  const Problem& problem_;
  int memory_;
  std::optional<Bound> bound_;
  std::optional<GreedyPlacement> placement_;
  size_t hinted_ = 0;             // passes that try hints come first; without hints there are none
  std::vector<Bytes> too_small_;  // by pass: the greatest capacity known not to suffice it
  Bytes peak_ =
      std::numeric_limits<Bytes>::max();  // of the best pass; beyond any capacity where there is none
  std::vector<Bytes> best_;
};

class GreedySession final : public SizedSession {
 public:
  GreedySession(const Problem& problem, const Ladder* ladder)
      : SizedSession("greedy", BankSupport::kWindows, problem, ladder) {}

 private:
  void Reopen() override {
    passes_.clear();
    for (size_t memory = 0; memory < Sized().memories.size(); ++memory) {
      passes_.emplace_back(Sized(), static_cast<int>(memory));
    }
  }

  void Answer(Bytes capacity, const base::Budget& budget, const base::Stop& stop, Result& result) override {
    int64_t units = budget.units;
    for (size_t memory = 0; memory < passes_.size(); ++memory) {
      const Bytes limit = memory == 0 ? capacity : Sized().memories[memory].capacity;
      if (!SolveMemory(memory, limit, units, stop, result)) break;
    }
    result.statistics.nodes = budget.units - units;
    if (result.reason.empty()) Place(result);
  }

  // Whether to go on with the next memory; otherwise the reason says why not.
  bool SolveMemory(size_t memory, Bytes capacity, int64_t& units, const base::Stop& stop, Result& result) {
    result.status = Status::kUnknown;
    switch (passes_[memory].Reach(capacity, units, stop)) {
      case PassOutcome::kFits:
        return true;
      case PassOutcome::kAllTried:
        Refute(memory, capacity, result);
        break;
      case PassOutcome::kLimit:
        result.reason = "greedy orders reached their limit";
        break;
      case PassOutcome::kStopped:
        result.reason = "greedy orders were stopped";
        break;
    }
    return false;
  }

  // No order fits: perhaps because nothing can. A bound costs as much as a pass, so it waits until then.
  void Refute(size_t memory, Bytes capacity, Result& result) {
    const Bound& bound = passes_[memory].LowerBound();
    if (memory == 0) result.lower_bound = bound.bytes;
    if (bound.bytes <= capacity) {
      result.reason = "no greedy order fits";
    } else {
      result.status = Status::kInfeasible;
      result.reason = Explain(Sized(), bound, capacity);
    }
  }

  void Place(Result& result) const {
    result.status = Status::kFeasible;
    problem::Allocation& allocation = result.allocation.emplace();
    allocation.offsets.resize(Sized().buffers.size());
    allocation.modes = ConstantModes(Sized());
    for (const MemoryPasses& passes : passes_) passes.CopyTo(allocation.offsets);
    result.peak = PeakOf(Sized(), allocation);
  }

  std::vector<MemoryPasses> passes_;  // of the sizes last asked for, by memory
};

}  // namespace

std::unique_ptr<problem::Session> GreedyEngine::Open(const Problem& problem, const Ladder* ladder) const {
  return OpenContracted(Name(), problem, ladder, [](const Problem& contracted, const Ladder* rungs) {
    return std::make_unique<GreedySession>(contracted, rungs);
  });
}

}  // namespace tessera::search
