// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/driver/sequences.h"

#include <algorithm>
#include <utility>

#include "tessera/encoder/program/choices.h"
#include "tessera/search/partition/driver/prefetch_schedule.h"

namespace tessera::search::partition::driver {

using hw_profiles::WeightPolicy;

plan::Subgraph WithResident(const choices::SearchContext& context, const plan::Subgraph& subgraph) {
  plan::Subgraph resident = subgraph;
  const std::vector<WeightPolicy>& allowed = context.profile.tiling.weights;
  if (subgraph.weights != WeightPolicy::kDirect &&
      std::find(allowed.begin(), allowed.end(), WeightPolicy::kResident) != allowed.end())
    PrefetchSchedule::SetWeights(resident, WeightPolicy::kResident);
  return resident;
}

plan::Subgraph InOneTile(const choices::SearchContext& context, const plan::Subgraph& subgraph,
                         graph::Interval interval) {
  plan::Subgraph part = subgraph;
  part.interval = interval;
  part.tile = encoder::program::OutputShape(context.graph, interval);
  part.tiles = 1;
  part.halo = hw_profiles::HaloStorage::kRecompute;
  part.largest_proven = true;
  part.prefetch.clear();
  part.rejected_alternatives.clear();
  return part;
}

Sequences::Sequences(SubgraphTable& table, const Limits& limits)
    : table_(table), context_(table.Context()), limits_(limits) {
  // If the tile memory is the home of boundary tensors, none are kept.
  if (hw_profiles::LayoutOf(context_.profile, base::TensorRole::kBoundary).home ==
      context_.profile.tile_memory)
    limits_.may_keep = false;
}

bool Sequences::MayOverlap(const plan::Subgraph& subgraph) const {
  return !subgraph.serialized && subgraph.weights != WeightPolicy::kDirect &&
         subgraph.second_stage == 0 &&
         !encoder::program::RunsOnHost(context_.graph, context_.profile, subgraph.interval);
}

bool Sequences::IsSequence(const plan::Subgraph& subgraph) const {
  return subgraph.tiles == 1 && MayOverlap(subgraph);
}

std::optional<Sequences::Parts> Sequences::Cut(const plan::Subgraph& whole, int last,
                                               const std::vector<int>& kept) const {
  if (!limits_.may_keep || !IsSequence(whole)) return std::nullopt;
  const std::optional<std::vector<int>> between = TensorsBetween(last, whole.interval, kept);
  if (!between) return std::nullopt;
  Parts parts{.before = InOneTile(context_, whole, {whole.interval.first, last}),
              .after = InOneTile(context_, whole, {last + 1, whole.interval.last}),
              .kept = kept};
  parts.kept.insert(parts.kept.end(), between->begin(), between->end());
  std::sort(parts.kept.begin(), parts.kept.end());
  if (!table_.Of(parts.before, parts.kept).FindLoad() ||
      !table_.Of(parts.after, parts.kept).FindLoad())
    return std::nullopt;
  return parts;
}

// Returns the features that pass from the operators up to `last` to those after it; nullopt if one
// is also needed after the interval and is not kept on chip.
std::optional<std::vector<int>> Sequences::TensorsBetween(int last, graph::Interval interval,
                                                          const std::vector<int>& kept) const {
  const graph::Operator& end = context_.graph.operators[static_cast<size_t>(last)];
  if (end.outputs.empty()) return std::nullopt;
  std::vector<int> between;
  for (int number = interval.first; number <= last; ++number) {
    for (const int tensor : context_.graph.operators[static_cast<size_t>(number)].outputs) {
      const graph::Usage& usage = context_.simulator.Usages()[static_cast<size_t>(tensor)];
      const bool passes =
          std::any_of(usage.consumers.begin(), usage.consumers.end(),
                      [&](int consumer) { return consumer > last && consumer <= interval.last; });
      if (!passes || std::binary_search(kept.begin(), kept.end(), tensor)) continue;
      if (graph::RoleIn(context_.graph, usage, tensor, interval) != base::TensorRole::kFeature)
        return std::nullopt;
      between.push_back(tensor);
    }
  }
  return between;
}

std::optional<Sequences::Joined> Sequences::Join(const plan::Subgraph& first,
                                                 const plan::Subgraph& second,
                                                 const std::vector<int>& kept) const {
  if (second.interval.last - first.interval.first + 1 > limits_.most_operators ||
      !IsSequence(first) || !IsSequence(second))
    return std::nullopt;
  Joined joined{
      .subgraph = InOneTile(context_, second, {first.interval.first, second.interval.last}),
      .kept = kept};
  joined.subgraph.in_place = first.in_place && second.in_place;
  if (first.weights != second.weights || first.k_extent != second.k_extent)
    joined.subgraph = WithResident(context_, joined.subgraph);
  std::erase_if(joined.kept, [&](int tensor) {
    return graph::RoleIn(context_.graph, context_.simulator.Usages()[static_cast<size_t>(tensor)],
                         tensor, joined.subgraph.interval) == base::TensorRole::kFeature;
  });
  if (!table_.Of(joined.subgraph, joined.kept).FindLoad()) return std::nullopt;
  return joined;
}

}  // namespace tessera::search::partition::driver
