// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tessera/encoder/program/homes.h"
#include "tessera/search/partition/driver/order_search.h"
#include "tessera/search/partition/driver/plan_change.h"
#include "tessera/search/partition/driver/regrouping.h"
#include "tessera/search/partition/driver/subgraph_forms.h"

// Constants that are loaded once delay the engines of their subgraph. If there is space, they
// arrive while earlier subgraphs compute (docs/program.md, "Ahead"):
//
//     engine | .. compute | wait | compute          | .. compute | compute
//     dma    | .. store   | w w w|                  | .. store ww|
//     tile memory         |  w                      |         w
//
// The gain depends on the other subgraphs, so it is not a property of an interval, and the search
// over partitions does not consider it. Prefetching is tried on the partition that was found, and
// on others that run the same tiles in longer or shorter subgraphs (regrouping.cc), for all of the
// memory and for parts of it, since a full memory has no room for gaps. Each of them is scheduled
// with whole constants (prefetch_schedule.cc); the best few are scheduled with slices too, and the
// best of these schedules are refined (subgraph_forms.cc).
//
// The schedules are placed as one Problem each, the best first, with the addresses of the plan as
// hints, until one has a placement. Soundness: a plan is accepted only if its joint Problem has a
// placement and its score falls. It need not be optimal: other tiles may gain more by prefetching.
// Cost: the schedules, and a few joint Problems. MobileNetV2 on edge_npu_1mib: 56 schedules of
// partitions and rooms, those with slices, and the refinement take 0.3 s of 1.6 s, with one
// Problem.
namespace tessera::search::partition::driver {
namespace {

using Outcome = ChangeOutcome;

constexpr size_t kMostScheduled = 1 << 12;  // operators, of all partitions together
constexpr size_t kSettingsInSlices = 8;     // partitions with a room
constexpr size_t kSchedulesRefined = 4;
constexpr size_t kMostRefined = 1 << 16;       // operators, of all programs together
constexpr size_t kMostRefinedAgain = 1 << 15;  // of schedules without a placement, in less room
constexpr size_t kMostPlaced = 24;             // schedules

// Shares of the memory: as Regrouping::growth, and as the room of a schedule.
constexpr std::array kGrowths = {1.0 / 16, 1.0 / 8, 1.0 / 4, 3.0 / 8, 1.0 / 2, 3.0 / 4};
constexpr std::array kSharesOfRoom = {1.0, 0.97, 0.94, 0.9, 0.8, 0.65, 0.5};
constexpr double kLeastShareForSlices = 0.94;  // slices leave small gaps
constexpr size_t kRefinedAgain = 1;            // schedules without a placement
constexpr double kLessRoom = 0.01;             // of such a schedule

constexpr double kNoSchedule = std::numeric_limits<double>::infinity();

struct IsBetter {
  template <typename Scored>
  bool operator()(const Scored& a, const Scored& b) const {
    return a.score < b.score;
  }
};

Sequences::Limits LimitsOf(const answer::PartitionOptions& options) {
  Sequences::Limits limits;
  if (options.max_operators) limits.most_operators = *options.max_operators;
  limits.may_keep = options.keeping == paths::Keeping::kWherePossible;
  return limits;
}

class Prefetcher {
 public:
  Prefetcher(const choices::SearchContext& context, const constraints::PlanConstraints& constraints,
             const answer::PartitionOptions& options, plan::Plan plan)
      : context_(context),
        constraints_(constraints),
        plan_(std::move(plan)),
        table_(context),
        limits_(LimitsOf(options)),
        forms_(table_, constraints, limits_) {}

  base::Expected<plan::Plan> Run() {
    const double before = plan_.score;
    const base::Expected<Outcome> outcome = PlaceBest(FindSchedules());
    if (!outcome) return base::Unexpected(outcome.error());
    FindStatus();
    Note(*outcome, before);
    return std::move(plan_);
  }

 private:
  // A partition and the part of the memory that its schedule may use.
  struct Setting {
    const Regrouped* partition = nullptr;
    double share = 1;
    double score = 0;  // of the schedule with whole constants
  };

  std::vector<Regrouped> FindPartitions() {
    std::vector<Regrouped> partitions = {{plan_.subgraphs, plan_.kept}};
    if (!constraints_.IsEmpty()) return partitions;
    Regrouping regrouping{.growth = std::nullopt, .limits = limits_};
    partitions.push_back(Regroup(table_, partitions.front(), regrouping));
    for (const double growth : kGrowths) {
      regrouping.growth = PartOfRoom(growth);
      partitions.push_back(Regroup(table_, partitions.front(), regrouping));
    }
    return partitions;
  }

