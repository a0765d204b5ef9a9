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

// The best partition, looking closely only where it could be.
//
// Repeat: find the best path through the cut points with what is known, optimistic where little is
// known; open the intervals on it that are only bounded; where all are open, formulate them; where
// all are formulated, ask whether its choices fit. Every answer raises a cost, drops a choice, or
// confirms one. When the best path is confirmed throughout, every other path costs at least as
// much, for costs only rise: it is the best there is (A* over a lazily evaluated graph: Dellin,
// Srinivasa 2016). Where no path is left, tile shapes that were skipped are added, shortest
// intervals first. Where the effort is limited and spent, long intervals are left out, then those
// that keep boundary tensors on chip; all come back where nothing is left without them. An interval
// stands there once for each way to be crossed (cut_states.h): what is kept on chip at its ends
// differs. What constraints rule out does not stand there at all, but for single operators, of
// which the baseline is made. Each time that the work has doubled FindBest returns at a milestone:
// the caller then makes a plan of what is open, so that there is something to show whenever a
// deadline, an interrupt or the most work ends the search. When the best selection is known,
// FindBetter looks at what was skipped: tile shapes that are no even cuts, and intervals out of
// reach. It takes them up by their bounds, like the rest, so what cannot beat the best plan is
// never looked at. The intervals of one round are expanded and decided independently of each other,
// hence in parallel, and what is asked does not depend on the number of threads. With several
// orders of the operators, the intervals of all of them stand there, between cuts that are one
// where the same operators are done (order_lattice.h); those of several orders that are one and the
// same stand there once. So a path may change from order to order at any cut that both have, and
// what was found out about an interval in one order holds in all that have it.
namespace tessera::search::partition::paths {

// How far the search looks. Most of its time goes into intervals that are long, or that keep much
// on chip, and that turn out a little worse than the best; where these are too many, it goes on
// without them, and says so. The effort is counted, not timed.
struct SearchLimits {
  int most_operators = 1;  // in one subgraph, but for those that constraints do not let part
  // Tile shapes times operators, expanded or formulated, after which to draw back to
  // kUsualMostOperators, and as many after which to leave out what keeps boundary tensors; without:
  // never.
  std::optional<int64_t> effort;
  // Work (PathSearch::Work) after which nothing more is looked at, single operators excepted;
  // without: never.
  std::optional<int64_t> most_work = std::nullopt;
};

// How a look for a selection ended.
enum class Ending : uint8_t {
  kFound,
  kNone,       // by proof, as far as the look goes
  kMilestone,  // it goes on when it is called again
  kCutShort,   // a stop, or a limit on work, came first
};

// What goes with a reason that holds for the plans that Keeping::kNothing allows.
inline constexpr std::string_view kAllSpilled =
    "; this is so where every boundary tensor between subgraphs is brought home";

// Where a search draws back to.
inline constexpr int kUsualMostOperators = 12;

// Choices of arcs that are none: the one arc of an interval that is only bounded, and the arc of an
// open interval that stands for the tile shapes that were skipped.
inline constexpr size_t kBounded = std::numeric_limits<size_t>::max();
inline constexpr size_t kUntried = kBounded - 1;

// What is looked at of orders behind the first.
struct OtherOrderLimits {
  int most_operators = kUsualMostOperators;  // in one subgraph, constraints apart
  // Intervals, each as often as it can be crossed, that the first order has not; when they are
  // reached, further orders count no more.
  size_t most_intervals = 8'192;
  // Whether intervals that begin behind the same operators, have the same and end with the same one
  // stand for each other. They have the same tiles and traffic, and differ in room and in what
  // arrives meanwhile.
  bool alike = true;
};

// A network in one order; the parts belong together.
struct Ordered {
  const choices::SearchContext* context = nullptr;
  const CutStates* states = nullptr;
  const constraints::PlanConstraints* constraints = nullptr;
  const encoder::program::HomeRoom* homes = nullptr;
  orders::Order order;
  OrderLattice::Kind kind = {};  // encoder::NextInPlace
};

// Subgraphs that follow one another, each with a choice that fits alone.
struct Selection {
  std::vector<const choices::IntervalChoices*> intervals;
  std::vector<size_t> choices;  // parallel: index into Choices()
  cost::Cost cost;
};

struct Found {
  Ending ending = Ending::kNone;
  Selection selection = {};  // where kFound
};

class PathSearch {
 public:
  // Over the one order in which the network is, whatever Ordered::order says; the parts outlive the
  // search. The states are those for the constraints.
  PathSearch(const Ordered& ordered, const SearchLimits& search_limits, int threads,
             std::function<void(std::string_view)> progress);

