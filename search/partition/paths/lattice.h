// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"
#include "tessera/search/orders/legal_orders.h"
#include "tessera/search/partition/constraints/plan_constraints.h"

namespace tessera::search::partition::paths {

// The meeting points of several orders of one network. Two cuts are one if the same operators come
// before them, in whatever order.
//
//     a b c d      {} -- a -- ab -- abc -- abcd       two orders that differ in one cut: a search
//     a c b d             '-- ac --'                  over cuts changes between them at common cuts
//
// Orders of different kinds meet only at the begin and at the end, and share no intervals, because
// the cost of an interval may depend on the kind. Cuts are numbered by position; those of one
// position by the first order that has them. Cost: the square of the operators for each order, in
// bits.
class OrderLattice {
 public:
  // A property that distinguishes orders in addition to their operators.
  using Kind = std::vector<int>;

  // `orders` is not empty; all have the same operators. `kinds` is parallel to it, or empty if all
  // orders have one kind.
  explicit OrderLattice(std::vector<orders::Order> orders, std::vector<Kind> kinds = {});

  const std::vector<orders::Order>& Orders() const { return orders_; }
  const Kind& KindOf(size_t order) const { return kinds_[order]; }
  int Cuts() const { return cuts_; }

  // Returns for each cut of another lattice of the same operators its number here, or -1.
  std::vector<int> CutsOf(const OrderLattice& other) const;

  int CutAt(size_t order, int position) const {
    return cut_at_[order][static_cast<size_t>(position)];
  }

 private:
  // The kind of the order, none at both ends; and the operators before the cut, one bit each.
  using Done = std::pair<Kind, std::vector<uint64_t>>;

  std::vector<orders::Order> orders_;
  std::vector<Kind> kinds_;
  int cuts_ = 0;
  std::map<Done, int> numbers_;           // of cuts
  std::vector<std::vector<int>> cut_at_;  // by order, then position
};

// Lists the intervals of several orders, each once. Two are equal if they begin at one cut and have
// the same operators: in the same order or, if `alike`, with the same last operator. The lattice
// must outlive this object.
class DistinctIntervals {
 public:
  DistinctIntervals(const OrderLattice& lattice, bool alike) : lattice_(&lattice), alike_(alike) {}

  // Returns the intervals of this order with at most `most` operators that no earlier call
  // returned.
  std::vector<graph::Interval> Take(size_t order, int most);

 private:
  using Identity = std::pair<OrderLattice::Kind, std::vector<int>>;
  Identity IdentityOf(size_t order, graph::Interval interval) const;
  std::vector<int> FindEndsOfFirst(size_t order) const;

  const OrderLattice* lattice_;
  bool alike_;
  std::set<Identity> taken_;
};

// The points where a partition may cut the network, and the boundary tensors that may be in the
// tile memory there.
//
// A boundary tensor that is kept on chip (docs/program.md) causes no traffic, but takes space in
// every subgraph from that of its maker to that of its last reader. So the position does not fully
// describe a cut: the tensors kept there determine the costs and the fit of the subgraphs on either
// side. Tensors kept elsewhere have no influence.
//
//     position   0    1      2         3
//     crossing        a      a, b      c        results of the operators 0, 1 and 2, of which the
//     states     {}   {}     {}        {}       last adds a and b
//                     {a}    {a}       {c}      an edge is a subgraph of one operator or more;
//                            {b}                a is kept all the way from 1 to 2 or not at all,
//                            {a, b}             so no edge leads from {a} to {b}
//
// The following states are excluded: those that could never fit, those that keep more than
// MostKept() boundary tensors without being required, and those that keep some but not all tensors
// that constraints require. Cost: for each cut, the subsets of at most MostKept() of the tensors
// that cross it.

// The number of operators up to which a proof over all plans of a network is within reach.
inline constexpr size_t kSmallNetwork = 12;

// The largest number of boundary tensors that are kept on chip at one cut without being required.
inline constexpr size_t kMostKept = 2;
inline constexpr size_t kMostKeptInSmall = 4;  // in small networks

// Returns the largest number of such sets at one cut, for a network of so many operators: all cuts
// share a fixed number. Sets of fewer tensors come first. Of 30 real networks only DenseNet-121
// (246 operators) has more than 22 sets at a cut, 326; 60 parallel chains have 1 831.
constexpr size_t MostSets(size_t operators) {
  constexpr size_t kInAll = 100'000;
  constexpr size_t kLeast = 64;
  return std::max(kLeast, kInAll / (operators + 1));
}

enum class Keeping : uint8_t { kNothing, kWherePossible };

// A subgraph between two states.
struct Crossing {
  int begin = 0;  // the states, by number
  int end = 0;
  std::vector<int> kept;  // the tensors kept at either end, ascending
};

// The states at all cuts. They are numbered from 0, the start, to Last(), the end. States of one
// position are contiguous; the one that keeps nothing is first. The object keeps no references.
class CutStates {
 public:
  // `room`: the bytes of the tile memory that may be used. If the tile memory is the home of
  // boundary tensors, no tensor is kept; with Keeping::kNothing, only required tensors are.
  CutStates(const graph::Graph& graph, const hw_profiles::Profile& profile, problem::Bytes room,
            Keeping keeping, const constraints::PlanConstraints& constraints = {});

