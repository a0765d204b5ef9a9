// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/order_search/order_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/structure.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/order_search/quick_placements.h"

namespace tessera::search::engines::order_search {
namespace {

CoreSearch SearchOf(Instance instance, uint64_t seed, size_t strand) {
  Offsets known = PlaceElementary(instance).value_or(Offsets{});
  return CoreSearch(std::move(instance), std::move(known), seed, strand);
}

}  // namespace

MemorySearch::MemorySearch(const problem::Problem& problem, size_t memory, uint64_t seed,
                           size_t strand)
    : problem_(problem),
      seed_(seed),
      strand_(strand),
      unit_(CommonAlignment(problem, memory)),
      whole_(SearchOf(MakeInstance(problem, memory), seed, strand)) {
  if (whole_.HasPlacement()) Measure();
}

// Sizes were rounded up, but nothing lies on the padding of the topmost buffer. So the peak may be
// lower than the top by less than a unit.
void MemorySearch::Lower(Bytes target, Effort& effort) {
  for (Bytes aim = base::RoundUp(target, unit_); !effort.IsOver(); aim -= unit_) {
    LowerPlaced(aim, effort);
    if (!whole_.HasPlacement()) return;
    Measure();
    if (*peak_ <= target) return;
  }
}

void MemorySearch::LowerPlaced(Bytes aim, Effort& effort) {
  if (!whole_.HasPlacement() && !whole_.Start(effort)) return;
  if (whole_.Count() == 0) return;
  if (!divided_ && whole_.Top() > aim) Split(aim);
  for (CoreSearch* search = Highest(); search->Top() > aim && !effort.IsOver(); search = Highest())
    search->Lower(aim, effort);
}

void MemorySearch::Split(Bytes aim) {
  divided_ = true;
  const Instance& whole = whole_.Whole();
  const std::vector<SectionRange> components = ComponentsOf(whole);
  if (components.size() == 1) return;
  for (const SectionRange& component : components) {
    std::vector<int> buffers(static_cast<size_t>(component.last - component.first));
    std::iota(buffers.begin(), buffers.end(), static_cast<int>(component.first));
    Offsets known;
    Bytes top = 0;
    for (const int i : buffers) {
      known.push_back(whole_.Best()[static_cast<size_t>(i)]);
      top = std::max(top, whole.Top(i, known.back()));
    }
    if (top > aim) parts_.emplace_back(Extract(whole, buffers), std::move(known), seed_, strand_);
  }
}

// Only the highest component can lower the peak.
CoreSearch* MemorySearch::Highest() {
  if (parts_.empty()) return &whole_;
  return &*std::max_element(
      parts_.begin(), parts_.end(),
      [](const CoreSearch& a, const CoreSearch& b) { return a.Top() < b.Top(); });
}

void MemorySearch::Measure() {
  Bytes peak = 0;
  const Instance& whole = whole_.Whole();
  const auto include = [&](int in_whole, Bytes offset) {
    const auto origin = static_cast<size_t>(whole.origin[static_cast<size_t>(in_whole)]);
    peak = std::max(peak, offset + problem_.buffers[origin].size);
  };
  if (parts_.empty()) {
    for (int i = 0; i < whole.Count(); ++i) include(i, whole_.Best()[static_cast<size_t>(i)]);
  } else {
    std::vector<Bytes> offsets(problem_.buffers.size(), 0);
    CopyTo(offsets);
    for (int i = 0; i < whole.Count(); ++i)
      include(i, offsets[static_cast<size_t>(whole.origin[static_cast<size_t>(i)])]);
  }
  peak_ = peak;
}

void MemorySearch::CopyTo(std::vector<Bytes>& offsets) const {
  const Instance& whole = whole_.Whole();
  for (size_t i = 0; i < whole.origin.size(); ++i)
    offsets[static_cast<size_t>(whole.origin[i])] = whole_.Best()[i];
  for (const CoreSearch& part : parts_) {
    const std::vector<int>& in_whole = part.Whole().origin;
    for (size_t i = 0; i < in_whole.size(); ++i) {
      const int origin = whole.origin[static_cast<size_t>(in_whole[i])];
      offsets[static_cast<size_t>(origin)] = part.Best()[i];
    }
  }
}

void MemorySearch::Adopt(std::span<const Bytes> offsets) {
  const Instance& whole = whole_.Whole();
  const auto of = [&](int in_whole) {
    return offsets[static_cast<size_t>(whole.origin[static_cast<size_t>(in_whole)])];
  };
  if (parts_.empty()) {
    Offsets all;
    all.reserve(whole.origin.size());
    for (int i = 0; i < whole.Count(); ++i) all.push_back(of(i));
    whole_.Adopt(std::move(all));
  }
  for (CoreSearch& part : parts_) {
    Offsets own;
    for (const int in_whole : part.Whole().origin) own.push_back(of(in_whole));
    part.Adopt(std::move(own));
  }
  Measure();
}

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
