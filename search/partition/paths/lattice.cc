// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/paths/lattice.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/memory_lower_bound.h"

namespace tessera::search::partition::paths {

OrderLattice::OrderLattice(std::vector<orders::Order> orders, std::vector<Kind> kinds)
    : orders_(std::move(orders)), kinds_(std::move(kinds)), cut_at_(orders_.size()) {
  kinds_.resize(orders_.size());
  const size_t operators = orders_.front().size();
  constexpr size_t kBits = 64;
  std::vector<std::vector<uint64_t>> done(orders_.size(),
                                          std::vector<uint64_t>(operators / kBits + 1));
  for (size_t position = 0; position <= operators; ++position) {
    for (size_t i = 0; i < orders_.size(); ++i) {
      if (position > 0) {
        const auto op = static_cast<size_t>(orders_[i][position - 1]);
        done[i][op / kBits] |= uint64_t{1} << op % kBits;
      }
      const bool at_an_end = position == 0 || position == operators;
      const auto [cut, fresh] =
          numbers_.try_emplace(Done(at_an_end ? Kind() : kinds_[i], done[i]), cuts_);
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

// Returns the kind; the cut where the interval begins; and its operators in order or, if `alike`,
// all but the last in ascending order.
DistinctIntervals::Identity DistinctIntervals::IdentityOf(size_t order,
                                                          graph::Interval interval) const {
  const orders::Order& operators = lattice_->Orders()[order];
  std::vector<int> identity = {lattice_->CutAt(order, interval.first)};
  identity.insert(identity.end(), operators.begin() + interval.first,
                  operators.begin() + interval.last + 1);
  if (alike_) std::sort(identity.begin() + 1, identity.end() - 1);
  return Identity(lattice_->KindOf(order), std::move(identity));
}

// Returns for each position the largest end up to which intervals that begin there equal those of
// the first order.
std::vector<int> DistinctIntervals::FindEndsOfFirst(size_t order) const {
  const orders::Order& operators = lattice_->Orders()[order];
  const orders::Order& first = lattice_->Orders().front();
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

namespace {

using base::TensorRole;
using problem::Bytes;

// Returns the elements of `a` that are not in `b`; both are ascending.
std::vector<int> Without(const std::vector<int>& a, const std::vector<int>& b) {
  std::vector<int> rest;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(rest));
  return rest;
}

}  // namespace

CutStates::CutStates(const graph::Graph& graph, const hw_profiles::Profile& profile, Bytes room,
                     Keeping keeping, const constraints::PlanConstraints& constraints)
    : room_(room),
      most_kept_(graph.operators.size() <= kSmallNetwork ? kMostKeptInSmall : kMostKept),
      most_sets_(MostSets(graph.operators.size())),
      boundary_of_(graph.tensors.size(), -1) {
  const hw_profiles::RoleLayout& layout = hw_profiles::LayoutOf(profile, TensorRole::kBoundary);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  const auto operators = static_cast<int>(graph.operators.size());
  for (const graph::Operator& op : graph.operators)
    shares_.push_back(static_cast<char>(encoder::program::MayTakeAPlace(profile, op)));
  const bool keeps_apart = layout.home != profile.tile_memory;
  for (int tensor = 0; keeps_apart && tensor < static_cast<int>(graph.tensors.size()); ++tensor) {
    const graph::Tensor& facts = graph.tensors[static_cast<size_t>(tensor)];
    const graph::Usage& usage = usages[static_cast<size_t>(tensor)];
    if (usage.producer < 0 || usage.consumers.empty() || constraints.MustSpill(tensor)) continue;
    const graph::Interval maker{usage.producer, usage.producer};
    if (graph::RoleIn(graph, usage, tensor, maker) != TensorRole::kBoundary) continue;
    const Bytes bytes = encoder::program::FeatureBytes(
        layout, facts.type, encoder::program::NameExtents(facts.shape, facts.shape),
        encoder::program::PadsFor(graph, profile, usage.consumers));
    if (bytes > room_) continue;
    const bool required = constraints.MustKeep(tensor);
    if (keeping == Keeping::kNothing && !required) {
      spills_all_ = true;
    } else {
      boundary_of_[static_cast<size_t>(tensor)] = static_cast<int>(boundaries_.size());
      boundaries_.push_back({tensor, usage.producer, usage.consumers.back(), bytes, required});
    }
  }
  for (int position = 0; position <= operators; ++position) AddStates(position);
  first_at_.push_back(static_cast<int>(states_.size()));
}

// Returns the tensors that must be kept at a cut; nullopt if they do not fit.
std::optional<CutStates::Subset> CutStates::FindRequired(const std::vector<Boundary>& crossing,
                                                         Bytes room) {
  Subset required;
  for (const Boundary& boundary : crossing) {
    if (!boundary.required) continue;
    required.kept.push_back(boundary.tensor);
    required.bytes = base::SaturatingAdd(required.bytes, boundary.bytes);
  }
  return required.bytes <= room ? std::optional(required) : std::nullopt;
}

void CutStates::AddStates(int position) {
  first_at_.push_back(static_cast<int>(states_.size()));
  std::vector<Boundary> crossing;
  for (const Boundary& boundary : boundaries_) {
    if (Crosses(boundary.tensor, position)) crossing.push_back(boundary);
  }
  const std::optional<Subset> required = FindRequired(crossing, room_);
  if (!required || !required->kept.empty()) states_.emplace_back();
  std::vector<Subset> subsets;
  if (required) subsets.push_back(*required);
  for (size_t i = 0; i < subsets.size(); ++i) {  // grows
    const Subset subset = subsets[i];
    states_.push_back(subset.kept);
    std::sort(states_.back().begin(), states_.back().end());
    for (size_t next = subset.next; next < crossing.size(); ++next) {
      if (crossing[next].required) continue;
      const Bytes bytes = base::SaturatingAdd(subset.bytes, crossing[next].bytes);
      if (bytes > room_) continue;
      capped_ = capped_ || subset.free == most_kept_;
      if (subset.free == most_kept_) break;
      lacks_sets_ = lacks_sets_ || subsets.size() == most_sets_;
      if (subsets.size() == most_sets_) break;
      Subset larger{subset.kept, subset.free + 1, next + 1, bytes};
      larger.kept.push_back(crossing[next].tensor);
      subsets.push_back(std::move(larger));
    }
  }
}

bool CutStates::Crosses(int tensor, int position) const {
  const Boundary& boundary = BoundaryOf(tensor);
  return boundary.maker < position && position <= boundary.last_reader;
}

// Whether the kept tensors have room. All tensors kept while an operator runs are in the tile
// memory together, except that a result may take the place of an operand that ends there.
bool CutStates::HasRoom(const std::vector<int>& kept, graph::Interval interval) const {
  for (int op = interval.first; op <= interval.last; ++op) {
    Bytes before = 0;
    Bytes behind = 0;
    Bytes during = 0;
    for (const int tensor : kept) {
      const Boundary& boundary = BoundaryOf(tensor);
      if (op < boundary.maker || boundary.last_reader < op) continue;
      during = base::SaturatingAdd(during, boundary.bytes);
      if (boundary.maker < op) before = base::SaturatingAdd(before, boundary.bytes);
      if (op < boundary.last_reader) behind = base::SaturatingAdd(behind, boundary.bytes);
    }
    const bool shares = shares_[static_cast<size_t>(op)] != 0;
    if ((shares ? std::max(before, behind) : during) > room_) return false;
  }
  return true;
}

std::vector<int> CutStates::CrossingOf(const std::vector<int>& kept, int position) const {
  std::vector<int> crossing;
  for (const int tensor : kept) {
    if (Crosses(tensor, position)) crossing.push_back(tensor);
  }
  return crossing;
}

std::vector<Crossing> CutStates::CrossingsOf(graph::Interval interval, Which which) const {
  constexpr int kNothingAndRequired = 2;  // the first states of each position
  const auto states_at = [this, which](int position) {
    const int first = first_at_[static_cast<size_t>(position)];
    const int last = first_at_[static_cast<size_t>(position) + 1];
    return std::pair(first,
                     which == Which::kAll ? last : std::min(last, first + kNothingAndRequired));
  };
  const auto [first_begin, last_begin] = states_at(interval.first);
  const auto [first_end, last_end] = states_at(interval.last + 1);
  // A tensor that passes over the whole interval must be kept on both sides, or on neither.
  std::map<std::vector<int>, std::vector<int>> ends;  // by the tensors that pass
  for (int end = first_end; end < last_end; ++end)
    ends[CrossingOf(states_[static_cast<size_t>(end)], interval.first)].push_back(end);
  std::vector<Crossing> crossings;
  for (int begin = first_begin; begin < last_begin; ++begin) {
    const std::vector<int>& before = states_[static_cast<size_t>(begin)];
    const auto meeting = ends.find(CrossingOf(before, interval.last + 1));
    if (meeting == ends.end()) continue;
    for (const int end : meeting->second) {
      const std::vector<int> entering = Without(states_[static_cast<size_t>(end)], before);
      Crossing crossing{.begin = begin, .end = end, .kept = before};
      crossing.kept.insert(crossing.kept.end(), entering.begin(), entering.end());
      std::sort(crossing.kept.begin(), crossing.kept.end());
      if (HasRoom(crossing.kept, interval)) crossings.push_back(std::move(crossing));
    }
  }
  return crossings;
}

}  // namespace tessera::search::partition::paths
