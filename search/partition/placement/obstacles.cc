// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/partition/placement/obstacles.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/build_program.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/cost/lower_bounds.h"
#include "tessera/search/cost/plan_cost.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search::partition::placement {

namespace {

using encoder::program::BufferKind;
using problem::Bytes;
using problem::Status;

// The most placements that are tried for one operator. Most operators fit, or fail, with the first.
constexpr size_t kMostTried = 32;

std::string_view PartOf(BufferKind kind) {
  switch (kind) {
    case BufferKind::kTile:
      return "tile";
    case BufferKind::kWhole:
    case BufferKind::kResident:
      return "whole";
    case BufferKind::kSlice:
      return "slice";
    case BufferKind::kRollingBuffer:
    case BufferKind::kLine:
    case BufferKind::kHalo:
      return "rows kept for the next tile";
    case BufferKind::kScratch:
      return "scratch";
    case BufferKind::kAccumulator:
      return "accumulator";
  }
  return "tile";
}

// Returns the policies that recompute rows. For a single operator, keeping rows needs no less
// memory.
std::vector<encoder::program::Policy> PoliciesToTry(const graph::Graph& graph,
                                                    const hw_profiles::Profile& profile,
                                                    graph::Interval interval) {
  const std::vector<encoder::program::Policy> all =
      encoder::program::PoliciesOf(graph, profile, interval);
  std::vector<encoder::program::Policy> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [](const encoder::program::Policy& policy) {
                 return policy.halo == hw_profiles::HaloStorage::kRecompute;
               });
  return some.empty() ? all : some;
}

std::vector<graph::tiling::TileShape> ShapesToTry(const graph::tiling::ShapeGrid& grid) {
  std::vector<graph::tiling::TileShape> shapes = tiling::ShapeSearch(grid).Start();
  graph::tiling::TileShape least;
  for (const std::vector<int64_t>& extents : grid.extents) least.push_back(extents.front());
  if (!graph::tiling::MakesTooManyTiles(grid, least) &&
      std::find(shapes.begin(), shapes.end(), least) == shapes.end())
    shapes.push_back(std::move(least));
  return shapes;
}

problem::Result PlaceAlone(const problem::Problem& problem, const AloneOptions& options) {
  allocate::AllocateOptions asked;
  asked.capacity = options.room;
  asked.budget = options.budget;
  asked.stop = &options.stop;
  base::Expected<problem::Result> result =
      allocate::Allocate(problem, nullptr, 0, options.engines, asked);
  return result ? *std::move(result) : problem::Result();
}

// Returns a capacity that suffices for any placement without banks and distances.
Bytes BytesOfAll(const problem::Problem& problem) {
  Bytes total = problem.memories.front().capacity;
  for (const problem::Buffer& buffer : problem.buffers)
    total = base::CheckedAdd(total, buffer.size + problem::AlignmentOf(problem, buffer))
                .value_or(base::kMaxTotal);
  return total;
}

// Sets the needs for a buffer that fits at no address: its size, and the longest bank.
void MindBanks(Alone& alone) {
  const problem::Buffer& buffer =
      alone.problem.buffers[static_cast<size_t>(alone.bound.buffers.front())];
  alone.bound.bytes = buffer.size;
  alone.longest_bank = 0;
  for (const problem::Bank& bank : alone.problem.memories.front().banks)
    alone.longest_bank = std::max(*alone.longest_bank, bank.range.end - bank.range.begin);
}

}  // namespace

std::vector<HeldPart> HeldPartsOf(const graph::Graph& graph,
                                  const encoder::program::Program& program,
                                  const problem::Problem& sized, const std::vector<int>& buffers) {
  std::vector<HeldPart> held_parts;
  for (const int buffer : buffers) {
    const auto at = static_cast<size_t>(buffer);
    const encoder::program::BufferUse& holds = program.buffers[at];
    const std::string& id = holds.tensor >= 0 ? graph.tensors[static_cast<size_t>(holds.tensor)].id
                                              : graph.operators[static_cast<size_t>(holds.op)].id;
    held_parts.push_back({id, std::string(PartOf(holds.kind)), sized.buffers[at].size});
  }
  std::stable_sort(held_parts.begin(), held_parts.end(),
                   [](const HeldPart& a, const HeldPart& b) { return a.bytes > b.bytes; });
  return held_parts;
}

