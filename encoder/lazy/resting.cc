#include "tessera/encoder/lazy/resting.h"

#include <algorithm>

namespace tessera::encoder::lazy {
namespace {

constexpr Bound kNowhere = Bound{1} << 61;

}  // namespace

RestingRule::RestingRule(Axis& axis)
    : axis_(axis),
      trail_(axis.trail()),
      supporters_(static_cast<size_t>(axis.packing().buffers), -1),
      awake_(static_cast<size_t>(axis.packing().buffers)) {}

void RestingRule::Wake(int buffer) {
  char& awake = awake_[static_cast<size_t>(buffer)];
  if (awake != 0 || axis_.packing().fixed[static_cast<size_t>(buffer)]) return;
  awake = 1;
  woken_.push_back(buffer);
}

void RestingRule::FloorRose(Side side, int buffer) {
  if (side == Side::kBottom) Wake(buffer);
  for (const Neighbour& neighbour : axis_.packing().neighbours[buffer]) {
    if (supporters_[static_cast<size_t>(neighbour.buffer)] == buffer) Wake(neighbour.buffer);
  }
}

void RestingRule::OrderSet(View order) {
  const auto [below, above] = axis_.packing().OrderedPair(order);
  if (supporters_[static_cast<size_t>(below)] == above) Wake(below);
}

void RestingRule::Sleep() {
  for (const int buffer : woken_) awake_[static_cast<size_t>(buffer)] = 0;
  woken_.clear();
}

bool RestingRule::PropagateOne() {
  const int buffer = woken_.back();
  woken_.pop_back();
  awake_[static_cast<size_t>(buffer)] = 0;
  const Bound floor = axis_.Floor(Side::kBottom, buffer);
  if (floor <= 0) return true;
  const Support support = FindSupport(buffer);
  supporters_[static_cast<size_t>(buffer)] = support.buffer;
  return support.top <= floor || RaiseTo(buffer, support.top);
}

// Whether the supporter's end, rounded up as the buffer needs it, can lie at the floor or above.
bool RestingRule::Reaches(int supporter, Bound floor) const {
  return axis_.Latest(Side::kBottom, supporter) + axis_.Size(supporter) >= floor;
}

RestingRule::Support RestingRule::FindSupport(int buffer) const {
  const Packing& packing = axis_.packing();
  // The last position of its alignment below the floor is refuted; whoever ends above that serves.
  const Bound floor = axis_.Floor(Side::kBottom, buffer) - packing.alignment[static_cast<size_t>(buffer)] + 1;
  Support least{kNowhere, -1};
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

bool RestingRule::RaiseTo(int buffer, Bound top) {
  const Packing& packing = axis_.packing();
  const Bound floor = axis_.Floor(Side::kBottom, buffer);
  Bound needed = 1;
  trail_.OpenReason();
  for (const Neighbour& neighbour : packing.neighbours[buffer]) {
    if (trail_.IsTrue(OrderLiteral(neighbour.below))) {
      trail_.Because(OrderLiteral(neighbour.below));
    } else if (axis_.Floor(Side::kBottom, neighbour.buffer) + axis_.Size(neighbour.buffer) >= top) {
      trail_.Because(axis_.From(Side::kBottom, neighbour.buffer, top - axis_.Size(neighbour.buffer)));
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
  return top == kNowhere ? trail_.Refute(reason)
                         : trail_.Imply(axis_.From(Side::kBottom, buffer, top), reason);
}

}  // namespace tessera::encoder::lazy
