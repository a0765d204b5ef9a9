// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/search/cost/objective.h"

// The best path from the start to the end of the network, over arcs that represent subgraphs.
//
//     states    0 ---- 1 ---- 2 ---- 3      every arc is one subgraph with one choice of tile and
//                 |______|      |      |    policy; a path from 0 to the last state is a partition
//                 |_____________|______|
//
// States are cut points, or refinements of cuts (lattice.h). Labels at a state are costs of paths
// to it. Sums add, maxima join, and both only grow. So a label that another one dominates can never
// win and is dropped (Martins 1984, multiple-criteria shortest path). Labels are extended in the
// order of the least score that they can reach (A*: Hart, Nilsson, Raphael 1968): the score of the
// label with the least sum and the least maxima from its state on. So the first label at the last
// state has the best score, and worse ones are never extended. Of equal scores, the least change
// and latency decide the order, and labels that cannot win by these are not extended either,
// because with maxima very many labels can reach the best score. A label that cannot satisfy the
// limits, even with the least of each limited metric from its state on, is dropped immediately.
// With a single metric the bound is exact, and the search extends little more than the path. So
// labels that cannot reach the least score of the start are ignored at first. Only if no path has
// that score, because of limits, maxima or forbidden paths, does the search begin again with all
// labels. Ignored labels could only replace labels that are ignored too, so the result is the same.
//
// Cost: a pass over all places of parallel arcs; then, for each extended label, a join for each arc
// that may reach the score and a dominance test for each label there. With several metrics the
// number of labels of one state can be exponential in the arcs. So after some labels, prices of the
// limits give better bounds (limit_relaxation.h), and the search begins again with them. After many
// more it ends with the best path known; a stop ends it too.
namespace tessera::search::partition::paths {

struct Arc {
  int begin = 0;
  int end = 0;          // begin < end
  size_t interval = 0;  // identifies the arc for the caller
  size_t choice = 0;
  cost::Cost cost;
};

// The least value of each component of some costs.
struct LeastCost {
  double score = std::numeric_limits<double>::infinity();
  decltype(cost::Cost::maxima) maxima = Filled<decltype(cost::Cost::maxima)>();
  decltype(cost::Cost::sums) sums = Filled<decltype(cost::Cost::sums)>();
  double change = std::numeric_limits<double>::infinity();
  double latency = std::numeric_limits<double>::infinity();  // Tie::latency

  void Add(const cost::Cost& cost);
  bool HasSumsOrMaxima() const;

 private:
  template <typename Components>
  static constexpr Components Filled() {
    Components components;
    components.fill(std::numeric_limits<double>::infinity());
    return components;
  }
};

// Arcs with a common begin and a common end, and the least values of their costs. If an arc with
// these values is of no use, none of the arcs is. Most are single arcs.
class ParallelArcs {
 public:
  explicit ParallelArcs(const Arc& first) : arcs_{first} {}

  void Add(const Arc& arc) {
    if (least_ == nullptr) least_ = std::make_unique<LeastCost>(Least());
    arcs_.push_back(arc);
    least_->Add(arc.cost);
  }

  uint32_t Begin() const { return static_cast<uint32_t>(arcs_.front().begin); }
  uint32_t End() const { return static_cast<uint32_t>(arcs_.front().end); }
  std::span<const Arc> All() const { return arcs_; }
  double LeastScore() const { return least_ == nullptr ? arcs_.front().cost.score : least_->score; }
  LeastCost Least() const {
    if (least_ != nullptr) return *least_;
    LeastCost least;
    least.Add(arcs_.front().cost);
    return least;
  }

 private:
  std::vector<Arc> arcs_;             // never empty
  std::unique_ptr<LeastCost> least_;  // of several arcs
};

// The arcs that a search may use, by the state where they begin, in places that are filled and
// emptied as knowledge changes. A search reads all places, so each place contains the data that
// suffice for most of them.
class ArcLists {
 public:
  struct Place {
    double score = std::numeric_limits<double>::infinity();  // the least score of the arcs
    uint32_t begin = 0;                                      // states
    uint32_t end = 0;
    const ParallelArcs* arcs = nullptr;  // from begin to end; nullptr if there are none
  };

  // The places must be empty, with begins in ascending order. Arcs with the same begin are tried in
  // the order of their places.
  ArcLists(int last, std::vector<Place> places);

  // Fills the place with these arcs; nullptr empties it. The arcs must lead from the begin to the
  // end of the place, and stay valid until the place is filled again.
  void Fill(size_t place, const ParallelArcs* arcs);

  size_t LastState() const { return last_; }
  std::span<const Place> All() const { return places_; }
  std::span<const Place> From(size_t state) const;
  int64_t CountArcs() const { return arcs_; }
  int64_t CountFrom(size_t state) const { return arcs_from_[state]; }

  // Returns the same places without arcs.
  ArcLists Emptied() const;

  // Whether the cost of some arc that was ever here consists of more than a score and a tie.
  bool HaveSumsOrMaxima() const { return have_sums_or_maxima_; }

