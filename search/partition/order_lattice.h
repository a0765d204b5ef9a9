#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/search/orders/precedence.h"

namespace tessera::search {

// Where orders of one network meet: cuts before which the same operators are done are one cut, whichever way led there.
//
//     a b c d      {} -- a -- ab -- abc -- abcd       two orders, one cut apart: a search that walks from cut to
//     a c b d             '-- ac --'                  cut changes from the one to the other where it likes
//
// Orders of different kinds meet at the begin and at the end alone, and share no intervals: what an interval costs may depend on the kind.
// Cuts are numbered by position, those of one position by the first order that has them. Cost: for each order the operators squared,
// in bits.
class OrderLattice {
 public:
  // What tells orders apart beside their operators.
  using Kind = std::vector<int>;

  // One order or more, of the same operators; `kinds` are parallel, or empty where all are of one.
  explicit OrderLattice(std::vector<Order> orders, std::vector<Kind> kinds = {});

  const std::vector<Order>& Orders() const { return orders_; }
  const Kind& KindOf(size_t order) const { return kinds_[order]; }
  int Cuts() const { return cuts_; }

  // For each cut of another lattice of the same operators the number that it has here, or -1.
  std::vector<int> CutsOf(const OrderLattice& other) const;

  int CutAt(size_t order, int position) const { return cut_at_[order][static_cast<size_t>(position)]; }

 private:
  using Done = std::pair<Kind, std::vector<bool>>;  // of which kind and operators; of no kind at either end

  std::vector<Order> orders_;
  std::vector<Kind> kinds_;
  int cuts_ = 0;
  std::map<Done, int> numbers_;           // of cuts
  std::vector<std::vector<int>> cut_at_;  // by order, then position
};

// The intervals of several orders, each once: two are the same if they begin at one cut and have the same operators, in the same order
// or, where they need only be alike, with the same one at the end. Refers to the lattice.
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

}  // namespace tessera::search
