// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/lowering/run_order.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace tessera::plan::lowering {

int EventOrder::Add(const std::vector<int>& before) {
  Event event;
  for (const int each : before) {
    const Event& other = events_[static_cast<size_t>(each)];
    if (event.passed.size() < other.passed.size()) event.passed.resize(other.passed.size(), 0);
    for (size_t i = 0; i < other.passed.size(); ++i) {
      event.passed[i] = std::max(event.passed[i], other.passed[i]);
    }
    if (event.passed.size() <= other.chain) event.passed.resize(other.chain + 1, 0);
    event.passed[other.chain] = std::max(event.passed[other.chain], other.rank + 1);
  }
  event.chain = lengths_.size();
  for (size_t i = 0; i < event.passed.size(); ++i) {
    if (event.passed[i] == lengths_[i]) event.chain = i;
  }
  if (event.chain == lengths_.size()) lengths_.push_back(0);
  event.rank = lengths_[event.chain]++;
  events_.push_back(std::move(event));
  return static_cast<int>(events_.size()) - 1;
}

bool EventOrder::Precedes(int earlier, int later) const {
  const Event& event = events_[static_cast<size_t>(earlier)];
  const std::vector<int>& passed = events_[static_cast<size_t>(later)].passed;
  return event.chain < passed.size() && passed[event.chain] > event.rank;
}

std::vector<int> EventOrder::LatestOf(std::vector<int> events) const {
  std::sort(events.begin(), events.end());
  events.erase(std::unique(events.begin(), events.end()), events.end());
  std::vector<int> latest;
  for (size_t i = events.size(); i-- > 0;) {
    const bool passed = std::any_of(latest.begin(), latest.end(),
                                    [&](int later) { return Precedes(events[i], later); });
    if (!passed) latest.push_back(events[i]);
  }
  std::reverse(latest.begin(), latest.end());
  return latest;
}

namespace {

class Unrolling {
 public:
  Unrolling(const Lowered& lowered, int64_t most, std::vector<std::string>& faults)
      : lowered_(lowered), most_(most), faults_(faults), tiles_(1) {
    for (const Loop& loop : lowered.loops) tiles_ *= loop.trips;
  }

  std::vector<Run> Unroll() {
    for (const Work& work : lowered_.once) AddRuns(work, -1, {});
    std::vector<bool> covered(static_cast<size_t>(tiles_), false);
    for (const TileClass& tiles : lowered_.classes) AddTiles(tiles, covered);
    for (size_t tile = 0; tile < covered.size(); ++tile) {
      if (!covered[tile]) faults_.push_back(fmt::format("tile {} is in no class", tile));
    }
    for (size_t i = 0; i < runs_.size() && !full_; ++i) AddWaits(i);
    if (full_) runs_.clear();
    return std::move(runs_);
  }

  bool IsFull() const { return full_; }

 private:
  using Key = std::tuple<int, int64_t, int64_t>;  // job, tile, round

  void AddTiles(const TileClass& tiles, std::vector<bool>& covered) {
    std::vector<int64_t> indices(tiles.trips.size(), 0);
    while (!full_) {
      int64_t tile = 0;
      for (size_t loop = 0; loop < indices.size(); ++loop)
        tile = tile * lowered_.loops[loop].trips + tiles.trips[loop].begin + indices[loop];
      if (covered[static_cast<size_t>(tile)])
        faults_.push_back(fmt::format("tile {} is in two classes", tile));
      covered[static_cast<size_t>(tile)] = true;
      for (const Work& work : tiles.work) AddRuns(work, tile, indices);
      size_t loop = indices.size();
      while (loop > 0 &&
             ++indices[loop - 1] == tiles.trips[loop - 1].end - tiles.trips[loop - 1].begin) {
        indices[--loop] = 0;
      }
      if (loop == 0) return;
    }
  }

  void AddRuns(const Work& work, int64_t tile, const std::vector<int64_t>& indices) {
    for (int64_t round = work.first_round; round < work.end_round; ++round) {
      if (!Count()) return;
      Run run = {work.job, tile, round, {}, {}};
      for (const Region& region : work.regions)
        run.regions.push_back(Evaluate(region, indices, round - work.first_round));
      if (!numbers_.emplace(Key{run.job, tile, round}, static_cast<int>(runs_.size())).second)
        faults_.push_back(
            fmt::format("job {} runs twice for tile {}, round {}", run.job, tile, round));
      runs_.push_back(std::move(run));
    }
  }

  void AddWaits(size_t index) {
    const int64_t own_round = runs_[index].round;
    for (const Wait& wait : lowered_.jobs[static_cast<size_t>(runs_[index].job)].waits) {
      if (own_round < wait.first_round || own_round >= wait.end_round) continue;
      const bool once = lowered_.jobs[static_cast<size_t>(wait.job)].once;
      if (!once && runs_[index].tile < 0) {
        faults_.push_back(
            fmt::format("job {} runs before the tiles and waits for one", runs_[index].job));
        return;
      }
      const int64_t tile = once ? -1 : runs_[index].tile - wait.tiles;
      if (wait.rounds_back) {
        Await(index, {wait.job, tile, own_round - *wait.rounds_back});
      } else {
        for (int64_t round = 0; round < wait.until_round && !full_; ++round)
          Await(index, {wait.job, tile, round});
      }
    }
  }

  void Await(size_t index, const Key& key) {
    const auto other = numbers_.find(key);
    if (Count() && other != numbers_.end()) runs_[index].before.push_back(other->second);
  }

  bool Count() {
    full_ = full_ || --most_ < 0;
    return !full_;
  }

  const Lowered& lowered_;
  int64_t most_;
  std::vector<std::string>& faults_;
  int64_t tiles_;
  bool full_ = false;
  std::map<Key, int> numbers_;
  std::vector<Run> runs_;
};

}  // namespace

FixedRegion Evaluate(const Region& region, const std::vector<int64_t>& indices, int64_t round) {
  return MakeRegion<int64_t>(region, [&](const Affine& affine) {
    int64_t number = affine.base + affine.per_round * round;
    for (size_t loop = 0; loop < affine.steps.size(); ++loop)
      number += affine.steps[loop] * indices[loop];
    return number;
  });
}

std::optional<std::vector<Run>> UnrollRuns(const Lowered& lowered, int64_t most,
                                           std::vector<std::string>& faults) {
  Unrolling unrolling(lowered, most, faults);
  std::vector<Run> runs = unrolling.Unroll();
  if (unrolling.IsFull()) return std::nullopt;
  return runs;
}

}  // namespace tessera::plan::lowering
