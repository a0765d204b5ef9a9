// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/partition/analysis/remedies.h"

namespace tessera::search::partition::analysis {

namespace {

using problem::Bytes;

// Returns the bytes of the tile memory that a plan of the trial may use.
Bytes RoomUnder(const Trial& trial) {
  const Bytes capacity =
      trial.profile.memories[static_cast<size_t>(trial.profile.tile_memory)].capacity_bytes;
  const auto limit = trial.objective.limits.find("peak");
  const bool limits =
      limit != trial.objective.limits.end() && limit->second < static_cast<double>(capacity);
  return limits ? static_cast<Bytes>(limit->second) : capacity;
}

// Returns the text of a number that is not less; metrics that are counts are whole numbers.
std::string RoundedUp(const std::string& metric, double value) {
  const bool counts =
      std::holds_alternative<int64_t plan::Metrics::*>(plan::FindMetric(metric)->value) &&
      plan::FindMetric(metric)->joining != plan::Joining::kRatio;
  if (counts || value >= 1e6) return fmt::format("{:.0f}", std::ceil(value));
  return fmt::format("{:.8g}", value * (1 + 1e-7));
}

}  // namespace

Remedy LimitRemedy(const std::vector<std::string>& raised,
                   const std::map<std::string, double>& limits) {
  std::string all;
  for (const auto& [metric, most] : limits) {
    const bool rises = std::find(raised.begin(), raised.end(), metric) != raised.end();
    all += fmt::format("{}{}={}", all.empty() ? "" : ",", metric,
                       rises ? RoundedUp(metric, most) : fmt::format("{}", most));
  }
  return {RemedyKind::kLimit, "--limit " + all, fmt::format("{}", fmt::join(raised, ",")), all};
}

std::string_view NameOf(RemedyKind kind) {
  static constexpr std::array<std::string_view, 8> kNames = {
      "floats_as", "capacity", "banks", "policy", "mode", "home", "limit", "engine"};
  return kNames[static_cast<size_t>(kind)];
}

std::string_view NameOf(Evidence evidence) {
  static constexpr std::array<std::string_view, 3> kNames = {"plan", "obstacle", "bound"};
  return kNames[static_cast<size_t>(evidence)];
}

Trial Trials::Unchanged(RemedyKind kind, std::string what, std::string subject,
                        std::string value) const {
  return {{kind, std::move(what), std::move(subject), std::move(value)},
          graph_,
          profile_,
          options_.objective};
}

placement::AloneOptions Trials::OptionsFor(Bytes room) const {
  return {.engines = tiling::Engines(options_.engines.begin(), options_.engines.end()),
          .budget = options_.budget,
          .room = room,
          .stop = stop_};
}

placement::Alone Trials::TryUnchanged(int op) {
  ++tried_;
  return placement::TryAlone(graph_, profile_, op, OptionsFor(obstacle_.capacity));
}

std::optional<Bytes> Trials::PeakOf(const problem::Problem& problem) const {
  return placement::PeakWithoutCapacity(problem, OptionsFor(obstacle_.capacity));
}

bool Trials::Fits(const Trial& trial, int op) {
  if (!MayTry()) return false;
  ++tried_;
  return placement::TryAlone(encoder::program::WithHomes(trial.graph, trial.profile), trial.profile,
                             op, OptionsFor(RoomUnder(trial)))
             .status == problem::Status::kFeasible;
}

bool Trials::OperatorFits(const Trial& trial) {
  return obstacle_.op < 0 || Fits(trial, obstacle_.op);
}

bool Trials::OthersFit(const Trial& trial) {
  return std::all_of(obstacle_.blocked.begin(), obstacle_.blocked.end(),
                     [&](int op) { return op == obstacle_.op || Fits(trial, op); });
}

bool Trials::HoldsConstants(const Trial& trial) const {
  return obstacle_.kind == placement::ObstacleKind::kHome &&
         encoder::program::FindOverfullHome(graph_, profile_, {}) &&
         !encoder::program::FindOverfullHome(
             encoder::program::WithHomes(trial.graph, trial.profile), trial.profile, {});
}

bool Trials::HasTimeToSearch() const {
  const auto deadline = stop_.Deadline();
  const auto least = kLeastPerOperator * static_cast<int64_t>(graph_.operators.size());
  return !stop_.Requested() && (!deadline || base::Stop::Clock::now() + least < *deadline);
}

std::optional<plan::Plan> Trials::Search(const Trial& trial, answer::PartitionOptions options) {
  if (plans_ >= kMostPlans || graph_.operators.size() > kLongest || !HasTimeToSearch())
    return std::nullopt;
  ++plans_;
  options.objective = trial.objective;
  options.ordering = answer::Ordering::kGiven;
  options.prefetch = false;
  options.previous = nullptr;
  options.cached = nullptr;
  options.progress = {};
  options.judges_refusals = false;
  options.stop = &stop_;
  hw_profiles::Profile profile = trial.profile;
  // Only tiles that recompute rows, which is faster.
  if (options.constraints.empty()) profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute};
  base::Expected<answer::PartitionResult> result = SearchPartition(trial.graph, profile, options);
  if (!result) return std::nullopt;
  return std::move(result->plan);
}

