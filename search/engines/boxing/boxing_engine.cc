// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/boxing/boxing_engine.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/allocate/occupancy.h"
#include "tessera/search/engines/order_search/order_search.h"
#include "tessera/search/engines/order_search/quick_placements.h"

namespace tessera::search::engines::boxing {
namespace {

std::vector<BoxingSchedule> SchedulesOf(const Instance& instance, BoxingOptions options) {
  std::vector<Bytes> heights = instance.size;
  std::sort(heights.begin(), heights.end());
  std::vector<BoxingSchedule> schedules = {MakeSchedule(heights, instance.greatest_load, options)};
  if (!options.calibration) return schedules;
  options.calibration = false;
  schedules.push_back(MakeSchedule(heights, instance.greatest_load, options));
  return schedules;
}

}  // namespace

Offsets OffsetsOf(const Boxing& boxing) {
  Offsets offsets(boxing.jobs.size(), 0);
  std::map<Bytes, std::vector<int>> outermost;  // by height
  for (size_t i = 0; i < boxing.jobs.size(); ++i) {
    if (boxing.jobs[i].parent < 0) outermost[boxing.jobs[i].height].push_back(static_cast<int>(i));
  }
  Bytes bottom = 0;
  for (auto& [height, boxes] : outermost) {
    const std::vector<int> rows = ColourRows(boxing.jobs, boxes);
    int most = 0;
    for (size_t i = 0; i < boxes.size(); ++i) {
      offsets[static_cast<size_t>(boxes[i])] = bottom + rows[i] * height;
      most = std::max(most, rows[i] + 1);
    }
    bottom += most * height;
  }
  // A box comes after its contents.
  for (size_t i = boxing.jobs.size(); i-- > 0;) {
    const Job& job = boxing.jobs[i];
    if (job.parent >= 0) offsets[i] = offsets[static_cast<size_t>(job.parent)] + job.at;
  }
  return offsets;
}

BoxSearch::BoxSearch(Instance instance, Offsets known, uint64_t seed, const BoxingOptions& options)
    : instance_(std::move(instance)),
      options_(options),
      random_(seed),
      schedules_(SchedulesOf(instance_, options)),
      placed_(instance_) {
  if (!known.empty()) Adopt(std::move(known));
}

void BoxSearch::Adopt(Offsets known) {
  const Bytes top = order_search::TopOf(instance_, known);
  if (top >= top_) return;
  top_ = top;
  best_ = std::move(known);
}

bool BoxSearch::Iterate(Effort& effort) {
  if (best_.empty()) return PlaceBelow(SizeOrder(), allocate::kNoPosition, effort);
  const BoxingSchedule& schedule =
      schedules_[static_cast<size_t>(iterations_++) % schedules_.size()];
  if (!BoxAll(instance_, schedule, options_, random_, effort, boxing_)) return false;
  return PlaceBelow(UnboxedOrder(boxing_), top_ - 1, effort);
}

// Returns the buffers by decreasing size, then life.
Order BoxSearch::SizeOrder() const {
  Order order(instance_.size.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int buffer) {
    const auto i = static_cast<size_t>(buffer);
    return std::tuple(-instance_.size[i], -instance_.life[i], buffer);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  return order;
}

// Returns the buffers by offset; without unboxing, by the offset of the outermost box alone.
Order BoxSearch::UnboxedOrder(const Boxing& boxing) {
  Offsets offsets = OffsetsOf(boxing);
  if (!options_.unboxing) {
    for (size_t i = offsets.size(); i-- > 0;) {
      const int parent = boxing.jobs[i].parent;
      if (parent >= 0) offsets[i] = offsets[static_cast<size_t>(parent)];
    }
  }
  Order order(instance_.size.size());
  std::iota(order.begin(), order.end(), 0);
  random_.Shuffle(std::span<int>(order));
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return offsets[static_cast<size_t>(a)] < offsets[static_cast<size_t>(b)];
  });
  return order;
}

bool BoxSearch::PlaceBelow(const Order& order, Bytes limit, Effort& effort) {
  placed_.Clear();
  offsets_.assign(instance_.size.size(), 0);
  for (const int buffer : order) {
    const int64_t before = placed_.Work();
    const Bytes offset = placed_.FirstFit(buffer, limit);
    if (!effort.Spend(placed_.Work() - before)) return false;
    if (offset < 0) return true;
    offsets_[static_cast<size_t>(buffer)] = offset;
    placed_.Insert(buffer, offset);
  }
  Adopt(offsets_);
  return true;
}

using order_search::Effort;
using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

constexpr int64_t kPlacementsPerUnit = order_search::OrderSearchEngine::kPlacementsPerUnit;

// The search in one memory.
class MemoryBoxing {
 public:
  MemoryBoxing(const Problem& problem, size_t memory, uint64_t seed, const BoxingOptions& options)
      : problem_(problem) {
    Instance instance = order_search::MakeInstance(problem, memory);
    if (instance.Count() == 0) return;
    Offsets known = order_search::PlaceElementary(instance).value_or(Offsets{});
    search_.emplace(std::move(instance), std::move(known), seed, options);
  }

