// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/greedy/greedy.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <optional>
#include <tuple>

#include "tessera/problem/structure.h"
#include "tessera/search/allocate/bounds.h"
#include "tessera/search/allocate/composites.h"
#include "tessera/search/allocate/engine_session.h"
#include "tessera/search/engines/greedy/composite_greedy.h"

namespace tessera::search::engines::greedy {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

// Maxima over ranges of a fixed sequence: row k holds the maxima of 2^k neighbours. O(n log n) to
// build, O(1) per query.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::vector<problem::Bytes> values) {
    rows_.push_back(std::move(values));
    for (size_t width = 1; 2 * width <= rows_[0].size(); width *= 2) {
      const std::vector<problem::Bytes>& last = rows_.back();
      std::vector<problem::Bytes> row(last.size() - width);
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(last[i], last[i + width]);
      rows_.push_back(std::move(row));
    }
  }

  problem::Bytes In(allocate::SectionRange range) const {
    const auto width = std::bit_floor(static_cast<size_t>(range.last - range.first));
    const auto row = static_cast<size_t>(std::countr_zero(width));
    const size_t last = static_cast<size_t>(range.last) - width;
    return std::max(rows_[row][static_cast<size_t>(range.first)], rows_[row][last]);
  }

 private:
  std::vector<std::vector<problem::Bytes>> rows_;
};

}  // namespace

// The state of a pass. Buffers with exclusive partners are not in `occupancy`, because it does not
// record the owners of bytes; they are checked one by one.
struct GreedyPlacement::Pass {
  allocate::Occupancy occupancy;
  std::vector<problem::Bytes> offsets;
  std::vector<bool> placed;
  std::vector<size_t> apart;  // placed buffers that have exclusive partners

  // For the current buffer.
  std::vector<const allocate::RangeList*> taken = {};  // the ranges that conflict with it
  // The part of `taken` that does not follow from lifespans.
  allocate::RangeList further_taken = {};
};

GreedyPlacement::GreedyPlacement(const Problem& problem, int memory)
    : problem_(problem),
      buffers_(allocate::BuffersOf(problem, memory)),
      sections_(allocate::FindSections(problem, buffers_)) {
  std::vector<problem::Bytes> change(static_cast<size_t>(sections_.Count()) + 1, 0);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = BufferAt(i);
    positions_.emplace_back(allocate::WindowsOf(problem, buffer),
                            problem::AlignmentOf(problem, buffer), buffer.size);
    for (const allocate::SectionRange& range : sections_.ranges[i]) {
      change[static_cast<size_t>(range.first)] += buffer.size;
      change[static_cast<size_t>(range.last)] -= buffer.size;
    }
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  const RangeMaximum load(std::move(change));
  for (const std::vector<allocate::SectionRange>& ranges : sections_.ranges) {
    problem::Bytes greatest = 0;
    for (const allocate::SectionRange& range : ranges)
      greatest = std::max(greatest, load.In(range));
    contention_.push_back(greatest);
  }

  separate_.resize(buffers_.size());
  exclusive_.resize(buffers_.size());
  for (const Relation& relation : problem.relations) {
    if (problem.buffers[static_cast<size_t>(relation.first)].memory != memory) continue;
    const bool separate = relation.kind == RelationKind::kSeparate;
    if (!separate && relation.kind != RelationKind::kExclusive) continue;
    const size_t first = NumberOf(relation.first), second = NumberOf(relation.second);
    auto& partners = separate ? separate_ : exclusive_;
    partners[first].push_back(second);
    partners[second].push_back(first);
  }
}

// Returns the position of a buffer of the memory in Buffers(), which ascend.
size_t GreedyPlacement::NumberOf(int buffer) const {
  return static_cast<size_t>(std::lower_bound(buffers_.begin(), buffers_.end(), buffer) -
                             buffers_.begin());
}

bool GreedyPlacement::HasHints() const {
  return std::any_of(buffers_.begin(), buffers_.end(), [this](int i) {
    return problem_.buffers[static_cast<size_t>(i)].hint.has_value();
  });
}

