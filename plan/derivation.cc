#include "tessera/plan/derivation.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <utility>

#include "tessera/plan/by_channel.h"
#include "tessera/plan/costs_count.h"
#include "tessera/plan/handed_on.h"

namespace tessera::plan {

namespace {

Label LabelOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use) {
  if (use.tensor < 0) return {plan.network.operators[static_cast<size_t>(use.op)].id, "scratch"};
  return {plan.network.tensors[static_cast<size_t>(use.tensor)].id,
          std::string(base::NameOf(RoleOf(plan, users, use)))};
}

}  // namespace

Derivation Derive(const Plan& plan) {
  const std::vector<Users> users = FindUsers(plan.network);
  Derivation derivation;
  std::vector<LargestExtents> largest(plan.subgraphs.size());
  std::vector<RowTallies> rows(plan.subgraphs.size());
  std::vector<std::set<int>> cached(plan.subgraphs.size());
  std::vector<std::set<int>> by_channel(
      plan.subgraphs.size());  // operators that may work so; then, those that do
  std::vector<ExtentComparison> comparisons(plan.subgraphs.size(), ExtentComparison(plan.network));
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const Subgraph& subgraph = plan.subgraphs[i];
    WorkCount count(plan, users, subgraph);
    CostCount costs(plan, users, static_cast<int>(i));
    RowCount row_count(plan.network);
    ChannelSurvey survey(plan, users, subgraph);
    ForEachTile(plan.network, users, subgraph, [&](const Tile& tile) {
      count.Add(tile);
      costs.Add(tile);
      row_count.Add(tile);
      if (subgraph.in_place) comparisons[i].Look(subgraph.interval, tile);
      survey.Look(tile);
      for (const auto& [tensor, need] : tile.needs) {
        const std::vector<int64_t> extents = ExtentsOf(need);
        std::vector<int64_t>& most = largest[i].try_emplace(tensor, extents).first->second;
        for (size_t axis = 0; axis < extents.size(); ++axis) most[axis] = std::max(most[axis], extents[axis]);
      }
    });
    derivation.work.push_back(count.Finish());
    derivation.costs.push_back(costs.Finish(derivation.work.back()));
    rows[i] = row_count.Tallies();
    by_channel[i] = survey.Able(largest[i]);
    for (const auto& [tensor, extents] : largest[i]) {
      if (IsCached(HoldingOf(plan, users, subgraph, tensor), tensor, rows[i])) cached[i].insert(tensor);
    }
  }
  derivation.trace = Execute(plan, users, std::move(cached));
  derivation.pairs = FindHandedOn(plan, users, derivation.trace);
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    const auto subgraph = static_cast<int>(i);
    by_channel[i] = AddChannelPairs(plan, users, subgraph, derivation.trace, by_channel[i], derivation.pairs);
    AddChannelScratch(plan, subgraph, by_channel[i], derivation.trace);
  }
  derivation.rules = FindRules(plan, users, derivation.trace);

  for (const auto& [use, sighting] : derivation.trace.buffers) {
    derivation.labels.emplace(use, LabelOf(plan, users, use));
    const auto subgraph = static_cast<size_t>(use.subgraph);
    derivation.footprints.emplace(use, use.subgraph < 0 ? FootprintOf(plan, users, use, {})
                                                        : FootprintOf(plan, users, use, largest[subgraph],
                                                                      rows[subgraph], by_channel[subgraph]));
  }
  for (size_t i = 0; i < plan.subgraphs.size(); ++i) {
    if (!plan.subgraphs[i].in_place) continue;
    AddInPlacePairs(plan, users, static_cast<int>(i), derivation.trace, comparisons[i], derivation.footprints,
                    derivation.pairs);
  }
  return derivation;
}

std::string BufferId(const graph::Graph& network, const BufferUse& use) {
  std::string tensor = use.tensor < 0 ? "" : network.tensors[static_cast<size_t>(use.tensor)].id;
  const std::string op = use.op < 0 ? "" : network.operators[static_cast<size_t>(use.op)].id;
  switch (use.kind) {
    case BufferKind::kTile:
      return fmt::format("s{}/{}@{}", use.subgraph, tensor, use.parity);
    case BufferKind::kWhole:
      return tensor;
    case BufferKind::kResident:
      return fmt::format("s{}/{}", use.subgraph, tensor);
    case BufferKind::kSlice:
      return fmt::format("s{}/{}/{}@{}.{}", use.subgraph, op, tensor, use.parity, use.slot);
    case BufferKind::kRing:
      return fmt::format("s{}/{}@ring", use.subgraph, tensor);
    case BufferKind::kLine:
      return fmt::format("s{}/{}@line", use.subgraph, tensor);
    case BufferKind::kHalo:
      return fmt::format("s{}/{}@{}.halo", use.subgraph, tensor, use.parity);
    case BufferKind::kAccumulator:
      return fmt::format("s{}/{}/accumulator@{}", use.subgraph, op, use.parity);
    case BufferKind::kScratch:
      break;
  }
  return fmt::format("s{}/{}/scratch@{}", use.subgraph, op, use.parity);
}

namespace {

problem::Memory ToMemory(const hw_profiles::Memory& from) {
  problem::Memory memory;
  memory.name = from.name;
  memory.capacity = from.capacity_bytes;
  memory.alignment = from.alignment_bytes;
  memory.reserved = from.reserved;
  memory.banks = from.banks;
  return memory;
}

}  // namespace

problem::Memory TileMemory(const hw_profiles::Profile& profile) {
  const hw_profiles::Memory& from = profile.memories[static_cast<size_t>(profile.tile_memory)];
  problem::Memory memory = ToMemory(from);
  memory.modes = from.modes;
  memory.transitions = from.transitions;
  return memory;
}

problem::Memory HomeMemory(const hw_profiles::Profile& profile, int memory) {
  return ToMemory(profile.memories[static_cast<size_t>(memory)]);
}

}  // namespace tessera::plan
