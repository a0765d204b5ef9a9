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
//     least    an interval has a least work and traffic under every tile and policy
//              (least_metrics.cc); an arc of which every path then exceeds a limit is removed
//     configs  an arc without a tile configuration, all derived again, is removed. They are found
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

constexpr size_t kMostLabels = 100'000;
constexpr int64_t kMostPrograms = 3'000;

bool Precedes(const graph::Interval& a, const graph::Interval& b) {
  return std::tie(a.first, a.last) < std::tie(b.first, b.last);
}

}  // namespace

bool IsWorkKnown(const graph::Graph& network) {
  return std::none_of(network.operators.begin(), network.operators.end(), graph::HasUnknownWork);
}

SumLimits LimitsOfSums(const Plan& question) {
  const bool known = IsWorkKnown(question.network);
  const std::map<std::string, double>& given = question.objective.limits;
  SumLimits limits;
  for (size_t i = 0; i < limits.size(); ++i) {
    const Metric& metric =
        IsExcess(i) ? *kRatioMetrics[i - kSummedMetrics.size()] : *kSummedMetrics[i];
    const auto limit = given.find(std::string(metric.name));
    if (limit != given.end() && (known || !IsExcess(i)))
      limits[i] = IsExcess(i) ? 0 : limit->second;
  }
  return limits;
}

Sums SumsOf(const Metrics& metrics, const Plan& question) {
  constexpr double kRounding = 1e-9;
  const SumLimits limits = LimitsOfSums(question);
  Sums sums = {};
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!limits[i]) continue;
    if (!IsExcess(i)) {
      sums[i] = ValueOf(metrics, *kSummedMetrics[i]);
      continue;
    }
    const Metric& ratio = *kRatioMetrics[i - kSummedMetrics.size()];
    const double most = question.objective.limits.at(std::string(ratio.name));
    sums[i] = ExcessOf(metrics, ratio, most * (1 + kRounding));
  }
  return sums;
}

Sums LeastSums(const Metrics& least, const Plan& question) {
  Sums sums = SumsOf(least, question);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (IsExcess(i)) sums[i] = -std::numeric_limits<double>::infinity();
  }
  return sums;
}

Sums Added(Sums a, const Sums& b) {
  for (size_t i = 0; i < a.size(); ++i) a[i] += b[i];
  return a;
}

bool AreWithin(const SumLimits& limits, const Sums& sums, SumOf what) {
  for (size_t i = 0; i < sums.size(); ++i) {
    if (IsExcess(i) && what == SumOf::kPart) continue;
    if (limits[i] && IsBeyond(sums[i], *limits[i])) return false;
  }
  return true;
}

bool AreAsLow(const SumLimits& limits, const Sums& a, const Sums& b) {
  for (size_t i = 0; i < limits.size(); ++i) {
    if (limits[i] && a[i] > b[i]) return false;
  }
  return true;
}

Passage::Passage(const Plan& question, std::span<const int> order, int64_t room, Shared& shared,
                 Placements& placements, const base::Stop& stop)
    : question_(question),
      order_(order.begin(), order.end()),
      room_(room),
      shared_(shared),
      placements_(placements),
      stop_(stop),
      finder_(question, order, room, stop),
      least_of_(finder_.InOrder(), finder_.UsersOf()),
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

bool Passage::FindConfigs(const Arc& arc) {
  if (arc.choices->configs) return true;
  std::optional<std::vector<SubgraphConfig>> configs;
  if (!stop_.Requested()) configs = finder_.Find(arc.interval, arc.kept, shared_.work);
  if (!configs) return GiveUp(stop_.Requested() ? "time ended" : kTooMuch);
  std::vector<TestedConfig>& tested = arc.choices->configs.emplace();
  for (SubgraphConfig& config : *configs) {
    for (size_t i = 0; i < config.sums.size(); ++i)
      config.sums[i] = std::max(config.sums[i], arc.least[i]);
    tested.push_back({std::move(config), Placing::kOpen});
  }
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

// Finds a remaining path. An arc with unknown configurations adds their least sums.
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
    if (AreWithin(limits_, Added(label.sums, least_to_end_.at(arc.to)),
                  whole ? SumOf::kWhole : SumOf::kPart) &&
        AddLabel(labels, label))
      ++labels_;
  };
  if (!arc.choices->configs) {
    add(kUnknown, arc.least, arc.choices->work);
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
  known_to_end_.clear();
  known_to_end_[{end, {}}] = {};
  for (auto each = arcs_.rbegin(); each != arcs_.rend(); ++each) {
    Sums least;
    least.fill(kNever);
    for (const Arc& arc : each->second) {
      const auto rest = known_to_end_.find(arc.to);
      if (rest == known_to_end_.end()) continue;
      const auto lower = [&](const Sums& sums) {
        for (size_t i = 0; i < sums.size(); ++i)
          least[i] = std::min(least[i], sums[i] + rest->second[i]);
      };
      if (!arc.choices->configs) lower(arc.least);
      for (const TestedConfig& tested :
           arc.choices->configs.value_or(std::vector<TestedConfig>())) {
        if (tested.placing != Placing::kImpossible) lower(tested.config.sums);
      }
    }
    if (least[0] != kNever) known_to_end_[each->first] = least;
  }
  Path path;
  return Fail({0, {}}, {}, path);
}

bool Passage::Fail(const CutState& state, const Sums& sums, Path& path) {
  if (state.cut == static_cast<int>(order_.size())) return FailsAsProgram(path);
  for (const Arc& arc : arcs_.at(state)) {
    const auto rest = known_to_end_.find(arc.to);
    if (rest == known_to_end_.end()) continue;
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
