#include "tessera/search/allocate/greedy_placement.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <tuple>

namespace tessera::search {

using problem::Buffer;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

// Maxima over ranges of a fixed sequence: row k holds the maxima of 2^k neighbours. O(n log n) to build, O(1)
// to ask.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::vector<Bytes> values) {
    rows_.push_back(std::move(values));
    for (size_t width = 1; 2 * width <= rows_[0].size(); width *= 2) {
      const std::vector<Bytes>& last = rows_.back();
      std::vector<Bytes> row(last.size() - width);
      for (size_t i = 0; i < row.size(); ++i) row[i] = std::max(last[i], last[i + width]);
      rows_.push_back(std::move(row));
    }
  }

  Bytes In(SectionRange range) const {
    const auto width = std::bit_floor(static_cast<size_t>(range.last - range.first));
    const auto row = static_cast<size_t>(std::countr_zero(width));
    const size_t last = static_cast<size_t>(range.last) - width;
    return std::max(rows_[row][static_cast<size_t>(range.first)], rows_[row][last]);
  }

 private:
  std::vector<std::vector<Bytes>> rows_;
};

}  // namespace

// What changes while buffers are laid down. Buffers with exclusive partners stay out of `occupancy`, which
// does not know whose bytes it holds, and are looked at one by one.
struct GreedyPlacement::Pass {
  Occupancy occupancy;
  std::vector<Bytes> offsets;
  std::vector<bool> placed;
  std::vector<size_t> apart;  // placed buffers that have exclusive partners

  // Of the buffer at hand.
  std::vector<const RangeList*> taken = {};  // what conflicts with it
  RangeList untold = {};                     // the part of it that no lifespan tells
};

GreedyPlacement::GreedyPlacement(const Problem& problem, int memory)
    : problem_(problem), buffers_(BuffersOf(problem, memory)), sections_(FindSections(problem, buffers_)) {
  std::vector<Bytes> change(static_cast<size_t>(sections_.Count()) + 1, 0);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const Buffer& buffer = BufferAt(i);
    positions_.emplace_back(WindowsOf(problem, buffer), problem::AlignmentOf(problem, buffer), buffer.size);
    for (const SectionRange& range : sections_.ranges[i]) {
      change[static_cast<size_t>(range.first)] += buffer.size;
      change[static_cast<size_t>(range.last)] -= buffer.size;
    }
  }
  std::partial_sum(change.begin(), change.end(), change.begin());
  const RangeMaximum load(std::move(change));
  for (const std::vector<SectionRange>& ranges : sections_.ranges) {
    Bytes greatest = 0;
    for (const SectionRange& range : ranges) greatest = std::max(greatest, load.In(range));
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

// The position of a buffer of the memory in Buffers(), which ascend.
size_t GreedyPlacement::NumberOf(int buffer) const {
  return static_cast<size_t>(std::lower_bound(buffers_.begin(), buffers_.end(), buffer) - buffers_.begin());
}

bool GreedyPlacement::HasHints() const {
  return std::any_of(buffers_.begin(), buffers_.end(),
                     [this](int i) { return problem_.buffers[static_cast<size_t>(i)].hint.has_value(); });
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
  std::stable_sort(sequence.begin(), sequence.end(), [&](size_t a, size_t b) {
    const bool a_fixed = BufferAt(a).offset.has_value(), b_fixed = BufferAt(b).offset.has_value();
    return a_fixed != b_fixed ? a_fixed : keys[a] > keys[b];
  });
  return sequence;
}

std::optional<std::vector<Bytes>> GreedyPlacement::Place(GreedyOrder order, Fit fit, bool use_hints,
                                                         Bytes capacity, const base::Stop& stop) const {
  static constexpr size_t kPlacedBetweenStops = 64;
  Pass pass{Occupancy(sections_.Count()),
            std::vector<Bytes>(buffers_.size(), 0),
            std::vector<bool>(buffers_.size(), false),
            {}};
  size_t placed = 0;
  for (const size_t i : Sequence(order)) {
    if (placed++ % kPlacedBetweenStops == 0 && stop.Requested()) return std::nullopt;
    if (!PlaceOne(pass, i, fit, use_hints, capacity)) return std::nullopt;
  }
  return std::move(pass.offsets);
}

bool GreedyPlacement::PlaceOne(Pass& pass, size_t i, Fit fit, bool use_hints, Bytes capacity) const {
  const Buffer& buffer = BufferAt(i);
  std::vector<const RangeList*>& taken = pass.taken;
  Collect(pass, i);

  const auto stands = [&](Bytes offset) {
    return positions_[i].AtLeast(offset) == offset && IsFree(taken, {offset, offset + buffer.size});
  };
  Bytes offset = kNowhere;
  if (buffer.offset) {
    if (!stands(*buffer.offset)) return false;
    offset = *buffer.offset;
  } else if (use_hints && buffer.hint && stands(*buffer.hint)) {
    offset = *buffer.hint;
  } else {
    offset = FindFit(positions_[i], taken, fit);
  }
  if (offset >= kNowhere || offset > capacity - buffer.size) return false;

  pass.offsets[i] = offset;
  pass.placed[i] = true;
  if (!exclusive_[i].empty()) {
    pass.apart.push_back(i);
    return true;
  }
  for (const SectionRange& range : sections_.ranges[i]) {
    pass.occupancy.Insert(range, {offset, offset + buffer.size});
  }
  return true;
}

// Fills `taken` with the lists of what conflicts with buffer i.
void GreedyPlacement::Collect(Pass& pass, size_t i) const {
  pass.taken.clear();
  pass.untold.clear();
  for (const SectionRange& range : sections_.ranges[i]) pass.occupancy.Collect(range, pass.taken);
  const auto add = [&](size_t j) {
    Merge(pass.untold, {pass.offsets[j], pass.offsets[j] + BufferAt(j).size});
  };
  for (const size_t j : pass.apart) {
    const bool exclusive = std::find(exclusive_[i].begin(), exclusive_[i].end(), j) != exclusive_[i].end();
    if (!exclusive && problem::LiveTogether(BufferAt(i), BufferAt(j))) add(j);
  }
  for (const size_t j : separate_[i]) {
    if (pass.placed[j]) add(j);
  }
  if (!pass.untold.empty()) pass.taken.push_back(&pass.untold);
}

}  // namespace tessera::search
