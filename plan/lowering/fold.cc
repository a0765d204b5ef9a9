// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "tessera/plan/lowering/job_recorder.h"

// Tiles are divided into classes along each loop. A class continues while all tiles of the next
// index have the same work and every number grows by the same amount as before. Example: the rows
// of x that tiles of four rows need, for a 3x3 window and 16 rows in all:
//
//     tile      0    1    2    3            tile 0 has a pad above, tile 3 one below
//     begin     0    3    7    11           steady: begin 3 + 4 i, extent 6
//     extent    5    6    6    5
//               first | steady | last
//
// For several loops a class is a box. If numbers are not additive over the loops, the box is
// divided into its lines.
namespace tessera::plan::lowering {
namespace {

// The work of one tile: the parts that must be equal within a class, and the parts that may grow.
struct TileWork {
  std::vector<Work> work;
  std::vector<int64_t> shape;
  std::vector<int64_t> numbers;
};

bool HaveOneShape(const std::vector<FixedRegion>& a, const std::vector<FixedRegion>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].operand != b[i].operand || a[i].fills != b[i].fills ||
        a[i].extent.size() != b[i].extent.size() || a[i].pad_low.size() != b[i].pad_low.size())
      return false;
  }
  return true;
}

std::vector<int64_t> NumbersOf(const std::vector<FixedRegion>& regions) {
  std::vector<int64_t> numbers;
  for (const FixedRegion& region : regions) {
    ForEachNumber(region, [&](int64_t number) { numbers.push_back(number); });
  }
  return numbers;
}

