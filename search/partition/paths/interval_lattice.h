// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/choices/interval_choices.h"
#include "tessera/search/partition/choices/search_context.h"
#include "tessera/search/partition/constraints/plan_constraints.h"
#include "tessera/search/partition/paths/lattice.h"

// The intervals of a path search, and the states between which they lie.
//
// An interval is listed once for each crossing (lattice.h): crossings differ in the tensors kept on
// chip at the ends. Intervals that constraints exclude are not listed, except single operators,
// which form the baseline.
//
// With several orders of the operators, the intervals of all of them are listed. Two cuts are one
// if the same operators come before them (lattice.h). An interval that several orders share is
// listed once. So a path may change from order to order at any common cut, and results for an
// interval in one order hold in all orders that have it.
namespace tessera::search::partition::paths {

// The limit of operators in one subgraph when the effort is reduced, and in further orders.
inline constexpr int kUsualMostOperators = 12;

// The limits for orders other than the first.
struct OtherOrderLimits {
  int most_operators = kUsualMostOperators;  // in one subgraph, without regard to constraints
  // The number of intervals that the first order lacks, counted once for each crossing. When it is
  // exceeded, further orders are ignored.
  size_t most_intervals = 8'192;
  // Whether one interval represents all that begin after the same operators, have the same
  // operators and end with the same one. These have the same tiles and traffic, but may need
  // different space and prefetches.
  bool alike = true;
};

// A network in one order; the parts must belong together.
struct Ordered {
  const choices::SearchContext* context = nullptr;
  const CutStates* states = nullptr;
  const constraints::PlanConstraints* constraints = nullptr;
  const encoder::program::HomeCapacity* homes = nullptr;
  orders::Order order;
  OrderLattice::Kind kind = {};  // encoder::NextInPlace
};

// A possible subgraph: consecutive operators of one order, from a state to another.
struct LatticeInterval {
  choices::IntervalChoices choices;  // all knowledge about it
  size_t index = 0;                  // in the lattice
  size_t order = 0;                  // of the lattice's orders
  int begin = 0;                     // states
  int end = 0;
  int inseparable = 0;         // operators in it that constraints hold together
  bool is_allowed = false;     // as a subgraph, by constraints
  bool is_at_home = false;     // keeps only required tensors on chip
  bool is_bounded = false;     // choices.SetBound was called
  bool is_given_away = false;  // another search has taken over the choices

  int Length() const { return choices.Interval().last - choices.Interval().first + 1; }
};

// Consecutive intervals of a lattice.
template <typename Iterator>
struct Consecutive {
  Iterator first;
  Iterator behind;
  Iterator begin() const { return first; }
  Iterator end() const { return behind; }
  auto& front() const { return *first; }
};

class IntervalLattice {
 public:
  // Lists the intervals with at most `most_operators`, or more if constraints hold them together:
  // all of the first order, and those of the others within `other_limits`. The parts of the orders
  // must outlive this object.
  IntervalLattice(std::span<const Ordered> orders, int most_operators,
                  const OtherOrderLimits& other_limits);

  const choices::SearchContext& Context() const { return *orders_.front().context; }
  const choices::SearchContext& ContextOf(const LatticeInterval& interval) const {
    return *orders_[interval.order].context;
  }
  int Operators() const { return operators_; }
  int LastState() const { return last_state_; }
  int MostOperators() const { return most_; }  // in any interval, without regard to constraints
  int Longest() const { return longest_; }     // operators in any interval of the first order

  // References to intervals stay valid while others are added.
  std::deque<LatticeInterval>& Intervals() { return intervals_; }
  const std::deque<LatticeInterval>& Intervals() const { return intervals_; }

  // Returns all crossings of the interval of operators [first, first + length) of the first order;
  // `length` is at most Longest().
  using SomeIntervals = Consecutive<std::deque<LatticeInterval>::const_iterator>;
  SomeIntervals Crossings(int first, int length) const;

  // Single returns the interval of the operator alone, without kept tensors, whatever constraints
  // require. Singles returns the numbers of these intervals for all operators.
  const LatticeInterval& Single(int op) const { return Crossings(op, 1).front(); }
  std::vector<size_t> Singles() const;

  // Returns one past the last interval that differs from this one only in its crossing.
  size_t EndOfCrossings(size_t interval) const;

  // Returns the operators of the interval in the common numbering of all orders: that of the first.
  orders::Order OperatorsOf(const LatticeInterval& interval) const;

  // Whether all requested intervals of all orders are present.
  bool HasAllOrders() const { return has_all_orders_; }

  // Whether a stop came while intervals were added. If it came during the first order, all
  // intervals are missing except some single operators and the subgraphs of a previous plan.
  bool LeavesOutIntervals() const { return leaves_out_; }

  // Whether tensors could be kept on chip without being required.
  bool CouldKeep() const { return could_keep_; }
  bool CapsKept() const { return caps_kept_; }    // CutStates::IsCapped
  bool LacksSets() const { return lacks_sets_; }  // CutStates::LacksSets
  bool SpillsAll() const { return spills_all_; }  // CutStates::SpillsAll
  size_t MostKept() const { return orders_.front().states->MostKept(); }

  // Returns for each interval of another lattice of the network the same interval here, if any.
  // Intervals are the same if their orders are of one kind, and they begin at one cut, have the
  // same operators in the same order, and keep the same tensors.
  std::vector<std::optional<size_t>> FindHere(const IntervalLattice& other) const;

  // Takes over the knowledge about the same interval of another lattice. Returns false if it was
  // taken over before.
  bool TakeOver(size_t interval, LatticeInterval& other);

 private:
  void NumberStates();
  void AddIntervals(const OtherOrderLimits& other_limits);
  void AddIntervalsOfFirstOrder();
  void AddFewIntervals();
  void AddInterval(size_t order, graph::Interval interval, CutStates::Which which);
  size_t PlaceOf(int first, int length) const;

  std::vector<Ordered> orders_;
  int operators_;
  OrderLattice lattice_;
  int most_;
  int longest_;
  std::vector<int> first_state_;  // by cut of the lattice
  int last_state_ = 0;
  std::deque<LatticeInterval> intervals_;
  // by first operator, then length: the first of the crossings in intervals_
  std::vector<size_t> crossings_;
  bool has_all_orders_ = true;
  bool leaves_out_ = false;
  bool could_keep_ = false;
  bool caps_kept_ = false;
  bool lacks_sets_ = false;
  bool spills_all_ = false;
};

}  // namespace tessera::search::partition::paths
