// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/reasons/fewest_modes.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace tessera::search::reasons {

// Iterative deepening: is there a hitting set of 0, 1, 2, ... elements? Every set that is not hit
// yet must be hit, so the search branches on the elements of the shortest such set. Pairwise
// disjoint sets that are not hit need one element each; if there are more of them than elements
// left, the branch fails.
namespace {

bool Meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&b](int element) { return std::binary_search(b.begin(), b.end(), element); });
}

class Search {
 public:
  explicit Search(std::span<const std::vector<int>> sets) : sets_(sets) {}

  bool Extend(size_t left) {
    std::vector<const std::vector<int>*> open;
    for (const std::vector<int>& set : sets_) {
      if (!IsHit(set)) open.push_back(&set);
    }
    if (open.empty()) return true;
    if (CountDisjoint(open) > left) return false;
    const std::vector<int>& shortest =
        **std::min_element(open.begin(), open.end(),
                           [](const auto* a, const auto* b) { return a->size() < b->size(); });
    for (const int element : shortest) {
      chosen_.push_back(element);
      if (Extend(left - 1)) return true;
      chosen_.pop_back();
    }
    return false;
  }

  std::vector<int> Chosen() {
    std::sort(chosen_.begin(), chosen_.end());
    return chosen_;
  }

 private:
  bool IsHit(const std::vector<int>& set) const {
    return std::any_of(chosen_.begin(), chosen_.end(), [&set](int element) {
      return std::binary_search(set.begin(), set.end(), element);
    });
  }

  static size_t CountDisjoint(const std::vector<const std::vector<int>*>& open) {
    std::vector<const std::vector<int>*> apart;
    for (const std::vector<int>* set : open) {
      const bool meets = std::any_of(apart.begin(), apart.end(),
                                     [set](const auto* other) { return Meet(*set, *other); });
      if (!meets) apart.push_back(set);
    }
    return apart.size();
  }

  std::span<const std::vector<int>> sets_;
  std::vector<int> chosen_;
};

}  // namespace

std::optional<std::vector<int>> FindHittingSet(std::span<const std::vector<int>> sets) {
  if (std::any_of(sets.begin(), sets.end(), [](const auto& set) { return set.empty(); }))
    return std::nullopt;
  for (size_t size = 0;; ++size) {
    Search search(sets);
    if (search.Extend(size)) return search.Chosen();
  }
}

// The fewest modes by implicit hitting sets.
//
// Additional modes never hurt: a schedule stays valid. So if a set of modes does not suffice for a
// query, it can be grown as long as it does not suffice, and then one of the modes outside is
// required:
//
//     modes                   a b c d e
//     not sufficient          a . c . .
//     grown, not sufficient   a . c d .      a need: { b, e }
//
// A set suffices only if it meets every need. The smallest set that meets all needs known so far is
// tried next. If it suffices for every query, no smaller set does, because a smaller one misses a
// need. Otherwise it yields another need. This is the hitting-set duality of Reiter (Artificial
// Intelligence 32, 1987), with needs found on demand as in MaxHS (Davies and Bacchus, CP 2011).
// Known answers end the search early: the modes that they use suffice, so the search ends as soon
// as no smaller set meets all needs.
//
// Cost: a solve for each mode and need; there are few needs if modes do different things. A solve
// that stays unknown makes a need that is not proven: the set in question is skipped, and the
// answer is not called optimal.

using problem::Allocation;
using problem::Memory;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

bool IsKept(std::span<const ModeId> kept, ModeId mode) {
  return std::find(kept.begin(), kept.end(), mode) != kept.end();
}

class ModeSearch {
 public:
  ModeSearch(std::span<const ModeQuery> queries, const Decide& decide,
             const FewestModesOptions& options)
      : queries_(queries),
        stop_(options.stop != nullptr ? *options.stop : never_),
        oracle_(decide, {std::numeric_limits<int64_t>::max()}, options.budget, stop_) {
    for (const ModeQuery& query : queries) answers_.push_back(query.known);
  }