std::vector<int64_t> Difference(const std::vector<int64_t>& a, const std::vector<int64_t>& b) {
  std::vector<int64_t> difference(a.size());
  for (size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

Region ToRegion(const FixedRegion& fixed, const FixedRegion& growth) {
  const std::vector<int64_t> per_round = NumbersOf({growth});
  size_t next = 0;
  return MakeRegion<Affine>(fixed, [&](int64_t number) {
    return Affine{number, {}, per_round[next++]};
  });
}

FixedRegion GrowthOf(const FixedRegion& before, const FixedRegion& after) {
  const std::vector<int64_t> numbers = NumbersOf({before});
  size_t next = 0;
  return MakeRegion<int64_t>(after, [&](int64_t number) { return number - numbers[next++]; });
}

// Runs of one job for one tile, ascending by round, in the fewest linear parts.
void AddRounds(const std::vector<const JobRun*>& job_runs, std::vector<Work>& work) {
  for (size_t first = 0; first < job_runs.size();) {
    size_t end = first + 1;
    std::vector<int64_t> growth;
    while (end < job_runs.size() &&
           job_runs[end]->turn.round == job_runs[end - 1]->turn.round + 1 &&
           HaveOneShape(job_runs[end - 1]->regions, job_runs[end]->regions)) {
      const std::vector<int64_t> next =
          Difference(NumbersOf(job_runs[end]->regions), NumbersOf(job_runs[end - 1]->regions));
      if (end > first + 1 && next != growth) break;
      growth = next;
      ++end;
    }
    Work piece;
    piece.job = job_runs[first]->job;
    piece.first_round = job_runs[first]->turn.round;
    piece.end_round = job_runs[end - 1]->turn.round + 1;
    const std::vector<FixedRegion>& regions = job_runs[first]->regions;
    for (size_t i = 0; i < regions.size(); ++i) {
      const FixedRegion& later = end > first + 1 ? job_runs[first + 1]->regions[i] : regions[i];
      piece.regions.push_back(ToRegion(regions[i], GrowthOf(regions[i], later)));
    }
    work.push_back(std::move(piece));
    first = end;
  }
}

TileWork Gather(const std::map<int, std::vector<const JobRun*>>& by_job) {
  TileWork tile;
  for (const auto& [job, job_runs] : by_job) AddRounds(job_runs, tile.work);
  for (const Work& work : tile.work) {
    tile.shape.insert(tile.shape.end(), {work.job, work.first_round, work.end_round});
    for (const Region& region : work.regions) {
      tile.shape.insert(tile.shape.end(),
                        {static_cast<int64_t>(region.operand), region.fills ? 1 : 0,
                         static_cast<int64_t>(region.extent.size()),
                         static_cast<int64_t>(region.pad_low.size())});
      ForEachNumber(region, [&](const Affine& number) {
        tile.shape.push_back(number.per_round);
        tile.numbers.push_back(number.base);
      });
    }
  }
  return tile;
}

class Classes {
 public:
  Classes(const std::vector<Loop>& loops, const std::vector<TileWork>& tiles)
      : loops_(loops), tiles_(tiles) {
    strides_.assign(loops.size(), 1);
    for (size_t loop = loops.size(); loop-- > 1;)
      strides_[loop - 1] = strides_[loop] * loops[loop].trips;
  }

  std::vector<TileClass> Run() {
    std::vector<std::vector<Trips>> boxes = {{}};
    for (size_t loop = 0; loop < loops_.size(); ++loop) {
      std::vector<std::vector<Trips>> finer;
      const std::vector<Trips> cuts = Cut(loop);
      for (const std::vector<Trips>& box : boxes) {
        for (const Trips& cut : cuts) {
          finer.push_back(box);
          finer.back().push_back(cut);
        }
      }
      boxes = std::move(finer);
    }
    for (const std::vector<Trips>& box : boxes) Add(box);
    return std::move(classes_);
  }

 private:
  // For one loop: whether all tiles of an index have the work of the previous index, and whether
  // their numbers grow by the same amount as before.
  std::vector<Trips> Cut(size_t loop) const {
    const auto trips = static_cast<size_t>(loops_[loop].trips);
    const auto stride = static_cast<size_t>(strides_[loop]);
    std::vector<bool> alike(trips, true);
    std::vector<bool> even(trips, true);
    for (size_t tile = 0; tile < tiles_.size(); ++tile) {
      const size_t index = tile / stride % trips;
      if (index == 0) continue;
      const TileWork& before = tiles_[tile - stride];
      if (before.shape != tiles_[tile].shape) alike[index] = even[index] = false;
      if (index + 1 < trips && !alike[index]) even[index + 1] = false;
      if (index < 2 || !even[index] || tiles_[tile - 2 * stride].shape != before.shape) continue;
      if (Difference(tiles_[tile].numbers, before.numbers) !=
          Difference(before.numbers, tiles_[tile - 2 * stride].numbers))
        even[index] = false;
    }
    const auto end_from = [&](size_t first) {
      size_t end = first + 1;
      while (end < trips && alike[end] && (end < first + 2 || even[end])) ++end;
      return end;
    };
    std::vector<Trips> cuts;
    for (size_t first = 0; first < trips;) {
      size_t end = end_from(first);
      // Two tiles always lie on a line. The second may begin a longer one.
      if (end == first + 2 && end_from(first + 1) > first + 3) --end;
      cuts.push_back({static_cast<int64_t>(first), static_cast<int64_t>(end)});
      first = end;
    }
    return cuts;
  }

  size_t TileAt(const std::vector<int64_t>& indices) const {
    int64_t tile = 0;
    for (size_t loop = 0; loop < indices.size(); ++loop) tile += indices[loop] * strides_[loop];
    return static_cast<size_t>(tile);
  }

  void Add(const std::vector<Trips>& box) {
    if (IsEven(box)) {
      classes_.push_back(ClassOf(box));
      return;
    }
    for (size_t loop = 0; loop < box.size(); ++loop) {
      if (box[loop].end == box[loop].begin + 1) continue;
      for (int64_t index = box[loop].begin; index < box[loop].end; ++index) {
        std::vector<Trips> line = box;
        line[loop] = {index, index + 1};
        Add(line);
      }
      return;
    }
  }

  static std::vector<int64_t> FirstOf(const std::vector<Trips>& box) {
    std::vector<int64_t> first;
    first.reserve(box.size());
    for (const Trips& trips : box) first.push_back(trips.begin);
    return first;
  }

  // The growth of the numbers along each loop.
  std::vector<std::vector<int64_t>> GrowthIn(const std::vector<Trips>& box) const {
    const size_t first = TileAt(FirstOf(box));
    const std::vector<int64_t>& numbers = tiles_[first].numbers;
    std::vector<std::vector<int64_t>> growth;
    for (size_t loop = 0; loop < box.size(); ++loop) {
      const bool single = box[loop].end == box[loop].begin + 1;
      const size_t next = single ? first : first + static_cast<size_t>(strides_[loop]);
      if (tiles_[next].shape != tiles_[first].shape) return {};
      growth.push_back(Difference(tiles_[next].numbers, numbers));
    }
    return growth;
  }

  bool IsEven(const std::vector<Trips>& box) const {
    const std::vector<std::vector<int64_t>> growth = GrowthIn(box);
    if (growth.size() != box.size()) return false;
    const std::vector<int64_t> origin = FirstOf(box);
    const TileWork& first = tiles_[TileAt(origin)];
    std::vector<int64_t> indices = origin;
    while (true) {
      const TileWork& tile = tiles_[TileAt(indices)];
      if (tile.shape != first.shape) return false;
      for (size_t i = 0; i < first.numbers.size(); ++i) {
        int64_t number = first.numbers[i];
        for (size_t loop = 0; loop < box.size(); ++loop)
          number += growth[loop][i] * (indices[loop] - origin[loop]);
        if (number != tile.numbers[i]) return false;
      }
      size_t loop = box.size();
      while (loop > 0 && ++indices[loop - 1] == box[loop - 1].end) {
        indices[loop - 1] = box[loop - 1].begin;
        --loop;
      }
      if (loop == 0) return true;
    }
  }

  TileClass ClassOf(const std::vector<Trips>& box) const {
    const std::vector<std::vector<int64_t>> growth = GrowthIn(box);
    TileClass result = {box, tiles_[TileAt(FirstOf(box))].work};
    size_t next = 0;
    for (Work& work : result.work) {
      for (Region& region : work.regions) {
        ForEachNumber(region, [&](Affine& number) {
          for (const std::vector<int64_t>& along : growth) number.steps.push_back(along[next]);
          if (std::all_of(number.steps.begin(), number.steps.end(),
                          [](int64_t step) { return step == 0; }))
            number.steps.clear();
          ++next;
        });
      }
    }
    return result;
  }

  const std::vector<Loop>& loops_;
  const std::vector<TileWork>& tiles_;
  std::vector<int64_t> strides_;  // from one index of a loop to the next, in tiles
  std::vector<TileClass> classes_;
};

// Rounds of the waiting job, and of the other job.
using Rounds = std::set<std::pair<int64_t, int64_t>>;

// Adds one more round that waits in the same way: alone, or as a continuation of the previous one.
void Extend(std::vector<Wait>& waits, const Wait& wait) {
  for (Wait& known : waits) {
    const bool same =
        known.rounds_back == wait.rounds_back && known.until_round == wait.until_round;
    if (!same || known.end_round != wait.first_round) continue;
    known.end_round = wait.end_round;
    return;
  }
  waits.push_back(wait);
}

// If the rounds of both jobs run in parallel, round waits for round. Otherwise they wait for all
// rounds up to the last one that is needed.
void AddWaits(const Wait& like, const Rounds& rounds, bool side_by_side, std::vector<Wait>& waits) {
  std::vector<Wait> found;
  for (auto pair = rounds.begin(); pair != rounds.end(); ++pair) {
    const auto& [own, awaited] = *pair;
    Wait wait = like;
    wait.first_round = own;
    wait.end_round = own + 1;
    wait.until_round = side_by_side ? 0 : awaited + 1;
    if (side_by_side) wait.rounds_back = own - awaited;
    const auto next = std::next(pair);
    const bool greatest = next == rounds.end() || next->first != own;
    if (side_by_side || greatest) Extend(found, wait);
  }
  waits.insert(waits.end(), found.begin(), found.end());
}

}  // namespace

void FoldTiles(const std::vector<JobRun>& job_runs, Lowered& lowered) {
  int64_t count = 1;
  for (const Loop& loop : lowered.loops) count *= loop.trips;
  std::vector<std::map<int, std::vector<const JobRun*>>> by_tile(static_cast<size_t>(count));
  std::map<int, std::vector<const JobRun*>> once;
  for (const JobRun& job_run : job_runs) {
    auto& by_job = job_run.turn.tile < 0 ? once : by_tile[static_cast<size_t>(job_run.turn.tile)];
    by_job[job_run.job].push_back(&job_run);
  }
  lowered.once = Gather(once).work;
  std::vector<TileWork> tiles;
  tiles.reserve(by_tile.size());
  for (const auto& by_job : by_tile) tiles.push_back(Gather(by_job));
  lowered.classes = Classes(lowered.loops, tiles).Run();
}

void FoldWaits(const std::vector<JobRun>& job_runs,
               const std::vector<std::vector<Dependency>>& dependencies, std::vector<Job>& jobs) {
  struct Found {
    Rounds rounds;
    Cause cause = Cause::kMode;
  };
  // by waiting job, awaited job, and number of tiles back
  std::map<std::tuple<int, int, int64_t>, Found> found;
  for (size_t i = 0; i < job_runs.size(); ++i) {
    for (const Dependency& dependency : dependencies[i]) {
      const JobRun& before = job_runs[static_cast<size_t>(dependency.before)];
      const int64_t tiles = before.turn.tile < 0 ? 0 : job_runs[i].turn.tile - before.turn.tile;
      Found& entry = found[{job_runs[i].job, before.job, tiles}];
      entry.rounds.emplace(job_runs[i].turn.round, before.turn.round);
      entry.cause = std::min(entry.cause, dependency.cause);
    }
  }
  for (const auto& [key, entry] : found) {
    const auto& [job, other, tiles] = key;
    Wait like;
    like.job = other;
    like.tiles = tiles;
    like.cause = entry.cause;
    const Job& awaited = jobs[static_cast<size_t>(other)];
    Job& waiting = jobs[static_cast<size_t>(job)];
    const bool side_by_side =
        waiting.rounds > 1 && awaited.rounds > 1 && tiles == 0 && waiting.op == awaited.op;
    AddWaits(like, entry.rounds, side_by_side, waiting.waits);
  }
}

}  // namespace tessera::plan::lowering
