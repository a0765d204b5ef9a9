// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/decisions.h"

#include <algorithm>
#include <numeric>

#include "tessera/base/random.h"

namespace tessera::search::engines::lazy {
namespace {

constexpr double kHuge = 1e100;
constexpr double kFirst = 1e-6;  // far below what one conflict adds

// Returns ranks from 1, where the largest area has the highest rank, or shuffled by the seed.
std::vector<double> RankBuffers(const Axis& axis, uint64_t seed) {
  const Packing& packing = axis.packing();
  std::vector<int> order(static_cast<size_t>(packing.buffers));
  std::iota(order.begin(), order.end(), 0);
  const auto area = [&](int i) {
    return static_cast<double>(axis.Size(i)) *
           static_cast<double>(packing.duration[static_cast<size_t>(i)]);
  };
  std::stable_sort(order.begin(), order.end(), [&](int i, int j) { return area(i) < area(j); });
  if (seed != 0) base::Random(seed).Shuffle(std::span(order));
  std::vector<double> ranks(order.size());
  for (size_t rank = 0; rank < order.size(); ++rank) {
    ranks[static_cast<size_t>(order[rank])] = kFirst * static_cast<double>(rank + 1);
  }
  return ranks;
}

std::vector<double> RankPairs(const Packing& packing, const std::vector<double>& buffers) {
  std::vector<double> ranks;
  ranks.reserve(packing.pairs.size());
  for (const auto& [i, j] : packing.pairs) {
    ranks.push_back(std::min(buffers[static_cast<size_t>(i)], buffers[static_cast<size_t>(j)]));
  }
  return ranks;
}

}  // namespace

Decisions::Decisions(Axis& axis, uint64_t seed)
    : axis_(axis),
      activity_(RankBuffers(axis, seed)),
      pairs_(RankPairs(axis.packing(), activity_)),
      phases_(axis.packing().pairs.size(), -1) {}

void Decisions::Bump(int integer) {
  const Packing& packing = axis_.packing();
  const int pair = integer - FirstPair();
  if (integer < packing.buffers) {
    activity_[static_cast<size_t>(integer)] += increment_;
  } else if (pair >= 0 && pair < static_cast<int>(packing.pairs.size())) {
    pairs_.Raise(pair, increment_);
  }
  if (increment_ > kHuge) Rescale();
}

void Decisions::Rescale() {
  for (double& activity : activity_) activity /= kHuge;
  pairs_.Scale(1 / kHuge);
  increment_ /= kHuge;
}

void Decisions::Reopen(View order) {
  const int pair = IntegerOf(order) - FirstPair();
  phases_[static_cast<size_t>(pair)] = order;
  pairs_.Push(pair);
}

bool Decisions::HintIsOpen(int buffer) const {
  const auto hint = axis_.packing().hint[static_cast<size_t>(buffer)];
  return follow_hints_ && hint && *hint > axis_.Floor(Side::kBottom, buffer) &&
         *hint <= axis_.Latest(Side::kBottom, buffer);
}

Bound Decisions::FloorOf(int buffer) const {
  return HintIsOpen(buffer) ? *axis_.packing().hint[static_cast<size_t>(buffer)]
                            : axis_.Floor(Side::kBottom, buffer);
}

bool Decisions::Precedes(int i, int j) const {
  const Bound left = FloorOf(i);
  const Bound right = FloorOf(j);
  return left != right ? left < right
                       : activity_[static_cast<size_t>(i)] > activity_[static_cast<size_t>(j)];
}

bool Decisions::Decide() {
  if (mood_ == Mood::kOrders && DecideOrder()) return true;
  return DecideFloor() || DecideBoolean();
}

void Decisions::Assume(BoundLiteral literal) {
  axis_.trail().OpenLevel();
  axis_.trail().Push(literal, {Reason::Kind::kDecision, 0, 0});
}

bool Decisions::DecideFloor() {
  const Trail& trail = axis_.trail();
  int next = -1;
  for (int i = 0; i < axis_.packing().buffers; ++i) {
    if (!trail.IsFixed(i) && (next < 0 || Precedes(i, next))) next = i;
  }
  if (next < 0) return false;
  BoundLiteral choice{2 * next + 1, -trail[2 * next]};
  if (HintIsOpen(next)) {
    const BoundLiteral hinted =
        trail.Rounded({2 * next, *axis_.packing().hint[static_cast<size_t>(next)]});
    if (!trail.IsFalse(hinted)) choice = hinted;
  }
  Assume(choice);
  return true;
}

bool Decisions::DecideOrder() {
  while (!pairs_.Empty()) {
    const int pair = pairs_.Pop();
    if (axis_.trail().IsFixed(FirstPair() + pair)) continue;
    Assume(OrderLiteral(PhaseOf(pair)));
    return true;
  }
  return false;
}

View Decisions::PhaseOf(int pair) const {
  if (phases_[static_cast<size_t>(pair)] >= 0) return phases_[static_cast<size_t>(pair)];
  const auto [i, j] = axis_.packing().pairs[static_cast<size_t>(pair)];
  const auto middle = [&](int buffer) {
    return axis_.Floor(Side::kBottom, buffer) + axis_.Latest(Side::kBottom, buffer);
  };
  const bool first_below = middle(i) != middle(j) ? middle(i) < middle(j)
                                                  : activity_[static_cast<size_t>(i)] >
                                                        activity_[static_cast<size_t>(j)];
  return 2 * (FirstPair() + pair) + (first_below ? 0 : 1);
}

// Fixed offsets settle every pair, so only the caller's booleans are left.
bool Decisions::DecideBoolean() {
  const Trail& trail = axis_.trail();
  const int first = FirstPair() + static_cast<int>(axis_.packing().pairs.size());
  for (int integer = first; 2 * integer < trail.Views(); ++integer) {
    if (trail.IsFixed(integer)) continue;
    Assume(OrderLiteral(2 * integer + 1));
    return true;
  }
  return false;
}

}  // namespace tessera::search::engines::lazy