  FewestModes Run() {
    ListModes();
    if (!AskForAll()) return std::move(found_);
    std::vector<ModeId> enough = UsedModes();
    std::vector<std::optional<Allocation>> shown = answers_;
    found_.status = Status::kFeasible;
    while (!stop_.Requested()) {
      const std::vector<ModeId> least = SmallestThatMeetsNeeds();
      if (least.size() >= enough.size()) break;
      if (!IsEnough(least)) continue;
      enough = UsedModes();
      shown = answers_;
      break;
    }
    const bool proven = std::all_of(found_.needs.begin(), found_.needs.end(),
                                    [](const ModeNeed& need) { return need.proven; });
    if (proven && SmallestThatMeetsNeeds().size() >= enough.size())
      found_.status = Status::kOptimal;
    found_.kept = std::move(enough);
    for (std::optional<Allocation>& answer : shown)
      found_.allocations.push_back(*std::move(answer));
    return std::move(found_);
  }

 private:
  void ListModes() {
    const std::vector<Memory>& memories = queries_.front().problem.memories;
    for (size_t m = 0; m < memories.size(); ++m) {
      for (size_t k = 0; k < memories[m].modes.size(); ++k)
        modes_.push_back({static_cast<int>(m), static_cast<int>(k)});
    }
  }

  // Solves the queries without a known answer, with all modes. Returns false and sets the status if
  // one has no answer.
  bool AskForAll() {
    for (size_t q = 0; q < queries_.size(); ++q) {
      if (answers_[q]) continue;
      const Result result = Solve(q, modes_);
      if (result.status == Status::kFeasible) continue;
      found_.status = result.status;
      return false;
    }
    return true;
  }

  // Solves the query with these modes. A new answer replaces the one of the query; without one, the
  // query keeps its answer.
  Result Solve(size_t query, std::span<const ModeId> kept) {
    ++found_.solves;
    Result result =
        oracle_.Solve({WithModes(queries_[query].problem, kept), queries_[query].capacity});
    if (result.status == Status::kFeasible) {
      answers_[query] = *result.allocation;
      for (size_t m = 0; m < answers_[query]->modes.size(); ++m)
        Renumber(m, kept, answers_[query]->modes[m]);
    }
    return result;
  }

  // Converts the numbers of a schedule from those among the kept modes to those of the query.
  static void Renumber(size_t memory, std::span<const ModeId> kept,
                       problem::ModeSchedule& schedule) {
    std::vector<int> own;
    for (const ModeId& mode : kept) {
      if (static_cast<size_t>(mode.memory) == memory) own.push_back(mode.mode);
    }
    for (int& mode : schedule) mode = own[static_cast<size_t>(mode)];
  }

  bool Uses(size_t query, std::span<const ModeId> kept) const {
    const std::vector<problem::ModeSchedule>& schedules = answers_[query]->modes;
    for (size_t m = 0; m < schedules.size(); ++m) {
      for (const int mode : std::set<int>(schedules[m].begin(), schedules[m].end())) {
        if (!IsKept(kept, {static_cast<int>(m), mode})) return false;
      }
    }
    return true;
  }

  // Returns the modes that the answers use, and the first mode of each memory without any.
  std::vector<ModeId> UsedModes() const {
    std::set<ModeId> used;
    std::set<int> memories;
    for (const std::optional<Allocation>& answer : answers_) {
      for (size_t m = 0; m < answer->modes.size(); ++m) {
        for (const int mode : std::set<int>(answer->modes[m].begin(), answer->modes[m].end())) {
          used.insert({static_cast<int>(m), mode});
          memories.insert(static_cast<int>(m));
        }
      }
    }
    for (const ModeId& mode : modes_) {
      if (memories.insert(mode.memory).second) used.insert(mode);
    }
    return {used.begin(), used.end()};
  }

  std::vector<ModeId> SmallestThatMeetsNeeds() const {
    std::vector<std::vector<int>> sets;
    const auto index = [this](const ModeId& mode) {
      return static_cast<int>(std::lower_bound(modes_.begin(), modes_.end(), mode) -
                              modes_.begin());
    };
    for (size_t i = 0; i < modes_.size(); ++i) {
      // A memory is always in some mode.
      if (i == 0 || modes_[i].memory != modes_[i - 1].memory) sets.emplace_back();
      sets.back().push_back(static_cast<int>(i));
    }
    for (const ModeNeed& need : found_.needs) {
      std::vector<int>& set = sets.emplace_back();
      for (const ModeId& mode : need.any_of) set.push_back(index(mode));
    }
    const std::optional<std::vector<int>> hitting = FindHittingSet(sets);
    if (!hitting) return modes_;
    std::vector<ModeId> smallest;
    for (const int i : *hitting) smallest.push_back(modes_[static_cast<size_t>(i)]);
    return smallest;
  }

