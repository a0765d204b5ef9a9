// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/process.h"
#include "tessera/base/progress.h"
#include "tessera/base/stop.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/paths/arc_table.h"
#include "tessera/search/partition/paths/interval_lattice.h"
#include "tessera/search/partition/paths/search_effort.h"

// The best partition by lazy evaluation: intervals are examined only where that can change the
// result.
//
// Repeat: find the best path through the cut points with the current knowledge, which is optimistic
// where little is known. Expand the intervals on it that are only bounded. If all are expanded,
// formulate them. If all are formulated, decide whether their choices fit. Every answer raises a
// cost, drops a choice, or confirms one. When all choices on the best path are confirmed, it is
// optimal: costs only rise, so every other path costs at least as much (A* over a lazily evaluated
// graph: Dellin, Srinivasa 2016). If no path is left, skipped tile shapes are added, shortest
// intervals first. If the effort is limited and spent, long intervals are excluded, then those that
// keep boundary tensors on chip; if no path is left without them, all are considered again.
//
//     IntervalLattice   the intervals, and all knowledge about each
//     ArcTable          this knowledge as arcs, and the best path over them (label_search.h)
//     SearchEffort      the work so far, and the intervals that are considered for it
//     PathSearch        selects the next intervals to examine, until a path is confirmed
//
// Each time the work has doubled, FindBest returns at a milestone. The caller then makes a plan of
// the expanded intervals, so that there is a result whenever a deadline, an interrupt or the work
// limit ends the search. When the best selection is known, FindBetter considers what was skipped:
// tile shapes that are not even cuts, policies, and intervals out of scope. Each expanded interval
// then has one additional arc whose cost is a lower bound of all its untried shapes. As long as the
// best path through all arcs is better than the plan, the untried shapes on it are tried; when it
// is not, no plan is better. So shapes that cannot beat the best plan are never examined. FindTie
// then does the same for plans of the same score that decide ties better.
//
// The intervals of one round are expanded and decided independently of each other, hence in
// parallel. The queries do not depend on the number of threads.
namespace tessera::search::partition::paths {

// How a search for a selection ended.
enum class Ending : uint8_t {
  kFound,
  kNone,       // by proof, within the current limits
  kMilestone,  // the search continues with the next call
  kCutShort,   // ended by a stop or a work limit
};

struct Found {
  Ending ending = Ending::kNone;
  Selection selection = {};  // if kFound
};

// The parts of the scope that a search has considered and those that it left out, for reports.
struct SearchCoverage {
  int operators = 0;        // of the network
  int most_operators = 0;   // of the intervals that are considered, without regard to constraints
  size_t most_kept = 0;     // CutStates::MostKept
  bool caps_kept = false;   // CutStates::IsCapped
  bool lacks_sets = false;  // CutStates::LacksSets
  bool spills_all = false;  // CutStates::SpillsAll
  bool leaves_out_kept = false;       // selections that keep tensors that are not required
  bool leaves_out_paths = false;      // PathLook::left_open
  bool leaves_out_intervals = false;  // IntervalLattice::LeavesOutIntervals
  bool leaves_out_shapes = false;     // tile shapes; also true if an interval is not expanded
  bool leaves_out_policies = false;
  bool leaves_out_axes = false;  // later axes, in intervals that no bound excludes
  bool any_given_up = false;     // IntervalChoices::AnyGivenUp

  bool IsCapped() const { return most_operators < operators; }

  // Whether every subgraph with every set of kept tensors was considered.
  bool IsWhole() const { return !IsCapped() && !caps_kept && !leaves_out_kept; }
};

class PathSearch {
 public:
  // A search over several orders; all intervals of the first one are in scope. Takes over from the
  // searches `before` the results for its intervals and the forbidden selections (only the latest
  // ones if there are many), and from the first of them the reduced limits. Afterwards those
  // searches may only be taken over again. All operator numbers are those of the first order. The
  // parts of the orders must outlive the search; the states must be those for the constraints.
  PathSearch(std::span<const Ordered> orders, const SearchLimits& search_limits,
             const OtherOrderLimits& other_limits, base::Threads threads,
             base::ProgressFunction progress, std::span<PathSearch* const> before);

  // Reports the score of a plan that is the best so far.
  void ReportPlan(double score) const;

  const IntervalLattice& Lattice() const { return lattice_; }
  SearchCoverage Coverage() const;

  // Whether, according to bounds, a plan could exist that uses a tile shape that was not tried.
  bool UntriedCouldFit() const;

  // Computes the lower bound of each interval. Before this call, or if it is cut short, bounds are
  // zero.
  void FindBounds();

  // Finds the best selection in scope that is not forbidden. At a milestone, the caller can find a
  // selection of the expanded intervals with FindOpen, if there is one.
  Found FindBest();

