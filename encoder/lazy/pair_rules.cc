#include "tessera/encoder/lazy/pair_rules.h"

#include <algorithm>

namespace tessera::encoder::lazy {

PairRules::PairRules(Axis& axis) : axis_(axis), trail_(axis.trail()) {
  const Packing& packing = axis.packing();
  std::vector<std::vector<Difference>> ties(2 * static_cast<size_t>(packing.buffers));
  for (const Difference& tie : packing.differences) ties[static_cast<size_t>(tie.from)].push_back(tie);
  ties_ = Lists<Difference>(ties);
  inhabitants_.resize(static_cast<size_t>(packing.memories));
  for (int i = 0; i < packing.buffers; ++i) {
    inhabitants_[static_cast<size_t>(packing.memory[static_cast<size_t>(i)])].push_back(i);
  }
}

bool PairRules::FloorRose(Side side, int buffer) {
  if (!LeaveHole(side, buffer) || !Tie(OffsetView(side, buffer))) return false;
  for (const Neighbour& neighbour : axis_.packing().neighbours[buffer]) {
    const Literal order = OrderLiteral(neighbour.below ^ static_cast<View>(side));
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
    const Literal low{OffsetView(Side::kTop, buffer), axis_.Size(buffer) - ceiling};
    if (trail_.IsTrue(low)) continue;
    trail_.OpenReason();
    trail_.Because(axis_.EndsAt(memory, ceiling));
    if (!trail_.Imply(low, trail_.CloseReason(Reason::Kind::kShiftable))) return false;
  }
  return true;
}

bool PairRules::RaiseOver(Side side, int before, int after, Literal order) {
  const Bound floor = axis_.Floor(side, before);
  const Literal raised = axis_.From(side, after, floor + axis_.Size(before));
  if (trail_.IsTrue(raised)) return true;
  trail_.OpenReason();
  trail_.Because(order);
  trail_.Because(axis_.From(side, before, floor));
  return trail_.Imply(raised, trail_.CloseReason(Reason::Kind::kShiftable));
}

bool PairRules::Squeeze(Side side, int before, int after, Literal order) {
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
    const Literal raised{tie.to, trail_[from] + DistanceOf(tie, axis_)};
    if (trail_.IsTrue(raised)) continue;
    trail_.OpenReason();
    trail_.Because({from, trail_[from]});
    if (!trail_.Imply(raised, trail_.CloseReason(Reason::Kind::kShiftable))) return false;
  }
  return true;
}

}  // namespace tessera::encoder::lazy