  // Sizes were rounded up to the common alignment, so the peak may be less than the top.
  void Lower(Bytes target, Effort& effort) {
    while (search_ && !effort.IsOver()) {
      if (search_->HasPlacement() && Peak() <= target) return;
      if (!search_->Iterate(effort)) return;
    }
  }

  bool HasPlacement() const { return !search_ || search_->HasPlacement(); }

  Bytes Peak() const {
    Bytes peak = 0;
    Visit([&](size_t origin, Bytes offset) {
      peak = std::max(peak, offset + problem_.buffers[origin].size);
    });
    return peak;
  }

  void CopyTo(std::vector<Bytes>& offsets) const {
    Visit([&](size_t origin, Bytes offset) { offsets[origin] = offset; });
  }

  void Adopt(const std::vector<Bytes>& offsets) {
    if (!search_) return;
    Offsets known;
    for (const int origin : search_->Whole().origin)
      known.push_back(offsets[static_cast<size_t>(origin)]);
    search_->Adopt(std::move(known));
  }

 private:
  template <typename See>
  void Visit(const See& see) const {
    if (!search_) return;
    const std::vector<int>& origin = search_->Whole().origin;
    for (size_t i = 0; i < origin.size(); ++i)
      see(static_cast<size_t>(origin[i]), search_->Best()[i]);
  }

  const Problem& problem_;
  std::optional<BoxSearch> search_;  // none without buffers
};

class BoxingSession final : public allocate::SizedSession {
 public:
  BoxingSession(const Problem& problem, const Ladder* ladder, uint64_t seed,
                const BoxingOptions& options)
      : allocate::SizedSession("boxing", allocate::BankSupport::kNone, problem, ladder),
        seed_(seed),
        options_(options) {}

  Result LowerPeak(const problem::PeakQuery& query, const base::Budget& budget,
                   const base::Stop& stop) override {
    Result result;
    if (!OpenCandidate(query.candidate, stop, result)) return result;
    strand_ = query.strand;
    Search(query.target, query.capacity, query.known, budget, stop, result);
    return result;
  }

 private:
  void Reopen() override {
    memories_.clear();
    memories_.resize(Sized().memories.size());
  }

  void Answer(Bytes capacity, const base::Budget& budget, const base::Stop& stop,
              Result& result) override {
    Search(capacity, capacity, nullptr, budget, stop, result);
  }

  void Search(Bytes target, Bytes capacity, const problem::Allocation* known,
              const base::Budget& budget, const base::Stop& stop, Result& result) {
    for (size_t memory = 0; memory < memories_.size(); ++memory) {
      const auto unsupported = order_search::FindUnsupportedBuffer(Sized(), memory);
      if (!unsupported) continue;
      result.status = Status::kUnsupported;
      result.reason = "boxing does not support " + *unsupported;
      return;
    }
    const int64_t most = base::kMaxTotal / kPlacementsPerUnit;
    Effort effort(std::min(budget.units, most) * kPlacementsPerUnit, stop);
    const bool fits = SearchMemories(target, capacity, known, effort);
    result.statistics.nodes = base::CeilDiv(effort.Spent(), kPlacementsPerUnit);
    if (!fits) {
      result.status = Status::kUnknown;
      result.reason = stop.Requested() ? "boxing was stopped"
                                       : "boxing reached its limit of " +
                                             std::to_string(budget.units) + " nodes";
      return;
    }
    result.status = Status::kFeasible;
    problem::Allocation& allocation = result.allocation.emplace();
    allocation.offsets.assign(Sized().buffers.size(), 0);
    for (const std::optional<MemoryBoxing>& memory : memories_) memory->CopyTo(allocation.offsets);
    allocation.modes = problem::ConstantModes(Sized());
    result.peak = memories_[0]->Peak();
  }

  // The other memories come first, because they only have to fit.
  bool SearchMemories(Bytes target, Bytes capacity, const problem::Allocation* known,
                      Effort& effort) {
    for (size_t i = memories_.size(); i-- > 0;) {
      std::optional<MemoryBoxing>& memory = memories_[i];
      if (!memory) memory.emplace(Sized(), i, SeedOf(i), options_);
      if (known != nullptr) memory->Adopt(known->offsets);
      const Bytes own = Sized().memories[i].capacity;
      memory->Lower(i == 0 ? target : own, effort);
      if (!memory->HasPlacement() || memory->Peak() > (i == 0 ? capacity : own)) return false;
    }
    return true;
  }

  uint64_t SeedOf(size_t memory) const {
    constexpr uint64_t kMostMemories = 1'000, kMostStrands = 8;
    return (seed_ * kMostMemories + memory) * kMostStrands + strand_;
  }

  uint64_t seed_;
  BoxingOptions options_;
  size_t strand_ = 0;
  std::vector<std::optional<MemoryBoxing>> memories_;  // for the current sizes
};

}  // namespace

std::unique_ptr<problem::Session> BoxingEngine::Open(const Problem& problem,
                                                     const Ladder* ladder) const {
  return std::make_unique<BoxingSession>(problem, ladder, seed_, options_);
}

}  // namespace tessera::search::engines::boxing