  // Returns the best selection with a score below `below` through expanded intervals. Formulates
  // and decides them as needed, but expands none. nullopt if there is none or it is cut short.
  std::optional<Selection> FindOpen(double below) { return FindOpen(Target{below}); }

  // Returns the best selection, with a score below `below` if that is set, that is not forbidden,
  // within this effort, which includes searches for paths. When the effort is spent, HasSpent()
  // holds from then on. nullopt if there is none, or IsCutShort() or HasSpent().
  std::optional<Selection> FindBelow(std::optional<double> below, int64_t effort);
  bool HasSpent() const { return has_spent_; }

  // Adds skipped policies and tile shapes of the intervals of `selection` step by step, those that
  // may have a lower score than its choice, and returns the first result of FindOpen: a selection
  // with a score below `below`. nullopt if there is none within this much work, or it is cut short.
  std::optional<Selection> FindExchange(const Selection& selection, double below,
                                        int64_t most_work) {
    return FindExchange(selection, Target{below}, most_work);
  }

  // Finds the best selection with a score below `below`, including skipped tile shapes and
  // intervals excluded for lack of effort, within this much work. kNone: it is proven that no plan
  // of the listed intervals has a lower score. If the estimated work exceeds the limit, it is cut
  // short immediately.
  Found FindBetter(double below, int64_t most_work) { return FindBetter(Target{below}, most_work); }

  // FindTie and FindTiedExchange work as FindBetter and FindExchange, but find a selection of the
  // same score that decides ties better than `cost` or `selection`.
  std::optional<Selection> FindTie(const cost::Cost& cost, int64_t most_work);
  std::optional<Selection> FindTiedExchange(const Selection& selection, int64_t most_work);

  // With LaterAxes::kBestPath: from now on, cuts all intervals that bounds do not exclude along the
  // later axes. Returns false, and changes nothing, if that may take more work than this.
  bool CutEveryAxis(int64_t most_work);
  bool CutsBestPath() const { return effort_.Scope().later_axes == LaterAxes::kBestPath; }

  // Whether the stop of the context was requested, or the work limit is reached.
  bool IsCutShort() const { return effort_.IsCutShort(); }
  int64_t Work() const { return effort_.Work(); }

  // Returns the order in which a selection runs the operators, in the common numbering of all
  // orders.
  orders::Order OrderOf(const Selection& selection) const;

  // Returns the best selection among choices that are known to fit.
  std::optional<Selection> FindKnown() const;

  // Returns the selection that runs every operator as the previous plan does. Decides its choices;
  // after a stop, by the placement in the previous plan. nullopt if the network has changed, or the
  // plan violates a constraint or does not fit.
  std::optional<Selection> FindPrevious();

  // For reports of rejected alternatives: calls IntervalChoices::FormulateRefused for each interval
  // of the selection.
  void FormulateRefused(const Selection& selection, size_t most);

  // As ArcTable::Forbid; also releases the choices that the intervals hold back.
  void Forbid(const Selection& selection);

  // ForbidIntervalsOf excludes every selection of the same intervals for good.
  // ForbidKnownChoicesOf, for the best of the choices known so far, excludes them until
  // AllowAddedChoices; afterwards only the selection itself stays excluded.
  void ForbidIntervalsOf(const Selection& selection) {
    arcs_.ForbidIntervalsOf(selection, kEveryChoice);
  }
  void ForbidKnownChoicesOf(const Selection& selection) {
    Forbid(selection);
    arcs_.ForbidIntervalsOf(selection, kEveryKnownChoice);
  }
  void AllowAddedChoices() { arcs_.AllowAddedChoices(); }

  // As ArcTable::Allow, so that a search that continues from this one finds the selection again.
  void Allow(const Selection& selection) { arcs_.Allow(selection); }

  // From now on, finds only selections that keep no tensors on chip except required ones.
  void KeepNothing();
  bool MayKeep() const { return effort_.Scope().may_keep && lattice_.CouldKeep(); }

  // Restores everything that was excluded for lack of effort, and removes the effort limit from
  // then on. Returns false if nothing was excluded.
  bool Widen();

  // The following functions examine single operators with nothing kept. The baseline consists of
  // them, a search that is cut short falls back on them, and an operator that does not fit alone is
  // the simplest reason why no plan exists. So they are decided before all other intervals.

  // Formulates the single operators, whatever constraints require, until a stop or the work limit.
  void FormulateSingles(const base::Stop& stop);

