// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/paths/interval_lattice.h"
#include "tessera/search/partition/paths/label_search.h"
#include "tessera/search/partition/paths/search_effort.h"

// The arcs of a path search: the knowledge about the intervals as input of the search for the best
// path. An interval that is only bounded has one arc with its bound. An expanded interval has an
// arc for each choice that an optimal partition may use.
namespace tessera::search::partition::paths {

// Special choices of arcs. kBounded: the bound of an interval that is not expanded, or not yet cut
// along the later axes. kUntried: the bound of the skipped tile shapes of an expanded interval.
inline constexpr size_t kBounded = std::numeric_limits<size_t>::max();
inline constexpr size_t kUntried = kBounded - 1;

// One subgraph: an interval with one of its choices.
struct Selected {
  const LatticeInterval* interval = nullptr;
  size_t index = 0;  // of the choice

  const choices::IntervalChoices& Choices() const { return interval->choices; }
  const choices::Choice& Chosen() const { return interval->choices.Choices()[index]; }
};

// Consecutive subgraphs, each with a choice that fits alone.
struct Selection {
  std::vector<Selected> subgraphs;
  cost::Cost cost;
};

// Returns an arc from the begin to the end of the interval, with kBounded and without cost.
Arc ArcOf(const LatticeInterval& interval);

// Upper bounds of the scores of arcs on paths whose score is below a given one.
class ScoreRooms {
 public:
  // Computes the bounds from the sums of the cheapest arcs before and after each state.
  ScoreRooms(const ArcLists& arcs, double below);

  // Returns the score that an arc in this place, or this arc, must be below to be part of such a
  // path.
  double Of(const ArcLists::Place& place) const { return Between(place.begin, place.end); }
  double Of(const Arc& arc) const {
    return Between(static_cast<size_t>(arc.begin), static_cast<size_t>(arc.end));
  }

 private:
  double Between(size_t begin, size_t end) const { return below_ - before_[begin] - behind_[end]; }

  double below_;
  std::vector<double> before_;  // by state
  std::vector<double> behind_;
};

class ArcTable {
 public:
  // The table has no arcs until RefreshAll. The lattice must outlive this object. If its stop is
  // requested during the constructor or RefreshAll, arcs are missing, and paths have no meaning.
  explicit ArcTable(const IntervalLattice& lattice);

  // Refresh and RefreshAll update the arcs of one interval or of all, after new knowledge or with
  // another scope.
  void Refresh(size_t interval, const SearchScope& scope);
  void RefreshAll(const SearchScope& scope);

  // The lists of arcs of all intervals in scope as of the last Refresh, by begin.
  enum class Of : uint8_t {
    kExpanded,     // without arcs of bounds
    kAll,          // with arcs of bounds
    kWithUntried,  // also, for each expanded interval with skipped tile shapes, one arc that costs
                   // as little as any of them can
  };
  static constexpr size_t kLists = 3;
  const ArcLists& ListOf(Of which) const { return lists_[static_cast<size_t>(which)]; }

  // Returns an arc for each choice that is known to fit, whatever the effort.
  std::vector<Arc> Known(const SearchScope& scope) const;
  // Returns the best of these arcs for each operator alone; they form at most one path.
  std::vector<Arc> BestSingles(const SearchScope& scope) const;

  // Returns the best path that is not forbidden.
  std::optional<Path> FindBest(const ArcLists& arcs, PathLook& look) const {
    return FindBestPath(lattice_->Context().scale, arcs, forbidden_, look);
  }
  std::optional<Path> FindBest(std::span<const Arc> arcs, PathLook& look) const {
    return FindBestPath(lattice_->Context().scale, lattice_->LastState(), arcs, forbidden_, look);
  }
  Selection SelectionOf(const Path& path) const;

  // Excludes this selection from further results. Beyond kMostForbidden selections, the oldest one
  // is allowed again.
  void Forbid(const Selection& selection, const SearchScope& scope);

  // Excludes every selection of the same intervals. `choices`: kEveryChoice for good,
  // kEveryKnownChoice until AllowAddedChoices.
  void ForbidIntervalsOf(const Selection& selection, size_t choices);

  // Ends the exclusions with kEveryKnownChoice. Must be called before choices are added, which may
  // be better than the known ones.
  void AllowAddedChoices();

  // Ends the exclusion of this selection, and of the known choices of its intervals.
  void Allow(const Selection& selection);

  // Drops the excluded selections that are out of scope.
  void DropForbiddenBeyond(const SearchScope& scope);

  // Takes over from another table the choices of an interval that forbidden selections use.
  void TakeNeeded(size_t interval, ArcTable& other, size_t other_interval);
  // Takes over the forbidden selections of another table, only the latest ones if there are many.
  // `here`: for each interval of that table, its number in this one.
  void TakeForbidden(const ArcTable& other, std::span<const std::optional<size_t>> here);

 private:
  enum class Kind : uint8_t { kChoices, kBounded, kUntried };
  static constexpr size_t kKinds = 3;

  // The arcs of an interval as of the last Refresh, by kind; nullptr if there are none. The arc of
  // a bound stays here while the interval is out of scope and the lists do not show it.
  struct OfInterval {
    std::array<std::unique_ptr<ParallelArcs>, kKinds> arcs;
    bool shows_bounded = false;
    std::array<std::array<uint32_t, kKinds>, kLists> places = {};  // by list, then kind
  };

  // An interval, and the states between which it leads.
  struct Ends {
    uint32_t begin = 0;
    uint32_t end = 0;
    uint32_t index = 0;
  };

  static bool Lists(Of list, Kind kind) {
    return kind == Kind::kChoices || list == Of::kWithUntried ||
           (kind == Kind::kBounded && list == Of::kAll);
  }
  std::vector<Ends> IntervalsByBegin() const;
  bool AddPlaces(Of list, std::span<const Ends> intervals);
  void Add(Forbidden forbidden);
  static const std::unique_ptr<ParallelArcs>& Stored(const OfInterval& interval, Kind kind) {
    return interval.arcs[static_cast<size_t>(kind)];
  }
  void Show(OfInterval& interval, Kind kind, const ParallelArcs* arcs);
  void Fill(OfInterval& interval, Kind kind, std::unique_ptr<ParallelArcs> arcs);
  bool RefreshBounded(OfInterval& interval, const LatticeInterval& of, const SearchScope& scope);

  const IntervalLattice* lattice_;
  bool has_places_ = true;                   // false: a stop came first
  std::vector<OfInterval> intervals_;        // by interval
  std::vector<ArcLists> lists_;              // by Of
  std::vector<std::vector<size_t>> needed_;  // by interval: choices of forbidden selections
  std::vector<Forbidden> forbidden_;
};

}  // namespace tessera::search::partition::paths
