// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/analysis/remedies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/homes.h"

// Remedies are found by experiment: the network, the profile or the objective is changed in one
// place, and the query is tried again in its simplest form. The operator that causes the obstacle
// is tried first, alone: most changes fail there, at the cost of a few placements. A change that
// succeeds is tried on the other operators that do not fit alone, and last by a plan of single
// operators with nothing kept on chip, which the search itself makes and checks. Such a plan has
// more traffic than necessary, but it stays valid if more is allowed.
//
// Work is counted, so that answers do not depend on the clock (Trials). The stop is for inputs that
// nevertheless take long; remedies that were not tried before it have only the evidence kBound.
namespace tessera::search::partition::analysis {
namespace {

using hw_profiles::Profile;
using problem::Bytes;

constexpr size_t kMostRemedies = 4;  // that are reported
constexpr size_t kMostOfKind = 2;
constexpr int64_t kMostFactor = 64;  // by which banks grow

bool IsFloat(base::DataType type) {
  return type == base::DataType::kFloat16 || type == base::DataType::kBfloat16 ||
         type == base::DataType::kFloat32 || type == base::DataType::kFloat64;
}

class RemedySearch {
 public:
  RemedySearch(const graph::Graph& graph, const Profile& profile,
               const answer::PartitionOptions& options, const placement::Obstacle& obstacle,
               const base::Stop& stop)
      : graph_(graph),
        profile_(profile),
        objective_(options.objective),
        obstacle_(obstacle),
        trials_(graph, profile, options, obstacle, stop) {}

  std::vector<Remedy> Run() {
    switch (obstacle_.kind) {
      case placement::ObstacleKind::kEngine:
        TryFloats();
        TryEngine();
        break;
      case placement::ObstacleKind::kOperator:
      case placement::ObstacleKind::kCover:
        TryFloats();
        if (!obstacle_.LacksBytes()) TryModes();
        TryRoom();
        TryStatesElsewhere();
        TryPolicies();
        if (!obstacle_.limits.empty() && CountOf(RemedyKind::kLimit) == 0) TryLimits();
        break;
      case placement::ObstacleKind::kJoint:
        TryFloats();
        TryJointRoom();
        TryStatesElsewhere();
        break;
      case placement::ObstacleKind::kHome:
        TryFloats();
        TryHome();
        break;
      case placement::ObstacleKind::kLimit:
        TryLimits();
        break;
    }
    std::stable_sort(found_.begin(), found_.end(),
                     [](const Remedy& a, const Remedy& b) { return a.evidence < b.evidence; });
    if (found_.size() > kMostRemedies) found_.resize(kMostRemedies);
    return std::move(found_);
  }

 private:
  size_t CountOf(RemedyKind kind) const {
    return static_cast<size_t>(std::count_if(
        found_.begin(), found_.end(), [kind](const Remedy& each) { return each.kind == kind; }));
  }

  void Add(Remedy remedy, Evidence evidence) {
    remedy.evidence = evidence;
    found_.push_back(std::move(remedy));
  }

  // Adds the trial if it helps.
  bool Try(const Trial& trial) {
    if (!trials_.OperatorFits(trial) || !trials_.OthersFit(trial)) return false;
    const bool helps = obstacle_.op >= 0 || trials_.HoldsConstants(trial);
    if (trials_.FindPlan(trial)) {
      Add(trial.remedy, Evidence::kPlan);
    } else if (helps) {
      Add(trial.remedy, Evidence::kObstacle);
    } else {
      return false;
    }
    return true;
  }

  bool HasFloats() const {
    return std::any_of(graph_.tensors.begin(), graph_.tensors.end(),
                       [](const graph::Tensor& tensor) { return IsFloat(tensor.type); });
  }

  void TryFloats() {
    if (!HasFloats()) return;
    Trial trial =
        trials_.Unchanged(RemedyKind::kFloatsAs,
                          "int8 in place of floating point (--floats-as int8 of an imported "
                          "file, dtype: int8 of a YAML file)",
                          "--floats-as", "int8");
    for (graph::Tensor& tensor : trial.graph.tensors) {
      if (IsFloat(tensor.type)) tensor.type = base::DataType::kInt8;
    }
    if (!Try(trial) && trials_.IsStopped()) Add(trial.remedy, Evidence::kBound);
  }

