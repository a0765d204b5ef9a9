// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/regrouping.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/encoder/program/build_program.h"
#include "tessera/encoder/program/choices.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"

// Constants that arrive ahead need room throughout the subgraphs that run meanwhile. A long
// subgraph needs the room of its largest operator throughout, although most of its operators may
// need little:
//
//     one subgraph     | a  b  c  d  e |      room for others:  what a leaves
//     cut after b      | a  b | c  d  e |                       what a leaves | what c leaves
//
// On the other hand, transfers end before their subgraph does, so each cut reduces the time of the
// link by the latency of a transfer.
//
// A subgraph of one tile runs its operators one after another. Several subgraphs with one operator
// each, with the tensors in between kept on chip, do the same. So such subgraphs are first cut
// after every operator, and neighbours are then joined if the operators of the group need about the
// same room, constants included. Neither may take time, apart from that of constants, which the
// schedule determines. Tiles of tensors that are on chip as a whole are joined too. Cost: a
// simulation and a program of one tile for each operator.
namespace tessera::search::partition::driver {
namespace {

using hw_profiles::WeightPolicy;

class Regrouper {
 public:
  Regrouper(const choices::SearchContext& context, const Regrouped& partition,
            const Regrouping& regrouping)
      : context_(context),
        usages_(graph::UsagesOf(context.graph)),
        regrouping_(regrouping),
        kept_(partition.kept) {
    // If the tile memory is the home of boundary tensors, none are kept.
    if (hw_profiles::LayoutOf(context.profile, base::TensorRole::kBoundary).home ==
        context.profile.tile_memory)
      regrouping_.may_keep = false;
  }

  void Take(const plan::Subgraph& whole) {
    plan::Subgraph rest = context_.stop.Requested() ? whole : InOneTile(whole);
    if (regrouping_.may_keep && IsSequence(rest)) {
      for (int last = whole.interval.first; last < whole.interval.last; ++last) {
        if (!context_.stop.Requested()) CutBehind(last, rest);
      }
    }
    Join(std::move(rest));
  }

  Regrouped Finish() && { return {std::move(done_), std::move(kept_)}; }

 private:
  bool MayOverlap(const plan::Subgraph& subgraph) const {
    return !subgraph.serialized && subgraph.weights != WeightPolicy::kDirect &&
           !encoder::program::RunsOnHost(context_.graph, context_.profile, subgraph.interval);
  }

  // Whether the operators of the subgraph run one after another, each on whole tensors.
  bool IsSequence(const plan::Subgraph& subgraph) const {
    return subgraph.tiles == 1 && MayOverlap(subgraph);
  }

  // Returns the subgraph in one tile, which can be cut behind every operator, if that takes about
  // the same room and no time; otherwise the subgraph unchanged.
  plan::Subgraph InOneTile(const plan::Subgraph& subgraph) const {
    if (subgraph.tiles == 1 || subgraph.second_stage > 0 || !MayOverlap(subgraph)) return subgraph;
    plan::Subgraph one = PartOf(subgraph, subgraph.interval);
    one.tiles = 1;
    one.halo = hw_profiles::HaloStorage::kRecompute;
    const std::optional<problem::Bytes> load = LoadOf(context_, one, kept_);
    const std::optional<problem::Bytes> before = LoadOf(context_, subgraph, kept_);
    const bool gains = load && before && *load <= *before + regrouping_.growth.value_or(0) &&
                       LatencyOf(one, kept_) <= LatencyOf(subgraph, kept_);
    return gains ? one : subgraph;
  }

  void CutBehind(int last, plan::Subgraph& rest) {
    const std::optional<std::vector<int>> between = TensorsBetween(last, rest.interval);
    if (!between) return;
    std::vector<int> kept = kept_;
    kept.insert(kept.end(), between->begin(), between->end());
    std::sort(kept.begin(), kept.end());
    plan::Subgraph before = PartOf(rest, {rest.interval.first, last});
    plan::Subgraph after = PartOf(rest, {last + 1, rest.interval.last});
    if (!IsValid(before, kept) || !IsValid(after, kept) ||
        LatencyOf(before, kept) + LatencyOf(after, kept) > LatencyOf(rest, kept_))
      return;
    kept_ = std::move(kept);
    Join(std::move(before));
    rest = std::move(after);
  }

  // Returns the features that pass from the operators up to `last` to those after it; nullopt if
  // one is also needed after the interval and is not kept on chip.
  std::optional<std::vector<int>> TensorsBetween(int last, graph::Interval interval) const {
    const graph::Operator& end = context_.graph.operators[static_cast<size_t>(last)];
    if (end.outputs.empty()) return std::nullopt;
    std::vector<int> between;
    for (int number = interval.first; number <= last; ++number) {
      for (const int tensor : context_.graph.operators[static_cast<size_t>(number)].outputs) {
        const graph::Usage& usage = usages_[static_cast<size_t>(tensor)];
        const bool passes =
            std::any_of(usage.consumers.begin(), usage.consumers.end(),
                        [&](int consumer) { return consumer > last && consumer <= interval.last; });
        if (!passes || std::binary_search(kept_.begin(), kept_.end(), tensor)) continue;
        if (graph::RoleIn(context_.graph, usage, tensor, interval) != base::TensorRole::kFeature)
          return std::nullopt;
        between.push_back(tensor);
      }
    }
    return between;
  }

