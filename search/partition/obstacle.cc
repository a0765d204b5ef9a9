#include "tessera/search/partition/obstacle.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "tessera/search/partition/pricing.h"
#include "tessera/search/simulate/subgraph_bounds.h"

namespace tessera::search {

std::string_view NameOf(ObstacleKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"engine", "operator", "cover",
                                                             "limit",  "home",     "joint"};
  return kNames[static_cast<size_t>(kind)];
}

Obstacle ObstacleOf(const hw_profiles::Profile& profile, int op, const Alone& alone, problem::Bytes room) {
  Obstacle obstacle;
  obstacle.op = op;
  obstacle.memory = profile.memories[static_cast<size_t>(profile.tile_memory)].name;
  obstacle.tile = alone.tile;
  obstacle.policy = fmt::format("weights {}", hw_profiles::NameOf(alone.policy.weights));
  obstacle.needed = alone.bound.bytes;
  obstacle.available = alone.longest_bank.value_or(room);
  obstacle.in_one_bank = alone.longest_bank.has_value();
  obstacle.capacity = room;
  obstacle.step = alone.bound.step;
  obstacle.tensors = alone.holdings;
  if (!alone.problem.buffers.empty()) obstacle.problem = alone.problem;
  return obstacle;
}

Obstacle ObstacleOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const encoder::HomeOverflow& overflow) {
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kHome;
  obstacle.memory = profile.memories[static_cast<size_t>(overflow.memory)].name;
  obstacle.needed = overflow.needed;
  obstacle.available = overflow.room;
  for (const auto& [tensor, bytes] : overflow.tensors)
    obstacle.tensors.push_back({graph.tensors[static_cast<size_t>(tensor)].id, "whole", bytes});
  return obstacle;
}

Obstacle LimitObstacle(const graph::Graph& graph, const hw_profiles::Profile& profile,
                       const plan::Objective& objective, const plan::Metrics& bounds) {
  std::vector<BrokenLimit> all;
  for (const auto& [metric, most] : objective.limits)
    all.push_back({.metric = metric, .most = most, .bound = plan::ValueOf(bounds, metric)});
  std::vector<BrokenLimit> exceeded = all;
  std::erase_if(exceeded, [](const BrokenLimit& limit) { return limit.bound <= limit.most; });
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kLimit;
  obstacle.limits = exceeded.empty() ? std::move(all) : std::move(exceeded);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (int op = 0; op < static_cast<int>(graph.operators.size()); ++op) {
    const plan::Metrics alone = SubgraphBounds(graph, profile, usages, {op, op}).Find({});
    for (BrokenLimit& limit : obstacle.limits) {
      const double part = plan::ValueOf(alone, limit.metric);
      if (part > limit.part) {
        limit.part = part;
        limit.op = op;
      }
    }
  }
  return obstacle;
}

}  // namespace tessera::search
