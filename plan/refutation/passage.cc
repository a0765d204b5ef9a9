#include "tessera/plan/refutation/passage.h"

#include <algorithm>
#include <deque>
#include <limits>
#include <set>

#include "tessera/plan/refutation/demanded.h"
#include "tessera/plan/refutation/floors.h"

// The intervals of an order are arcs between its cuts, and a plan is a way from the first cut to the last. Arcs are taken out as they are
// refuted, the cheap arguments first:
//
//     floors   an interval that needs too much under every tile and policy is no arc; nor is one that no others lead to or from
//     ways     an arc without a way to run it, each derived anew, is none
//     sums     from cut to cut all sums are carried of which none is lower in every limited metric, and dropped beyond a limit
//     proofs   of a path that is left, each subgraph must have a placement; one that has none by proof is taken out, and the next
//              path is looked for
//     programs if each subgraph of a path may have a placement, all paths are gone through: each as a whole, or one of its homes, must
//              have none by proof
//
// Cost: as of Ways::Find for each arc, which `Shared::work` limits, then labels times arcs for each way that is taken out.
namespace tessera::plan::refutation {
namespace {

using Placing = TestedWay::Placing;

constexpr size_t kMostKept = 8;  // tensors of one interval that may or may not be kept
constexpr size_t kMostLabels = 100'000;
constexpr int64_t kMostPrograms = 3'000;

bool Precedes(const graph::Interval& a, const graph::Interval& b) {
  return std::tie(a.first, a.last) < std::tie(b.first, b.last);
}

Sums Plus(const Sums& a, const Sums& b) {
  Sums sum = {};
  for (size_t i = 0; i < sum.size(); ++i) sum[i] = a[i] + b[i];
  return sum;
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
      finder_(question, order, room),
      open_(&Precedes) {
  hands_on_ = std::any_of(question.network.tensors.begin(), question.network.tensors.end(),
                          [](const graph::Tensor& tensor) { return tensor.next_of >= 0 || tensor.state; });
}

bool Passage::GiveUp(std::string why) {
  if (gap_.empty()) gap_ = std::move(why);
  return false;
}

Shared::Interval Passage::KeyOf(graph::Interval interval) const {
  std::vector<int> before(order_.begin(), order_.begin() + interval.first);
  if (!hands_on_) std::sort(before.begin(), before.end());
  return {std::move(before), {order_.begin() + interval.first, order_.begin() + interval.last + 1}};
}

bool Passage::IsBarred() {
  FindOpenIntervals();
  if (stop_.Requested()) return GiveUp("time ended");
  if (!BuildArcs()) return false;
  while (true) {
    const std::optional<Path> path = FindPath();
    if (!gap_.empty()) return false;
    if (!path) return true;
    bool all_possible = true;
    for (const auto& [arc, way] : *path) {
      all_possible = Test(*arc, (*arc->ways)[way]) && all_possible;
      if (stop_.Requested()) return GiveUp("time ended");
      if (!all_possible) break;
    }
    if (all_possible) return AllProgramsFail();
  }
}

// Intervals that are left by their floors, and lie on a way from the first cut to the last.
void Passage::FindOpenIntervals() {
  const auto operators = static_cast<int>(order_.size());
  std::vector<char> reached(static_cast<size_t>(operators) + 1);
  reached[0] = 1;
  for (int first = 0; first < operators && !stop_.Requested(); ++first) {
    if (reached[static_cast<size_t>(first)] == 0) continue;
    const int most = std::min(operators - first, question_.run.max_operators.value_or(operators));
    for (int last = first; last < first + most; ++last) {
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
  const auto [floor, is_new] = shared_.floors.try_emplace(KeyOf(interval), 0);
  if (is_new) floor->second = FloorOf(finder_.InOrder(), finder_.UsersOf(), interval);
  return floor->second <= room_;
}

bool Passage::BuildArcs() {
  int64_t work = 0;
  for (const auto& [interval, open] : open_) {
    if (open && !shared_.ways.contains({KeyOf(interval), {}}))
      work += std::min(shared_.work, finder_.WorkOf(interval));
    if (work > shared_.work)
      return GiveUp("there are more tiles and policies than an independent check goes through");
  }
  std::vector<CutState> next = {{0, {}}};
  while (!next.empty()) {
    const CutState state = next.back();
    next.pop_back();
    if (!arcs_.contains(state) && !AddArcs(state, next)) return false;
  }
  return true;
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
      std::vector<TestedWay>* ways = WaysOf(interval, kept);
      if (ways == nullptr) return false;
      if (ways->empty()) continue;
      CutState to = {interval.last + 1, {}};
      for (const int tensor : kept) {
        const std::vector<int>& readers = finder_.UsersOf()[static_cast<size_t>(tensor)].readers;
        if (readers.back() > interval.last) to.kept.push_back(tensor);
      }
      arcs.push_back({interval, kept, to, ways});
      if (to.cut < static_cast<int>(order_.size())) next.push_back(std::move(to));
    }
  }
  return true;
}

bool Passage::MayKeep(int tensor) const {
  if (question_.run.keeps_borders) return true;
  return std::any_of(question_.demands.begin(), question_.demands.end(), [tensor](const Demand& demand) {
    return demand.kind == DemandKind::kKeep && demand.tensor == tensor;
  });
}

// What is kept before the interval, with each choice of what it makes for operators behind it.
std::vector<std::vector<int>> Passage::KeptSets(const CutState& state, graph::Interval interval) {
  const Plan& plan = finder_.InOrder();
  std::vector<int> made;
  for (size_t i = 0; i < plan.network.tensors.size(); ++i) {
    const Users& users = finder_.UsersOf()[i];
    const auto tensor = static_cast<int>(i);
    const bool passes =
        AnyInside(users.makers, interval) && !users.readers.empty() && users.readers.back() > interval.last;
    if (!passes || !MayKeep(tensor)) continue;
    const base::TensorRole role = RoleOf(plan.network.tensors[i], users, interval);
    if (role == base::TensorRole::kBorder && HomeOf(plan, tensor) != plan.profile.tile_memory)
      made.push_back(tensor);
  }
  std::vector<std::vector<int>> sets;
  if (made.size() > kMostKept) {
    GiveUp("there are more tensors that may be kept at a cut than an independent check goes through");
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

std::vector<TestedWay>* Passage::WaysOf(graph::Interval interval, const std::vector<int>& kept) {
  const auto [known, is_new] = shared_.ways.try_emplace({KeyOf(interval), kept});
  if (!is_new) return &known->second;
  std::optional<std::vector<Way>> ways;
  if (!stop_.Requested()) ways = finder_.Find(interval, kept, shared_.work);
  if (!ways) {
    shared_.ways.erase(known);
    GiveUp(stop_.Requested() ? "time ended"
                             : "there are more tiles and policies than an independent check goes through");
    return nullptr;
  }
  for (Way& way : *ways) known->second.push_back({std::move(way), Placing::kOpen});
  return &known->second;
}

bool Passage::IsWithinLimits(const Sums& sums) const {
  for (size_t i = 0; i < sums.size(); ++i) {
    const auto limit = question_.objective.limits.find(std::string(kSummed[i]));
    if (limit != question_.objective.limits.end() && IsBeyond(sums[i], limit->second)) return false;
  }
  return true;
}

// Whether none before it is as low in every limited metric.
bool Passage::AddLabel(std::vector<Label>& labels, const Label& label) const {
  const auto is_as_low = [this](const Label& a, const Label& b) {
    for (size_t i = 0; i < kSummed.size(); ++i) {
      if (question_.objective.limits.contains(std::string(kSummed[i])) && a.sums[i] > b.sums[i]) return false;
    }
    return true;
  };
  if (std::any_of(labels.begin(), labels.end(), [&](const Label& each) { return is_as_low(each, label); }))
    return false;
  labels.push_back(label);
  return true;
}

std::optional<Passage::Path> Passage::FindPath() {
  std::map<CutState, std::vector<Label>> labels;
  labels[{0, {}}].push_back({});
  const auto end = static_cast<int>(order_.size());
  size_t count = 0;
  for (auto& [state, arcs] : arcs_) {
    for (size_t i = 0; i < labels[state].size(); ++i) {
      for (const Arc& arc : arcs) {
        for (size_t way = 0; way < arc.ways->size(); ++way) {
          const TestedWay& tested = (*arc.ways)[way];
          if (tested.placing == Placing::kImpossible) continue;
          // Labels of a state stay where they are once those of the next are made.
          const Label& before = labels[state][i];
          const Label label = {Plus(before.sums, tested.way.sums), &arc, way, &before};
          if (!IsWithinLimits(label.sums)) continue;
          if (AddLabel(labels[arc.to], label) && ++count > kMostLabels) {
            GiveUp("there are more sums of metrics than an independent check goes through");
            return std::nullopt;
          }
        }
      }
    }
  }
  const auto last = labels.find({end, {}});
  if (last == labels.end() || last->second.empty()) return std::nullopt;
  Path path;
  for (const Label* label = &last->second.front(); label->arc != nullptr; label = label->before)
    path.emplace_back(label->arc, label->way);
  return path;
}

// Whether the way may have a placement.
bool Passage::Test(const Arc& arc, TestedWay& tested) {
  if (tested.placing == Placing::kOpen) {
    const bool impossible = placements_.AreImpossible(finder_.ProblemOf(tested.way, arc.kept), room_);
    tested.placing = impossible ? Placing::kImpossible : Placing::kPossible;
  }
  return tested.placing == Placing::kPossible;
}

// Goes through all paths, those of the fewest subgraphs last.
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
      for (const TestedWay& tested : *arc.ways) {
        if (tested.placing == Placing::kImpossible) continue;
        const Sums sums = Plus(tested.way.sums, rest->second);
        for (size_t i = 0; i < sums.size(); ++i) least[i] = std::min(least[i], sums[i]);
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
    for (size_t way = 0; way < arc.ways->size(); ++way) {
      TestedWay& tested = (*arc.ways)[way];
      const Sums here = Plus(sums, tested.way.sums);
      if (tested.placing == Placing::kImpossible || !IsWithinLimits(Plus(here, rest->second))) continue;
      if (stop_.Requested()) return GiveUp("time ended");
      if (!Test(arc, tested)) continue;
      path.emplace_back(&arc, way);
      if (!Fail(arc.to, here, path)) return false;
      path.pop_back();
    }
  }
  return true;
}

bool Passage::FailsAsProgram(const Path& path) {
  if (++programs_ > kMostPrograms)
    return GiveUp("there are more combinations of subgraphs than an independent check goes through");
  std::vector<Subgraph> subgraphs;
  std::set<int> kept;
  for (const auto& [arc, way] : path) {
    subgraphs.push_back((*arc->ways)[way].way.subgraph);
    kept.insert(arc->kept.begin(), arc->kept.end());
  }
  const std::vector<problem::Problem> problems = finder_.ProblemsOf(subgraphs, {kept.begin(), kept.end()});
  for (size_t i = 0; i < problems.size(); ++i) {
    const int64_t capacity = i == 0 ? room_ : problems[i].memories.front().capacity;
    if (placements_.AreImpossible(problems[i], capacity)) return true;
  }
  return GiveUp("there is a combination of subgraphs of which no proof shows that it does not fit");
}

}  // namespace tessera::plan::refutation
