// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"
#include "tessera/plan/verify/infeasibility/partition_paths.h"

// The arcs of the paths (partition_paths.cc): the intervals that their lower bounds of memory do
// not exclude, each with the sets of boundary tensors that it may keep. Limits exclude an arc if
// its least sums, added to those from the start to it and from it to the end, exceed a limit:
//
//     start --- least --> [ arc: least ] --- least --> end      is the sum within the limits?
namespace tessera::plan::verify::infeasibility {
namespace {

constexpr size_t kMostKept = 8;  // tensors of one interval that may or may not be kept
constexpr size_t kMostArcs = 50'000;

}  // namespace

// Whether the floors of all intervals can be found in a few seconds. Each floor walks all operators
// of its interval, and all indices along each axis.
bool Passage::IsSmallEnough() const {
  constexpr int64_t kMostSteps = 300'000'000;
  constexpr int64_t kLongest = 100'000;
  int64_t most = 0;
  for (const graph::Tensor& tensor : question_.network.tensors) {
    int64_t sum = 0;
    for (const int64_t extent : tensor.shape) {
      if (extent > kLongest && !tensor.constant) return false;
      sum += tensor.constant ? 0 : extent;
    }
    most = std::max(most, sum);
  }
  const auto operators = static_cast<int64_t>(order_.size());
  return Times(Times(operators, operators + 1), operators + 2) / 6 <=
         kMostSteps / std::max<int64_t>(1, most);
}

// Intervals that their floors do not exclude and that lie on a path from the first cut to the last.
void Passage::FindOpenIntervals() {
  const auto operators = static_cast<int>(order_.size());
  std::vector<char> reached(static_cast<size_t>(operators) + 1);
  reached[0] = 1;
  const auto ends = [this] { return stop_.Requested() || shared_.work < 0; };
  for (int first = 0; first < operators && !ends(); ++first) {
    if (reached[static_cast<size_t>(first)] == 0) continue;
    for (int last = first; last < operators && !ends(); ++last) {
      const bool open = IsOpen({first, last});
      open_[{first, last}] = open;
      if (open) reached[static_cast<size_t>(last) + 1] = 1;
    }
  }
  std::vector<char> leads(static_cast<size_t>(operators) + 1);
  leads[static_cast<size_t>(operators)] = 1;
  for (auto each = open_.rbegin(); each != open_.rend(); ++each) {
    each->second = each->second && leads[static_cast<size_t>(each->first.last) + 1] != 0;
    if (each->second) leads[static_cast<size_t>(each->first.first)] = 1;
  }
}

bool Passage::IsOpen(graph::Interval interval) {
  const auto [floor, is_new] = shared_.lower_bounds.try_emplace(KeyOf(interval), 0);
  if (is_new) {
    shared_.work -= interval.last - interval.first + 1;
    floor->second = FloorOf(finder_.InOrder(), finder_.UsersOf(), interval);
  }
  return floor->second <= room_;
}

// Limits of sums require the configurations of nearly every remaining interval, so nothing is
// started if there are too many.
bool Passage::BuildArcs() {
  std::vector<CutState> next = {{0, {}}};
  while (!next.empty()) {
    const CutState state = next.back();
    next.pop_back();
    if (!arcs_.contains(state) && !AddArcs(state, next)) return false;
  }
  DropArcsBeyondLimits();
  if (std::none_of(limits_.begin(), limits_.end(), [](const auto& limit) { return limit; }))
    return true;
  std::set<const Choices*> unknown;
  for (const auto& [state, arcs] : arcs_) {
    for (const Arc& arc : arcs) {
      if (!arc.choices->configs) unknown.insert(arc.choices);
    }
  }
  int64_t work = 0;
  for (const Choices* choices : unknown)
    work = base::CheckedAdd(work, choices->work).value_or(base::kMaxTotal);
  return work <= shared_.work || GiveUp(kTooMuch);
}

// Finds the least of each sum from both ends to each state. An arc adds its own least sums to those
// of its two states.
void Passage::DropArcsBeyondLimits() {
  const auto lower = [](std::map<CutState, Sums>& least, const CutState& state, const Sums& sums) {
    const auto [known, is_new] = least.try_emplace(state, sums);
    for (size_t i = 0; i < sums.size(); ++i) known->second[i] = std::min(known->second[i], sums[i]);
  };
  std::map<CutState, Sums> from_start;
  from_start[{0, {}}] = {};
  for (const auto& [state, arcs] : arcs_) {
    for (const Arc& arc : arcs) lower(from_start, arc.to, Added(from_start.at(state), arc.least));
  }
  least_to_end_[{static_cast<int>(order_.size()), {}}] = {};
  for (auto each = arcs_.rbegin(); each != arcs_.rend(); ++each) {
    std::erase_if(each->second, [&](const Arc& arc) {
      const auto rest = least_to_end_.find(arc.to);
      return rest == least_to_end_.end() ||
             !AreWithin(limits_, Added(Added(from_start.at(each->first), arc.least), rest->second),
                        SumOf::kPart);
    });
    for (const Arc& arc : each->second)
      lower(least_to_end_, each->first, Added(arc.least, least_to_end_.at(arc.to)));
  }
}

bool Passage::AddArcs(const CutState& state, std::vector<CutState>& next) {
  std::vector<Arc>& arcs = arcs_[state];
  for (auto each = open_.lower_bound({state.cut, state.cut});
       each != open_.end() && each->first.first == state.cut; ++each) {
    if (!each->second) continue;
    const graph::Interval interval = each->first;
    const std::vector<std::vector<int>> sets = KeptSets(state, interval);
    if (!gap_.empty()) return false;
    for (const std::vector<int>& kept : sets) {
      if (!MayBeSubgraph(finder_.InOrder(), order_, finder_.UsersOf(), interval, kept)) continue;
      CutState to = {interval.last + 1, {}};
      for (const int tensor : kept) {
        const std::vector<int>& readers = finder_.UsersOf()[static_cast<size_t>(tensor)].readers;
        if (readers.back() > interval.last) to.kept.push_back(tensor);
      }
      arcs.push_back({interval, kept, to, &ChoicesOf(interval, kept),
                      LeastSums(least_of_.Of(interval, kept), question_)});
      if (shared_.choices.size() > kMostArcs) return GiveUp(kTooMuch);
      if (to.cut < static_cast<int>(order_.size())) next.push_back(std::move(to));
    }
  }
  return true;
}

bool Passage::MayKeep(int tensor) const {
  if (question_.run.keeps_boundaries) return true;
  return std::any_of(question_.constraints.begin(), question_.constraints.end(),
                     [tensor](const PlanConstraint& constraint) {
                       return constraint.kind == PlanConstraintKind::kKeep &&
                              constraint.tensor == tensor;
                     });
}

// The tensors kept before the interval, with each choice of the tensors that it makes for later
// operators.
std::vector<std::vector<int>> Passage::KeptSets(const CutState& state, graph::Interval interval) {
  const Plan& plan = finder_.InOrder();
  std::vector<int> made;
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const Users& users = finder_.UsersOf()[i];
    const auto tensor = static_cast<int>(i);
    const bool passes = AnyInside(users.makers, interval) && !users.readers.empty() &&
                        users.readers.back() > interval.last;
    if (!passes || !MayKeep(tensor)) continue;
    const base::TensorRole role = RoleOf(plan.network.tensors[i], users, interval);
    if (role == base::TensorRole::kBoundary && HomeOf(plan, tensor) != plan.profile.tile_memory)
      made.push_back(tensor);
  }
  std::vector<std::vector<int>> sets;
  if (made.size() > kMostKept) {
    GiveUp(
        "there are more tensors that may be kept at a cut than an independent check goes through");
    return sets;
  }
  for (uint64_t set = 0; set < uint64_t{1} << made.size(); ++set) {
    std::vector<int> kept = state.kept;
    for (size_t i = 0; i < made.size(); ++i) {
      if (((set >> i) & 1U) != 0) kept.push_back(made[i]);
    }
    std::sort(kept.begin(), kept.end());
    sets.push_back(std::move(kept));
  }
  return sets;
}

Choices& Passage::ChoicesOf(graph::Interval interval, const std::vector<int>& kept) {
  const auto [choices, is_new] = shared_.choices.try_emplace({KeyOf(interval), kept});
  if (is_new) choices->second.work = finder_.WorkOf(interval);
  return choices->second;
}

}  // namespace tessera::plan::verify::infeasibility
