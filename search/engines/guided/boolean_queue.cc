// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/guided/boolean_queue.h"

namespace tessera::search::engines::guided {

using lazy::View;

namespace {

constexpr double kShare = 0.95;  // of an activity that stays
constexpr double kHuge = 1e100;
constexpr double kFirst = 1e-9;  // far below what a dead end adds

std::vector<double> FirstActivities(size_t count) {
  std::vector<double> activities(count);
  for (size_t i = 0; i < count; ++i) activities[i] = kFirst * static_cast<double>(i);
  return activities;
}

}  // namespace

BooleanQueue::BooleanQueue(const lazy::Trail& trail, int first)
    : trail_(trail),
      first_(first),
      heap_(FirstActivities(static_cast<size_t>(trail.Views() / 2 - first))),
      values_(static_cast<size_t>(trail.Views() / 2 - first)) {
  for (size_t i = 0; i < values_.size(); ++i) values_[i] = 2 * (first + static_cast<int>(i)) + 1;
}

void BooleanQueue::Note(int integer) {
  if (!Holds(integer)) return;
  heap_.Raise(integer - first_, increment_);
  if (increment_ < kHuge) return;
  heap_.Scale(1 / kHuge);
  increment_ /= kHuge;
}

void BooleanQueue::Age() { increment_ /= kShare; }

void BooleanQueue::Reopen(View view) {
  const int integer = lazy::IntegerOf(view);
  if (!Holds(integer) || !trail_.IsBoolean(view)) return;
  values_[static_cast<size_t>(integer - first_)] = view;
  heap_.Push(integer - first_);
}

View BooleanQueue::Next() {
  while (!heap_.Empty()) {
    const int at = heap_.Pop();
    const int integer = first_ + at;
    if (trail_.IsBoolean(2 * integer) && !trail_.IsFixed(integer))
      return values_[static_cast<size_t>(at)];
  }
  return -1;
}

}  // namespace tessera::search::engines::guided
