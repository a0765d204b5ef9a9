#include <algorithm>
#include <functional>
#include <iterator>
#include <set>
#include <utility>

#include "tessera/base/checked.h"
#include "tessera/encoder/adapt/choice.h"
#include "tessera/search/tiling/tile_driver.h"

// The largest tile that fits, and a proof that no larger one does.
//
// A small grid is decided as a whole. Of a large one a few shapes are decided first; then, again and again, some that have more
// elements than the largest that fits and do not contain a refused shape, until none is left:
//
//     columns
//        ^   . x x x x      o fits   x refused
//        |   . ? x x x      ? the next to be asked: larger than the largest o in elements, and no x is below
//        |   . o o x x      and to the left of it
//        '--------------> rows
//
// That what contains a refused shape is refused too is a guess, for loads need not grow with tiles (ladder_search.cc). So in the
// end all such shapes are decided as well; bounds and tested dominance settle nearly all of them, and what fits after all joins
// the candidates.
//
// Cost: a grid of n shapes takes O(n) propagations for the proof, and few solves; beyond kMostProven nothing is proven.
namespace tessera::search {
namespace {

using graph::ShapeGrid;
using graph::TileShape;

constexpr int64_t kListed = 256;  // shapes of a grid that is decided as a whole
constexpr int64_t kMostTried = 1 << 16;
constexpr size_t kMostProven = 8192;  // shapes that a proof may go through
constexpr size_t kAtOnce = 16;

int64_t ElementsOf(const TileCandidate& candidate) { return graph::ElementsOf(candidate.choice.tile); }

bool Contains(const TileShape& outer, const TileShape& inner) {
  return std::equal(outer.begin(), outer.end(), inner.begin(), std::greater_equal<>());
}

class LargestTile {
 public:
  LargestTile(IntervalTiles tiles, const base::Stop& stop) : tiles_(std::move(tiles)), stop_(stop) {
    DecideAndSum();
  }

  // Goes on to all shapes of the grid.
  base::Expected<TileSearch> FindIn(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    graph::Interval interval, const TileOptions& options) {
    const ShapeGrid grid = GridOf(graph, profile, interval);
    if (CountShapes(grid) > kMostTried) return Finish(false);
    const std::vector<TileShape> all = ShapesOf(grid);
    while (!stop_.Requested()) {
      std::vector<TileShape> next = FindCandidates(all);
      if (next.empty()) {
        if (all.size() > kMostProven) break;
        const base::Expected<std::optional<TileShape>> overlooked =
            FindOverlooked(all, graph, profile, interval, options);
        if (!overlooked) return base::Unexpected(overlooked.error());
        if (!*overlooked) break;
        next = {**overlooked};
      }
      if (auto fault = tiles_.Add(next)) return base::Unexpected(*fault);
      DecideAndSum();
    }
    const bool whole = static_cast<int64_t>(all.size()) == CountShapes(grid) || OutweighsLeftOut(grid);
    return Finish(!grid.thinned && whole && proven_ && !stop_.Requested());
  }

  TileSearch Finish(bool others_proven) {
    tiles_.Sort();
    TileSearch search{std::move(tiles_), std::nullopt, others_proven};
    const std::span<const TileCandidate> candidates = search.tiles.Candidates();
    for (size_t i = 0; i < candidates.size(); ++i) {
      if (!Fits(search.tiles.Known(i))) continue;
      if (!search.largest || ElementsOf(candidates[i]) > ElementsOf(candidates[*search.largest]))
        search.largest = i;
    }
    for (size_t i = 0; i < candidates.size(); ++i) {
      const bool larger =
          !search.largest || ElementsOf(candidates[i]) > ElementsOf(candidates[*search.largest]);
      if (larger && search.tiles.Known(i).status != problem::Status::kInfeasible)
        search.largest_proven = false;
    }
    return search;
  }

