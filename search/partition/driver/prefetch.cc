// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/encoder/program/homes.h"
#include "tessera/search/cost/cost_terms.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/driver/plan_change.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"
#include "tessera/search/partition/driver/regrouping.h"

// Constants that are loaded once delay the engines of their subgraph. If there is space, they
// arrive while earlier subgraphs compute their last tiles (docs/program.md, "Ahead"):
//
//     engine | .. compute | wait | compute          | .. compute | compute
//     dma    | .. store   | w w w|                  | .. store ww|
//     tile memory         |  w                      |         w
//
// The gain depends on the other subgraphs, so it is not a property of an interval, and the search
// over partitions does not consider it. Prefetching is tried on the partition that was found, and
// on others that run the same tiles in longer or shorter subgraphs (regrouping.cc): all subgraphs
// that stream slices of constants hold them instead if they can, and the constants are scheduled
// (prefetch_schedule.cc). A subgraph whose constants do not arrive in time then returns to slices
// if these delay it less, and all are scheduled again. In a second attempt, constants that do not
// fit as a whole, or are late, come in slices of which the first arrive ahead. Each partition is
// scheduled for all of the memory, and for parts of it, since a full memory has no room for gaps.
//
// The schedules are placed as one Problem each, the best first, with the addresses of the plan as
// hints, until one has a placement. Soundness: a plan is accepted only if its joint Problem has a
// placement and its score falls. It need not be optimal: other tiles may gain more by prefetching.
// Cost: the schedules, and a few joint Problems. MobileNetV2 on edge_npu_1mib: schedules of 42
// partitions and rooms take 0.3 s, and there is one Problem.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;
using Outcome = ChangeOutcome;

constexpr int kMostTakenBack = 6;           // rounds in which one schedule returns to slices
constexpr int kMostSliced = 3;              // rounds in which constants come in slices instead
constexpr size_t kMostScheduled = 1 << 12;  // operators, of all partitions together
constexpr size_t kMostPlaced = 8;           // schedules

// Shares of the memory: as Regrouping::growth, and as the room of a schedule.
constexpr std::array kGrowths = {1.0 / 16, 1.0 / 8, 1.0 / 4, 3.0 / 8, 1.0 / 2, 3.0 / 4};
constexpr std::array kSharesOfRoom = {1.0, 0.97, 0.94, 0.9, 0.8, 0.65, 0.5};
constexpr double kLeastShareForSlices = 0.94;  // slices leave small gaps

class Prefetcher {
 public:
  Prefetcher(const choices::SearchContext& context, const constraints::PlanConstraints& constraints,
             const answer::PartitionOptions& options, plan::Plan plan)
      : context_(context),
        constraints_(constraints),
        options_(options),
        plan_(std::move(plan)),
        score_(ScoreWithoutPeaks(context, plan_.totals)) {}

  base::Expected<plan::Plan> Run() {
    Outcome outcome = Outcome::kNoGain;
    const double before = plan_.score;
    const base::Expected<std::vector<Scheduled>> schedules = FindSchedules();
    if (!schedules) return base::Unexpected(schedules.error());
    for (const Scheduled& scheduled : *schedules) {
      const base::Expected<Outcome> tried =
          TryChange(context_, constraints_, {scheduled.subgraphs, scheduled.kept}, plan_);
      if (!tried) return base::Unexpected(tried.error());
      outcome = *tried;
      if (outcome == Outcome::kTaken) without_room_ = scheduled.without_room;
      if (outcome == Outcome::kTaken || outcome == Outcome::kStopped) break;
    }
    if (schedules->empty() && context_.stop.Requested()) outcome = Outcome::kStopped;
    FindStatus();
    Note(outcome, before);
    return std::move(plan_);
  }

 private:
  // Subgraphs with the times of their constants.
  struct Scheduled {
    std::vector<plan::Subgraph> subgraphs;
    std::vector<int> kept;
    double score = 0;      // without peaks
    int without_room = 0;  // subgraphs of which no part arrives ahead, for lack of room
  };

