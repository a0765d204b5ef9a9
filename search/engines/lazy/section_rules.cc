// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/engines/lazy/section_rules.h"

#include <algorithm>
#include <bit>

namespace tessera::search::engines::lazy {

EdgeFinding::EdgeFinding(Axis& axis, const OrderMatrix& orders)
    : axis_(axis), trail_(axis.trail()), known_(orders), suffix_(axis.packing().buffers) {
  const CompressedLists<int>& sections = axis.packing().sections;
  for (int section = 0; section < sections.Count(); ++section) {
    starts_.push_back(orders_[0].size());
    orders_[0].insert(orders_[0].end(), sections[section].begin(), sections[section].end());
  }
  starts_.push_back(orders_[0].size());
  orders_[1] = orders_[0];
  for (auto& awake : awake_) awake.assign(static_cast<size_t>(sections.Count()), false);
}

void EdgeFinding::Wake(Side side, int section) {
  auto awake = awake_[static_cast<size_t>(side)][static_cast<size_t>(section)];
  if (awake) return;
  awake = true;
  woken_.push_back({side, section});
}

void EdgeFinding::WakeAll() {
  for (int section = 0; section < axis_.packing().sections.Count(); ++section) {
    Wake(Side::kBottom, section);
    Wake(Side::kTop, section);
  }
}

void EdgeFinding::Sleep() {
  for (const Woken& woken : woken_) {
    awake_[static_cast<size_t>(woken.side)][static_cast<size_t>(woken.section)] = false;
  }
  woken_.clear();
}

bool EdgeFinding::PropagateOne() {
  const Woken woken = woken_.back();
  woken_.pop_back();
  awake_[static_cast<size_t>(woken.side)][static_cast<size_t>(woken.section)] = false;
  return Propagate(woken.side, woken.section);
}

void EdgeFinding::Sort(Side side, int section) {
  int* order = orders_[static_cast<size_t>(side)].data() + starts_[static_cast<size_t>(section)];
  const size_t count =
      starts_[static_cast<size_t>(section) + 1] - starts_[static_cast<size_t>(section)];
  members_.resize(count);
  largest_.resize(count + 1);
  settled_from_.assign(count, count);
  for (size_t k = 0; k < count; ++k) {
    const Member member{axis_.Floor(side, order[k]), order[k]};
    size_t at = k;
    for (; at > 0 && members_[at - 1].floor > member.floor; --at) members_[at] = members_[at - 1];
    members_[at] = member;
  }
  for (size_t k = 0; k < count; ++k) {
    order[k] = members_[k].buffer;
    largest_[k + 1] = std::max(largest_[k], trail_.IsFixed(order[k]) ? 0 : axis_.Size(order[k]));
  }
}

bool EdgeFinding::Propagate(Side side, int section) {
  Sort(side, section);
  suffix_.Clear();
  const int memory = axis_.packing().section_memory[static_cast<size_t>(section)];
  const Bound end = axis_.End(side, memory);
  Bound sum = 0;
  for (size_t first = members_.size(); first-- > 0;) {
    sum += axis_.Size(members_[first].buffer);
    suffix_.Add(members_[first].buffer);
    const Bound floor = members_[first].floor;
    if (first > 0 && members_[first - 1].floor == floor) continue;
    const Bound room = end - floor - sum;
    if (room < 0) return Overload(side, memory, first, sum);
    if (largest_[first] > room && !FindEdges(side, memory, first, sum, room)) return false;
  }
  return true;
}

bool EdgeFinding::Overload(Side side, int memory, size_t first, Bound sum) {
  const Bound threshold = axis_.End(side, memory) - sum + 1;
  return trail_.Refute(BecauseSuffix(side, memory, first, threshold, sum));
}

bool EdgeFinding::FindEdges(Side side, int memory, size_t first, Bound sum, Bound room) {
  for (size_t outside = 0; outside < first; ++outside) {
    const Bound size = axis_.Size(members_[outside].buffer);
    if (size <= room || trail_.IsFixed(members_[outside].buffer)) continue;
    if (known_.ComesBeforeAll(side, members_[outside].buffer, suffix_)) continue;
    const Bound threshold = axis_.End(side, memory) - sum - size + 1;
    if (!PutBefore(side, memory, outside, first, settled_from_[outside], threshold)) return false;
    settled_from_[outside] = first;
  }
  return true;
}

// Members from `last` on are already known to come after `outside`.
bool EdgeFinding::PutBefore(Side side, int memory, size_t outside, size_t first, size_t last,
                            Bound threshold) {
  Reason reason;
  for (size_t k = first; k < last; ++k) {
    const BoundLiteral before = axis_.Before(side, members_[outside].buffer, members_[k].buffer);
    if (trail_.IsTrue(before)) continue;
    if (reason.kind == Reason::Kind::kRoot) {
      const Bound sum = axis_.End(side, memory) + 1 - threshold;
      reason = BecauseSuffix(side, memory, first, threshold, sum);
    }
    if (!trail_.Imply(before, reason)) return false;
  }
  return true;
}

// Returns the reason why members from `first` on, which need `sum` together with those that join
// them, do not fit if none begins below `threshold`.
Reason EdgeFinding::BecauseSuffix(Side side, int memory, size_t first, Bound threshold, Bound sum) {
  trail_.OpenReason();
  for (size_t k = first; k < members_.size(); ++k) {
    trail_.Because(axis_.From(side, members_[k].buffer, threshold));
  }
  if (side == Side::kBottom)
    trail_.Because(axis_.EndsAt(memory, std::max<Bound>(threshold, 0) + sum - 1));
  return trail_.CloseReason(Reason::Kind::kLiterals);
}

SectionEnergy::SectionEnergy(Axis& axis, int slack_percent)
    : axis_(axis),
      trail_(axis.trail()),
      slack_percent_(slack_percent),
      width_((static_cast<size_t>(axis.packing().sections.Count()) + 63) / 64),
      tight_of_(static_cast<size_t>(axis.packing().buffers) * width_),
      sums_(static_cast<size_t>(axis.packing().sections.Count())) {
  for (auto& awake : awake_) awake.assign(static_cast<size_t>(axis.packing().buffers), false);
}

void SectionEnergy::Reload() {
  const CompressedLists<int>& sections = axis_.packing().sections;
  loads_.assign(static_cast<size_t>(sections.Count()), 0);
  ceilings_.assign(static_cast<size_t>(axis_.packing().memories), -1);
  for (int section = 0; section < sections.Count(); ++section) {
    for (const int buffer : sections[section])
      loads_[static_cast<size_t>(section)] += axis_.Size(buffer);
  }
}

void SectionEnergy::Wake(Side side, int buffer) {
  auto awake = awake_[static_cast<size_t>(side)][static_cast<size_t>(buffer)];
  if (awake) return;
  awake = true;
  woken_.push_back({side, buffer});
}

void SectionEnergy::Sleep() {
  for (const Woken& woken : woken_) {
    awake_[static_cast<size_t>(woken.side)][static_cast<size_t>(woken.buffer)] = false;
  }
  woken_.clear();
}

bool SectionEnergy::PropagateOne() {
  const Woken woken = woken_.back();
  woken_.pop_back();
  awake_[static_cast<size_t>(woken.side)][static_cast<size_t>(woken.buffer)] = false;
  const int memory = axis_.packing().memory[static_cast<size_t>(woken.buffer)];
  const Bound ceiling = axis_.End(Side::kBottom, memory);
  if (ceilings_[static_cast<size_t>(memory)] != ceiling) FindTight(memory, ceiling);
  const uint64_t* tight = TightOf(woken.buffer);
  const bool any = std::any_of(tight, tight + width_, [](uint64_t word) { return word != 0; });
  return !any || Propagate(woken.side, woken.buffer);
}

void SectionEnergy::FindTight(int memory, Bound ceiling) {
  ceilings_[static_cast<size_t>(memory)] = ceiling;
  const Bound most = ceiling / 100 * slack_percent_ + ceiling % 100 * slack_percent_ / 100;
  const CompressedLists<int>& sections = axis_.packing().sections;
  for (int section = 0; section < sections.Count(); ++section) {
    const auto at = static_cast<size_t>(section);
    if (axis_.packing().section_memory[at] != memory) continue;
    const bool tight = ceiling - loads_[at] <= most;
    const uint64_t bit = uint64_t{1} << (at % 64);
    for (const int buffer : sections[section]) {
      uint64_t& word = tight_of_[static_cast<size_t>(buffer) * width_ + at / 64];
      word = tight ? word | bit : word & ~bit;
    }
  }
}

template <typename Visit>
void SectionEnergy::ForTightSectionsOfBoth(int i, int j, Visit visit) const {
  const uint64_t* left = TightOf(i);
  const uint64_t* right = TightOf(j);
  for (size_t word = 0; word < width_; ++word) {
    for (uint64_t both = left[word] & right[word]; both != 0; both &= both - 1) {
      visit(word * 64 + static_cast<size_t>(std::countr_zero(both)));
    }
  }
}

bool SectionEnergy::Propagate(Side side, int buffer) {
  Collect(side, buffer);
  if (members_.size() < 2) return true;
  for (const int section : axis_.packing().sections_of[buffer])
    sums_[static_cast<size_t>(section)] = 0;
  Bound highest = axis_.Floor(side, buffer);
  int best = -1;
  size_t last = 0;
  for (size_t k = 0; k < members_.size(); ++k) {
    const auto [floor, member] = members_[k];
    ForTightSectionsOfBoth(buffer, member,
                           [&, floor = floor, size = axis_.Size(member)](size_t section) {
                             sums_[section] += size;
                             if (floor + sums_[section] <= highest) return;
                             highest = floor + sums_[section];
                             best = static_cast<int>(section);
                             last = k;
                           });
  }
  return best < 0 || Raise(side, buffer, best, last, highest);
}

void SectionEnergy::Collect(Side side, int buffer) {
  members_.clear();
  for (const Neighbour& neighbour : axis_.packing().neighbours[buffer]) {
    const BoundLiteral after = OrderLiteral(neighbour.below ^ static_cast<View>(side));
    if (trail_.IsFalse(after))
      members_.push_back({axis_.Floor(side, neighbour.buffer), neighbour.buffer});
  }
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return a.floor != b.floor ? a.floor > b.floor : a.buffer < b.buffer;
  });
}

bool SectionEnergy::Raise(Side side, int buffer, int section, size_t last, Bound floor) {
  const auto at = static_cast<size_t>(section);
  trail_.OpenReason();
  for (size_t k = 0; k <= last; ++k) {
    const int member = members_[k].buffer;
    if ((TightOf(member)[at / 64] >> (at % 64) & 1) == 0) continue;
    trail_.Because(axis_.Before(side, member, buffer));
    trail_.Because(axis_.From(side, member, members_[last].floor));
  }
  return trail_.Imply(axis_.From(side, buffer, floor),
                      trail_.CloseReason(Reason::Kind::kShiftable));
}

}  // namespace tessera::search::engines::lazy