  // Also decides their choices until the best one fits, or none is left. Returns false if a stop or
  // the work limit left some undecided, now or before. If all fit and there are no constraints,
  // FindKnown has an answer from then on. With kFewQueries, an operator that does not fit alone
  // after some queries is left undecided too, because more may take longer than the whole search.
  enum class Persistence : uint8_t { kFewQueries, kToTheEnd };
  bool DecideSingles(const base::Stop& stop, Persistence persistence);

  // Under constraints: decides in the same way, with few queries, the shortest subgraphs that they
  // permit, with no tensors kept except required ones. FindKnown can compose a selection of them.
  void DecideShortest(const base::Stop& stop);

  // Finds a choice that fits for each of the shortest subgraphs (without constraints the single
  // operators) that has none yet, by a short search (IntervalChoices::ExpandInHaste). Ends when it
  // finds none for some of them.
  void DecideShortestInHaste();

  // Returns the best choice of an interval by itself that is not known to be impossible; nullopt if
  // there is none.
  std::optional<size_t> BestSingle(const choices::IntervalChoices& single) const;

 private:
  using Tasks = std::vector<std::function<void()>>;

  // The most tile shapes that are added if nothing fits: to one interval in one step, and in total.
  static constexpr size_t kExtension = 512;
  static constexpr size_t kMostExtended = 16384;

  // The work done on a set of intervals.
  struct Tally {
    int64_t expanded = 0;
    int64_t formulated = 0;
    int64_t solves = 0;
    int64_t effort = 0;
  };

  // The outcome of a step towards the best path.
  enum class Outcome : uint8_t {
    kConfirmed,  // it is known to fit throughout
    kExamined,   // something about its intervals has become known
    kNoPath,
    kNotBelow,  // no path has a score below the limit
    kStuck,     // the path needs untried tile shapes, of which there are too many to list; or it is
                // not below the limit, and PathLook::left_open is set
    kCutShort,  // also if no path is known, and PathLook::left_open is set
  };
  struct Step {
    Outcome outcome = Outcome::kExamined;
    Selection selection = {};  // if kConfirmed
  };

  const choices::SearchContext& Context() const { return lattice_.Context(); }
  choices::IntervalChoices& ChoicesAt(size_t interval) {
    return lattice_.Intervals()[interval].choices;
  }
  PathLook NewLook() const;  // with the labels that the effort allows
  // Returns the profile with the axes along which the tiles of all intervals are cut.
  const hw_profiles::Profile& CutBy(const choices::SearchContext& context) const;
  void ForgetBounds();
  void Refresh() { arcs_.RefreshAll(effort_.Scope()); }
  void TakeOver(PathSearch& before);

  // The value that a path has to improve on.
  struct Target {
    double score = 0;                  // it must be lower
    const cost::Cost* tied = nullptr;  // if set: the scale must prefer the path to it
  };

  Step TakeStep(const ArcLists& arcs, std::optional<Target> below = std::nullopt);
  std::optional<Selection> FindOpen(const Target& below);
  Found FindBetter(const Target& below, int64_t most_work);
  bool IsBelow(const cost::Cost& cost, const Target& target) const;
  std::optional<Selection> Confirm(const Path& path);
  Target TieOf(const cost::Cost& cost) const;
  std::optional<Selection> FindExchange(const Selection& selection, const Target& below,
                                        int64_t most_work);
  bool ExtendForExchange(const Selection& selection, const Target& below);
  bool ExtendUntried(const ScoreRooms& rooms, const Path& path);
  bool IsWithin(double below, const ArcLists& arcs, int64_t most_work) const;
  bool Extend();

  Tally TallyOf(std::span<const size_t> intervals) const;
  void Account(const Tally& before, const Tally& after);
  std::vector<size_t> Shortest() const;
  void FormulateAll(std::vector<size_t> open, const base::Stop& stop);
  bool DecideBest(const std::vector<size_t>& intervals, const base::Stop& stop,
                  Persistence persistence);
  void DecideAsBefore(const std::vector<size_t>& intervals);
  bool DecideUntilOneFits(choices::IntervalChoices& choices, const base::Stop& stop,
                          Persistence persistence);
  int64_t RunOn(std::span<const size_t> intervals, const Tasks& tasks);
  void Run(const Tasks& tasks) const;
  void Report() const;

  IntervalLattice lattice_;
  ArcTable arcs_;
  SearchEffort effort_;
  std::optional<int64_t> effort_for_labels_;  // SearchLimits::effort
  base::Threads threads_;
  base::ProgressFunction progress_;
  Tally done_;  // on all intervals
  bool has_spent_ = false;
  bool is_open_ = false;       // PathLook::left_open, of the last path
  bool is_best_open_ = false;  // that of the last FindBest, unless FindBetter proves its path best
  bool has_hurried_ = false;   // some intervals have choices of a short search
};

}  // namespace tessera::search::partition::paths
