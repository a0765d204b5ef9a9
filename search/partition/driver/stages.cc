// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/driver/plan_change.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"
#include "tessera/search/partition/driver/subgraph_table.h"

// Where the profile says `concurrent`, a subgraph may run as two stages
// (encoder/program/stages.cc): engines work next to each other on adjacent tiles. Their buffers
// live longer, so stages need more room or smaller tiles. The search over partitions does not
// consider stages. They are tried on the partition that was found:
//
//     [ product  softmax  product ]      begins of a second stage: softmax or the last product,
//       16 rows, 8 rows, 4 rows ..       each with the tile of the plan and with smaller ones
//
// Each subgraph takes the begin and the tile of the lowest cost of which the tile memory holds the
// buffers. The subgraphs that gain are placed together, with the homes of the plan. If there is no
// room, the one that gains the least returns to one stage, until the rest fits. Soundness: a plan
// is accepted only if its joint Problem has a placement and its score falls. It need not be
// optimal, and its scope says so. Cost: a simulation for each operator and tile, and a joint
// Problem for each subgraph that gains, at most.
namespace tessera::search::partition::driver {
namespace {

constexpr size_t kMostTries = 16;

// The parts of a tile's extent that are tried.
constexpr std::array kShares = {0.75, 0.5, 0.375, 0.25, 0.1875, 0.125, 0.0625};

class Staging {
 public:
  Staging(const choices::SearchContext& context, const constraints::PlanConstraints& constraints,
          plan::Plan plan)
      : context_(context),
        constraints_(constraints),
        table_(context),
        usages_(graph::UsagesOf(context.graph)),
        plan_(std::move(plan)) {}

  base::Expected<plan::Plan> Run() {
    std::vector<Gain> gains = FindGains();
    for (size_t tries = 0; !gains.empty() && tries < kMostTries; ++tries) {
      if (context_.stop.Requested()) break;
      std::vector<plan::Subgraph> subgraphs = plan_.subgraphs;
      for (const Gain& gain : gains) subgraphs[gain.number] = gain.subgraph;
      const base::Expected<ChangeOutcome> outcome =
          TryChange(context_, constraints_, {std::move(subgraphs), plan_.kept}, plan_);
      if (!outcome) return base::Unexpected(outcome.error());
      if (*outcome == ChangeOutcome::kTaken) {
        plan_.notes.push_back(fmt::format("{} subgraph{} in two stages", gains.size(),
                                          gains.size() == 1 ? " runs" : "s run"));
        break;
      }
      gains.pop_back();
    }
    return std::move(plan_);
  }

 private:
  // A subgraph of two stages.
  struct Gain {
    size_t number = 0;
    plan::Subgraph subgraph;
    double score = 0;  // of the plan with this subgraph alone
  };

  bool MayHaveStages(size_t number) const {
    const plan::Subgraph& subgraph = plan_.subgraphs[number];
    return !subgraph.serialized && subgraph.prefetch.empty() &&
           subgraph.interval.first < subgraph.interval.last &&
           std::none_of(plan_.subgraphs.begin() + static_cast<ptrdiff_t>(number),
                        plan_.subgraphs.end(),
                        [](const plan::Subgraph& later) { return !later.prefetch.empty(); });
  }

  // Returns the tile of the subgraph, and tiles with a part of its extent along one axis.
  std::vector<graph::tiling::TileShape> TilesOf(const plan::Subgraph& subgraph) const {
    std::vector<graph::tiling::TileShape> tiles = {subgraph.tile};
    const graph::Shape& output = encoder::program::OutputShape(context_.graph, subgraph.interval);
    for (const hw_profiles::AxisGranularity& cut : context_.profile.tiling.axes) {
      const std::optional<size_t> axis = graph::tiling::AxisOf(output, cut.axis);
      if (!axis || !graph::tiling::CanCut(context_.graph, subgraph.interval, *axis)) continue;
      for (const double share : kShares) {
        graph::tiling::TileShape tile = subgraph.tile;
        tile[*axis] = std::max(cut.granularity,
                               static_cast<int64_t>(share * static_cast<double>(tile[*axis])) /
                                   cut.granularity * cut.granularity);
        if (tile != subgraph.tile && tile != tiles.back()) tiles.push_back(tile);
      }
    }
    return tiles;
  }

