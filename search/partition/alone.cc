#include "tessera/search/partition/alone.h"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/search/allocate/portfolio.h"
#include "tessera/search/tiling/shape_search.h"
#include "tessera/search/tiling/tile_driver.h"

namespace tessera::search {
namespace {

using encoder::BufferKind;
using problem::Bytes;
using problem::Status;

// Placements that are sought for one operator. Most operators fit, or fail, with the first.
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
    case BufferKind::kRing:
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

// Recomputing rows needs no more room than keeping them, of an operator alone.
std::vector<encoder::Policy> PoliciesToTry(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                           graph::Interval interval) {
  const std::vector<encoder::Policy> all = encoder::PoliciesOf(graph, profile, interval);
  std::vector<encoder::Policy> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some), [](const encoder::Policy& policy) {
    return policy.halo == hw_profiles::HaloStorage::kRecompute;
  });
  return some.empty() ? all : some;
}

std::vector<graph::TileShape> ShapesToTry(const graph::ShapeGrid& grid) {
  std::vector<graph::TileShape> shapes = ShapeSearch(grid).Start();
  graph::TileShape least;
  for (const std::vector<int64_t>& extents : grid.extents) least.push_back(extents.front());
  if (std::find(shapes.begin(), shapes.end(), least) == shapes.end()) shapes.push_back(std::move(least));
  return shapes;
}

problem::Result PlaceAlone(const problem::Problem& problem, const AloneOptions& options) {
  AllocateOptions asked;
  asked.capacity = options.room;
  asked.budget = options.budget;
  asked.stop = &options.stop;
  base::Expected<problem::Result> result = Allocate(problem, nullptr, 0, options.engines, asked);
  return result ? *std::move(result) : problem::Result();
}

// With which any placement without banks and distances does.
Bytes BytesOfAll(const problem::Problem& problem) {
  Bytes total = problem.memories.front().capacity;
  for (const problem::Buffer& buffer : problem.buffers)
    total = base::CheckedAdd(total, buffer.size + problem::AlignmentOf(problem, buffer))
                .value_or(base::kMaxTotal);
  return total;
}

// A buffer that no address suits.
void MindBanks(Alone& alone) {
  const problem::Buffer& buffer = alone.problem.buffers[static_cast<size_t>(alone.bound.buffers.front())];
  alone.bound.bytes = buffer.size;
  alone.longest_bank = 0;
  for (const problem::Bank& bank : alone.problem.memories.front().banks)
    alone.longest_bank = std::max(*alone.longest_bank, bank.range.end - bank.range.begin);
}

}  // namespace

std::vector<Holding> HoldingsOf(const graph::Graph& graph, const encoder::Program& program,
                                const problem::Problem& sized, const std::vector<int>& buffers) {
  std::vector<Holding> holdings;
  for (const int buffer : buffers) {
    const auto at = static_cast<size_t>(buffer);
    const encoder::ProgramBuffer& holds = program.buffers[at];
    const std::string& id = holds.tensor >= 0 ? graph.tensors[static_cast<size_t>(holds.tensor)].id
                                              : graph.operators[static_cast<size_t>(holds.op)].id;
    holdings.push_back({id, std::string(PartOf(holds.kind)), sized.buffers[at].size});
  }
  std::stable_sort(holdings.begin(), holdings.end(),
                   [](const Holding& a, const Holding& b) { return a.bytes > b.bytes; });
  return holdings;
}

Alone TryAlone(const graph::Graph& graph, const hw_profiles::Profile& profile, int op,
               const AloneOptions& options) {
  const graph::Interval interval{op, op};
  TileOptions build;
  build.engines = options.engines;
  build.budget = options.budget;
  build.shapes = ShapesToTry(GridOf(graph, profile, interval));
  build.policies = PoliciesToTry(graph, profile, interval);
  Alone alone;
  const base::Expected<IntervalTiles> tiles =
      IntervalTiles::Build(graph, profile, interval, build, {}, &options.stop);
  if (!tiles) {
    alone.status = Status::kUnsupported;
    alone.why = tiles.error().message;
    return alone;
  }
  const std::span<const TileCandidate> candidates = tiles->Candidates();
  std::vector<size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return candidates[a].lower_bound < candidates[b].lower_bound; });
  const auto take = [&](size_t candidate) {
    alone.tile = candidates[candidate].choice.tile;
    alone.policy = candidates[candidate].choice.policy;
    alone.problem = tiles->ProblemOf(candidate);
    alone.bound = FindBound(alone.problem, 0);
    alone.longest_bank.reset();
    if (alone.bound.bytes > BytesOfAll(alone.problem)) MindBanks(alone);
    alone.holdings =
        HoldingsOf(graph, tiles->LadderOf(candidate).program, alone.problem, alone.bound.buffers);
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

std::optional<Bytes> PeakWithoutCapacity(const problem::Problem& problem, const AloneOptions& options) {
  const Bytes all = BytesOfAll(problem);
  problem::Problem roomy = problem;
  roomy.memories.front().capacity = all;
  AllocateOptions asked;
  asked.capacity = all;
  asked.minimize = true;
  asked.budget = options.budget;
  asked.stop = &options.stop;
  const base::Expected<problem::Result> result = Allocate(roomy, nullptr, 0, options.engines, asked);
  return result ? result->peak : std::nullopt;
}

}  // namespace tessera::search