  const hw_profiles::Memory& TileMemory() const {
    return profile_.memories[static_cast<size_t>(profile_.tile_memory)];
  }

  static hw_profiles::Memory& TileMemoryOf(Trial& trial) {
    return trial.profile.memories[static_cast<size_t>(trial.profile.tile_memory)];
  }

  // Returns a trial with `bytes` of the tile memory: with a higher limit on the peak if the
  // capacity suffices, otherwise with a larger capacity.
  Trial WithRoom(Bytes bytes) const {
    const hw_profiles::Memory& memory = TileMemory();
    if (bytes <= memory.capacity_bytes) {
      Trial trial =
          trials_.Unchanged(RemedyKind::kLimit,
                            fmt::format("--limit peak={} instead of {}", bytes, obstacle_.capacity),
                            "peak", std::to_string(bytes));
      trial.objective.limits["peak"] = static_cast<double>(bytes);
      return trial;
    }
    Trial trial = trials_.Unchanged(RemedyKind::kCapacity,
                                    fmt::format("{} bytes in memory '{}' instead of {}", bytes,
                                                memory.name, memory.capacity_bytes),
                                    memory.name, std::to_string(bytes));
    TileMemoryOf(trial).capacity_bytes = bytes;
    const auto limit = trial.objective.limits.find("peak");
    if (limit != trial.objective.limits.end() && limit->second < static_cast<double>(bytes)) {
      trial.remedy.what += fmt::format(", and --limit peak={}", bytes);
      limit->second = static_cast<double>(bytes);
    }
    return trial;
  }

  // Returns a trial with the peak of a plan of subgraphs of any length that minimises its peak, if
  // that is less than `bytes` and suffices for a plan; else `enough`.
  Trial WithLeastRoom(const Trial& enough, Bytes bytes) {
    Trial least = enough;
    least.objective.weights = {{"peak", 1}};
    const std::optional<plan::Plan> plan = trials_.FindLongerPlan(least);
    if (!plan || plan->totals.peak_bytes >= bytes) return enough;
    Trial less = WithRoom(plan->totals.peak_bytes);
    return trials_.FindLongerPlan(less) ? less : enough;
  }

  // Tries as much room as the operators that do not fit need one by one, with the tiles that need
  // least; or less if operators need less together.
  void TryRoom() {
    if (!TileMemory().banks.empty()) return TryBanks();
    Bytes enough = obstacle_.needed;
    bool known = true;
    for (const int op : obstacle_.blocked) {
      if (!trials_.MayTry()) {
        known = false;
        break;
      }
      const placement::Alone alone = trials_.TryUnchanged(op);
      if (alone.problem.buffers.empty()) continue;
      const std::optional<Bytes> peak = trials_.PeakOf(alone.problem);
      known = known && peak.has_value();
      enough = std::max({enough, alone.bound.bytes, peak.value_or(0)});
    }
    if (enough <= obstacle_.capacity) return;
    const Trial trial = WithRoom(enough);
    if (known && trials_.FindPlan(trial))
      return Add(WithLeastRoom(trial, enough).remedy, Evidence::kPlan);
    Add(trial.remedy, known ? Evidence::kObstacle : Evidence::kBound);
  }

  // Tries banks that are 2, 4, ... times as long.
  void TryBanks() {
    for (int64_t factor = 2; factor <= kMostFactor && trials_.MayTry(); factor *= 2) {
      const hw_profiles::Memory& memory = TileMemory();
      Trial trial =
          trials_.Unchanged(RemedyKind::kBanks,
                            fmt::format("banks {} times as long in memory '{}', {} bytes in all",
                                        factor, memory.name, memory.capacity_bytes * factor),
                            memory.name, std::to_string(memory.capacity_bytes * factor));
      hw_profiles::Memory& grown = TileMemoryOf(trial);
      grown.capacity_bytes *= factor;
      for (problem::Bank& bank : grown.banks) {
        bank.range.begin *= factor;
        bank.range.end *= factor;
      }
      for (problem::Reserved& reserved : grown.reserved) {
        reserved.range.begin *= factor;
        reserved.range.end *= factor;
      }
      if (Try(trial)) return;
    }
  }

