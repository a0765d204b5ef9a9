// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/answer/plan_assembly.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"
#include "tessera/search/partition/driver/regrouping.h"
#include "tessera/search/partition/placement/home_and_joint_placement.h"

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
  Staging(const choices::SearchContext& context, plan::Plan plan)
      : context_(context), usages_(graph::UsagesOf(context.graph)), plan_(std::move(plan)) {}

  base::Expected<plan::Plan> Run() {
    std::vector<Gain> gains = FindGains();
    for (size_t tries = 0; !gains.empty() && tries < kMostTries; ++tries) {
      if (context_.stop.Requested()) break;
      base::Expected<std::optional<plan::Plan>> better = Try(gains);
      if (!better) return base::Unexpected(better.error());
      if (*better) {
        (*better)->notes.push_back(fmt::format("{} subgraph{} two stages side by side",
                                               gains.size(),
                                               gains.size() == 1 ? " runs" : "s run"));
        plan_ = **std::move(better);
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
  std::vector<Gain> FindGains() const {
    std::vector<Gain> gains;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      if (!MayHaveStages(i)) continue;
      if (std::optional<Gain> gain = FindGain(i)) gains.push_back(*std::move(gain));
    }
    std::stable_sort(gains.begin(), gains.end(),
                     [](const Gain& a, const Gain& b) { return a.score < b.score; });
    return gains;
  }

  std::optional<Gain> FindGain(size_t number) const {
    const plan::Subgraph& subgraph = plan_.subgraphs[number];
    std::optional<Gain> best;
    for (const graph::tiling::TileShape& tile : TilesOf(subgraph)) {
      for (int k = 1; k <= subgraph.interval.last - subgraph.interval.first; ++k) {
        if (context_.stop.Requested()) return std::nullopt;
        std::optional<plan::Subgraph> staged = Staged(subgraph, tile, k);
        if (!staged) continue;
        const double score = PriceIn(number, *staged);
        if (score >= (best ? best->score : ScoreOf(plan_.totals))) continue;
        const std::optional<problem::Bytes> load = LoadOf(context_, *staged, plan_.kept);
        if (load && *load <= context_.Room()) best = Gain{number, *std::move(staged), score};
      }
    }
    return best;
  }

  std::vector<encoder::program::SubgraphChoice> ChoicesOf(
      const std::vector<plan::Subgraph>& subgraphs) const {
    std::vector<encoder::program::SubgraphChoice> choices;
    for (const plan::Subgraph& subgraph : subgraphs)
      choices.push_back(cost::ChoiceOf(subgraph, plan_.kept));
    return choices;
  }

  // Returns the score of these totals without peaks, which only placements determine.
  double ScoreOf(plan::Metrics totals) const {
    totals.peak_bytes = 0;
    totals.off_chip_peak_bytes = 0;
    return context_.scale.ScoreOf(totals);
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
    return ScoreOf(totals);
  }

  // Returns the plan with these stages if it has a placement and a lower score.
  base::Expected<std::optional<plan::Plan>> Try(const std::vector<Gain>& gains) const {
    std::vector<plan::Subgraph> subgraphs = plan_.subgraphs;
    for (const Gain& gain : gains) subgraphs[gain.number] = gain.subgraph;
    base::Expected<encoder::program::Program> program =
        encoder::program::BuildProgram(context_.graph, context_.profile, ChoicesOf(subgraphs));
    if (!program) return base::Unexpected(program.error());
    placement::JointPlacement joint{
        .program = *std::move(program), .result = {}, .homes = plan_.homes};
    const auto buffers = static_cast<int64_t>(joint.program.problem.buffers.size());
    base::Expected<problem::Result> result = context_.Place(
        joint.program.problem, /*minimize=*/false,
        {std::min(context_.budget.units, kPlacingWork / std::max<int64_t>(buffers, 1))},
        context_.stop);
    if (!result) return base::Unexpected(result.error());
    joint.result = *std::move(result);
    if (!joint.result.allocation) return std::optional<plan::Plan>();
    plan::Plan better = answer::AssemblePlan(context_, subgraphs, plan_.kept, joint);
    if (better.score >= plan_.score ||
        !context_.scale.WithinLimits(context_.scale.CostOf(better.totals)))
      return std::optional<plan::Plan>();
    plan::Plan taken = plan_;
    taken.subgraphs = std::move(better.subgraphs);
    taken.problem = std::move(better.problem);
    taken.allocation = std::move(better.allocation);
    taken.buffers = std::move(better.buffers);
    taken.steps = std::move(better.steps);
    taken.totals = std::move(better.totals);
    taken.score = better.score;
    return std::optional<plan::Plan>(std::move(taken));
  }

  const choices::SearchContext& context_;
  const std::vector<graph::Usage> usages_;
  plan::Plan plan_;
};

// Two stages move and compute as much as one, in less time.
bool DependsOnTime(const plan::Objective& objective) {
  const auto depends = [](const auto& wanted) {
    const std::string& metric = wanted.first;
    return metric != "macs" && metric != "off_chip_bytes" && metric != "peak" &&
           metric != "off_chip_peak";
  };
  return std::any_of(objective.weights.begin(), objective.weights.end(), depends) ||
         std::any_of(objective.limits.begin(), objective.limits.end(), depends);
}

}  // namespace

bool MayGainByStages(const plan::Plan& plan) {
  return hw_profiles::EnginesAtOnce(plan.profile) > 1 && DependsOnTime(plan.objective);
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

base::Expected<plan::Plan> AddStages(const choices::SearchContext& context, plan::Plan plan) {
  return Staging(context, std::move(plan)).Run();
}

}  // namespace tessera::search::partition::driver