  // Whether these modes suffice for every query. If not, adds a need.
  bool IsEnough(const std::vector<ModeId>& kept) {
    for (size_t q = 0; q < queries_.size(); ++q) {
      if (Uses(q, kept)) continue;
      const Status status = Solve(q, kept).status;
      if (status == Status::kFeasible) continue;
      found_.needs.push_back(FindNeed(q, kept, status == Status::kInfeasible));
      return false;
    }
    return true;
  }

  ModeNeed FindNeed(size_t query, std::vector<ModeId> refused, bool proven) {
    ModeNeed need{query, {}, proven};
    for (const ModeId& mode : modes_) {
      if (IsKept(refused, mode)) continue;
      std::vector<ModeId> more = refused;
      more.insert(std::lower_bound(more.begin(), more.end(), mode), mode);
      const std::optional<Allocation> before = answers_[query];
      const bool still_refused = proven && Solve(query, more).status == Status::kInfeasible;
      answers_[query] = before;
      if (still_refused) {
        refused = std::move(more);
      } else {
        need.any_of.push_back(mode);
      }
    }
    return need;
  }

  const base::Stop never_;
  std::span<const ModeQuery> queries_;
  const base::Stop& stop_;
  Oracle oracle_;
  std::vector<ModeId> modes_;                       // all of them, ascending
  std::vector<std::optional<Allocation>> answers_;  // parallel to the queries
  FewestModes found_;
};

}  // namespace

FewestModes FindFewestModes(std::span<const ModeQuery> queries, const Decide& decide,
                            const FewestModesOptions& options) {
  if (queries.empty())
    return {.status = Status::kOptimal, .kept = {}, .needs = {}, .allocations = {}};
  return ModeSearch(queries, decide, options).Run();
}

Problem WithModes(const Problem& problem, std::span<const ModeId> kept) {
  Problem reduced = problem;
  for (size_t m = 0; m < reduced.memories.size(); ++m) {
    Memory& memory = reduced.memories[m];
    std::vector<int> renumbered(memory.modes.size(), -1);
    std::vector<problem::Mode> modes;
    for (size_t k = 0; k < memory.modes.size(); ++k) {
      if (!IsKept(kept, {static_cast<int>(m), static_cast<int>(k)})) continue;
      renumbered[k] = static_cast<int>(modes.size());
      modes.push_back(memory.modes[k]);
    }
    memory.modes = std::move(modes);
    if (!memory.transitions) continue;
    std::vector<std::pair<int, int>> transitions;
    for (const auto& [from, to] : *memory.transitions) {
      const std::pair pair(renumbered[static_cast<size_t>(from)],
                           renumbered[static_cast<size_t>(to)]);
      if (pair.first >= 0 && pair.second >= 0) transitions.push_back(pair);
    }
    memory.transitions = std::move(transitions);
  }
  return reduced;
}

std::vector<FreedAccess> FindFreedAccesses(const Problem& problem, std::span<const ModeId> kept) {
  std::vector<FreedAccess> freed;
  for (size_t m = 0; m < problem.memories.size(); ++m) {
    const Memory& memory = problem.memories[m];
    for (size_t b = 0; b < memory.banks.size(); ++b) {
      std::vector<problem::Permission> remaining;
      for (size_t k = 0; k < memory.modes.size(); ++k) {
        if (!IsKept(kept, {static_cast<int>(m), static_cast<int>(k)})) continue;
        const auto& allowed = memory.modes[k].banks[b].allowed;
        remaining.insert(remaining.end(), allowed.begin(), allowed.end());
      }
      for (const problem::Mode& mode : memory.modes) {
        for (const problem::Permission& access : mode.banks[b].allowed) {
          const bool remains = std::any_of(
              remaining.begin(), remaining.end(), [&](const problem::Permission& other) {
                return other.kind == access.kind &&
                       (other.engine.empty() || other.engine == access.engine);
              });
          const FreedAccess entry{static_cast<int>(m), static_cast<int>(b), access};
          if (!remains && std::find(freed.begin(), freed.end(), entry) == freed.end())
            freed.push_back(entry);
        }
      }
    }
  }
  return freed;
}

}  // namespace tessera::search::reasons