Alone TryAlone(const graph::Graph& graph, const hw_profiles::Profile& profile, int op,
               const AloneOptions& options) {
  const graph::Interval interval{op, op};
  tiling::TileOptions build;
  build.engines = options.engines;
  build.budget = options.budget;
  build.shapes = ShapesToTry(tiling::GridOf(graph, profile, interval));
  build.policies = PoliciesToTry(graph, profile, interval);
  Alone alone;
  const base::Expected<tiling::IntervalTiles> tiles =
      tiling::IntervalTiles::Build(graph, profile, interval, build, {}, &options.stop);
  if (!tiles) {
    alone.status = Status::kUnsupported;
    alone.why = tiles.error().message;
    return alone;
  }
  const std::span<const tiling::TileCandidate> candidates = tiles->Candidates();
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return candidates[a].lower_bound < candidates[b].lower_bound;
  });
  const auto take = [&](size_t candidate) {
    alone.tile = candidates[candidate].choice.tile;
    alone.policy = candidates[candidate].choice.policy;
    alone.problem = tiles->ProblemOf(candidate);
    alone.bound = allocate::FindBound(alone.problem, 0);
    alone.longest_bank.reset();
    if (alone.bound.bytes > BytesOfAll(alone.problem)) MindBanks(alone);
    alone.held_parts = HeldPartsOf(graph, tiles->CandidatesOf(candidate).program, alone.problem,
                                   alone.bound.buffers);
  };
  if (!order.empty()) take(order.front());
  alone.status = options.stop.Requested() ? Status::kUnknown : Status::kInfeasible;
  for (size_t i = 0; i < order.size() && candidates[order[i]].lower_bound <= options.room; ++i) {
    if (i >= kMostTried || options.stop.Requested()) {
      alone.status = Status::kUnknown;
      return alone;
    }
    const problem::Result result = PlaceAlone(tiles->ProblemOf(order[i]), options);
    if (result.allocation) {
      take(order[i]);
      alone.status = Status::kFeasible;
      return alone;
    }
    if (result.status != Status::kInfeasible) alone.status = Status::kUnknown;
    if (i == 0) alone.why = result.reason;
  }
  return alone;
}

std::optional<Bytes> PeakWithoutCapacity(const problem::Problem& problem,
                                         const AloneOptions& options) {
  const Bytes all = BytesOfAll(problem);
  problem::Problem roomy = problem;
  roomy.memories.front().capacity = all;
  allocate::AllocateOptions asked;
  asked.capacity = all;
  asked.minimize = true;
  asked.budget = options.budget;
  asked.stop = &options.stop;
  const base::Expected<problem::Result> result =
      allocate::Allocate(roomy, nullptr, 0, options.engines, asked);
  return result ? result->peak : std::nullopt;
}

std::string_view NameOf(ObstacleKind kind) {
  static constexpr std::array<std::string_view, 6> kNames = {"engine", "operator", "cover",
                                                             "limit",  "home",     "joint"};
  return kNames[static_cast<size_t>(kind)];
}

Obstacle ObstacleOf(const hw_profiles::Profile& profile, int op, const Alone& alone,
                    problem::Bytes room) {
  Obstacle obstacle;
  const hw_profiles::Memory& tile_memory =
      profile.memories[static_cast<size_t>(profile.tile_memory)];
  obstacle.op = op;
  obstacle.memory = tile_memory.name;
  obstacle.tile = alone.tile;
  obstacle.policy = fmt::format("weights {}", hw_profiles::NameOf(alone.policy.weights));
  obstacle.needed = alone.bound.bytes;
  obstacle.available = alone.longest_bank.value_or(room);
  obstacle.in_one_bank = alone.longest_bank.has_value();
  obstacle.peak_is_limited = !obstacle.in_one_bank && room < tile_memory.capacity_bytes;
  obstacle.capacity = room;
  obstacle.step = alone.bound.step;
  obstacle.tensors = alone.held_parts;
  if (!alone.problem.buffers.empty()) obstacle.problem = alone.problem;
  return obstacle;
}

Obstacle ObstacleOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const encoder::program::HomeOverflow& overflow) {
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
    all.push_back(
        {.metric = metric,
         .most = most,
         .bound = plan::LowerBoundOf(bounds, *plan::FindMetric(metric), objective.limits)});
  std::vector<BrokenLimit> exceeded = all;
  std::erase_if(exceeded, [](const BrokenLimit& limit) { return limit.bound <= limit.most; });
  Obstacle obstacle;
  obstacle.kind = ObstacleKind::kLimit;
  obstacle.limits = exceeded.empty() ? std::move(all) : std::move(exceeded);
  const std::vector<graph::Usage> usages = graph::UsagesOf(graph);
  for (int op = 0; op < static_cast<int>(graph.operators.size()); ++op) {
    const plan::Metrics alone = cost::SubgraphBounds(graph, profile, usages, {op, op}).Find({});
    for (BrokenLimit& limit : obstacle.limits) {
      const double part =
          plan::LowerBoundOf(alone, *plan::FindMetric(limit.metric), objective.limits);
      if (part > limit.part) {
        limit.part = part;
        limit.op = op;
      }
    }
  }
  return obstacle;
}

}  // namespace tessera::search::partition::placement