std::vector<size_t> GreedyPlacement::Sequence(GreedyOrder order) const {
  using Key = std::tuple<double, double, double>;
  std::vector<Key> keys;
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = BufferAt(i);
    double lifetime = 0;
    for (const problem::Lifespan& life : buffer.lifespans)
      lifetime += static_cast<double>(life.upper - life.lower);
    const auto size = static_cast<double>(buffer.size);
    const auto birth = static_cast<double>(buffer.lifespans.front().lower);
    const auto death = static_cast<double>(buffer.lifespans.back().upper);
    switch (order) {
      case GreedyOrder::kSize:
        keys.emplace_back(size, lifetime, -birth);
        break;
      case GreedyOrder::kArea:
        keys.emplace_back(size * lifetime, size, -birth);
        break;
      case GreedyOrder::kLifetime:
        keys.emplace_back(lifetime, size, -birth);
        break;
      case GreedyOrder::kContention:
        keys.emplace_back(static_cast<double>(contention_[i]), size, lifetime);
        break;
      case GreedyOrder::kBirth:
        keys.emplace_back(-birth, size, lifetime);
        break;
      case GreedyOrder::kDeath:
        keys.emplace_back(death, size, lifetime);
        break;
    }
  }
  std::vector<size_t> sequence(buffers_.size());
  std::iota(sequence.begin(), sequence.end(), size_t{0});
  std::sort(sequence.begin(), sequence.end(), [&](size_t a, size_t b) {
    const bool a_fixed = BufferAt(a).offset.has_value(), b_fixed = BufferAt(b).offset.has_value();
    if (a_fixed != b_fixed) return a_fixed;
    return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
  });
  return sequence;
}

std::optional<std::vector<problem::Bytes>> GreedyPlacement::Place(GreedyOrder order,
                                                                  allocate::Fit fit, bool use_hints,
                                                                  problem::Bytes capacity,
                                                                  const base::Stop& stop) const {
  static constexpr size_t kPlacedBetweenStops = 64;
  Pass pass{allocate::Occupancy(sections_.Count()),
            std::vector<problem::Bytes>(buffers_.size(), 0),
            std::vector<bool>(buffers_.size(), false),
            {}};
  size_t placed = 0;
  for (const size_t i : Sequence(order)) {
    if (placed++ % kPlacedBetweenStops == 0 && stop.Requested()) return std::nullopt;
    if (!PlaceOne(pass, i, fit, use_hints, capacity)) return std::nullopt;
  }
  return std::move(pass.offsets);
}

bool GreedyPlacement::PlaceOne(Pass& pass, size_t i, allocate::Fit fit, bool use_hints,
                               problem::Bytes capacity) const {
  const Buffer& buffer = BufferAt(i);
  std::vector<const allocate::RangeList*>& taken = pass.taken;
  Collect(pass, i);

  const auto stands = [&](problem::Bytes offset) {
    return positions_[i].AtLeast(offset) == offset &&
           allocate::IsFree(taken, {offset, offset + buffer.size});
  };
  problem::Bytes offset = allocate::kNoPosition;
  if (buffer.offset) {
    if (!stands(*buffer.offset)) return false;
    offset = *buffer.offset;
  } else if (use_hints && buffer.hint && stands(*buffer.hint)) {
    offset = *buffer.hint;
  } else {
    offset = allocate::FindFit(positions_[i], taken, fit);
  }
  if (offset >= allocate::kNoPosition || offset > capacity - buffer.size) return false;

  pass.offsets[i] = offset;
  pass.placed[i] = true;
  if (!exclusive_[i].empty()) {
    pass.apart.push_back(i);
    return true;
  }
  for (const allocate::SectionRange& range : sections_.ranges[i]) {
    pass.occupancy.Insert(range, {offset, offset + buffer.size});
  }
  return true;
}

// Fills `taken` with the lists of the ranges that conflict with buffer i.
void GreedyPlacement::Collect(Pass& pass, size_t i) const {
  pass.taken.clear();
  pass.further_taken.clear();
  for (const allocate::SectionRange& range : sections_.ranges[i])
    pass.occupancy.Collect(range, pass.taken);
  const auto add = [&](size_t j) {
    allocate::Merge(pass.further_taken, {pass.offsets[j], pass.offsets[j] + BufferAt(j).size});
  };
  for (const size_t j : pass.apart) {
    const bool exclusive =
        std::find(exclusive_[i].begin(), exclusive_[i].end(), j) != exclusive_[i].end();
    if (!exclusive && problem::LiveTogether(BufferAt(i), BufferAt(j))) add(j);
  }
  for (const size_t j : separate_[i]) {
    if (pass.placed[j]) add(j);
  }
  if (!pass.further_taken.empty()) pass.taken.push_back(&pass.further_taken);
}

using problem::Ladder;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

struct Recipe {
  GreedyOrder order;
  allocate::Fit fit;
};

