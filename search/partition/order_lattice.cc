#include "tessera/search/partition/order_lattice.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace tessera::search {

OrderLattice::OrderLattice(std::vector<Order> orders, std::vector<Kind> kinds)
    : orders_(std::move(orders)), kinds_(std::move(kinds)), cut_at_(orders_.size()) {
  kinds_.resize(orders_.size());
  const size_t operators = orders_.front().size();
  std::vector<std::vector<bool>> done(orders_.size(), std::vector<bool>(operators));
  for (size_t position = 0; position <= operators; ++position) {
    for (size_t i = 0; i < orders_.size(); ++i) {
      if (position > 0) done[i][static_cast<size_t>(orders_[i][position - 1])] = true;
      const bool at_an_end = position == 0 || position == operators;
      const auto [cut, fresh] = numbers_.try_emplace(Done(at_an_end ? Kind() : kinds_[i], done[i]), cuts_);
      if (fresh) ++cuts_;
      cut_at_[i].push_back(cut->second);
    }
  }
}

std::vector<int> OrderLattice::CutsOf(const OrderLattice& other) const {
  std::vector<int> cuts(static_cast<size_t>(other.cuts_));
  for (const auto& [done, number] : other.numbers_) {
    const auto found = numbers_.find(done);
    cuts[static_cast<size_t>(number)] = found == numbers_.end() ? -1 : found->second;
  }
  return cuts;
}

// The kind and the cut where it begins, then its operators; of those that are alike the last one and then the others, ascending.
DistinctIntervals::Identity DistinctIntervals::IdentityOf(size_t order, graph::Interval interval) const {
  const Order& operators = lattice_->Orders()[order];
  std::vector<int> identity = {lattice_->CutAt(order, interval.first)};
  identity.insert(identity.end(), operators.begin() + interval.first, operators.begin() + interval.last + 1);
  if (alike_) std::sort(identity.begin() + 1, identity.end() - 1);
  return Identity(lattice_->KindOf(order), std::move(identity));
}

// For each position how far intervals that begin there are those of the first order.
std::vector<int> DistinctIntervals::FindEndsOfFirst(size_t order) const {
  const Order& operators = lattice_->Orders()[order];
  const Order& first = lattice_->Orders().front();
  const auto count = static_cast<int>(operators.size());
  std::vector<int> ends(operators.size());
  if (lattice_->KindOf(order) != lattice_->KindOf(0)) {
    std::iota(ends.begin(), ends.end(), 0);
    return ends;
  }
  int end = count;
  for (int position = count - 1; position >= 0; --position) {
    const auto at = static_cast<size_t>(position);
    if (operators[at] != first[at]) end = position;
    ends[at] = lattice_->CutAt(order, position) == lattice_->CutAt(0, position) ? end : position;
  }
  return ends;
}

std::vector<graph::Interval> DistinctIntervals::Take(size_t order, int most) {
  const auto operators = static_cast<int>(lattice_->Orders()[order].size());
  const std::vector<int> ends =
      order == 0 ? std::vector<int>(lattice_->Orders()[order].size()) : FindEndsOfFirst(order);
  std::vector<graph::Interval> taken;
  for (int begin = 0; begin < operators; ++begin) {
    for (int end = std::max(begin, ends[static_cast<size_t>(begin)]) + 1;
         end <= std::min(begin + most, operators); ++end) {
      const graph::Interval interval{begin, end - 1};
      if (taken_.insert(IdentityOf(order, interval)).second) taken.push_back(interval);
    }
  }
  return taken;
}

}  // namespace tessera::search