 private:
  size_t last_;
  std::vector<Place> places_;
  std::vector<size_t> first_at_;    // by state: the first of its places; one more entry at the end
  std::vector<int64_t> arcs_from_;  // by state
  int64_t arcs_ = 0;
  bool have_sums_or_maxima_ = false;
};

// Lists of arcs that are given in any order, one place for each arc.
class ListedArcs {
 public:
  ListedArcs(int last, std::span<const Arc> arcs);
  ListedArcs(const ListedArcs&) = delete;
  ListedArcs& operator=(const ListedArcs&) = delete;

  const ArcLists& Lists() const { return lists_; }

 private:
  std::vector<ParallelArcs> each_;  // by begin
  ArcLists lists_;
};

// Copies of some arcs of other lists, with other costs, in the same places.
class ChangedArcs {
 public:
  // `cost_of` returns the cost of the copy of an arc; nullopt leaves the arc out.
  template <typename CostFunction>
  ChangedArcs(const ArcLists& arcs, const CostFunction& cost_of)
      : parallel_(arcs.All().size()), lists_(arcs.Emptied()) {
    for (size_t i = 0; i < parallel_.size(); ++i) {
      const ParallelArcs* const all = arcs.All()[i].arcs;
      if (all == nullptr) continue;
      for (Arc arc : all->All()) {
        const std::optional<cost::Cost> cost = cost_of(arc);
        if (!cost) continue;
        arc.cost = *cost;
        if (parallel_[i])
          parallel_[i]->Add(arc);
        else
          parallel_[i].emplace(arc);
      }
      if (parallel_[i]) lists_.Fill(i, &*parallel_[i]);
    }
  }

  const ArcLists& Lists() const { return lists_; }

 private:
  std::vector<std::optional<ParallelArcs>> parallel_;  // by place
  ArcLists lists_;
};

struct Path {
  std::vector<Arc> arcs;  // in order
  cost::Cost cost;
};

// A partition that must not be returned: its arcs in order. An arc with kEveryChoice or
// kEveryKnownChoice represents all arcs of its interval (see ArcTable::ForbidIntervalsOf).
using Forbidden = std::vector<Arc>;

inline constexpr size_t kEveryChoice = std::numeric_limits<size_t>::max() - 2;
inline constexpr size_t kEveryKnownChoice = kEveryChoice - 1;  // until choices are added

inline constexpr size_t kMostForbidden = 64;

bool IsForbiddenBy(const Arc& forbidden, const Arc& arc);

// The limits of one search for a path, and its cost.
struct PathLook {
  // Limits on joins. If the objective weighs a ratio next to other metrics, labels with different
  // latencies rarely replace each other, so there may be exponentially many, and each is compared
  // with all others of its state. Ratios alone need several searches of the usual kind
  // (ratio_paths.cc).
  static constexpr int64_t kMostJoinsForRatios = 1'000'000;
  static constexpr int64_t kMostJoinsForOnlyRatios = 30'000'000;

  static constexpr int64_t kUsualLabels = 2'000;
  static constexpr int64_t kUsualLabelsWithPrices = 16'666;

  // The stop and most_joins end the search without a path.
  const base::Stop* stop = nullptr;
  int64_t most_joins = std::numeric_limits<int64_t>::max();

  // If most_joins is set, so many comparisons of labels count as one join of a label and an arc.
  static constexpr int64_t kComparisonsForOne = 16;
  int64_t joins = 0;  // accumulates

  // The labels that are extended before prices of the limits are computed, and with these prices.
  // If labels then remain, the best path known is the result, and left_open is set: there may be a
  // better path, or one if none is known.
  int64_t most_labels = std::numeric_limits<int64_t>::max();
  int64_t most_labels_with_prices = std::numeric_limits<int64_t>::max();
  bool left_open = false;

  static PathLook For(const cost::Scale& scale, const base::Stop& stop) {
    PathLook look{.stop = &stop,
                  .most_labels = kUsualLabels,
                  .most_labels_with_prices = kUsualLabelsWithPrices};
    if (scale.WeighsOnlyRatios())
      look.most_joins = kMostJoinsForOnlyRatios;
    else if (scale.WeighsRatios())
      look.most_joins = kMostJoinsForRatios;
    return look;
  }
  bool IsLimited() const { return most_joins < std::numeric_limits<int64_t>::max(); }
  bool IsCutShort() const { return joins > most_joins || (stop != nullptr && stop->Requested()); }
  // If this holds, a result of nullopt proves nothing.
  bool IsOpen() const { return left_open || IsCutShort(); }
};

// Returns the path from state 0 to the last state that the scale prefers among those that keep the
// limits and are not forbidden; nullopt if there is none or the search is cut short. May set
// look.left_open. Of equal paths the first found wins; arcs are tried in the given order. Two arcs
// are equal if begin, end, interval and choice are. At most kMostForbidden forbidden paths count.
std::optional<Path> FindBestPath(const cost::Scale& scale, const ArcLists& arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look);

// As above, over arcs in any order, to the state `last`.
std::optional<Path> FindBestPath(const cost::Scale& scale, int last, std::span<const Arc> arcs,
                                 std::span<const Forbidden> forbidden, PathLook& look);

// FindBestPath for an objective that weighs only ratios over the latency (Scale::WeighsOnlyRatios).
std::optional<Path> FindBestRatioPath(const cost::Scale& scale, const ArcLists& arcs,
                                      std::span<const Forbidden> forbidden, PathLook& look);

}  // namespace tessera::search::partition::paths
