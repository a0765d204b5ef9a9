// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/pair_rules.h"

#include <algorithm>

namespace tessera::search::engines::lazy {

PairRules::PairRules(Axis& axis) : axis_(axis), trail_(axis.trail()) {
  const Packing& packing = axis.packing();
  std::vector<std::vector<Difference>> ties(2 * static_cast<size_t>(packing.buffers));
  for (const Difference& tie : packing.differences)
    ties[static_cast<size_t>(tie.from)].push_back(tie);
  ties_ = CompressedLists<Difference>(ties);
  inhabitants_.resize(static_cast<size_t>(packing.memories));
  for (int i = 0; i < packing.buffers; ++i) {
    inhabitants_[static_cast<size_t>(packing.memory[static_cast<size_t>(i)])].push_back(i);
  }
}

bool PairRules::FloorRose(Side side, int buffer) {
  if (!LeaveHole(side, buffer) || !Tie(OffsetView(side, buffer))) return false;
  for (const Neighbour& neighbour : axis_.packing().neighbours[buffer]) {
    const BoundLiteral order = OrderLiteral(neighbour.below ^ static_cast<View>(side));
    if (trail_.IsTrue(order)) {
      if (!RaiseOver(side, buffer, neighbour.buffer, order)) return false;
    } else if (!trail_.IsFalse(order)) {
      if (!Squeeze(side, buffer, neighbour.buffer, order)) return false;
    }
  }
  return true;
}

bool PairRules::OrderSet(View order) {
  const auto [below, above] = axis_.packing().OrderedPair(order);
  return RaiseOver(Side::kBottom, below, above, OrderLiteral(order)) &&
         RaiseOver(Side::kTop, above, below, OrderLiteral(order));
}

bool PairRules::CeilingSank(int memory) {
  const Bound ceiling = axis_.End(Side::kBottom, memory);
  for (const int buffer : inhabitants_[static_cast<size_t>(memory)]) {
    const BoundLiteral low{OffsetView(Side::kTop, buffer), axis_.Size(buffer) - ceiling};
    if (trail_.IsTrue(low)) continue;
    trail_.OpenReason();
    trail_.Because(axis_.EndsAt(memory, ceiling));
    if (!trail_.Imply(low, trail_.CloseReason(Reason::Kind::kShiftable))) return false;
  }
  return true;
}

bool PairRules::RaiseOver(Side side, int before, int after, BoundLiteral order) {
  const Bound floor = axis_.Floor(side, before);
  const BoundLiteral raised = axis_.From(side, after, floor + axis_.Size(before));
  if (trail_.IsTrue(raised)) return true;
  trail_.OpenReason();
  trail_.Because(order);
  trail_.Because(axis_.From(side, before, floor));
  return trail_.Imply(raised, trail_.CloseReason(Reason::Kind::kShiftable));
}

bool PairRules::Squeeze(Side side, int before, int after, BoundLiteral order) {
  const Bound latest = axis_.Latest(side, after);
  if (axis_.Floor(side, before) + axis_.Size(before) <= latest) return true;
  trail_.OpenReason();
  trail_.Because(axis_.From(side, before, latest - axis_.Size(before) + 1));
  trail_.Because({OffsetView(OtherSide(side), after), trail_[OffsetView(OtherSide(side), after)]});
  return trail_.Imply(trail_.Not(order), trail_.CloseReason(Reason::Kind::kLiterals));
}

bool PairRules::LeaveHole(Side side, int buffer) {
  const auto holes = axis_.packing().holes[axis_.packing().memory[static_cast<size_t>(buffer)]];
  const Bound size = axis_.Size(buffer);
  for (const Hole& hole : holes) {
    const Bound begin = side == Side::kBottom ? hole.begin : -hole.end;
    const Bound end = side == Side::kBottom ? hole.end : -hole.begin;
    const Bound floor = axis_.Floor(side, buffer);
    if (floor + size <= begin || floor >= end) continue;
    trail_.OpenReason();
    trail_.Because(axis_.From(side, buffer, begin - size + 1));
    if (!trail_.Imply(axis_.From(side, buffer, end), trail_.CloseReason(Reason::Kind::kLiterals)))
      return false;
  }
  return true;
}

bool PairRules::Tie(View from) {
  for (const Difference& tie : ties_[from]) {
    const BoundLiteral raised{tie.to, trail_[from] + DistanceOf(tie, axis_)};
    if (trail_.IsTrue(raised)) continue;
    trail_.OpenReason();
    trail_.Because({from, trail_[from]});
    if (!trail_.Imply(raised, trail_.CloseReason(Reason::Kind::kShiftable))) return false;
  }
  return true;
}

namespace {

constexpr Bound kNoPosition = Bound{1} << 61;

}  // namespace

BottomLeftRule::BottomLeftRule(Axis& axis)
    : axis_(axis),
      trail_(axis.trail()),
      supporters_(static_cast<size_t>(axis.packing().buffers), -1),
      awake_(static_cast<size_t>(axis.packing().buffers)) {}

void BottomLeftRule::Wake(int buffer) {
  char& awake = awake_[static_cast<size_t>(buffer)];
  if (awake != 0 || axis_.packing().fixed[static_cast<size_t>(buffer)]) return;
  awake = 1;
  woken_.push_back(buffer);
}

void BottomLeftRule::FloorRose(Side side, int buffer) {
  if (side == Side::kBottom) Wake(buffer);
  for (const Neighbour& neighbour : axis_.packing().neighbours[buffer]) {
    if (supporters_[static_cast<size_t>(neighbour.buffer)] == buffer) Wake(neighbour.buffer);
  }
}

void BottomLeftRule::OrderSet(View order) {
  const auto [below, above] = axis_.packing().OrderedPair(order);
  if (supporters_[static_cast<size_t>(below)] == above) Wake(below);
}

void BottomLeftRule::Sleep() {
  for (const int buffer : woken_) awake_[static_cast<size_t>(buffer)] = 0;
  woken_.clear();
}

bool BottomLeftRule::PropagateOne() {
  const int buffer = woken_.back();
  woken_.pop_back();
  awake_[static_cast<size_t>(buffer)] = 0;
  const Bound floor = axis_.Floor(Side::kBottom, buffer);
  if (floor <= 0) return true;
  const Support support = FindSupport(buffer);
  supporters_[static_cast<size_t>(buffer)] = support.buffer;
  return support.top <= floor || RaiseTo(buffer, support.top);
}

// Returns whether the supporter's end, rounded up to the buffer's alignment, can lie at the floor
// or above.
bool BottomLeftRule::Reaches(int supporter, Bound floor) const {
  return axis_.Latest(Side::kBottom, supporter) + axis_.Size(supporter) >= floor;
}

BottomLeftRule::Support BottomLeftRule::FindSupport(int buffer) const {
  const Packing& packing = axis_.packing();
  // The last aligned position below the floor is refuted; any buffer that ends above that is a
  // supporter.
  const Bound floor =
      axis_.Floor(Side::kBottom, buffer) - packing.alignment[static_cast<size_t>(buffer)] + 1;
  Support least{kNoPosition, -1};
  for (const Neighbour& neighbour : packing.neighbours[buffer]) {
    const Bound top = axis_.Floor(Side::kBottom, neighbour.buffer) + axis_.Size(neighbour.buffer);
    if (top >= least.top || trail_.IsTrue(OrderLiteral(neighbour.below))) continue;
    if (Reaches(neighbour.buffer, floor)) least = {top, neighbour.buffer};
  }
  for (const Hole& hole : packing.holes[packing.memory[static_cast<size_t>(buffer)]]) {
    if (hole.end >= floor && hole.end < least.top) least = {hole.end, -1};
  }
  return least;
}

bool BottomLeftRule::RaiseTo(int buffer, Bound top) {
  const Packing& packing = axis_.packing();
  const Bound floor = axis_.Floor(Side::kBottom, buffer);
  Bound needed = 1;
  trail_.OpenReason();
  for (const Neighbour& neighbour : packing.neighbours[buffer]) {
    if (trail_.IsTrue(OrderLiteral(neighbour.below))) {
      trail_.Because(OrderLiteral(neighbour.below));
    } else if (axis_.Floor(Side::kBottom, neighbour.buffer) + axis_.Size(neighbour.buffer) >= top) {
      trail_.Because(
          axis_.From(Side::kBottom, neighbour.buffer, top - axis_.Size(neighbour.buffer)));
    } else {
      const Bound latest = axis_.Latest(Side::kBottom, neighbour.buffer);
      trail_.Because({2 * neighbour.buffer + 1, -latest});
      needed = floor;
    }
  }
  for (const Hole& hole : packing.holes[packing.memory[static_cast<size_t>(buffer)]]) {
    if (hole.end < top) needed = floor;
  }
  trail_.Because(axis_.From(Side::kBottom, buffer, needed));
  const Reason reason = trail_.CloseReason(Reason::Kind::kLiterals);
  return top == kNoPosition ? trail_.Refute(reason)
                            : trail_.Imply(axis_.From(Side::kBottom, buffer, top), reason);
}

}  // namespace tessera::search::engines::lazy
