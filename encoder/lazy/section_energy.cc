#include "tessera/encoder/lazy/section_energy.h"

#include <algorithm>

namespace tessera::encoder::lazy {

SectionEnergy::SectionEnergy(Axis& axis, int slack_percent)
    : axis_(axis), trail_(axis.trail()), slack_percent_(slack_percent) {
  for (auto& awake : awake_) awake.assign(static_cast<size_t>(axis.packing().buffers), false);
}

void SectionEnergy::Reload() {
  const Lists<int>& sections = axis_.packing().sections;
  loads_.assign(static_cast<size_t>(sections.Count()), 0);
  tight_.assign(loads_.size(), 0);
  ceilings_.assign(static_cast<size_t>(axis_.packing().memories), -1);
  for (int section = 0; section < sections.Count(); ++section) {
    for (const int buffer : sections[section]) loads_[static_cast<size_t>(section)] += axis_.Size(buffer);
  }
}

void SectionEnergy::SetSlack(int percent) {
  slack_percent_ = percent;
  std::fill(ceilings_.begin(), ceilings_.end(), -1);
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
  for (const int section : axis_.packing().sections_of[woken.buffer]) {
    if (IsTight(section) && !Propagate(woken.side, woken.buffer, section)) return false;
  }
  return true;
}

bool SectionEnergy::IsTight(int section) {
  const int memory = axis_.packing().section_memory[static_cast<size_t>(section)];
  const Bound ceiling = axis_.End(Side::kBottom, memory);
  if (ceilings_[static_cast<size_t>(memory)] != ceiling) FindTight(memory, ceiling);
  return tight_[static_cast<size_t>(section)] != 0;
}

void SectionEnergy::FindTight(int memory, Bound ceiling) {
  ceilings_[static_cast<size_t>(memory)] = ceiling;
  const Bound most = ceiling / 100 * slack_percent_ + ceiling % 100 * slack_percent_ / 100;
  for (size_t section = 0; section < loads_.size(); ++section) {
    if (axis_.packing().section_memory[section] == memory)
      tight_[section] = ceiling - loads_[section] <= most ? 1 : 0;
  }
}

bool SectionEnergy::Propagate(Side side, int buffer, int section) {
  const Bound floor = axis_.Floor(side, buffer);
  if (Collect(side, buffer, section) <= floor) return true;
  std::sort(members_.begin(), members_.end(), [](const Member& a, const Member& b) {
    return a.floor != b.floor ? a.floor > b.floor : a.buffer < b.buffer;
  });
  Bound highest = floor;
  size_t last = members_.size();
  Bound sum = 0;
  for (size_t k = 0; k < members_.size(); ++k) {
    sum += axis_.Size(members_[k].buffer);
    if (members_[k].floor + sum <= highest) continue;
    highest = members_[k].floor + sum;
    last = k;
  }
  return last == members_.size() || Raise(side, buffer, last, highest);
}

// Fills members_ and returns a floor that they cannot raise the buffer above.
Bound SectionEnergy::Collect(Side side, int buffer, int section) {
  members_.clear();
  Bound sum = 0;
  Bound latest = 0;
  for (const int other : axis_.packing().sections[section]) {
    if (other == buffer || !trail_.IsTrue(axis_.Before(side, other, buffer))) continue;
    const Bound floor = axis_.Floor(side, other);
    latest = members_.empty() ? floor : std::max(latest, floor);
    sum += axis_.Size(other);
    members_.push_back({floor, other});
  }
  return members_.size() < 2 ? axis_.Floor(side, buffer) : latest + sum;
}

bool SectionEnergy::Raise(Side side, int buffer, size_t last, Bound floor) {
  trail_.OpenReason();
  for (size_t k = 0; k <= last; ++k) {
    trail_.Because(axis_.Before(side, members_[k].buffer, buffer));
    trail_.Because(axis_.From(side, members_[k].buffer, members_[last].floor));
  }
  return trail_.Imply(axis_.From(side, buffer, floor), trail_.CloseReason(Reason::Kind::kShiftable));
}

}  // namespace tessera::encoder::lazy