  static bool HasSlices(const plan::Subgraph& subgraph) {
    return subgraph.weights == WeightPolicy::kStreamed || subgraph.weights == WeightPolicy::kSplitK;
  }

  // Returns the subgraph in one tile with constants in slices, of which some may arrive ahead;
  // nullopt if that is not possible in `room` bytes, or if no constant has several slices.
  std::optional<plan::Subgraph> InSlices(const plan::Subgraph& subgraph,
                                         const std::vector<int>& kept, problem::Bytes room) const {
    const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
    if (std::find(policies.begin(), policies.end(), WeightPolicy::kStreamed) == policies.end() ||
        subgraph.weights == WeightPolicy::kDirect || constraints_.ConfigOf(subgraph.interval))
      return std::nullopt;
    const std::vector<cost::Stream> streams =
        cost::StreamsOf(context_.graph, context_.profile, subgraph.interval);
    if (std::none_of(streams.begin(), streams.end(),
                     [](const cost::Stream& stream) { return stream.slices > 1; }))
      return std::nullopt;
    plan::Subgraph sliced = subgraph;
    PrefetchSchedule::SetWeights(sliced, WeightPolicy::kStreamed);
    sliced.tile = encoder::program::OutputShape(context_.graph, subgraph.interval);
    sliced.tiles = 1;
    sliced.largest_proven = true;
    sliced.halo = hw_profiles::HaloStorage::kRecompute;
    sliced.serialized = false;
    const std::optional<problem::Bytes> load = LoadOf(context_, sliced, kept);
    return load && *load <= room ? std::optional(sliced) : std::nullopt;
  }

  // Lets the constants of these subgraphs come in slices, except of those that `sliced` lists, and
  // adds them to it. Returns whether there are any.
  bool Slice(const std::vector<size_t>& late, const std::vector<int>& kept, problem::Bytes room,
             std::set<size_t>& sliced, std::vector<plan::Subgraph>& with) const {
    bool changed = false;
    for (const size_t i : late) {
      if (!sliced.insert(i).second) continue;
      if (std::optional<plan::Subgraph> other = InSlices(with[i], kept, room)) {
        with[i] = *std::move(other);
        changed = true;
      }
    }
    return changed;
  }

  // Whether the subgraph alone can hold its constants instead of slices.
  bool FitsResident(const plan::Subgraph& subgraph, const std::vector<int>& kept,
                    problem::Bytes room) const {
    plan::Subgraph held = subgraph;
    PrefetchSchedule::SetWeights(held, WeightPolicy::kResident);
    const std::optional<problem::Bytes> load = LoadOf(context_, held, kept);
    return load && *load <= room;
  }

  // Returns the best schedule of these subgraphs in `room` bytes; nullopt if there is none with a
  // lower score than the plan. Constants arrive as a whole at first. With `may_slice`, those then
  // come in slices that do not fit, or not in time.
  base::Expected<std::optional<Scheduled>> FindSchedule(const Regrouped& groups,
                                                        problem::Bytes room, bool may_slice) {
    std::vector<plan::Subgraph> with = groups.subgraphs;
    std::vector<size_t> too_large;
    for (size_t number = 1; number < with.size(); ++number) {
      if (!HasSlices(with[number]) || !MayReside(with[number])) continue;
      if (FitsResident(with[number], groups.kept, room)) {
        PrefetchSchedule::SetWeights(with[number], WeightPolicy::kResident);
      } else {
        too_large.push_back(number);
      }
    }
    std::optional<Scheduled> best;
    PrefetchSchedule schedule(context_, groups.kept);
    std::vector<plan::Subgraph> whole = with;
    if (auto fault = Improve(groups, room, whole, schedule, best).second)
      return base::Unexpected(*std::move(fault));
    if (!may_slice) return best;
    std::set<size_t> sliced;
    bool changed = Slice(too_large, groups.kept, room, sliced, with);
    for (int i = 0; i < kMostSliced && (changed || i == 0); ++i) {
      auto [late, fault] = Improve(groups, room, with, schedule, best);
      if (fault) return base::Unexpected(*std::move(fault));
      changed = Slice(late, groups.kept, room, sliced, with);
    }
    return best;
  }