  // The same over several orders, of which the first has all intervals in reach. Takes over what
  // searches before have found out about any of its intervals and which selections they forbid, the
  // latest where these are many, and what the first of them drew back from. Those are of no use
  // afterwards but to be taken over again. Operators are those of the first order wherever they
  // have numbers.
  PathSearch(std::span<const Ordered> orders, const SearchLimits& search_limits,
             const OtherOrderLimits& other_limits, int threads,
             std::function<void(std::string_view)> progress, std::span<PathSearch* const> before);

  // Whether all intervals of all orders are there that should be.
  bool HasAllOrders() const { return has_all_orders_; }

  // Whether a stop came while intervals were added: but for those of single operators some are not
  // there.
  bool LeavesOutIntervals() const { return leaves_out_; }

  // Finds what each interval costs at least; before, or where it is cut short, that is nothing.
  void FindBounds();

  // The best selection in reach that is not forbidden. At a milestone FindOpen has a selection to
  // show, if there is one.
  Found FindBest();

  // The best selection of a score below this one through intervals that are open, which are
  // formulated and decided for that; none is expanded. Nothing where it is cut short.
  std::optional<Selection> FindOpen(double below);

  // The best selection of a score below this one, tile shapes that were skipped and intervals out
  // of reach included, while it takes no more than this much work. kNone: by proof, no plan has a
  // lower score whose intervals are there. Where more would have to be looked at than this work
  // allows it is cut short at once.
  Found FindBetter(double below, int64_t most_work);

  // Whether context.stop was requested, or the most work was done.
  bool IsCutShort() const {
    return context_->stop.Requested() || (most_work_ && work_ > *most_work_);
  }

  // The best selection of a score below this one that is not forbidden, while what it takes is no
  // more than this effort, to which looks for paths count too; where it is spent, HasSpent() from
  // then on. Nothing where IsCutShort.
  std::optional<Selection> FindBelow(double score, int64_t effort);
  bool HasSpent() const { return has_spent_; }

  // What it took so far in the same measure, nothing that was taken over; grows with the time.
  int64_t Work() const { return work_; }

  // The order that a selection runs the operators in, in the numbers of all orders.
  orders::Order OrderOf(const Selection& selection) const;

  // The best selection among what is already known to fit.
  std::optional<Selection> FindKnown() const;

  // For whoever asks the rejected alternatives: IntervalChoices::FormulateRefused for each of its
  // intervals.
  void FormulateRefused(const Selection& selection, size_t most);

  // Keeps this selection from being found again. At most kMostForbidden times.
  void Forbid(const Selection& selection);

  // From then on only selections that keep nothing on chip but what is required are found.
  void KeepNothing();
  bool MayKeep() const { return may_keep_ && could_keep_; }
  bool CapsKept() const { return caps_kept_; }  // CutStates::IsCapped
  size_t MostKept() const { return orders_.front().states->MostKept(); }
  bool SpillsAll() const { return spills_all_; }  // CutStates::SpillsAll

  // Takes back what was left out for want of effort, and looks as far as it takes from then on;
  // false where nothing was.
  bool Widen();

  // Whether something could be kept on chip without being required, and selections that do were
  // left out.
  bool LeavesOutKept() const { return could_keep_ && !(may_keep_ && looks_at_kept_); }

  // Formulates the intervals of single operators where nothing is kept, whatever is required.
  void FormulateSingles(const base::Stop& stop);

  // Also decides their choices until one that is best fits, or none is left; false where the stop
  // came before. Where all fit and constraints allow them, FindKnown has an answer from then on.
  bool DecideSingles(const base::Stop& stop);