std::optional<plan::Plan> Trials::FindPlan(const Trial& trial) {
  answer::PartitionOptions options = options_;
  options.keeping = paths::Keeping::kNothing;
  if (options.constraints.empty()) options.max_operators = 1;
  return Search(trial, std::move(options));
}

std::optional<plan::Plan> Trials::FindLongerPlan(const Trial& trial) {
  answer::PartitionOptions options = options_;
  options.effort = std::min(options.effort, kEffort);
  return Search(trial, std::move(options));
}

std::optional<plan::Plan> Trials::FindGoodPlan(const Trial& trial) {
  std::optional<plan::Plan> plan = FindPlan(trial);
  std::optional<plan::Plan> longer = FindLongerPlan(trial);
  const bool better = longer && (!plan || longer->score < plan->score);
  return better ? std::move(longer) : std::move(plan);
}

std::optional<plan::Plan> Trials::FindLeastPlan(Trial trial, const std::string& metric) {
  const auto weighs_metric = [&] { trial.objective.weights = {{metric, 1.0}}; };
  if (plan::FindMetric(metric)->joining != plan::Joining::kRatio) {
    weighs_metric();
    return FindGoodPlan(trial);
  }
  std::optional<plan::Plan> plan = FindGoodPlan(trial);
  if (!plan) return std::nullopt;
  weighs_metric();
  trial.objective.limits.emplace("latency", plan::ValueOf(plan->totals, "latency"));
  std::optional<plan::Plan> least = FindLongerPlan(trial);
  const bool is_less =
      least && plan::ValueOf(least->totals, metric) < plan::ValueOf(plan->totals, metric);
  return is_less ? std::move(least) : std::move(plan);
}

namespace {

using hw_profiles::AxisGranularity;
using hw_profiles::DmaSteps;
using hw_profiles::Memory;
using hw_profiles::Profile;
using hw_profiles::Tiling;
using hw_profiles::WeightPolicy;
using problem::AccessKind;

Trial TilingTrial(const Trials& trials, const std::string& key, const std::string& value) {
  return trials.Unchanged(RemedyKind::kPolicy,
                          fmt::format("`{}: {}` in the profile's tiling", key, value),
                          "tiling." + key, value);
}

Memory& TileMemoryOf(Trial& trial) {
  return trial.profile.memories[static_cast<size_t>(trial.profile.tile_memory)];
}

bool Allows(const problem::BankMode& mode, const std::string& engine, AccessKind kind) {
  return !mode.off && std::any_of(mode.allowed.begin(), mode.allowed.end(),
                                  [&](const problem::Permission& each) {
                                    return each.kind == kind &&
                                           (each.engine.empty() || each.engine == engine);
                                  });
}

// The engines and links that access the tile memory.
std::set<std::string> EnginesAndLinks(const Profile& profile) {
  std::set<std::string> names;
  for (const hw_profiles::Engine& engine : profile.engines) names.insert(engine.name);
  for (const hw_profiles::Link& link : profile.links) {
    if (link.first == profile.tile_memory || link.second == profile.tile_memory)
      names.insert(link.name);
  }
  return names;
}

Trial WithFreeMode(const Trials& trials, const Memory& memory) {
  Trial trial = trials.Unchanged(
      RemedyKind::kMode,
      fmt::format("one mode more in memory '{}', in which every bank is read and written",
                  memory.name),
      memory.name, "rw");
  Memory& changed = TileMemoryOf(trial);
  const problem::BankMode free = {false, {{"", AccessKind::kRead}, {"", AccessKind::kWrite}}};
  changed.modes.push_back({"all", std::vector<problem::BankMode>(memory.banks.size(), free)});
  const auto last = static_cast<int>(memory.modes.size());
  for (int mode = 0; changed.transitions && mode < last; ++mode) {
    changed.transitions->emplace_back(mode, last);
    changed.transitions->emplace_back(last, mode);
  }
  return trial;
}

Trial WithPermission(const Trials& trials, const Memory& memory, size_t mode, size_t bank,
                     const std::string& name) {
  const std::string& called = memory.banks[bank].name;
  Trial trial = trials.Unchanged(
      RemedyKind::kMode,
      fmt::format("mode '{}' of memory '{}' also letting '{}' read and write {}",
                  memory.modes[mode].name, memory.name, name,
                  called.empty() ? fmt::format("bank {}", bank) : "bank '" + called + "'"),
      memory.modes[mode].name, name);
  problem::BankMode& opened = TileMemoryOf(trial).modes[mode].banks[bank];
  opened.off = false;
  opened.allowed.push_back({name, AccessKind::kRead});
  opened.allowed.push_back({name, AccessKind::kWrite});
  return trial;
}

}  // namespace

