#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/label_search.h"
#include "tessera/search/partition/paths/lattice.h"

// The best partition by lazy evaluation: intervals are examined only where that can change the
// result.
//
// Repeat: find the best path through the cut points with the current knowledge, which is optimistic
// where little is known. Expand the intervals on it that are only bounded. If all are expanded,
// formulate them. If all are formulated, decide whether their choices fit. Every answer raises a
// cost, drops a choice, or confirms one. When the best path is confirmed throughout, it is optimal:
// costs only rise, so every other path costs at least as much (A* over a lazily evaluated graph:
// Dellin, Srinivasa 2016). If no path is left, skipped tile shapes are added, shortest intervals
// first. If the effort is limited and spent, long intervals are excluded, then those that keep
// boundary tensors on chip; all return if no path is left without them.
//
// An interval is listed once for each crossing (lattice.h): these differ in the tensors kept on
// chip at its ends. Intervals that constraints exclude are not listed, except single operators,
// which form the baseline.
//
// Each time the work has doubled, FindBest returns at a milestone. The caller then makes a plan of
// the expanded intervals, so that there is a result whenever a deadline, an interrupt or the work
// limit ends the search. When the best selection is known, FindBetter considers what was skipped:
// tile shapes that are not even cuts, and intervals out of reach. It visits them by their bounds,
// like the rest, so it never examines those that cannot beat the best plan.
//
// The intervals of one round are expanded and decided independently of each other, hence in
// parallel. The queries do not depend on the number of threads.
//
// With several orders of the operators, the intervals of all of them are listed, between cuts that
// are one if the same operators are done (lattice.h). An interval that several orders share is
// listed once. So a path may change from order to order at any common cut, and results for an
// interval in one order hold in all orders that have it.
namespace tessera::search::partition::paths {

// The limits of the search. Most of its time goes into intervals that are long or keep much on
// chip, and that turn out a little worse than the best. If there are too many of these, the search
// continues without them and reports it. The effort is counted, not timed.
struct SearchLimits {
  int most_operators = 1;  // in one subgraph, except those that constraints hold together
  // The number of tile shapes times operators, expanded or formulated, after which the search is
  // reduced to kUsualMostOperators. After the same number again, intervals that keep boundary
  // tensors are excluded. If not set: never.
  std::optional<int64_t> effort;
  // Work (PathSearch::Work) after which nothing more is examined, except single operators. If not
  // set: never.
  std::optional<int64_t> most_work = std::nullopt;
};

// How a search for a selection ended.
enum class Ending : uint8_t {
  kFound,
  kNone,       // by proof, within the current limits
  kMilestone,  // the search continues with the next call
  kCutShort,   // ended by a stop or a work limit
};

// Appended to a reason that holds for the plans that Keeping::kNothing allows.
inline constexpr std::string_view kAllSpilled =
    "; this is so where every boundary tensor between subgraphs is brought home";

// The reduced limit of operators.
inline constexpr int kUsualMostOperators = 12;

// Special choices of arcs: the only arc of an interval that is only bounded, and the arc of an
// expanded interval that represents the skipped tile shapes.
inline constexpr size_t kBounded = std::numeric_limits<size_t>::max();
inline constexpr size_t kUntried = kBounded - 1;

// The limits for orders other than the first.
struct OtherOrderLimits {
  int most_operators = kUsualMostOperators;  // in one subgraph, without regard to constraints
  // Number of intervals that the first order lacks, counted once per crossing. When it is reached,
  // further orders are ignored.
  size_t most_intervals = 8'192;
  // Whether an interval represents all that begin after the same operators, have the same operators
  // and end with the same one. They have the same tiles and traffic, and differ in the space they
  // need and in prefetches.
  bool alike = true;
};

// A network in one order; the parts must belong together.
struct Ordered {
  const choices::SearchContext* context = nullptr;
  const CutStates* states = nullptr;
  const constraints::PlanConstraints* constraints = nullptr;
  const encoder::program::HomeRoom* homes = nullptr;
  orders::Order order;
  OrderLattice::Kind kind = {};  // encoder::NextInPlace
};

// Consecutive subgraphs, each with a choice that fits alone.
struct Selection {
  std::vector<const choices::IntervalChoices*> intervals;
  std::vector<size_t> choices;  // parallel: index into Choices()
  cost::Cost cost;
};

struct Found {
  Ending ending = Ending::kNone;
  Selection selection = {};  // if kFound
};

class PathSearch {
 public:
  // A search over the current order of the network; Ordered::order is ignored. The parts must
  // outlive the search. The states must be those for the constraints.
  PathSearch(const Ordered& ordered, const SearchLimits& search_limits, int threads,
             std::function<void(std::string_view)> progress);