  // Returns the subgraph with this tile and second stage; nullopt if it cannot have them.
  std::optional<plan::Subgraph> Staged(plan::Subgraph subgraph,
                                       const graph::tiling::TileShape& tile,
                                       int second_stage) const {
    using hw_profiles::WeightPolicy;
    if (subgraph.weights != WeightPolicy::kDirect) {
      const std::vector<WeightPolicy>& offered = context_.profile.tiling.weights;
      if (std::find(offered.begin(), offered.end(), WeightPolicy::kResident) == offered.end())
        return std::nullopt;
      PrefetchSchedule::SetWeights(subgraph, WeightPolicy::kResident);
    }
    subgraph.tile = tile;
    subgraph.halo = hw_profiles::HaloStorage::kRecompute;
    subgraph.in_place = false;
    subgraph.second_stage = second_stage;
    subgraph.largest_proven = false;
    subgraph.rejected_alternatives.clear();
    if (encoder::program::CheckWellFormed(context_.graph, subgraph.interval, tile))
      return std::nullopt;
    subgraph.tiles =
        encoder::program::CutTiles(context_.graph, subgraph.interval, tile, subgraph.halo).tiles;
    const encoder::program::SubgraphChoice choice = cost::ChoiceOf(subgraph, plan_.kept);
    const base::Expected<encoder::program::SubgraphUses> uses = encoder::program::FindUses(
        context_.graph, usages_, context_.profile, subgraph.interval, choice.policy);
    if (!uses || encoder::program::FindStageFault(context_.graph, context_.profile, *uses, choice,
                                                  subgraph.tiles))
      return std::nullopt;
    return subgraph;
  }

  // Returns the subgraphs that gain by two stages, the greatest gain first.
  std::vector<Gain> FindGains() {
    std::vector<Gain> gains;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      if (!MayHaveStages(i)) continue;
      if (std::optional<Gain> gain = FindGain(i)) gains.push_back(*std::move(gain));
    }
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& a, const Gain& b) { return a.score < b.score; });
    return gains;
  }

  std::optional<Gain> FindGain(size_t number) {
    const plan::Subgraph& subgraph = plan_.subgraphs[number];
    std::optional<Gain> best;
    for (const graph::tiling::TileShape& tile : TilesOf(subgraph)) {
      for (int k = 1; k <= subgraph.interval.last - subgraph.interval.first; ++k) {
        if (context_.stop.Requested()) return std::nullopt;
        std::optional<plan::Subgraph> staged = Staged(subgraph, tile, k);
        if (!staged) continue;
        const double score = PriceIn(number, *staged);
        if (score >= (best ? best->score : ScoreWithoutPeaks(context_, plan_.totals))) continue;
        const std::optional<Load>& load = table_.Of(*staged, plan_.kept).FindLoad();
        if (load && load->peak <= context_.Room()) best = Gain{number, *std::move(staged), score};
      }
    }
    return best;
  }

  // Prices the subgraph, and returns the score of the plan with it in place of its own.
  double PriceIn(size_t number, plan::Subgraph& subgraph) const {
    std::vector<plan::Subgraph> subgraphs = plan_.subgraphs;
    subgraphs[number] = subgraph;
    subgraph.metrics = cost::PriceOf(context_.graph, context_.profile, context_.simulator,
                                     subgraphs, number, plan_.kept);
    subgraphs[number].metrics = subgraph.metrics;
    plan::Metrics totals;
    for (const plan::Subgraph& each : subgraphs) plan::Accumulate(totals, each.metrics);
    return ScoreWithoutPeaks(context_, totals);
  }

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  SubgraphTable table_;
  const std::vector<graph::Usage> usages_;
  plan::Plan plan_;
};

// Two stages move and compute as much as one, in less time.
bool DependsOnTime(const plan::Objective& objective) {
  const auto depends = [](const auto& wanted) { return plan::DependsOnTime(wanted.first); };
  return std::any_of(objective.weights.begin(), objective.weights.end(), depends) ||
         std::any_of(objective.limits.begin(), objective.limits.end(), depends);
}

}  // namespace

bool MayGainByStages(const plan::Plan& plan) {
  return hw_profiles::EnginesAtOnce(plan.profile) > 1 && DependsOnTime(plan.objective);
}

std::optional<std::string> ObstacleToStages(const hw_profiles::Profile& profile) {
  if (!profile.tiling.concurrent || hw_profiles::EnginesAtOnce(profile) > 1) return std::nullopt;
  return std::string("'concurrent' of the profile has no effect: ") +
         (profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered
              ? "it has fewer than two engines other than the host"
              : "transfers have steps of their own");
}

void LeaveOutStages(plan::Plan& plan) {
  if (plan.score <= plan.bound && plan::IsKnownValue(plan.network, plan.objective)) {
    plan.scope = {};
    plan.proven = true;
    plan.status = "optimal";
    return;
  }
  constexpr std::string_view kStages = "two stages, but for those of the partition that was found";
  std::string& policies = plan.scope.policies;
  policies = policies.empty() ? std::string(kStages) : fmt::format("{}; {}", policies, kStages);
  plan.status = "feasible";
}

base::Expected<plan::Plan> AddStages(const choices::SearchContext& context,
                                     const constraints::PlanConstraints& constraints,
                                     plan::Plan plan) {
  return Staging(context, constraints, std::move(plan)).Run();
}

}  // namespace tessera::search::partition::driver
