// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <optional>
#include <string>
#include <utility>

#include "tessera/encoder/program/homes.h"
#include "tessera/plan/verify/validator.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"
#include "tessera/search/partition/related_search.h"

// Tensors at home may share bytes tile by tile. The search for a partition counts whole tensors;
// the homes of its plan are then placed again. If the objective does not use the off-chip peak,
// that is all.
//
// If it does, a plan that needs more with whole tensors may need less by tiles, above all if it
// streams large tensors through long subgraphs in small tiles, as plans of least latency do:
//
//     off-chip peak of fsrcnn_valid       whole tensors   by tiles
//     least off-chip peak                     8 851 596  8 825 932
//     least latency                          14 511 040  8 312 000
//
// So two searches are made, and the better plan by tiles is the answer:
//
// 1. A search without the off-chip peak. If the off-chip peak has only a limit, and the plan keeps
//    it, the plan is the answer, with everything that is proven of it.
// 2. A search with the off-chip peak, with whole tensors. Its plan claims no more than its lower
//    bound shows.
//
// Cost: two searches, and a placement by tiles for each.
namespace tessera::search::partition {
namespace {

constexpr std::string_view kMetric = "off_chip_peak";
constexpr std::string_view kFitByTiles = "plans whose tensors fit at home only tile by tile";
constexpr int64_t kUnitsForHomes = 20'000;  // of engines
constexpr double kShareWithout = 0.5;       // of the time, for the first search

bool Weighs(const plan::Objective& objective) {
  const auto weight = objective.weights.find(std::string(kMetric));
  return weight != objective.weights.end() && weight->second > 0;
}

bool Limits(const plan::Objective& objective) {
  return objective.limits.contains(std::string(kMetric));
}

plan::Objective Without(plan::Objective objective) {
  objective.weights.erase(std::string(kMetric));
  objective.limits.erase(std::string(kMetric));
  return objective;
}

base::Diagnostic WrongPlacement(const std::string& violation) {
  base::Diagnostic fault;
  fault.message = "the placement by tiles is wrong";
  fault.found = violation;
  fault.hint = "this is a fault of the program, not of the input; please report it with the input";
  return fault;
}

class SharingSearch {
 public:
  SharingSearch(const RelatedSearch& asked, const hw_profiles::Profile& profile)
      : asked_(asked), profile_(profile), options_(asked.Options()) {}

  base::Expected<answer::PartitionResult> Run() {
    const plan::Objective& objective = options_.objective;
    if (!Weighs(objective) && !Limits(objective)) return RunAsAsked();
    const base::Stop in_part(
        options_.stop == nullptr ? std::nullopt : options_.stop->Before(kShareWithout),
        options_.stop);
    base::Expected<answer::PartitionResult> without = RunWithout(in_part);
    if (!without) return without;
    if (without->plan && !Weighs(objective))
      return in_part.Requested() && !asked_.IsStopped() ? Longer(*std::move(without)) : without;
    base::Expected<answer::PartitionResult> with = RunAsAsked();
    if (!with || !without->plan) return with;
    const bool is_better = !with->plan || cost::IsLess(without->plan->score, with->plan->score);
    return is_better ? std::move(without) : std::move(with);
  }

 private:
  base::Expected<answer::PartitionResult> RunAsAsked() {
    base::Expected<answer::PartitionResult> found = asked_.Run(options_);
    if (!found || !found->plan) return found;
    if (auto fault = Share(*found->plan)) return base::Unexpected(*std::move(fault));
    if (ProvesSharing(*found->plan)) return found;
    if (auto fault = asked_.Claim(kFitByTiles, *found)) return base::Unexpected(*std::move(fault));
    return found;
  }

  // Repeats the first search, which had too little time, with the time for the second one.
  base::Expected<answer::PartitionResult> Longer(answer::PartitionResult found) {
    const base::Stop in_the_rest(std::nullopt, options_.stop);
    base::Expected<answer::PartitionResult> longer = RunWithout(in_the_rest);
    if (longer && (!longer->plan || cost::IsLess(found.plan->score, longer->plan->score)))
      return found;
    return longer;
  }