  // The same over several orders, of which the first has all intervals in reach. Takes over from
  // earlier searches the results for any of its intervals and the forbidden selections (the latest
  // ones if there are many), and from the first of them the reduced limits. Afterwards those
  // searches may only be taken over again. Operator numbers are those of the first order
  // everywhere.
  PathSearch(std::span<const Ordered> orders, const SearchLimits& search_limits,
             const OtherOrderLimits& other_limits, int threads,
             std::function<void(std::string_view)> progress, std::span<PathSearch* const> before);

  // Whether all requested intervals of all orders are present.
  bool HasAllOrders() const { return has_all_orders_; }

  // Whether a stop came while intervals were added: then some are missing, except single operators.
  bool LeavesOutIntervals() const { return leaves_out_; }

  // Computes the lower bound of each interval. Before this, or if it is cut short, the bound is
  // zero.
  void FindBounds();

  // The best selection in reach that is not forbidden. At a milestone FindOpen has a selection to
  // return, if there is one.
  Found FindBest();

  // The best selection with a score below this one through expanded intervals, which are formulated
  // and decided for that; no interval is expanded. nullopt if it is cut short.
  std::optional<Selection> FindOpen(double below);

  // The best selection with a score below this one, including skipped tile shapes and intervals out
  // of reach, within this much work. kNone: it is proven that no plan of the listed intervals has a
  // lower score. If the work would exceed the limit, it is cut short immediately.
  Found FindBetter(double below, int64_t most_work);

  // Whether context.stop was requested, or the work limit is reached.
  bool IsCutShort() const {
    return context_->stop.Requested() || (most_work_ && work_ > *most_work_);
  }

  // The best selection with a score below this one that is not forbidden, within this effort, which
  // includes searches for paths. When the effort is spent, HasSpent() holds from then on. nullopt
  // if IsCutShort.
  std::optional<Selection> FindBelow(double score, int64_t effort);
  bool HasSpent() const { return has_spent_; }

  // The work so far in the same unit, without results taken over; it only grows.
  int64_t Work() const { return work_; }

  // The order in which a selection runs the operators, in the common numbering of all orders.
  orders::Order OrderOf(const Selection& selection) const;

  // The best selection among choices that are known to fit.
  std::optional<Selection> FindKnown() const;

  // For reports of rejected alternatives: calls IntervalChoices::FormulateRefused for each interval
  // of the selection.
  void FormulateRefused(const Selection& selection, size_t most);

  // Excludes this selection from further results. At most kMostForbidden times.
  void Forbid(const Selection& selection);

  // From now on only selections that keep nothing on chip except required tensors are found.
  void KeepNothing();
  bool MayKeep() const { return may_keep_ && could_keep_; }
  bool CapsKept() const { return caps_kept_; }  // CutStates::IsCapped
  size_t MostKept() const { return orders_.front().states->MostKept(); }
  bool SpillsAll() const { return spills_all_; }  // CutStates::SpillsAll

  // Restores everything that was excluded for lack of effort, and removes the effort limit from
  // then on. Returns false if nothing was excluded.
  bool Widen();

  // Whether tensors could be kept on chip without being required, and such selections were
  // excluded.
  bool LeavesOutKept() const { return could_keep_ && !(may_keep_ && looks_at_kept_); }

  // Formulates the intervals of single operators without kept tensors, whatever constraints
  // require.
  void FormulateSingles(const base::Stop& stop);

  // Also decides their choices until the best one fits, or none is left. Returns false after a
  // stop. If all fit and constraints allow them, FindKnown has an answer from then on.
  bool DecideSingles(const base::Stop& stop);

  // If a stop came before that: finds a choice that fits for each single operator, if a short
  // search finds one (IntervalChoices::ExpandInHaste).
  void DecideSinglesInHaste();

  // The best choice of an interval by itself that is not known to be impossible; nullopt if there
  // is none.
  std::optional<size_t> BestSingle(const choices::IntervalChoices& single) const;

  // All crossings of the interval of operators [first, first + length); `length` is at most
  // Longest().
  std::span<const choices::IntervalChoices> Crossings(int first, int length) const;
  std::span<const choices::IntervalChoices> Intervals() const { return intervals_; }
  int Longest() const { return lengths_; }

  // The operator alone, without kept tensors, whatever constraints require.
  const choices::IntervalChoices& Single(int op) const { return Crossings(op, 1).front(); }

  // IsAllowed: whether constraints allow the interval to be a subgraph. IsAtHome: whether it keeps
  // only required tensors.
  bool IsAllowed(const choices::IntervalChoices& interval) const {
    return allowed_[IndexOf(interval)] != 0;
  }
  bool IsAtHome(const choices::IntervalChoices& interval) const {
    return ConstraintsOf(IndexOf(interval)).AreAllOf(interval.Kept());
  }

  // An arc from the begin to the end of an interval, without choice or cost.
  Arc ArcOf(const choices::IntervalChoices& interval) const;
  int LastState() const { return last_state_; }

