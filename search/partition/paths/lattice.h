#pragma once

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

// Where orders of one network meet: cuts before which the same operators are done are one cut,
// whichever way led there.
//
//     a b c d      {} -- a -- ab -- abc -- abcd       two orders, one cut apart: a search that walks from cut to
//     a c b d             '-- ac --'                  cut changes from the one to the other where it likes
//
// Orders of different kinds meet at the begin and at the end alone, and share no intervals: what an
// interval costs may depend on the kind. Cuts are numbered by position, those of one position by
// the first order that has them. Cost: for each order the operators squared, in bits.
class OrderLattice {
 public:
  // What tells orders apart beside their operators.
  using Kind = std::vector<int>;

  // One order or more, of the same operators; `kinds` are parallel, or empty where all are of one.
  explicit OrderLattice(std::vector<orders::Order> orders, std::vector<Kind> kinds = {});

  const std::vector<orders::Order>& Orders() const { return orders_; }
  const Kind& KindOf(size_t order) const { return kinds_[order]; }
  int Cuts() const { return cuts_; }

  // For each cut of another lattice of the same operators the number that it has here, or -1.
  std::vector<int> CutsOf(const OrderLattice& other) const;

  int CutAt(size_t order, int position) const {
    return cut_at_[order][static_cast<size_t>(position)];
  }

 private:
  using Done =
      std::pair<Kind, std::vector<bool>>;  // of which kind and operators; of no kind at either end

  std::vector<orders::Order> orders_;
  std::vector<Kind> kinds_;
  int cuts_ = 0;
  std::map<Done, int> numbers_;           // of cuts
  std::vector<std::vector<int>> cut_at_;  // by order, then position
};

// The intervals of several orders, each once: two are the same if they begin at one cut and have
// the same operators, in the same order or, where they need only be alike, with the same one at the
// end. Refers to the lattice.
class DistinctIntervals {
 public:
  DistinctIntervals(const OrderLattice& lattice, bool alike) : lattice_(&lattice), alike_(alike) {}

  // Those of at most `most` operators of this order that none has had that was asked for before.
  std::vector<graph::Interval> Take(size_t order, int most);

 private:
  using Identity = std::pair<OrderLattice::Kind, std::vector<int>>;
  Identity IdentityOf(size_t order, graph::Interval interval) const;
  std::vector<int> FindEndsOfFirst(size_t order) const;

  const OrderLattice* lattice_;
  bool alike_;
  std::set<Identity> taken_;
};

// Where a partition may cut the network, and which boundary tensors may be in the tile memory
// there.
//
// A boundary tensor that is kept on chip (docs/program.md) costs no traffic, but takes room in
// every subgraph from its maker's to its last reader's. So a cut is not told by its position alone:
// what is kept there decides what the subgraphs on either side cost and whether they fit, while
// nothing further away matters.
//
//     position   0    1      2         3
//     crossing        a      a, b      c        results of the operators 0, 1 and 2, of which the last adds a and b
//     states     {}   {}     {}        {}
//                     {a}    {a}       {c}      an edge is a subgraph of one operator or more; a is kept all the way
//                            {b}                from 1 to 2 or not at all, so no edge leads from {a} to {b}
//                            {a, b}
//
// States that could never fit are left out, and those that keep more than MostKept() boundary
// tensors, or that keep some but not all that constraints ask for; these do not count. Cost: for
// each cut the subsets of what crosses it, of at most MostKept() tensors.

// Operators of a network that is so small that a proof over all of its plans is in reach.
inline constexpr size_t kSmallNetwork = 12;

// The most boundary tensors that are kept on chip at one cut without being required.
inline constexpr size_t kMostKept = 2;
inline constexpr size_t kMostKeptInSmall = 4;  // in small networks

enum class Keeping : uint8_t { kNothing, kWherePossible };

// A subgraph between two states.
struct Crossing {
  int begin = 0;  // the states, by number
  int end = 0;
  std::vector<int> kept;  // what is kept at either: tensors, ascending
};

// The states at all cuts, numbered from 0, at which nothing is made yet, to the last, where all is
// done; those of one position stand together, that with nothing kept first. Refers to nothing.
class CutStates {
 public:
  // `room`: the most bytes of the tile memory that may be used. Where the tile memory is the home
  // of boundary tensors, nothing is kept; with Keeping::kNothing, what is required.
  CutStates(const graph::Graph& graph, const hw_profiles::Profile& profile, problem::Bytes room,
            Keeping keeping, const constraints::PlanConstraints& constraints = {});

  int Last() const { return static_cast<int>(states_.size()) - 1; }
  int FirstAt(int position) const { return first_at_[static_cast<size_t>(position)]; }
  int CountAt(int position) const { return FirstAt(position + 1) - FirstAt(position); }

  // Every way for the interval to be one subgraph, that with nothing kept first.
  std::vector<Crossing> CrossingsOf(graph::Interval interval) const;

  size_t MostKept() const { return most_kept_; }

  // Whether something was left out for being more than that, not for its size.
  bool IsCapped() const { return capped_; }

  // Whether something that has room was left out by Keeping::kNothing alone.
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

  // What may be kept at one position.
  struct Subset {
    std::vector<int> kept;
    size_t free = 0;  // of those, how many are not required
    size_t next = 0;  // the first of what crosses that may join
    problem::Bytes bytes = 0;
  };

  static std::optional<Subset> FindRequired(const std::vector<Boundary>& crossing,
                                            problem::Bytes room);
  void AddStates(int position);
  const Boundary& BoundaryOf(int tensor) const;
  bool Crosses(int tensor, int position) const;
  std::vector<int> CrossingOf(const std::vector<int>& kept, int position) const;
  bool HasRoom(const std::vector<int>& kept, graph::Interval interval) const;

  problem::Bytes room_;
  size_t most_kept_;
  std::vector<Boundary> boundaries_;      // by tensor
  std::vector<std::vector<int>> states_;  // what is kept
  std::vector<int> first_at_;             // by position: its first state; one more at the end
  std::vector<char> shares_;  // by operator: whether its result may take the place of an operand
  bool capped_ = false;
  bool spills_all_ = false;
};

}  // namespace tessera::search::partition::paths
