#include "tessera/search/simulate/slot.h"

#include <algorithm>

namespace tessera::search {

Filling::Filling(Slot& slot, int track) : slot_(slot), track_(track) {
  for (const Activity& activity : slot.activities) {
    if (activity.track == track) taken_.emplace_back(activity.begin, activity.end);
  }
  std::sort(taken_.begin(), taken_.end());
}

void Filling::Add(Activity activity, int64_t cycles) {
  activity.track = track_;
  while (cycles > 0) {
    while (next_ < taken_.size() && taken_[next_].first <= at_) at_ = std::max(at_, taken_[next_++].second);
    const int64_t free = next_ < taken_.size() ? taken_[next_].first - at_ : cycles;
    activity.begin = at_;
    activity.end = at_ + std::min(free, cycles);
    slot_.activities.push_back(activity);
    slot_.cycles = std::max(slot_.cycles, activity.end);
    cycles -= activity.end - activity.begin;
    at_ = activity.end;
  }
}

int64_t FreeCycles(const Slot& slot, int track) {
  int64_t free = slot.cycles;
  for (const Activity& activity : slot.activities)
    free -= activity.track == track ? activity.end - activity.begin : 0;
  return free;
}

}  // namespace tessera::search