  // Of the intervals that are considered, without regard to constraints.
  int MostOperators() const { return longest_; }
  int Operators() const { return operators_; }

  bool AnyGivenUp() const;

  // Whether there are skipped tile shapes, and skipped policies. For the former, intervals that are
  // not expanded count too.
  bool LeavesOutShapes() const;
  bool LeavesOutPolicies() const;

  // Whether, according to bounds, a tile shape that was not tried could be part of a selection with
  // a score below this one.
  bool UntriedCouldBeat(double score) const;

 private:
  using Tasks = std::vector<std::function<void()>>;

  // Tile shapes that are added if nothing fits: to an interval per step, and in all intervals.
  static constexpr size_t kExtension = 512;
  static constexpr size_t kMostExtended = 16384;

  // About a fiftieth of a second.
  static constexpr int64_t kFirstMilestone = 4096;

  // The work done on some intervals.
  struct Tally {
    int64_t expanded = 0;
    int64_t formulated = 0;
    int64_t solves = 0;
    int64_t effort = 0;
  };

  const constraints::PlanConstraints& ConstraintsOf(size_t interval) const {
    return *orders_[order_of_[interval]].constraints;
  }
  void NumberStates();
  void AddIntervals(const OtherOrderLimits& other_limits);
  void AddInterval(size_t order, graph::Interval interval);
  std::vector<std::optional<size_t>> FindHere(const PathSearch& before) const;
  void TakeOver(PathSearch& before);
  void TakeSearchLimits(const PathSearch& before);
  size_t PlaceOf(int first, int length) const;
  std::vector<size_t> Singles() const;
  std::vector<Arc> BestSingleArcs() const;
  size_t IndexOf(const choices::IntervalChoices& interval) const;
  void Refresh(size_t interval);
  void Expand(choices::IntervalChoices& choices) const;
  bool InReach(const choices::IntervalChoices& interval) const;
  Tally TallyOf(std::span<const size_t> intervals) const;
  int64_t RunOn(std::span<const size_t> intervals, const Tasks& tasks);
  void Account(const Tally& before, const Tally& after);
  std::optional<Selection> Confirm(const Path& path, std::span<const Arc> arcs);
  void DrawBack();
  bool Extend();
  std::optional<Path> Look(std::span<const Arc> arcs);
  std::vector<Arc> ArcsWithUntried() const;
  std::vector<double> RoomsBelow(double below, std::span<const Arc> arcs) const;
  bool IsWithin(double below, std::span<const Arc> arcs, int64_t most_work) const;
  bool ExtendUntried(double below, const Path& path, std::span<const Arc> arcs);
  std::vector<Arc> CurrentArcs(bool only_open = false) const;
  Selection SelectionOf(const Path& path, std::span<const Arc> arcs) const;
  void Run(const Tasks& tasks) const;
  void Report() const;

  std::vector<Ordered> orders_;
  const choices::SearchContext* context_;  // of the first order, like the following members
  const constraints::PlanConstraints* constraints_;
  int operators_;
  OrderLattice lattice_;
  std::vector<int> first_state_;  // by cut of the lattice
  int last_state_ = 0;
  bool caps_kept_ = false;
  bool spills_all_ = false;
  int most_;                          // operators in any interval, without regard to constraints
  int lengths_;                       // in any interval of the first order
  int longest_;                       // in the intervals that are considered
  std::optional<int64_t> allowance_;  // of effort
  std::optional<int64_t> most_work_;
  int threads_;
  bool may_keep_ = true;
  bool looks_at_kept_ = true;
  bool could_keep_ = false;
  int64_t effort_ = 0;  // since the last reduction of the limits
  int64_t work_ = 0;
  int64_t milestone_ = kFirstMilestone;  // of work
  Tally done_;                           // of all intervals
  std::function<void(std::string_view)> progress_;
  std::vector<size_t>
      // by first operator, then length: the index of the first of its crossings in intervals_
      crossings_;
  std::vector<choices::IntervalChoices> intervals_;
  std::vector<size_t> order_of_;             // parallel: index into orders_
  std::vector<uint8_t> bounded_;             // parallel: whether its bound is known
  std::vector<uint8_t> given_away_;          // parallel: whether another search has taken it over
  std::vector<uint8_t> allowed_;             // parallel: whether constraints allow it
  std::vector<std::pair<int, int>> states_;  // parallel: the states where it begins and ends
  std::vector<std::vector<size_t>> kept_;    // parallel: choices of forbidden selections
  std::vector<std::vector<Arc>>
      arcs_;  // parallel: the arcs of the interval, as of the last Refresh
  bool has_all_orders_ = true;
  bool leaves_out_ = false;
  bool has_spent_ = false;
  size_t extended_ = 0;  // shapes added by Extend
  std::vector<Forbidden> forbidden_;
};

}  // namespace tessera::search::partition::paths