  // Tries changes in `tiling`; for each key, adds the first value that helps.
  void TryPolicies() {
    for (const Trial& trial : TilingTrials(trials_, profile_)) {
      if (CountOf(RemedyKind::kPolicy) >= kMostOfKind || !trials_.MayTry()) return;
      const bool is_known = std::any_of(found_.begin(), found_.end(), [&trial](const Remedy& each) {
        return each.subject == trial.remedy.subject;
      });
      if (!is_known) Try(trial);
    }
  }

  // Tries modes that allow a little more, and a mode that allows everything. If the latter does not
  // help, no smaller change does.
  void TryModes() {
    const std::vector<Trial> modes = ModeTrials(trials_, profile_);
    if (modes.empty() || !trials_.OperatorFits(modes.front())) return;
    for (size_t i = 1; i < modes.size() && CountOf(RemedyKind::kMode) == 0 && trials_.MayTry(); ++i)
      Try(modes[i]);
    Try(modes.front());
  }

  // Tries the capacity that the joint program needs, which has no placement.
  void TryJointRoom() {
    if (!obstacle_.problem || !TileMemory().banks.empty()) return;
    const std::optional<Bytes> peak = trials_.PeakOf(*obstacle_.problem);
    if (!peak || *peak <= obstacle_.capacity) return;
    const Trial trial = WithRoom(*peak);
    Add(trial.remedy, trials_.FindPlan(trial) ? Evidence::kPlan : Evidence::kObstacle);
  }

  // Tries the capacity that a plan needs if the home is unlimited, and another home for one role.
  void TryHome() {
    size_t memory = 0;
    while (memory < profile_.memories.size() && profile_.memories[memory].name != obstacle_.memory)
      ++memory;
    if (memory == profile_.memories.size()) return;
    TryLargerHome(memory);
    TryOtherHomes(memory, {base::TensorRole::kBoundary, base::TensorRole::kConstant,
                           base::TensorRole::kNetworkInput, base::TensorRole::kNetworkOutput,
                           base::TensorRole::kState});
  }

  void TryStatesElsewhere() {
    const bool any_state = std::any_of(graph_.tensors.begin(), graph_.tensors.end(),
                                       [](const graph::Tensor& tensor) { return tensor.state; });
    if (any_state)
      TryOtherHomes(static_cast<size_t>(profile_.tile_memory), {base::TensorRole::kState});
  }

  void TryOtherHomes(size_t memory, const std::vector<base::TensorRole>& roles) {
    for (const Trial& trial : HomeTrials(trials_, profile_, memory, roles)) {
      if (CountOf(RemedyKind::kHome) >= kMostOfKind) return;
      Try(trial);
    }
  }

  void TryLargerHome(size_t memory) {
    const hw_profiles::Memory& home = profile_.memories[memory];
    Trial roomy = trials_.Unchanged(RemedyKind::kCapacity, "", home.name, "");
    const Bytes free = base::kMaxTotal / 4;
    roomy.profile.memories[memory].capacity_bytes = std::max(home.capacity_bytes, free);
    Bytes enough = obstacle_.needed;
    const std::optional<plan::Plan> plan = trials_.FindPlan(roomy);
    if (plan) {
      for (const plan::Home& placed : plan->homes) {
        if (placed.memory == static_cast<int>(memory))
          enough = std::max(enough, problem::PeakOf(placed.problem, placed.allocation));
      }
    }
    roomy.remedy.what = fmt::format("{} bytes in memory '{}' instead of {}", enough, home.name,
                                    home.capacity_bytes);
    roomy.remedy.value = std::to_string(enough);
    Add(roomy.remedy, plan                            ? Evidence::kPlan
                      : trials_.HoldsConstants(roomy) ? Evidence::kObstacle
                                                      : Evidence::kBound);
  }

