#include <algorithm>

#include "tessera/search/cost/timeline.h"

namespace tessera::search::cost {

namespace {

using hw_profiles::Profile;

// A link that handles one transfer at a time works like a shared port.
bool WorksInTurn(const Profile& profile, int memory) {
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile, memory, profile.tile_memory);
  return profile.memories[static_cast<size_t>(memory)].port.shared ||
         (link != nullptr && link->outstanding < 2);
}

}  // namespace

Tracks::Tracks(const Profile& profile) : profile_(profile) {
  for (const hw_profiles::Engine& engine : profile.engines)
    tracks_.push_back({engine.name, TrackFlow::kCompute});
  for (int memory = 0; memory < static_cast<int>(profile.memories.size()); ++memory)
    AddMemory(memory);
}

void Tracks::AddMemory(int memory) {
  const auto at = static_cast<int>(tracks_.size());
  if (memory == profile_.tile_memory) {
    of_memory_.push_back({-1, -1});
    return;
  }
  const hw_profiles::Link* link = hw_profiles::LinkBetween(profile_, memory, profile_.tile_memory);
  const std::string& name =
      link == nullptr ? profile_.memories[static_cast<size_t>(memory)].name : link->name;
  const bool in_turn = WorksInTurn(profile_, memory);
  of_memory_.push_back({at, in_turn ? at : at + 1});
  tracks_.push_back({name, in_turn ? TrackFlow::kBoth : TrackFlow::kIn});
  if (!in_turn) tracks_.push_back({name, TrackFlow::kOut});
}

Filling::Filling(Slot& slot, int track) : slot_(slot), track_(track) {
  for (const Activity& activity : slot.activities) {
    if (activity.track == track) taken_.emplace_back(activity.begin, activity.end);
  }
  std::sort(taken_.begin(), taken_.end());
}

void Filling::Add(Activity activity, int64_t cycles) {
  activity.track = track_;
  while (cycles > 0) {
    while (next_ < taken_.size() && taken_[next_].first <= at_)
      at_ = std::max(at_, taken_[next_++].second);
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

}  // namespace tessera::search::cost
