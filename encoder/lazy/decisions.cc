#include "tessera/encoder/lazy/decisions.h"

#include <algorithm>
#include <numeric>

#include "tessera/base/random.h"

namespace tessera::encoder::lazy {
namespace {

constexpr double kHuge = 1e100;
constexpr double kFirst = 1e-6;  // far below what one conflict adds

}  // namespace

Decisions::Decisions(Axis& axis, uint64_t seed) : axis_(axis) {
  const Packing& packing = axis.packing();
  std::vector<int> ranks(static_cast<size_t>(packing.buffers));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto area = [&](int i) {
    return static_cast<double>(axis.Size(i)) * static_cast<double>(packing.duration[static_cast<size_t>(i)]);
  };
  std::stable_sort(ranks.begin(), ranks.end(), [&](int i, int j) { return area(i) < area(j); });
  if (seed != 0) base::Random(seed).Shuffle(std::span(ranks));
  activity_.resize(ranks.size());
  for (size_t rank = 0; rank < ranks.size(); ++rank) {
    activity_[static_cast<size_t>(ranks[rank])] = kFirst * static_cast<double>(rank + 1);
  }
}

void Decisions::Bump(int integer) {
  if (integer >= axis_.packing().buffers) return;
  if ((activity_[static_cast<size_t>(integer)] += increment_) <= kHuge) return;
  for (double& activity : activity_) activity /= kHuge;
  increment_ /= kHuge;
}

bool Decisions::HintIsOpen(int buffer) const {
  const auto hint = axis_.packing().hint[static_cast<size_t>(buffer)];
  return follow_hints_ && hint && *hint > axis_.Floor(Side::kBottom, buffer) &&
         *hint <= axis_.Latest(Side::kBottom, buffer);
}

Bound Decisions::FloorOf(int buffer) const {
  return HintIsOpen(buffer) ? *axis_.packing().hint[static_cast<size_t>(buffer)] : axis_.Floor(Side::kBottom, buffer);
}

bool Decisions::Precedes(int i, int j) const {
  const Bound left = FloorOf(i);
  const Bound right = FloorOf(j);
  return left != right ? left < right : activity_[static_cast<size_t>(i)] > activity_[static_cast<size_t>(j)];
}

bool Decisions::Decide() {
  Trail& trail = axis_.trail();
  int next = -1;
  for (int i = 0; i < axis_.packing().buffers; ++i) {
    if (!trail.IsFixed(i) && (next < 0 || Precedes(i, next))) next = i;
  }
  if (next < 0) return DecideBoolean();
  Literal choice{2 * next + 1, -trail[2 * next]};
  if (HintIsOpen(next)) {
    const Literal hinted = trail.Rounded({2 * next, *axis_.packing().hint[static_cast<size_t>(next)]});
    if (!trail.IsFalse(hinted)) choice = hinted;
  }
  trail.OpenLevel();
  trail.Push(choice, {Reason::Kind::kDecision, 0, 0});
  return true;
}

// Pairs need no decision: fixed offsets settle them.
bool Decisions::DecideBoolean() {
  Trail& trail = axis_.trail();
  const Packing& packing = axis_.packing();
  const int first = packing.buffers + packing.memories + static_cast<int>(packing.pairs.size());
  for (int integer = first; 2 * integer < trail.Views(); ++integer) {
    if (trail.IsFixed(integer)) continue;
    trail.OpenLevel();
    trail.Push(OrderLiteral(2 * integer + 1), {Reason::Kind::kDecision, 0, 0});
    return true;
  }
  return false;
}

}  // namespace tessera::encoder::lazy
