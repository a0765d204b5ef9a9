// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <utility>

#include "tessera/search/partition/driver/prefetch_schedule.h"

// Earliest deadline first (prefetch_schedule.cc) lets no subgraph wait for constants of others,
// except the one before their user. An earlier one may have to wait for less time, because its port
// is free sooner:
//
//     subgraph |     5      |     6       |  7
//     engine   |=====| wait |=============|=====
//     link     |==   | 7 7 7|=============|===       there is less to wait for in 5 than in 6 or 7
//
// So the constants of one subgraph after the other are moved to other times, as long as that saves
// time: all of them into one subgraph, in small programs also in two halves. On drawn programs of
// up to five subgraphs, no schedule in up to three parts is then faster (exact_schedule_test.cc).
// Cost: a move prices the subgraphs that it changes.
namespace tessera::search::partition::driver {
namespace {

constexpr int kMostPasses = 4;       // over all subgraphs, of an improvement
constexpr size_t kFarthest = 6;      // subgraphs ahead that it tries
constexpr size_t kSmallProgram = 6;  // subgraphs

// Marks `bytes` more as in use from the first carrier of the list on, until the user.
void Occupy(std::span<FreeBytes> free, std::span<const int> list, size_t user,
            problem::Bytes bytes) {
  if (list.empty() || list.front() == 0) return;
  const size_t first = user - static_cast<size_t>(list.front());
  for (size_t i = first; i < user; ++i) {
    free[i].after_prologue -= bytes;
    if (i > first) free[i].throughout -= bytes;
  }
}

// The lists that an improvement tries for a subgraph: all parts in one subgraph, in small programs
// also half of them each in two.
std::vector<std::vector<int>> ListsFor(size_t user, bool is_small) {
  std::vector<std::vector<int>> lists = {{}};
  for (int ahead = 1; ahead <= static_cast<int>(std::min(user, kFarthest)); ++ahead) {
    lists.push_back({ahead});
    for (int second = 0; second < ahead && is_small; ++second) lists.push_back({ahead, second});
  }
  return lists;
}

}  // namespace

// Whether constants of so many bytes may arrive as the list states.
bool PrefetchSchedule::HasRoom(const std::vector<plan::Subgraph>& subgraphs,
                               std::span<const FreeBytes> free, std::span<const int> list,
                               size_t user, problem::Bytes bytes) const {
  if (list.empty()) return true;
  const size_t first = user - static_cast<size_t>(list.front());
  problem::Bytes least = free[first].after_prologue;
  for (size_t i = first + 1; i < user; ++i) least = std::min(least, free[i].throughout);
  return least >= bytes && std::all_of(list.begin(), list.end(), [&](int ahead) {
           return ahead == 0 || Overlaps(subgraphs[user - static_cast<size_t>(ahead)]);
         });
}

// The cycles of each subgraph of a schedule, kept up to date while constants move.
class PrefetchSchedule::Prices {
 public:
  Prices(const PrefetchSchedule& schedule, std::vector<plan::Subgraph>& subgraphs,
         std::span<const Queued> queue)
      : schedule_(schedule),
        subgraphs_(subgraphs),
        queue_(queue),
        prefetches_(schedule.AllPrefetches(subgraphs, queue)) {
    for (size_t i = 0; i < subgraphs.size(); ++i) cycles_.push_back(CyclesOf(i, prefetches_[i]));
  }

  // Gives the constants of the user these times if that saves time. Returns whether it does.
  bool Take(size_t user, std::vector<int> list) {
    std::set<size_t> affected = {user};
    AddCarriers(user, subgraphs_[user].prefetch, affected);
    AddCarriers(user, list, affected);
    std::swap(subgraphs_[user].prefetch, list);
    std::vector<Priced> with;
    int64_t saved = 0;
    for (const size_t i : affected) {
      cost::Prefetches other = schedule_.PrefetchesAt(subgraphs_, queue_, i);
      const bool follows = !with.empty() && with.back().number + 1 == i;
      if (i > 0)
        other.Continue(schedule_.context_.profile,
                       follows ? with.back().prefetches : prefetches_[i - 1]);
      const int64_t cycles = other == prefetches_[i] ? cycles_[i] : CyclesOf(i, other);
      saved += cycles_[i] - cycles;
      with.push_back({i, std::move(other), cycles});
    }
    if (saved <= 0) {
      std::swap(subgraphs_[user].prefetch, list);
      return false;
    }
    for (Priced& each : with) {
      prefetches_[each.number] = std::move(each.prefetches);
      cycles_[each.number] = each.cycles;
    }
    return true;
  }

 private:
  struct Priced {
    size_t number = 0;
    cost::Prefetches prefetches;
    int64_t cycles = 0;
  };

  int64_t CyclesOf(size_t number, const cost::Prefetches& prefetches) const {
    return queue_[number].entry->PriceOf(prefetches, cost::Detail::kTotals).latency_cycles;
  }

  // Adds the carriers of a list, and those after them, whose queues may continue theirs.
  static void AddCarriers(size_t user, std::span<const int> list, std::set<size_t>& affected) {
    for (const int ahead : list) {
      if (ahead == 0) break;
      const size_t carrier = user - static_cast<size_t>(ahead);
      affected.insert({carrier, carrier + 1});
    }
  }

  const PrefetchSchedule& schedule_;
  std::vector<plan::Subgraph>& subgraphs_;
  const std::span<const Queued> queue_;
  std::vector<cost::Prefetches> prefetches_;
  std::vector<int64_t> cycles_;
};

// Gives the constants that a subgraph loads once other times, one subgraph after the other.
void PrefetchSchedule::Improve(std::vector<plan::Subgraph>& subgraphs,
                               std::span<const Queued> queue, std::span<FreeBytes> free) const {
  Prices prices(*this, subgraphs, queue);
  const bool is_small = subgraphs.size() <= kSmallProgram;
  bool changed = true;
  for (int pass = 0; pass < kMostPasses && changed; ++pass) {
    changed = false;
    for (size_t user = 1; user < subgraphs.size(); ++user) {
      if (queue[user].prefetch.empty() || queue[user].slice_bytes > 0) continue;
      if (context_.stop.Requested()) return;
      const problem::Bytes bytes = queue[user].bytes;
      Occupy(free, subgraphs[user].prefetch, user, -bytes);
      for (const std::vector<int>& list : ListsFor(user, is_small)) {
        if (HasRoom(subgraphs, free, list, user, bytes) && prices.Take(user, list)) changed = true;
      }
      Occupy(free, subgraphs[user].prefetch, user, bytes);
    }
  }
}

}  // namespace tessera::search::partition::driver