  // Schedules the constants of `with`, and lets subgraphs return to their slices in `groups` if
  // these delay them less, until nothing changes. Returns the subgraphs whose constants are late in
  // the last schedule. Replaces `best` if a schedule is better.
  std::pair<std::vector<size_t>, std::optional<base::Diagnostic>> Improve(
      const Regrouped& groups, problem::Bytes room, std::vector<plan::Subgraph>& with,
      PrefetchSchedule& schedule, std::optional<Scheduled>& best) {
    std::vector<size_t> late;
    bool changed = true;
    for (int i = 0; i < kMostTakenBack && changed && !context_.stop.Requested(); ++i) {
      const base::Expected<encoder::program::Program> program = encoder::program::BuildProgram(
          context_.graph, context_.profile, cost::ChoicesOf(with, groups.kept));
      if (!program) return {{}, program.error()};
      const std::vector<FreeBytes> free = FindFree(*program, with.size(), room);
      PrefetchSchedule::Proposal found = schedule.Propose(with, free);
      changed = schedule.TakeBack(groups.subgraphs, found.subgraphs, with);
      late = std::move(found.late);
      if (!without_room_) without_room_ = found.without_room;
      const double score = ScoreWithoutPeaks(context_, found.totals);
      if (Fits(free, room) && score < (best ? best->score : score_))
        best = Scheduled{std::move(found.subgraphs), groups.kept, score, found.without_room};
    }
    return {std::move(late), std::nullopt};
  }

  // Returns the best schedules of the given and of the regrouped subgraphs, the best first.
  base::Expected<std::vector<Scheduled>> FindSchedules() {
    std::vector<Regrouped> partitions = {{plan_.subgraphs, plan_.kept}};
    if (constraints_.IsEmpty()) {
      Regrouping regrouping;
      if (options_.max_operators) regrouping.most_operators = *options_.max_operators;
      regrouping.may_keep = options_.keeping == paths::Keeping::kWherePossible;
      partitions.push_back(Regroup(context_, partitions.front(), regrouping));
      for (const double growth : kGrowths) {
        regrouping.growth = PartOfRoom(growth);
        partitions.push_back(Regroup(context_, partitions.front(), regrouping));
      }
    }
    std::vector<Scheduled> schedules;
    size_t work = 0;
    for (const double share : kSharesOfRoom) {
      for (const Regrouped& partition : partitions) {
        work += context_.graph.operators.size();
        if (context_.stop.Requested() || (work > kMostScheduled && !schedules.empty())) break;
        base::Expected<std::optional<Scheduled>> found =
            FindSchedule(partition, PartOfRoom(share), /*may_slice=*/share >= kLeastShareForSlices);
        if (!found) return base::Unexpected(found.error());
        if (*found) schedules.push_back(**std::move(found));
      }
    }
    std::stable_sort(schedules.begin(), schedules.end(),
                     [](const Scheduled& a, const Scheduled& b) { return a.score < b.score; });
    if (schedules.size() > kMostPlaced) schedules.resize(kMostPlaced);
    return schedules;
  }

  problem::Bytes PartOfRoom(double share) const {
    return static_cast<problem::Bytes>(share * static_cast<double>(context_.Room()));
  }

  // Whether the memory holds everything except constants that arrive ahead.
  bool Fits(const std::vector<FreeBytes>& free, problem::Bytes room) const {
    return std::all_of(free.begin(), free.end(), [&](const FreeBytes& each) {
      return each.throughout + context_.Room() >= room;
    });
  }