std::vector<Trial> TilingTrials(const Trials& trials, const Profile& profile) {
  const Tiling& tiling = profile.tiling;
  std::vector<Trial> all;
  for (const WeightPolicy policy :
       {WeightPolicy::kStreamed, WeightPolicy::kSplitK, WeightPolicy::kResident}) {
    if (std::find(tiling.weights.begin(), tiling.weights.end(), policy) != tiling.weights.end())
      continue;
    all.push_back(
        TilingTrial(trials, "weights", fmt::format("[..., {}]", hw_profiles::NameOf(policy))));
    all.back().profile.tiling.weights.push_back(policy);
  }
  for (int64_t granularity = tiling.weight_granularity_channels / 2; granularity >= 1;
       granularity /= 2) {
    all.push_back(TilingTrial(trials, "weight_granularity_channels", std::to_string(granularity)));
    all.back().profile.tiling.weight_granularity_channels = granularity;
  }
  if (tiling.dma == DmaSteps::kDoubleBuffered && !tiling.may_serialize) {
    all.push_back(
        TilingTrial(trials, "dma",
                    fmt::format("[{}, {}]", hw_profiles::NameOf(DmaSteps::kDoubleBuffered),
                                hw_profiles::NameOf(DmaSteps::kSerialized))));
    all.back().profile.tiling.may_serialize = true;
  }
  for (const base::Axis axis : {base::Axis::kRows, base::Axis::kColumns, base::Axis::kChannels}) {
    if (std::any_of(tiling.axes.begin(), tiling.axes.end(),
                    [axis](const AxisGranularity& cut) { return cut.axis == axis; }))
      continue;
    all.push_back(TilingTrial(trials, "axes", fmt::format("[..., {}]", base::NameOf(axis))));
    all.back().profile.tiling.axes.push_back({axis, 1});
  }
  return all;
}

std::vector<Trial> ModeTrials(const Trials& trials, const Profile& profile) {
  const Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  std::vector<Trial> all;
  if (memory.modes.empty()) return all;
  all.push_back(WithFreeMode(trials, memory));
  for (size_t mode = 0; mode < memory.modes.size(); ++mode) {
    for (size_t bank = 0; bank < memory.banks.size(); ++bank) {
      for (const std::string& name : EnginesAndLinks(profile)) {
        const problem::BankMode& present = memory.modes[mode].banks[bank];
        if (!Allows(present, name, AccessKind::kRead) || !Allows(present, name, AccessKind::kWrite))
          all.push_back(WithPermission(trials, memory, mode, bank, name));
      }
    }
  }
  return all;
}

namespace {

// Returns a trial with another home of the role: instead of its only one, or at the end of its
// list.
Trial HomeTrial(const Trials& trials, const Profile& profile, base::TensorRole role, int other) {
  hw_profiles::RoleLayout layout = LayoutOf(profile, role);
  std::string homes = profile.memories[static_cast<size_t>(other)].name;
  if (layout.next_homes.empty()) {
    layout.home = other;
  } else {
    layout.next_homes.push_back(other);
    homes = "[" + profile.memories[static_cast<size_t>(layout.home)].name;
    for (const int next : layout.next_homes)
      homes += ", " + profile.memories[static_cast<size_t>(next)].name;
    homes += "]";
  }
  Trial trial = trials.Unchanged(
      RemedyKind::kHome,
      fmt::format("`{}: {{home: {}}}` in the profile's roles", base::NameOf(role), homes),
      "roles." + std::string(base::NameOf(role)), homes);
  trial.profile.roles[static_cast<size_t>(role)] = layout;
  return trial;
}

}  // namespace

std::vector<Trial> HomeTrials(const Trials& trials, const Profile& profile, size_t memory,
                              const std::vector<base::TensorRole>& roles) {
  std::vector<Trial> all;
  for (size_t i = 0; i < profile.memories.size(); ++i) {
    const hw_profiles::Memory& home = profile.memories[i];
    const auto other = static_cast<int>(i);
    const bool larger = home.capacity_bytes > profile.memories[memory].capacity_bytes;
    if (i == memory || !larger || other == profile.tile_memory ||
        LinkBetween(profile, other, profile.tile_memory) == nullptr)
      continue;
    for (const base::TensorRole role : roles) {
      const hw_profiles::RoleLayout& layout = LayoutOf(profile, role);
      const bool may_hold = role == base::TensorRole::kConstant || home.writable;
      if (may_hold && IsHomeOf(layout, static_cast<int>(memory)) && !IsHomeOf(layout, other))
        all.push_back(HomeTrial(trials, profile, role, other));
    }
  }
  return all;
}

}  // namespace tessera::search::partition::analysis