  plan::Subgraph PartOf(const plan::Subgraph& whole, graph::Interval interval) const {
    plan::Subgraph part = whole;
    part.interval = interval;
    part.tile = encoder::program::OutputShape(context_.graph, interval);
    part.largest_proven = true;
    part.rejected_alternatives.clear();
    return part;
  }

  // Whether a program can be made of the subgraph; not every subgraph can be cut along K.
  bool IsValid(const plan::Subgraph& subgraph, const std::vector<int>& kept) const {
    return LoadOf(context_, subgraph, kept).has_value();
  }

  // Returns the latency if all constants have arrived when the subgraph begins.
  int64_t LatencyOf(const plan::Subgraph& subgraph, const std::vector<int>& kept) const {
    const graph::tiling::TiledSubgraph tiling =
        encoder::program::CutTiles(context_.graph, subgraph.interval, subgraph.tile, subgraph.halo);
    const cost::Prefetches ahead{.own = {1}, .carried = {}};
    return context_.simulator
        .Run(tiling, cost::PolicyOf(WithResident(context_, subgraph), kept), cost::Detail::kTotals,
             ahead)
        .latency_cycles;
  }

  std::optional<problem::Bytes> RoomOf(const plan::Subgraph& subgraph,
                                       const std::vector<int>& kept) const {
    return LoadOf(context_, WithResident(context_, subgraph), kept);
  }

  // Adds the subgraph to the last group, or begins another.
  void Join(plan::Subgraph next) {
    std::optional<problem::Bytes> room;
    if (regrouping_.growth && IsSequence(next) && !context_.stop.Requested())
      room = RoomOf(next, kept_);
    if (room && least_room_ && JoinToLast(next, std::min(*room, *least_room_))) return;
    least_room_ = room;
    done_.push_back(std::move(next));
  }

  bool JoinToLast(const plan::Subgraph& next, problem::Bytes least_room) {
    const plan::Subgraph& last = done_.back();
    if (next.interval.last - last.interval.first + 1 > regrouping_.most_operators) return false;
    plan::Subgraph joined = PartOf(next, {last.interval.first, next.interval.last});
    joined.halo = hw_profiles::HaloStorage::kRecompute;
    joined.in_place = last.in_place && next.in_place;
    if (last.weights != next.weights || last.k_extent != next.k_extent)
      joined = WithResident(context_, joined);
    std::vector<int> kept = kept_;
    std::erase_if(kept, [&](int tensor) {
      return graph::RoleIn(context_.graph, usages_[static_cast<size_t>(tensor)], tensor,
                           joined.interval) == base::TensorRole::kFeature;
    });
    const std::optional<problem::Bytes> room = RoomOf(joined, kept);
    if (!room || !IsValid(joined, kept) || *room > least_room + *regrouping_.growth ||
        LatencyOf(joined, kept) > LatencyOf(last, kept_) + LatencyOf(next, kept_))
      return false;
    least_room_ = least_room;
    kept_ = std::move(kept);
    done_.back() = std::move(joined);
    return true;
  }

  const choices::SearchContext& context_;
  const std::vector<graph::Usage> usages_;
  Regrouping regrouping_;
  std::vector<int> kept_;
  std::vector<plan::Subgraph> done_;
  // The least room of any operator of the last group; nullopt: no subgraph can join it.
  std::optional<problem::Bytes> least_room_;
};

}  // namespace

std::optional<problem::Bytes> LoadOf(const choices::SearchContext& context,
                                     const plan::Subgraph& subgraph, const std::vector<int>& kept) {
  plan::Subgraph alone = subgraph;
  alone.prefetch.clear();
  const std::vector<encoder::program::SubgraphChoice> choices = {cost::ChoiceOf(alone, kept)};
  const base::Expected<encoder::program::Program> program =
      encoder::program::BuildProgram(context.graph, context.profile, choices);
  if (!program) return std::nullopt;
  return -FindFree(*program, 1, 0).front().throughout;
}

plan::Subgraph WithResident(const choices::SearchContext& context, const plan::Subgraph& subgraph) {
  plan::Subgraph resident = subgraph;
  const std::vector<WeightPolicy>& allowed = context.profile.tiling.weights;
  if (subgraph.weights != WeightPolicy::kDirect &&
      std::find(allowed.begin(), allowed.end(), WeightPolicy::kResident) != allowed.end())
    PrefetchSchedule::SetWeights(resident, WeightPolicy::kResident);
  return resident;
}

Regrouped Regroup(const choices::SearchContext& context, const Regrouped& partition,
                  const Regrouping& regrouping) {
  Regrouper regrouper(context, partition, regrouping);
  for (const plan::Subgraph& subgraph : partition.subgraphs) regrouper.Take(subgraph);
  return std::move(regrouper).Finish();
}

}  // namespace tessera::search::partition::driver