 private:
  void DecideAndSum() {
    tiles_.DecideAll(stop_);
    most_elements_ = 0;
    tried_.clear();
    refused_.clear();
    std::set<TileShape> fitting;
    for (size_t i = 0; i < tiles_.Candidates().size(); ++i) {
      const TileShape& tile = tiles_.Candidates()[i].choice.tile;
      tried_.insert(tile);
      if (!Fits(tiles_.Known(i))) continue;
      fitting.insert(tile);
      most_elements_ = std::max(most_elements_, graph::ElementsOf(tile));
    }
    std::set_difference(tried_.begin(), tried_.end(), fitting.begin(), fitting.end(),
                        std::back_inserter(refused_));
  }

  // Whether no shape that makes too many tiles is larger than what fits: such a tile holds less than 2^axes / kMostTiles
  // of the whole, for ceil(E/e) is less than 2 E/e.
  bool OutweighsLeftOut(const ShapeGrid& grid) const {
    int64_t whole = 1;
    int cut = 0;
    for (const std::vector<int64_t>& extents : grid.extents) {
      whole *= extents.back();
      cut += extents.size() > 1 ? 1 : 0;
    }
    return most_elements_ >= base::CeilDiv(whole, graph::kMostTiles >> cut);
  }

  // Shapes that might be a larger fit, at most kAtOnce.
  std::vector<TileShape> FindCandidates(const std::vector<TileShape>& all) const {
    std::vector<TileShape> found;
    for (const TileShape& shape : all) {
      if (graph::ElementsOf(shape) <= most_elements_ || tried_.contains(shape)) continue;
      const bool hopeless = std::any_of(refused_.begin(), refused_.end(), [&shape](const TileShape& refused) {
        return Contains(shape, refused);
      });
      if (!hopeless) found.push_back(shape);
    }
    std::vector<TileShape> spread;
    const size_t count = std::min(kAtOnce, found.size());
    for (size_t i = 0; i < count; ++i) spread.push_back(found[i * found.size() / count]);
    return spread;
  }

  // Decides what is left; a shape that fits after all, if any. Sets proven_.
  base::Expected<std::optional<TileShape>> FindOverlooked(const std::vector<TileShape>& all,
                                                          const graph::Graph& graph,
                                                          const hw_profiles::Profile& profile,
                                                          graph::Interval interval, TileOptions options) {
    proven_ = true;
    std::vector<TileShape> left;
    for (const TileShape& shape : all) {
      if (graph::ElementsOf(shape) > most_elements_ && !tried_.contains(shape)) left.push_back(shape);
    }
    if (left.empty()) return std::optional<TileShape>();
    options.shapes = std::move(left);
    base::Expected<IntervalTiles> others = IntervalTiles::Build(graph, profile, interval, options);
    if (!others) return base::Unexpected(others.error());
    others->DecideAll(stop_);
    for (size_t i = 0; i < others->Candidates().size(); ++i) {
      if (Fits(others->Known(i))) return std::optional(others->Candidates()[i].choice.tile);
      proven_ = proven_ && others->Known(i).status == problem::Status::kInfeasible;
    }
    return std::optional<TileShape>();
  }

  IntervalTiles tiles_;
  const base::Stop& stop_;
  int64_t most_elements_ = 0;       // of what fits
  std::set<TileShape> tried_;       // candidates
  std::vector<TileShape> refused_;  // candidates that fit under no policy, as far as is known
  bool proven_ = false;
};

}  // namespace

base::Expected<TileSearch> SearchTiles(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                       graph::Interval interval, const TileOptions& options,
                                       const base::Stop& stop) {
  TileOptions first = options;
  if (!options.shapes && encoder::FindFault(graph, interval) == std::nullopt) {
    const ShapeGrid grid = GridOf(graph, profile, interval);
    if (CountShapes(grid) <= kListed) first.shapes = ShapesOf(grid);
  }
  base::Expected<IntervalTiles> tiles = IntervalTiles::Build(graph, profile, interval, first);
  if (!tiles) return base::Unexpected(tiles.error());
  LargestTile search(*std::move(tiles), stop);
  if (options.shapes) return search.Finish(true);
  return search.FindIn(graph, profile, interval, options);
}

}  // namespace tessera::search
