// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/infeasibility/partition_paths.h"

#include <algorithm>
#include <limits>
#include <set>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/verify/checks.h"
#include "tessera/plan/verify/cost_terms.h"
#include "tessera/plan/verify/infeasibility/lower_bounds.h"

// The intervals of an order are arcs between its cuts, and a plan is a path from the first cut to
// the last. Arcs are removed as they are refuted, with the cheap arguments first:
//
//     floors   an interval that needs too much under every tile and policy is not an arc; nor
//              is one that no other arc leads to or from
//     configs  an arc without a tile configuration, each derived anew, is removed. They are found
//              for one arc of a remaining path at a time, the one with the least work, because
//              one interval often bars many paths
//     sums     from cut to cut all sums are carried that no other dominates in every limited
//              metric; sums beyond a limit are dropped
//     proofs   each subgraph of a remaining path must have a placement; a subgraph that
//              provably has none is removed, and the next path is searched
//     programs if each subgraph of a path may have a placement, all paths are enumerated: each
//              must provably have no placement, as a whole or in one of its homes
//
// Cost: the floors, operators for each interval, and SubgraphConfigs::Find for each arc, both of
// which `Shared::work` limits, then labels times arcs for each removed configuration.
namespace tessera::plan::verify::infeasibility {
namespace {

using Placing = TestedConfig::Placing;

constexpr size_t kMostKept = 8;  // tensors of one interval that may or may not be kept
constexpr size_t kMostLabels = 100'000;
constexpr size_t kMostArcs = 50'000;
constexpr int64_t kMostPrograms = 3'000;
constexpr auto kTooMuch = "there are more tiles and policies than an independent check tries";

bool Precedes(const graph::Interval& a, const graph::Interval& b) {
  return std::tie(a.first, a.last) < std::tie(b.first, b.last);
}

}  // namespace

Passage::Passage(const Plan& question, std::span<const int> order, int64_t room, Shared& shared,
                 Placements& placements, const base::Stop& stop)
    : question_(question),
      order_(order.begin(), order.end()),
      room_(room),
      shared_(shared),
      placements_(placements),
      stop_(stop),
      finder_(question, order, room, stop),
      limits_(LimitsOfSums(question)),
      open_(&Precedes) {
  hands_on_ =
      std::any_of(question.network.tensors.begin(), question.network.tensors.end(),
                  [](const graph::Tensor& tensor) { return tensor.next_of >= 0 || tensor.state; });
}

bool Passage::GiveUp(std::string why) {
  if (gap_.empty()) gap_ = std::move(why);
  return false;
}

Shared::Interval Passage::KeyOf(graph::Interval interval) const {
  std::vector<int> before(order_.begin(), order_.begin() + interval.first);
  if (!hands_on_) std::sort(before.begin(), before.end());
  std::vector<int> inside(order_.begin() + interval.first, order_.begin() + interval.last + 1);
  return {std::move(before), std::move(inside)};
}

bool Passage::IsBarred() {
  if (!IsSmallEnough())
    return GiveUp("the network is larger than an independent check goes through");
  FindOpenIntervals();
  if (stop_.Requested()) return GiveUp("time ended");
  if (shared_.work < 0) return GiveUp(kTooMuch);
  if (!BuildArcs()) return false;
  while (true) {
    const std::optional<Path> path = FindPath();
    if (!gap_.empty()) return false;
    if (!path) return true;
    if (stop_.Requested()) return GiveUp("time ended");
    const bool is_known = std::all_of(path->begin(), path->end(),
                                      [](const auto& step) { return step.second != kUnknown; });
    if (!is_known) {
      if (!FindCheapestUnknown(*path)) return false;
      continue;
    }
    const bool all_possible = std::all_of(path->begin(), path->end(), [this](const auto& step) {
      return Test(*step.first, (*step.first->choices->configs)[step.second]);
    });
    if (all_possible) return AllProgramsFail();
  }
}

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

// Limits of sums need the configurations of nearly every interval, so if there are too many,
// nothing is started.
bool Passage::BuildArcs() {
  std::vector<CutState> next = {{0, {}}};
  while (!next.empty()) {
    const CutState state = next.back();
    next.pop_back();
    if (!arcs_.contains(state) && !AddArcs(state, next)) return false;
  }
  const bool limits_sums =
      std::any_of(limits_.begin(), limits_.end(), [](const auto& limit) { return limit; });
  int64_t work = 0;
  for (const auto& [key, choices] : shared_.choices) {
    if (!choices.configs) work = base::CheckedAdd(work, choices.work).value_or(base::kMaxTotal);
  }
  return !limits_sums || work <= shared_.work || GiveUp(kTooMuch);
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
      arcs.push_back({interval, kept, to, &ChoicesOf(interval, kept)});
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

bool Passage::FindConfigs(const Arc& arc) {
  if (arc.choices->configs) return true;
  std::optional<std::vector<SubgraphConfig>> configs;
  if (!stop_.Requested()) configs = finder_.Find(arc.interval, arc.kept, shared_.work);
  if (!configs) return GiveUp(stop_.Requested() ? "time ended" : kTooMuch);
  std::vector<TestedConfig>& tested = arc.choices->configs.emplace();
  for (SubgraphConfig& config : *configs) tested.push_back({std::move(config), Placing::kOpen});
  return true;
}

bool Passage::FindCheapestUnknown(const Path& path) {
  const Arc* cheapest = nullptr;
  for (const auto& [arc, config] : path) {
    if (config == kUnknown && (cheapest == nullptr || arc->choices->work < cheapest->choices->work))
      cheapest = arc;
  }
  return FindConfigs(*cheapest);
}

// Adds the label if no label before it is at most as high in every limited metric and in work.
bool Passage::AddLabel(std::vector<Label>& labels, const Label& label) const {
  const auto is_as_low = [this](const Label& a, const Label& b) {
    return AreAsLow(limits_, a.sums, b.sums) && a.work <= b.work;
  };
  if (std::any_of(labels.begin(), labels.end(),
                  [&](const Label& each) { return is_as_low(each, label); }))
    return false;
  labels.push_back(label);
  return true;
}

// A remaining path. An arc with unknown configurations adds the least that they may have.
std::optional<Passage::Path> Passage::FindPath() {
  std::map<CutState, std::vector<Label>> labels;
  labels[{0, {}}].push_back({});
  labels_ = 0;
  for (const auto& [state, arcs] : arcs_) {
    // Only labels of later states are extended.
    const std::vector<Label>& here = labels[state];
    for (const Label& before : here) {
      for (const Arc& arc : arcs) {
        if (!Follow(arc, before, labels[arc.to])) return std::nullopt;
      }
    }
  }
  const auto last = labels.find({static_cast<int>(order_.size()), {}});
  if (last == labels.end() || last->second.empty()) return std::nullopt;
  const Label* label =
      &*std::min_element(last->second.begin(), last->second.end(),
                         [](const Label& a, const Label& b) { return a.work < b.work; });
  Path path;
  for (; label->arc != nullptr; label = label->before) path.emplace_back(label->arc, label->config);
  return path;
}

bool Passage::Follow(const Arc& arc, const Label& before, std::vector<Label>& labels) {
  const auto add = [&](size_t config, const Sums& sums, int64_t work) {
    const Label label = {Added(before.sums, sums), &arc, config, &before, before.work + work};
    const bool whole = arc.to.cut == static_cast<int>(order_.size());
    if (AreWithin(limits_, label.sums, whole ? SumOf::kWhole : SumOf::kPart) &&
        AddLabel(labels, label))
      ++labels_;
  };
  if (!arc.choices->configs) {
    add(kUnknown, LeastSums(), arc.choices->work);
  } else {
    for (size_t config = 0; config < arc.choices->configs->size(); ++config) {
      const TestedConfig& tested = (*arc.choices->configs)[config];
      if (tested.placing != Placing::kImpossible) add(config, tested.config.sums, 0);
    }
  }
  return labels_ <= kMostLabels ||
         GiveUp("there are more sums of metrics than an independent check goes through");
}

// Whether the configuration may have a placement.
bool Passage::Test(const Arc& arc, TestedConfig& tested) {
  if (tested.placing == Placing::kOpen) {
    const bool impossible =
        placements_.AreImpossible(finder_.ProblemOf(tested.config, arc.kept), room_);
    tested.placing = impossible ? Placing::kImpossible : Placing::kPossible;
  }
  return tested.placing == Placing::kPossible;
}

// Enumerates all paths, those with the fewest subgraphs last.
bool Passage::AllProgramsFail() {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  const auto end = static_cast<int>(order_.size());
  least_.clear();
  least_[{end, {}}] = {};
  for (auto each = arcs_.rbegin(); each != arcs_.rend(); ++each) {
    Sums least;
    least.fill(kNever);
    for (const Arc& arc : each->second) {
      const auto rest = least_.find(arc.to);
      if (rest == least_.end()) continue;
      const auto lower = [&](const Sums& sums) {
        for (size_t i = 0; i < sums.size(); ++i)
          least[i] = std::min(least[i], sums[i] + rest->second[i]);
      };
      if (!arc.choices->configs) lower(LeastSums());
      for (const TestedConfig& tested :
           arc.choices->configs.value_or(std::vector<TestedConfig>())) {
        if (tested.placing != Placing::kImpossible) lower(tested.config.sums);
      }
    }
    if (least[0] != kNever) least_[each->first] = least;
  }
  Path path;
  return Fail({0, {}}, {}, path);
}

bool Passage::Fail(const CutState& state, const Sums& sums, Path& path) {
  if (state.cut == static_cast<int>(order_.size())) return FailsAsProgram(path);
  for (const Arc& arc : arcs_.at(state)) {
    const auto rest = least_.find(arc.to);
    if (rest == least_.end()) continue;
    if (!FindConfigs(arc)) return false;
    for (size_t config = 0; config < arc.choices->configs->size(); ++config) {
      TestedConfig& tested = (*arc.choices->configs)[config];
      const Sums here = Added(sums, tested.config.sums);
      if (tested.placing == Placing::kImpossible ||
          !AreWithin(limits_, Added(here, rest->second), SumOf::kWhole))
        continue;
      if (stop_.Requested()) return GiveUp("time ended");
      if (!Test(arc, tested)) continue;
      path.emplace_back(&arc, config);
      if (!Fail(arc.to, here, path)) return false;
      path.pop_back();
    }
  }
  return true;
}

bool Passage::FailsAsProgram(const Path& path) {
  if (++programs_ > kMostPrograms)
    return GiveUp(
        "there are more combinations of subgraphs than an independent check goes through");
  std::vector<Subgraph> subgraphs;
  std::set<int> kept;
  for (const auto& [arc, config] : path) {
    subgraphs.push_back((*arc->choices->configs)[config].config.subgraph);
    kept.insert(arc->kept.begin(), arc->kept.end());
  }
  const std::vector<problem::Problem> problems =
      finder_.ProblemsOf(subgraphs, {kept.begin(), kept.end()});
  for (size_t i = 0; i < problems.size(); ++i) {
    const int64_t capacity = i == 0 ? room_ : problems[i].memories.front().capacity;
    if (placements_.AreImpossible(problems[i], capacity)) return true;
  }
  return GiveUp("there is a combination of subgraphs of which no proof shows that it does not fit");
}

}  // namespace tessera::plan::verify::infeasibility