  // Whether the subgraph may hold its constants: not if a constraint requires a policy or
  // addresses, which may be those of slices.
  bool MayReside(const plan::Subgraph& subgraph) const {
    const std::vector<WeightPolicy>& policies = context_.profile.tiling.weights;
    const plan::TileConfigConstraint* config = constraints_.ConfigOf(subgraph.interval);
    return std::find(policies.begin(), policies.end(), WeightPolicy::kResident) != policies.end() &&
           (config == nullptr || (!config->weights && config->addresses.empty()));
  }

  // Sets scope and status: the search considered only plans without prefetched constants.
  void FindStatus() {
    if (plan_.score <= plan_.bound && plan::IsKnownValue(plan_.network, plan_.objective)) {
      plan_.scope = {};
      plan_.proven = true;
    } else {
      plan_.scope.policies =
          "prefetched constants, which were tried on the partition that was found";
    }
    plan_.status = plan_.proven && plan::CoversAll(plan_.scope) ? "optimal" : "feasible";
  }

  void Note(Outcome outcome, double before) {
    const auto taken =
        std::count_if(plan_.subgraphs.begin(), plan_.subgraphs.end(),
                      [](const plan::Subgraph& subgraph) { return !subgraph.prefetch.empty(); });
    const int without_room = without_room_.value_or(0);
    std::string note;
    if (taken > 0) {
      note = fmt::format("{} subgraph{} {} constants prefetched", taken, taken == 1 ? "" : "s",
                         taken == 1 ? "has its" : "have their");
    } else if (outcome == Outcome::kStopped) {
      note = "no constants are prefetched; time ended before all was tried";
    } else if (outcome == Outcome::kNoRoom || without_room > 0) {
      note = "no constants are prefetched";
    } else {
      return;
    }
    if (taken == 0 && outcome == Outcome::kNoRoom) {
      note += "; no room was found for those that would gain";
    } else if (without_room > 0) {
      note +=
          fmt::format("; no room was found for {}{}", taken > 0 ? "another " : "", without_room);
    }
    plan_.notes.push_back(std::move(note));
    if (taken > 0)
      plan_.notes.push_back(fmt::format("without prefetched constants the score is {}", before));
  }

  const choices::SearchContext& context_;
  const constraints::PlanConstraints& constraints_;
  const answer::PartitionOptions& options_;
  plan::Plan plan_;
  const double score_;               // of the plan, without peaks
  std::optional<int> without_room_;  // of the accepted schedule, else of the first one
};

}  // namespace

bool MayGainByPrefetching(const graph::Graph& network, const hw_profiles::Profile& profile,
                          const plan::Objective& objective) {
  const auto depends = [](const auto& entry) { return plan::DependsOnTime(entry.first); };
  const auto counts = [&](const auto& weight) { return weight.second > 0 && depends(weight); };
  const bool by_time = objective.weights.empty() ||
                       std::any_of(objective.weights.begin(), objective.weights.end(), counts) ||
                       std::any_of(objective.limits.begin(), objective.limits.end(), depends);
  const std::vector<WeightPolicy>& policies = profile.tiling.weights;
  const bool may_load = std::any_of(policies.begin(), policies.end(), [](WeightPolicy each) {
    return each != WeightPolicy::kDirect;
  });
  const auto is_loaded = [&](int constant) {
    return encoder::program::HomeOf(network, profile, constant, base::TensorRole::kConstant) !=
           profile.tile_memory;
  };
  return by_time && may_load && network.operators.size() > 1 &&
         profile.tiling.dma == hw_profiles::DmaSteps::kDoubleBuffered &&
         std::any_of(network.operators.begin(), network.operators.end(),
                     [&](const graph::Operator& op) {
                       return std::any_of(op.weights.begin(), op.weights.end(), is_loaded);
                     });
}

base::Expected<plan::Plan> Prefetch(const choices::SearchContext& context,
                                    const constraints::PlanConstraints& constraints,
                                    const answer::PartitionOptions& options, plan::Plan plan) {
  return Prefetcher(context, constraints, options, std::move(plan)).Run();
}

}  // namespace tessera::search::partition::driver