constexpr Recipe kRecipes[] = {
    {GreedyOrder::kContention, allocate::Fit::kFirst},
    {GreedyOrder::kSize, allocate::Fit::kFirst},
    {GreedyOrder::kArea, allocate::Fit::kFirst},
    {GreedyOrder::kLifetime, allocate::Fit::kFirst},
    {GreedyOrder::kBirth, allocate::Fit::kBest},
    {GreedyOrder::kDeath, allocate::Fit::kBest},
    {GreedyOrder::kSize, allocate::Fit::kBest},
    {GreedyOrder::kBirth, allocate::Fit::kFirst},
};

enum class PassOutcome : uint8_t { kFits, kAllTried, kLimit, kStopped };

// The passes over one memory, run on demand for a capacity. A pass ends when it first exceeds the
// capacity, so a larger capacity may run it again.
class MemoryPasses {
 public:
  MemoryPasses(const Problem& problem, int memory) : problem_(problem), memory_(memory) {}

  const allocate::Bound& LowerBound() {
    if (!bound_) bound_ = allocate::FindBound(problem_, memory_);
    return *bound_;
  }

  // Runs passes until one is within the capacity. `units` is reduced by the buffers of each pass.
  PassOutcome Reach(problem::Bytes capacity, int64_t& units, const base::Stop& stop) {
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

  void CopyTo(std::vector<problem::Bytes>& offsets) const {
    for (size_t i = 0; i < best_.size(); ++i)
      offsets[static_cast<size_t>(placement_->Buffers()[i])] = best_[i];
  }

 private:
  void Keep(std::vector<problem::Bytes> offsets) {
    best_ = std::move(offsets);
    peak_ = 0;
    for (size_t i = 0; i < best_.size(); ++i) {
      const auto buffer = static_cast<size_t>(placement_->Buffers()[i]);
      peak_ = std::max(peak_, best_[i] + problem_.buffers[buffer].size);
    }
  }

  const Problem& problem_;
  int memory_;
  std::optional<allocate::Bound> bound_;
  std::optional<GreedyPlacement> placement_;
  size_t hinted_ = 0;                      // passes that try hints come first; none without hints
  std::vector<problem::Bytes> too_small_;  // by pass: the greatest capacity known to be too small
  // The peak of the best pass; above any capacity if there is none.
  problem::Bytes peak_ = std::numeric_limits<problem::Bytes>::max();
  std::vector<problem::Bytes> best_;
};

class GreedySession final : public allocate::PerMemorySession {
 public:
  GreedySession(const Problem& problem, const Ladder* ladder)
      : allocate::PerMemorySession("greedy", allocate::BankSupport::kWindows, problem, ladder) {}

 private:
  void Reopen() override {
    passes_.clear();
    for (size_t memory = 0; memory < Sized().memories.size(); ++memory) {
      passes_.emplace_back(Sized(), static_cast<int>(memory));
    }
  }

  bool SolveMemory(size_t memory, problem::Bytes capacity, const base::Budget& budget,
                   const base::Stop& stop, Result& result) override {
    int64_t units = budget.units - result.statistics.nodes;
    const PassOutcome outcome = passes_[memory].Reach(capacity, units, stop);
    result.statistics.nodes = budget.units - units;
    if (outcome == PassOutcome::kFits) {
      passes_[memory].CopyTo(result.allocation->offsets);
      return true;
    }
    result.status = Status::kUnknown;
    if (outcome == PassOutcome::kAllTried) Refute(memory, capacity, result);
    if (outcome == PassOutcome::kLimit) result.reason = "greedy orders reached their limit";
    if (outcome == PassOutcome::kStopped) result.reason = "greedy orders were stopped";
    return false;
  }

  // Tests whether a bound refutes the capacity. A bound costs as much as a pass, so it is computed
  // only if no order fits.
  void Refute(size_t memory, problem::Bytes capacity, Result& result) {
    const allocate::Bound& bound = passes_[memory].LowerBound();
    if (memory == 0) result.lower_bound = bound.bytes;
    if (bound.bytes <= capacity) {
      result.reason = "no greedy order fits";
    } else {
      result.status = Status::kInfeasible;
      result.reason = allocate::Explain(Sized(), bound, capacity);
    }
  }

  std::vector<MemoryPasses> passes_;  // for the current sizes, by memory
};

}  // namespace

std::unique_ptr<problem::Session> GreedyEngine::Open(const Problem& problem,
                                                     const Ladder* ladder) const {
  return allocate::OpenContracted(
      Name(), problem, ladder,
      [](const Problem& contracted, const Ladder* candidates) -> std::unique_ptr<problem::Session> {
        if (allocate::HasFixedDistances(contracted))
          return OpenCompositeGreedy(contracted, candidates);
        return std::make_unique<GreedySession>(contracted, candidates);
      });
}

}  // namespace tessera::search::engines::greedy
