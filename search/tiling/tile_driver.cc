#include "tessera/search/tiling/tile_driver.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "tessera/encoder/adapt/choice.h"

// A candidate is a rung of a ladder. Policies differ in structure, and so do one tile, odd and even numbers of tiles: each such
// structure is a ladder with engine sessions of its own (encoder::BuildLadders), and answers spread within it alone.
namespace tessera::search {
namespace {

using encoder::Policy;
using encoder::SubgraphLadder;

std::vector<graph::TileShape> ShapesFor(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                        graph::Interval interval, const TileOptions& options) {
  if (options.shapes) return *options.shapes;
  std::vector<graph::CutAxis> axes;
  for (const hw_profiles::AxisGranule& axis : profile.tiling.axes) axes.push_back({axis.axis, axis.granule});
  return graph::TileShapes(graph, interval, axes, options.shapes_per_axis);
}

int64_t TileElements(const TileCandidate& candidate) { return graph::ElementsOf(candidate.choice.tile); }

}  // namespace

base::Expected<IntervalTiles> IntervalTiles::Build(const graph::Graph& graph,
                                                   const hw_profiles::Profile& profile,
                                                   graph::Interval interval, const TileOptions& options) {
  if (std::optional<base::Diagnostic> fault = encoder::FindFault(graph, interval))
    return base::Unexpected(*fault);
  const std::vector<graph::TileShape> shapes = ShapesFor(graph, profile, interval, options);
  const std::vector<Policy> policies =
      options.policies ? *options.policies : encoder::PoliciesOf(graph, profile, interval);

  IntervalTiles tiles;
  std::optional<base::Diagnostic> refusal;
  for (const Policy& policy : policies) {
    base::Expected<std::vector<SubgraphLadder>> ladders =
        encoder::BuildLadders(graph, profile, interval, policy, shapes);
    if (!ladders) {
      if (!refusal) refusal = ladders.error();
      continue;
    }
    const Policy without = {policy.weights, false};
    if (policy.in_place && std::find(policies.begin(), policies.end(), without) != policies.end()) {
      std::erase_if(*ladders,
                    [](const SubgraphLadder& each) { return each.program.problem.relations.empty(); });
    }
    tiles.AddPolicy(policy, *std::move(ladders));
  }
  if (tiles.candidates_.empty() && refusal) return base::Unexpected(*refusal);

  for (const SubgraphLadder& ladder : tiles.ladders_) {
    tiles.searches_.emplace_back(ladder.program.problem, ladder.ladder, options.engines,
                                 LadderOptions{options.budget, options.infer});
  }
  for (TileCandidate& candidate : tiles.candidates_) {
    candidate.lower_bound = tiles.searches_[candidate.ladder].Known(candidate.rung).lower_bound;
  }
  return tiles;
}

void IntervalTiles::AddPolicy(const Policy& policy, std::vector<SubgraphLadder> ladders) {
  const auto begin = static_cast<std::ptrdiff_t>(candidates_.size());
  for (SubgraphLadder& ladder : ladders) {
    for (size_t rung = 0; rung < ladder.tilings.size(); ++rung) {
      TileCandidate& candidate = candidates_.emplace_back();
      candidate.choice = {ladder.tilings[rung].interval, ladder.tilings[rung].tile, policy};
      candidate.ladder = ladders_.size();
      candidate.rung = rung;
    }
    ladders_.push_back(std::move(ladder));
  }
  std::stable_sort(
      candidates_.begin() + begin, candidates_.end(),
      [](const TileCandidate& a, const TileCandidate& b) { return TileElements(a) < TileElements(b); });
}

const graph::TiledSubgraph& IntervalTiles::TilingOf(size_t candidate) const {
  return ladders_[candidates_[candidate].ladder].tilings[candidates_[candidate].rung];
}

problem::Problem IntervalTiles::ProblemOf(size_t candidate) const {
  const SubgraphLadder& ladder = ladders_[candidates_[candidate].ladder];
  return AtRung(ladder.program.problem, ladder.ladder.rungs[candidates_[candidate].rung]);
}

const RungAnswer& IntervalTiles::Known(size_t candidate) const {
  return searches_[candidates_[candidate].ladder].Known(candidates_[candidate].rung);
}

problem::Status IntervalTiles::Decide(size_t candidate, const base::Stop& stop) {
  return searches_[candidates_[candidate].ladder].Decide(candidates_[candidate].rung, stop).status;
}

void IntervalTiles::DecideAll(const base::Stop& stop) {
  for (LadderSearch& search : searches_) search.DecideAll(stop);
}

int64_t IntervalTiles::Solves() const {
  int64_t solves = 0;
  for (const LadderSearch& search : searches_) solves += search.Solves();
  return solves;
}

const base::Diagnostic* IntervalTiles::Fault() const {
  for (const LadderSearch& search : searches_) {
    if (search.Fault()) return &*search.Fault();
  }
  return nullptr;
}

base::Expected<TileSearch> SearchTiles(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                       graph::Interval interval, const TileOptions& options,
                                       const base::Stop& stop) {
  base::Expected<IntervalTiles> tiles = IntervalTiles::Build(graph, profile, interval, options);
  if (!tiles) return base::Unexpected(tiles.error());
  tiles->DecideAll(stop);
  std::optional<size_t> largest;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    if (!Fits(tiles->Known(i))) continue;
    if (!largest || TileElements(tiles->Candidates()[i]) > TileElements(tiles->Candidates()[*largest]))
      largest = i;
  }
  bool proven = true;
  for (size_t i = 0; i < tiles->Candidates().size(); ++i) {
    if (largest && TileElements(tiles->Candidates()[i]) <= TileElements(tiles->Candidates()[*largest]))
      continue;
    proven = proven && tiles->Known(i).status == problem::Status::kInfeasible;
  }
  return TileSearch{*std::move(tiles), largest, proven};
}

}  // namespace tessera::search
