// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/trail.h"

#include <algorithm>

namespace tessera::search::engines::lazy {

void Trail::Reserve(size_t integers) {
  bounds_.reserve(2 * integers);
  initial_.reserve(2 * integers);
  last_.reserve(2 * integers);
  granularities_.reserve(integers);
  booleans_.reserve(integers);
}

int Trail::AddInteger(Bound least, Bound most, Bound granularity) {
  bounds_.insert(bounds_.end(), {least, -most});
  initial_.insert(initial_.end(), {least, -most});
  last_.insert(last_.end(), {-1, -1});
  granularities_.push_back(granularity);
  booleans_.push_back(0);
  return IntegerOf(Views()) - 1;
}

int Trail::AddBoolean() {
  const int integer = AddInteger(0, 1, 1);
  booleans_.back() = 1;
  return integer;
}

void Trail::Clear() {
  bounds_ = initial_;
  std::fill(last_.begin(), last_.end(), -1);
  changes_.clear();
  levels_.clear();
  reasons_.clear();
}

void Trail::SetInitial(int integer, Bound least, Bound most) {
  const size_t view = 2 * static_cast<size_t>(integer);
  bounds_[view] = initial_[view] = least;
  bounds_[view + 1] = initial_[view + 1] = -most;
}

void Trail::OpenLevel() {
  levels_.push_back({static_cast<int32_t>(changes_.size()), static_cast<int32_t>(reasons_.size())});
}

void Trail::BacktrackTo(int level) {
  if (level >= Level()) return;
  const Mark mark = levels_[static_cast<size_t>(level)];
  for (auto at = changes_.size(); at > static_cast<size_t>(mark.change); --at) {
    const Change& change = changes_[at - 1];
    bounds_[static_cast<size_t>(change.view)] = change.before;
    last_[static_cast<size_t>(change.view)] = change.previous;
  }
  changes_.resize(static_cast<size_t>(mark.change));
  reasons_.resize(static_cast<size_t>(mark.reason));
  levels_.resize(static_cast<size_t>(level));
}

int Trail::Find(BoundLiteral literal) const {
  int32_t at = last_[static_cast<size_t>(literal.view)];
  while (at >= 0 && At(at).before >= literal.bound) at = At(at).previous;
  return at;
}

void Trail::ReserveMost() {
  constexpr size_t kBeyond = 1 << 14;  // until the caller notices
  changes_.reserve(kMostChanges + kBeyond);
  reasons_.reserve(kMostChanges + kBeyond);
}

void Trail::Push(BoundLiteral literal, Reason reason) {
  if (changes_.size() == kManyChanges) ReserveMost();
  const auto view = static_cast<size_t>(literal.view);
  changes_.push_back({literal.view, Level(), literal.bound, bounds_[view], last_[view], reason});
  last_[view] = Size() - 1;
  bounds_[view] = literal.bound;
}

bool Trail::Imply(BoundLiteral literal, Reason reason) {
  const BoundLiteral rounded = Rounded(literal);
  if (IsTrue(rounded)) return true;
  const Bound granularity = granularities_[static_cast<size_t>(IntegerOf(literal.view))];
  // Anything above the multiple before would have been rounded up to the same bound.
  if (reason.kind == Reason::Kind::kShiftable)
    Weaken(reason, literal.bound - (rounded.bound - granularity + 1));
  if (!IsFalse(rounded)) {
    Push(rounded, reason);
    return true;
  }
  const BoundLiteral barrier{Opposite(literal.view), (*this)[Opposite(literal.view)]};
  conflict_.clear();
  conflict_clause_ = -1;
  Explain(reason, rounded.bound, granularity - barrier.bound, conflict_);
  conflict_.push_back(barrier);
  return false;
}

bool Trail::Refute(Reason reason) {
  conflict_.clear();
  conflict_clause_ = -1;
  Explain(reason, 0, 0, conflict_);
  return false;
}

void Trail::Explain(Reason reason, Bound bound, Bound needed,
                    std::vector<BoundLiteral>& out) const {
  const Bound shift = reason.kind == Reason::Kind::kShiftable ? bound - needed : 0;
  for (int32_t at = reason.first; at < reason.first + reason.count; ++at) {
    BoundLiteral literal = reasons_[static_cast<size_t>(at)];
    if (!IsBoolean(literal.view)) literal.bound -= shift;
    out.push_back(Rounded(literal));
  }
}

void Trail::Weaken(Reason reason, Bound by) {
  if (by == 0) return;
  for (int32_t at = reason.first; at < reason.first + reason.count; ++at) {
    BoundLiteral& literal = reasons_[static_cast<size_t>(at)];
    if (!IsBoolean(literal.view)) literal.bound -= by;
  }
}

}  // namespace tessera::search::engines::lazy