  // Runs the search without the off-chip peak. The result has no plan if the plan found exceeds the
  // limits.
  base::Expected<answer::PartitionResult> RunWithout(const base::Stop& stop) {
    answer::PartitionOptions options = options_;
    options.objective = Without(options.objective);
    options.stop = &stop;
    base::Expected<answer::PartitionResult> found = asked_.Run(options);
    if (!found || !found->plan) return found;
    if (auto fault = Share(*found->plan)) return base::Unexpected(*std::move(fault));
    if (!asked_.KeepsLimits(*found->plan)) {
      found->plan.reset();
      return found;
    }
    if (!Weighs(options_.objective) && HoldsEverything()) {
      found->plan->objective = asked_.Scale().Objective();
      if (auto fault = answer::CheckWellFormed(*found->plan, options_.stop))
        return base::Unexpected(*std::move(fault));
      return found;
    }
    if (auto fault = asked_.Claim(kFitByTiles, *found)) return base::Unexpected(*std::move(fault));
    return found;
  }

  // Whether proofs for whole tensors hold for plans by tiles too.
  bool ProvesSharing(const plan::Plan& plan) const {
    return !Weighs(plan.objective) && !Limits(plan.objective) && HoldsEverything();
  }

  bool HoldsEverything() const {
    const graph::Graph graph = encoder::program::WithHomes(asked_.Network(), profile_);
    return encoder::program::HomeCapacity(graph, profile_).HoldsEverything();
  }

  // Places the homes of the plan by tiles; partition and tiles stay. The plan is unchanged if the
  // placement exceeds a limit, or if memory is exhausted.
  std::optional<base::Diagnostic> Share(plan::Plan& found) const try {
    plan::Plan plan = found;
    off_chip::PlaceOptions place;
    place.method = options_.off_chip;
    place.engines = options_.engines;
    place.budget = {std::min(options_.budget.units, kUnitsForHomes)};
    place.stop = options_.stop;
    place.threads = options_.threads;
    const base::Expected<void> placed = placement::PlaceHomesByTiles(plan, {}, place);
    if (!placed) return placed.error();
    const auto limit = plan.objective.limits.find(std::string(kMetric));
    if (limit != plan.objective.limits.end() &&
        static_cast<double>(plan.totals.off_chip_peak_bytes) > limit->second) {
      found.notes.push_back(fmt::format(
          "tensors at home share no addresses tile by tile: they would take {} bytes, and {} are "
          "allowed",
          plan.totals.off_chip_peak_bytes, limit->second));
      return std::nullopt;
    }
    if (Weighs(plan.objective) || Limits(plan.objective))
      answer::Rescore(asked_.Scale(), plan.lower_bounds, kFitByTiles, plan);
    const base::Stop never;
    const auto violations = plan::verify::ValidateUnlessInterrupted(
        plan, 1, options_.stop != nullptr ? *options_.stop : never);
    if (!violations) return std::nullopt;
    if (violations->empty()) {
      found = std::move(plan);
      return std::nullopt;
    }
    if (violations->front().kind != plan::verify::ViolationKind::kMemory)
      return WrongPlacement(violations->front().message);
    found.notes.push_back("tensors at home share no addresses tile by tile: " +
                          violations->front().message);
    return std::nullopt;
  } catch (const std::bad_alloc&) {
    options_.stop->NoteFailedAllocation();
    return std::nullopt;
  }

  const RelatedSearch& asked_;
  const hw_profiles::Profile& profile_;
  const answer::PartitionOptions& options_;
};

}  // namespace

base::Expected<answer::PartitionResult> SearchForSharing(const graph::Graph& graph,
                                                         const hw_profiles::Profile& profile,
                                                         const answer::PartitionOptions& options,
                                                         const SearchFunction& search) {
  if (options.off_chip == plan::OffChip::kWhole) return search(graph, options);
  const base::Expected<RelatedSearch> asked = RelatedSearch::Make(graph, profile, options, search);
  if (!asked) return base::Unexpected(asked.error());
  return SharingSearch(*asked, profile).Run();
}

void ClaimForSharing(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const answer::PartitionOptions& options, answer::PartitionResult& result) {
  if (options.off_chip == plan::OffChip::kWhole || result.plan || result.refutation) return;
  if (result.status != problem::Status::kInfeasible && result.status != problem::Status::kUnknown)
    return;
  const graph::Graph graph = encoder::program::WithHomes(network, profile);
  if ((encoder::program::HomeCapacity(graph, profile).HoldsEverything() &&
       !Limits(options.objective)) ||
      encoder::program::FindConstantOverflow(graph, profile))
    return;
  result.status = problem::Status::kUnknown;
  result.reason += fmt::format("; {} were not looked at", kFitByTiles);
}

}  // namespace tessera::search::partition
