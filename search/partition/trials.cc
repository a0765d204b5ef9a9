#include "tessera/search/partition/trials.h"

#include <algorithm>
#include <utility>

#include "tessera/encoder/adapt/assign_homes.h"
#include "tessera/encoder/adapt/homes.h"

namespace tessera::search {
namespace {

using problem::Bytes;

// What a plan may use of the tile memory.
Bytes RoomUnder(const Trial& trial) {
  const Bytes capacity =
      trial.profile.memories[static_cast<size_t>(trial.profile.tile_memory)].capacity_bytes;
  const auto limit = trial.objective.limits.find("peak");
  const bool limits = limit != trial.objective.limits.end() && limit->second < static_cast<double>(capacity);
  return limits ? static_cast<Bytes>(limit->second) : capacity;
}

}  // namespace

Trial Trials::Unchanged(RemedyKind kind, std::string what, std::string subject, std::string value) const {
  return {
      {kind, std::move(what), std::move(subject), std::move(value)}, graph_, profile_, options_.objective};
}

AloneOptions Trials::OptionsFor(Bytes room) const {
  return {.engines = Engines(options_.engines.begin(), options_.engines.end()),
          .budget = options_.budget,
          .room = room,
          .stop = stop_};
}

Alone Trials::TryUnchanged(int op) {
  ++tried_;
  return TryAlone(graph_, profile_, op, OptionsFor(obstacle_.capacity));
}

std::optional<Bytes> Trials::PeakOf(const problem::Problem& problem) const {
  return PeakWithoutCapacity(problem, OptionsFor(obstacle_.capacity));
}

bool Trials::Fits(const Trial& trial, int op) {
  if (!MayTry()) return false;
  ++tried_;
  return TryAlone(encoder::WithHomes(trial.graph, trial.profile), trial.profile, op,
                  OptionsFor(RoomUnder(trial)))
             .status == problem::Status::kFeasible;
}

bool Trials::OperatorFits(const Trial& trial) { return obstacle_.op < 0 || Fits(trial, obstacle_.op); }

bool Trials::OthersFit(const Trial& trial) {
  return std::all_of(obstacle_.blocked.begin(), obstacle_.blocked.end(),
                     [&](int op) { return op == obstacle_.op || Fits(trial, op); });
}

bool Trials::HoldsConstants(const Trial& trial) const {
  return obstacle_.kind == ObstacleKind::kHome && encoder::FindOverfullHome(graph_, profile_, {}) &&
         !encoder::FindOverfullHome(encoder::WithHomes(trial.graph, trial.profile), trial.profile, {});
}

std::optional<plan::Plan> Trials::Search(const Trial& trial, PartitionOptions options) {
  if (plans_ >= kMostPlans || graph_.operators.size() > kLongest || stop_.Requested()) return std::nullopt;
  ++plans_;
  options.objective = trial.objective;
  options.ordering = Ordering::kGiven;
  options.prefetch = false;
  options.predecessor = nullptr;
  options.cached = nullptr;
  options.progress = {};
  options.judges_refusals = false;
  options.stop = &stop_;
  hw_profiles::Profile profile = trial.profile;
  // A part of what is allowed, tried sooner.
  if (options.demands.empty()) profile.tiling.halo = {hw_profiles::HaloStorage::kRecompute};
  base::Expected<PartitionResult> result = SearchPartition(trial.graph, profile, options);
  if (!result) return std::nullopt;
  return std::move(result->plan);
}

std::optional<plan::Plan> Trials::FindPlan(const Trial& trial) {
  PartitionOptions options = options_;
  options.keeping = Keeping::kNothing;
  if (options.demands.empty()) options.max_operators = 1;
  return Search(trial, std::move(options));
}

std::optional<plan::Plan> Trials::FindGoodPlan(const Trial& trial) {
  std::optional<plan::Plan> plan = FindPlan(trial);
  PartitionOptions options = options_;
  options.effort = std::min(options.effort, kEffort);
  std::optional<plan::Plan> longer = Search(trial, std::move(options));
  const bool better = longer && (!plan || longer->score < plan->score);
  return better ? std::move(longer) : std::move(plan);
}

}  // namespace tessera::search