  // Where a stop came before that: sees to it that each single operator has a choice that fits, if
  // a short look finds one (IntervalChoices::ExpandInHaste).
  void DecideSinglesInHaste();

  // The best choice of an interval by itself that is not known to be impossible; nullopt when there
  // is none.
  std::optional<size_t> BestSingle(const choices::IntervalChoices& single) const;

  // The interval of operators [first, first + length), however it is crossed; `length` is at most
  // Longest().
  std::span<const choices::IntervalChoices> Crossings(int first, int length) const;
  std::span<const choices::IntervalChoices> Intervals() const { return intervals_; }
  int Longest() const { return lengths_; }

  // The operator alone, nothing kept, whatever is required.
  const choices::IntervalChoices& Single(int op) const { return Crossings(op, 1).front(); }

  // Whether constraints allow the interval to be a subgraph; and whether it keeps nothing else.
  bool IsAllowed(const choices::IntervalChoices& interval) const {
    return allowed_[IndexOf(interval)] != 0;
  }
  bool IsAtHome(const choices::IntervalChoices& interval) const {
    return ConstraintsOf(IndexOf(interval)).AreAllOf(interval.Kept());
  }

  // An arc from where an interval begins to where it ends, without choice or cost.
  Arc ArcOf(const choices::IntervalChoices& interval) const;
  int LastState() const { return last_state_; }

  // In the intervals that are looked at, constraints apart.
  int MostOperators() const { return longest_; }
  int Operators() const { return operators_; }

  bool AnyGivenUp() const;

  // Whether there are tile shapes, and policies, that were skipped, of intervals that are not open
  // the former.
  bool LeavesOutShapes() const;
  bool LeavesOutPolicies() const;

  // Whether, as far as bounds tell, a tile shape that was not tried could be part of a selection
  // with a score below this.
  bool UntriedCouldBeat(double score) const;

 private:
  using Tasks = std::vector<std::function<void()>>;

  // Tile shapes that are added where nothing fits: to an interval at once, and in all intervals.
  static constexpr size_t kExtension = 512;
  static constexpr size_t kMostExtended = 16384;

  // About a fiftieth of a second.
  static constexpr int64_t kFirstMilestone = 4096;

  // What has been done about some intervals.
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
  const choices::SearchContext* context_;  // of the first order, like these
  const constraints::PlanConstraints* constraints_;
  int operators_;
  OrderLattice lattice_;
  std::vector<int> first_state_;  // by cut of the lattice
  int last_state_ = 0;
  bool caps_kept_ = false;
  bool spills_all_ = false;
  int most_;                          // operators in any of the intervals, constraints apart
  int lengths_;                       // in any of them, of the first order
  int longest_;                       // in those that are looked at
  std::optional<int64_t> allowance_;  // of effort
  std::optional<int64_t> most_work_;
  int threads_;
  bool may_keep_ = true;
  bool looks_at_kept_ = true;
  bool could_keep_ = false;
  int64_t effort_ = 0;  // since the last drawing back
  int64_t work_ = 0;
  int64_t milestone_ = kFirstMilestone;  // of work
  Tally done_;                           // of all intervals
  std::function<void(std::string_view)> progress_;
  std::vector<size_t>
      crossings_;  // by first operator, then length: the first of its crossings in intervals_
  std::vector<choices::IntervalChoices> intervals_;
  std::vector<size_t> order_of_;             // parallel: index into orders_
  std::vector<uint8_t> bounded_;             // parallel: whether its bound is known
  std::vector<uint8_t> given_away_;          // parallel: whether another search has it now
  std::vector<uint8_t> allowed_;             // parallel: whether constraints allow it
  std::vector<std::pair<int, int>> states_;  // parallel: where it begins and ends
  std::vector<std::vector<size_t>> kept_;    // parallel: choices of forbidden selections
  std::vector<std::vector<Arc>>
      arcs_;  // parallel: what the interval offers, as of the last Refresh
  bool has_all_orders_ = true;
  bool leaves_out_ = false;
  bool has_spent_ = false;
  size_t extended_ = 0;  // shapes added by Extend
  std::vector<Forbidden> forbidden_;
};

}  // namespace tessera::search::partition::paths