  void TryEngine() {
    const bool has_host = hw_profiles::HostOf(profile_) != nullptr;  // the operator names another
    if (obstacle_.op < 0 || profile_.engines.empty() || has_host) return;
    const base::OperatorKind kind = graph_.operators[static_cast<size_t>(obstacle_.op)].kind;
    Trial trial = trials_.Unchanged(RemedyKind::kEngine,
                                    fmt::format("`{}` among the operators of engine '{}'",
                                                base::NameOf(kind), profile_.engines.front().name),
                                    profile_.engines.front().name, std::string(base::NameOf(kind)));
    hw_profiles::Throughput& more = trial.profile.engines.front().throughputs.emplace_back();
    more.kind = kind;
    more.cycles_per_output = 1;
    if (trials_.FindPlan(trial)) {
      Add(trial.remedy, Evidence::kPlan);
    } else if (trials_.OperatorFits(trial)) {
      Add(trial.remedy, Evidence::kObstacle);
    }
  }

  // If a single limit may be the cause, drops it and minimises its metric within the others.
  // Otherwise, or if that finds no plan, drops all limits.
  void TryLimits() {
    const auto is_exceeded = [](const placement::BrokenLimit& limit) {
      return limit.bound > limit.most;
    };
    const std::vector<placement::BrokenLimit>& limits = obstacle_.limits;
    const auto exceeded = std::count_if(limits.begin(), limits.end(), is_exceeded);
    for (const placement::BrokenLimit& limit : limits) {
      if (exceeded > (is_exceeded(limit) ? 1 : 0)) continue;
      Trial trial = trials_.Unchanged(RemedyKind::kLimit, "", "", "");
      trial.objective.limits.erase(limit.metric);
      if (const std::optional<plan::Plan> plan = trials_.FindLeastPlan(trial, limit.metric))
        return Add(WithLimits({limit.metric}, plan->totals), Evidence::kPlan);
    }
    Trial free = trials_.Unchanged(RemedyKind::kLimit, "", "", "");
    free.objective.limits.clear();
    if (const std::optional<plan::Plan> plan = trials_.FindGoodPlan(free))
      return Add(WithLimits(BrokenBy(*plan), plan->totals), Evidence::kPlan);
    if (exceeded > 0) Add(WithBounds(), Evidence::kBound);
  }

  std::vector<std::string> BrokenBy(const plan::Plan& plan) const {
    std::vector<std::string> broken;
    for (const auto& [metric, most] : objective_.limits) {
      if (plan::ValueOf(plan.totals, metric) > most) broken.push_back(metric);
    }
    return broken;
  }

  // Returns the remedy that raises the limits of these metrics to the totals of a plan.
  Remedy WithLimits(const std::vector<std::string>& raised, const plan::Metrics& totals) const {
    std::map<std::string, double> limits = objective_.limits;
    for (const std::string& metric : raised) limits[metric] = plan::ValueOf(totals, metric);
    return LimitRemedy(raised, limits);
  }

  // Returns the remedy that raises the limits to the bounds.
  Remedy WithBounds() const {
    std::map<std::string, double> limits = objective_.limits;
    std::vector<std::string> raised;
    for (const placement::BrokenLimit& limit : obstacle_.limits) {
      if (limit.bound <= limit.most) continue;
      limits[limit.metric] = limit.bound;
      raised.push_back(limit.metric);
    }
    return LimitRemedy(raised, limits);
  }

  const graph::Graph& graph_;
  const Profile& profile_;
  const plan::Objective& objective_;
  const placement::Obstacle& obstacle_;
  Trials trials_;
  std::vector<Remedy> found_;
};

}  // namespace

std::vector<Remedy> FindRemedies(const graph::Graph& network, const Profile& profile,
                                 const answer::PartitionOptions& options,
                                 const answer::PartitionResult& refused, const base::Stop& stop) {
  if (refused.plan || !refused.obstacle) return {};
  const graph::Graph graph = encoder::program::WithHomes(network, profile);
  return RemedySearch(graph, profile, options, *refused.obstacle, stop).Run();
}

}  // namespace tessera::search::partition::analysis