  int Last() const { return static_cast<int>(states_.size()) - 1; }
  int FirstAt(int position) const { return first_at_[static_cast<size_t>(position)]; }
  int CountAt(int position) const { return FirstAt(position + 1) - FirstAt(position); }

  // Returns all variants of the interval as one subgraph; with kRequired, only those between the
  // first two states of each cut, which keep nothing or little more than is required. The one that
  // keeps nothing is first.
  enum class Which : uint8_t { kAll, kRequired };
  std::vector<Crossing> CrossingsOf(graph::Interval interval, Which which = Which::kAll) const;

  size_t MostKept() const { return most_kept_; }

  // Whether a state that fits was excluded by MostKept() or by MostSets.
  bool IsCapped() const { return capped_ || lacks_sets_; }
  // Whether a state that fits was excluded by MostSets.
  bool LacksSets() const { return lacks_sets_; }

  // Whether a state that fits was excluded only by Keeping::kNothing.
  bool SpillsAll() const { return spills_all_; }

 private:
  // A tensor that may be kept.
  struct Boundary {
    int tensor = 0;
    int maker = 0;
    int last_reader = 0;
    problem::Bytes bytes = 0;
    bool required = false;
  };

  // A set of tensors that may be kept at one position.
  struct Subset {
    std::vector<int> kept;
    size_t free = 0;  // the number of those that are not required
    size_t next = 0;  // the first of the crossing tensors that may be added
    problem::Bytes bytes = 0;
  };

  static std::optional<Subset> FindRequired(const std::vector<Boundary>& crossing,
                                            problem::Bytes room);
  void AddStates(int position);
  const Boundary& BoundaryOf(int tensor) const {
    const int index = boundary_of_[static_cast<size_t>(tensor)];
    return boundaries_[static_cast<size_t>(index)];
  }
  bool Crosses(int tensor, int position) const;
  std::vector<int> CrossingOf(const std::vector<int>& kept, int position) const;
  bool HasRoom(const std::vector<int>& kept, graph::Interval interval) const;

  problem::Bytes room_;
  size_t most_kept_;
  size_t most_sets_;
  std::vector<Boundary> boundaries_;      // in the order of the tensors
  std::vector<int> boundary_of_;          // by tensor: its index in boundaries_, or -1
  std::vector<std::vector<int>> states_;  // by state: the kept tensors
  // by position: its first state; one additional entry at the end
  std::vector<int> first_at_;
  std::vector<char> shares_;  // by operator: whether its result may take the place of an operand
  bool capped_ = false;
  bool lacks_sets_ = false;
  bool spills_all_ = false;
};

}  // namespace tessera::search::partition::paths