  // Schedules the partitions with whole constants. Returns the settings, the best first.
  std::vector<Setting> ScheduleWhole(const std::vector<Regrouped>& partitions,
                                     std::vector<Scheduled>& schedules) {
    std::vector<Setting> settings;
    size_t work = 0;
    for (const double share : kSharesOfRoom) {
      for (const Regrouped& partition : partitions) {
        work += context_.graph.operators.size();
        if (context_.stop.Requested() || (work > kMostScheduled && !schedules.empty())) break;
        std::optional<Scheduled> found = forms_.FindWhole(partition, PartOfRoom(share));
        Setting& setting = settings.emplace_back(Setting{&partition, share, kNoSchedule});
        if (!found) continue;
        setting.score = found->score;
        schedules.push_back(*std::move(found));
      }
    }
    std::stable_sort(settings.begin(), settings.end(), IsBetter());
    return settings;
  }

  // Returns the schedules of the given and of the regrouped subgraphs that lower the score.
  std::vector<Scheduled> FindSchedules() {
    const std::vector<Regrouped> partitions = FindPartitions();
    std::vector<Scheduled> schedules;
    size_t sliced = 0;
    for (const Setting& setting : ScheduleWhole(partitions, schedules)) {
      if (setting.share < kLeastShareForSlices || sliced == kSettingsInSlices) continue;
      if (context_.stop.Requested()) break;
      ++sliced;
      std::optional<Scheduled> found =
          forms_.FindInSlices(*setting.partition, PartOfRoom(setting.share));
      if (found && found->score < setting.score) schedules.push_back(*std::move(found));
    }
    std::stable_sort(schedules.begin(), schedules.end(), IsBetter());
    std::vector<Scheduled> refined;
    size_t work = kMostRefined;
    for (size_t i = 0; i < std::min(schedules.size(), kSchedulesRefined); ++i) {
      Scheduled other = schedules[i];
      forms_.Refine(other, work);
      if (IsBetter()(other, schedules[i])) refined.push_back(std::move(other));
    }
    schedules.insert(schedules.end(), refined.begin(), refined.end());
    const double score = ScoreWithoutPeaks(context_, plan_.totals);
    std::erase_if(schedules, [score](const Scheduled& each) { return each.score >= score; });
    return schedules;
  }

  // Places the schedules, the best first, until one has a placement. One that has none is scheduled
  // in less room, too. Of equal scores, the one in the least room is enough.
  base::Expected<Outcome> PlaceBest(std::vector<Scheduled> schedules) {
    if (schedules.empty() && context_.stop.Requested()) return Outcome::kStopped;
    Outcome outcome = Outcome::kNoGain;
    size_t work = kMostRefinedAgain;
    const auto is_easier = [](const Scheduled& a, const Scheduled& b) {
      return std::pair(a.score, a.room) < std::pair(b.score, b.room);
    };
    std::pair<double, problem::Bytes> last = {kNoSchedule, 0};
    for (size_t tries = 0; tries < kMostPlaced && !schedules.empty();) {
      const auto best = std::min_element(schedules.begin(), schedules.end(), is_easier);
      const Scheduled scheduled = *best;
      schedules.erase(best);
      if (scheduled.score == last.first && scheduled.room >= last.second) continue;
      last = {scheduled.score, scheduled.room};
      ++tries;
      base::Expected<Outcome> tried =
          TryChange(context_, constraints_, {scheduled.subgraphs, scheduled.kept}, plan_);
      if (!tried) return tried;
      outcome = *tried;
      if (outcome == Outcome::kTaken) without_room_ = scheduled.without_room;
      if (outcome == Outcome::kTaken || outcome == Outcome::kStopped) break;
      std::optional<Scheduled> smaller =
          forms_.InRoom(scheduled, scheduled.room - PartOfRoom(kLessRoom));
      if (smaller && tries <= kRefinedAgain) forms_.Refine(*smaller, work);
      if (smaller && smaller->score < ScoreWithoutPeaks(context_, plan_.totals))
        schedules.push_back(*std::move(smaller));
    }
    return outcome;
  }

  problem::Bytes PartOfRoom(double share) const {
    return static_cast<problem::Bytes>(share * static_cast<double>(context_.Room()));
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
    const int without_room = without_room_.value_or(forms_.FirstWithoutRoom());
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
  plan::Plan plan_;
  SubgraphTable table_;
  const Sequences::Limits limits_;
  SubgraphForms forms_;
  std::optional<int> without_room_;  // of the accepted schedule
};

}  // namespace

bool MayGainByPrefetching(const graph::Graph& network, const hw_profiles::Profile& profile,
                          const plan::Objective& objective) {
  const auto depends = [](const auto& entry) { return plan::DependsOnTime(entry.first); };
  const auto counts = [&](const auto& weight) { return weight.second > 0 && depends(weight); };
  const bool by_time = objective.weights.empty() ||
                       std::any_of(objective.weights.begin(), objective.weights.end(), counts) ||
                       std::any_of(objective.limits.begin(), objective.limits.end(), depends);
  const std::vector<hw_profiles::WeightPolicy>& policies = profile.tiling.weights;
  const bool may_load = std::any_of(
      policies.begin(), policies.end(),
      [](hw_profiles::WeightPolicy each) { return each != hw_profiles::WeightPolicy::kDirect; });
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
