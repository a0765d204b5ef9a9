// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/tiling/feasible_frontier.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "tessera/encoder/program/choices.h"

// A walk along the staircase, line by line (saddleback search: Gries 1981; Bird 2006).
//
//   columns                   Lines run along the axis with most extents, here columns. They are
//      ^   x x x | | |        taken from the largest rows down. A line need only be searched above
//      |   O b x | | |        the extents that corners of earlier lines contain (.). The largest
//      |   . . O b | |        shape that no bound excludes is tried first, because a bound is often
//      |   . . . O x |        met. If it does not fit, the line is bisected; shapes that the
//      |   . . . . O x        bisection skipped are tried too, unless tested dominance has decided
//      '---------------> rows them. b: excluded by its bound, without a query
//
// With further axes there is a line for each combination of their extents, the larger ones first.
// So every shape outside the line that contains a shape of the line has been handled before.
//
// The walk does not assume that smaller shapes fit if larger ones do. Shapes inside a corner are
// skipped because they cannot be corners. Every other shape is decided by its bound, by the answer
// for a shape whose every size is at most its own (candidate_search.cc), or by a query.
//
// During bisection, a query that meets a limit counts as infeasible, so the tile may become too
// small. Afterwards the larger extents are tried one by one as long as they fit, because the answer
// for a larger shape may decide a smaller one too. Extents that stay undecided are open in the
// answer.
//
// Cost: bounds of all n shapes; if sizes grow with the shape and bounds are exact, one query for
// each corner, and at most log(extents) for each other line.
namespace tessera::search::tiling {
namespace {

using graph::tiling::ShapeGrid;
using problem::Status;

using Position = std::vector<size_t>;  // an extent's index for each axis

constexpr size_t kNone = std::numeric_limits<size_t>::max();

bool Contains(const Position& outer, const Position& inner) {
  return std::equal(outer.begin(), outer.end(), inner.begin(), std::greater_equal<>());
}

// Numbers the shapes of a grid, first axis slowest.
class Numbering {
 public:
  explicit Numbering(const ShapeGrid& grid) : grid_(grid) {}

  size_t Size() const { return static_cast<size_t>(CountShapes(grid_)); }
  size_t Axes() const { return grid_.extents.size(); }
  size_t Extents(size_t axis) const { return grid_.extents[axis].size(); }

  size_t NumberOf(const Position& position) const {
    size_t number = 0;
    for (size_t axis = 0; axis < position.size(); ++axis)
      number = number * Extents(axis) + position[axis];
    return number;
  }

  graph::tiling::TileShape ShapeOf(size_t number) const {
    graph::tiling::TileShape shape(Axes());
    for (size_t axis = Axes(); axis-- > 0; number /= Extents(axis))
      shape[axis] = grid_.extents[axis][number % Extents(axis)];
    return shape;
  }

  Position PositionOf(const graph::tiling::TileShape& shape) const {
    Position position;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const std::vector<int64_t>& extents = grid_.extents[axis];
      position.push_back(static_cast<size_t>(
          std::lower_bound(extents.begin(), extents.end(), shape[axis]) - extents.begin()));
    }
    return position;
  }

 private:
  const ShapeGrid& grid_;
};

// Returns the candidates of one policy by number of the shape; kNone for shapes that make too many
// tiles or that the policy does not apply to. A shape that is not listed under a policy with
// results in place has none, so its candidate is that of the same policy without them. Returns an
// empty list if no candidate is listed under the policy itself.
std::vector<size_t> CandidatesUnder(const encoder::program::Policy& policy,
                                    const IntervalTiles& tiles, const Numbering& numbering) {
  encoder::program::Policy without = policy;
  without.in_place = false;
  std::vector<size_t> at(numbering.Size(), kNone);
  bool any = false;
  const std::span<const TileCandidate> candidates = tiles.Candidates();
  for (size_t i = 0; i < candidates.size(); ++i) {
    const encoder::program::SubgraphChoice& choice = candidates[i].choice;
    const bool own = choice.policy == policy;
    if (!own && !(choice.policy == without)) continue;
    size_t& entry = at[numbering.NumberOf(numbering.PositionOf(choice.tile))];
    if (own || entry == kNone) entry = i;
    any = any || own;
  }
  return any ? at : std::vector<size_t>();
}

class Walk {
 public:
  Walk(IntervalTiles& tiles, const Numbering& numbering, std::vector<size_t> candidates,
       bool thinned, const base::Stop& stop)
      : tiles_(tiles),
        numbering_(numbering),
        candidates_(std::move(candidates)),
        gave_up_(candidates_.size(), false),
        thinned_(thinned),
        stop_(stop) {
    for (size_t axis = 0; axis < numbering.Axes(); ++axis) {
      if (numbering.Extents(axis) > numbering.Extents(along_)) along_ = axis;
    }
  }

  PolicyStaircase Run(const encoder::program::Policy& policy) {
    Position line;
    for (size_t axis = 0; axis < numbering_.Axes(); ++axis)
      line.push_back(numbering_.Extents(axis) - 1);
    do {
      size_t first = 0;
      for (const Position& corner : corners_) {
        line[along_] = 0;
        if (Contains(corner, line)) first = std::max(first, corner[along_] + 1);
      }
      if (!FindLargest(line, first)) continue;
      corners_.push_back(line);
    } while (GoToNextLine(line));

    PolicyStaircase staircase{policy, {}, IsComplete()};
    std::transform(corners_.rbegin(), corners_.rend(), std::back_inserter(staircase.corners),
                   [this](const Position& corner) { return CornerAt(corner); });
    std::stable_sort(staircase.corners.begin(), staircase.corners.end(),
                     [this](const Corner& a, const Corner& b) {
                       return ElementsOf(a.candidate) < ElementsOf(b.candidate);
                     });
    return staircase;
  }

 private:
  int64_t ElementsOf(size_t candidate) const {
    return graph::ElementsOf(tiles_.Candidates()[candidate].choice.tile);
  }

  // Moves to the next line; false after the last. A line comes after all lines with shapes that may
  // contain its own.
  bool GoToNextLine(Position& line) const {
    for (size_t axis = line.size(); axis-- > 0;) {
      if (axis == along_) continue;
      if (line[axis]-- > 0) return true;
      line[axis] = numbering_.Extents(axis) - 1;
    }
    return false;
  }

  // Moves `line` to its largest shape that fits and has at least extent number `first`. Returns
  // false if none was found.
  bool FindLargest(Position& line, size_t first) {
    const auto fits = [&](size_t extent) {
      line[along_] = extent;
      return Ask(numbering_.NumberOf(line));
    };
    const int64_t limits_before = limits_;
    const auto is_refused = [&](size_t extent) {
      line[along_] = extent;
      return IsRefused(numbering_.NumberOf(line));
    };
    size_t top = numbering_.Extents(along_);
    while (top > first && is_refused(top - 1)) --top;
    if (top == first) return false;
    if (fits(--top)) return true;
    while (first < top && is_refused(first)) ++first;  // too many tiles

    size_t low = first;
    for (size_t high = top; low < high;) {
      const size_t middle = low + (high - low) / 2;
      if (fits(middle)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    // No shape from `low` on that was decided fits.
    if (limits_ > limits_before) {
      for (size_t extent = low + 1; extent < top && fits(extent); ++extent) low = extent + 1;
    } else {
      for (size_t extent = top; extent-- > low;) {
        if (fits(extent)) return true;
      }
    }
    if (low == first) return false;
    line[along_] = low - 1;
    return true;
  }

  bool IsRefused(size_t number) const {
    const size_t candidate = candidates_[number];
    return candidate == kNone || tiles_.Known(candidate).status == Status::kInfeasible;
  }

  // Whether the shape is known to fit after a query. A shape that met a limit is not queried again.
  bool Ask(size_t number) {
    if (candidates_[number] == kNone || gave_up_[number]) return false;
    tiles_.Decide(candidates_[number], stop_);
    const CandidateAnswer& answer = tiles_.Known(candidates_[number]);
    gave_up_[number] = !IsProven(answer);
    limits_ += gave_up_[number] ? 1 : 0;
    return Fits(answer);
  }

  Corner CornerAt(const Position& position) const {
    Corner corner{candidates_[numbering_.NumberOf(position)], {}, !thinned_};
    for (size_t axis = 0; axis < position.size(); ++axis) {
      if (position[axis] + 1 == numbering_.Extents(axis)) continue;
      Position larger = position;
      ++larger[axis];
      const size_t number = numbering_.NumberOf(larger);
      if (candidates_[number] == kNone) continue;
      corner.beyond.push_back(candidates_[number]);
      corner.proven = corner.proven && IsRefused(number);
    }
    corner.proven = corner.proven || corner.beyond.empty();
    return corner;
  }

  bool IsComplete() const {
    const std::span<const TileCandidate> candidates = tiles_.Candidates();
    return !thinned_ && std::all_of(candidates_.begin(), candidates_.end(), [&](size_t candidate) {
      if (candidate == kNone || tiles_.Known(candidate).status == Status::kInfeasible) return true;
      const Position position = numbering_.PositionOf(candidates[candidate].choice.tile);
      return std::any_of(corners_.begin(), corners_.end(),
                         [&](const Position& corner) { return Contains(corner, position); });
    });
  }

  IntervalTiles& tiles_;
  const Numbering& numbering_;
  std::vector<size_t> candidates_;  // by number of the shape
  std::vector<bool> gave_up_;       // parallel: a limit came first
  int64_t limits_ = 0;              // the number of shapes in gave_up_
  bool thinned_;
  const base::Stop& stop_;
  size_t along_ = 0;  // the axis of the lines
  std::vector<Position> corners_;
};

// Halves the longest axes until the shapes are few enough.
ShapeGrid Thinned(ShapeGrid grid) {
  while (CountShapes(grid) > kMostShapes) {
    auto longest =
        std::max_element(grid.extents.begin(), grid.extents.end(),
                         [](const auto& a, const auto& b) { return a.size() < b.size(); });
    *longest = graph::tiling::Thin(*longest, (longest->size() + 1) / 2);
    grid.thinned = true;
  }
  return grid;
}

// Computes Staircase::fewest and largest from all policies. A shape with more elements, or with
// fewer tiles, than every corner is inside no corner; so it is either proven infeasible or open.
void Summarize(Staircase& staircase) {
  const IntervalTiles& tiles = staircase.tiles;
  const auto elements = [&](size_t candidate) {
    return graph::ElementsOf(tiles.Candidates()[candidate].choice.tile);
  };
  const auto count = [&](size_t candidate) { return tiles.TilingOf(candidate).tiles; };
  for (const PolicyStaircase& policy : staircase.policies) {
    for (const Corner& corner : policy.corners) {
      const size_t candidate = corner.candidate;
      if (!staircase.largest || elements(candidate) > elements(*staircase.largest))
        staircase.largest = candidate;
      if (!staircase.fewest || count(candidate) < staircase.fewest->tiles)
        staircase.fewest = {count(candidate), candidate, true};
    }
  }
  staircase.largest_proven = !staircase.grid.thinned;
  const Numbering numbering(staircase.grid);
  for (size_t number = 0; number < numbering.Size(); ++number) {
    const graph::tiling::TileShape shape = numbering.ShapeOf(number);
    if (!MakesTooManyTiles(staircase.grid, shape)) continue;
    if (!staircase.largest || graph::ElementsOf(shape) > elements(*staircase.largest))
      staircase.largest_proven = false;
  }
  if (staircase.fewest) staircase.fewest->proven = !staircase.grid.thinned;
  for (size_t i = 0; i < tiles.Candidates().size(); ++i) {
    if (tiles.Known(i).status == Status::kInfeasible) continue;
    if (!staircase.largest || elements(i) > elements(*staircase.largest))
      staircase.largest_proven = false;
    if (staircase.fewest && count(i) < staircase.fewest->tiles) staircase.fewest->proven = false;
  }
}

}  // namespace

base::Expected<Staircase> FindStaircase(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        graph::Interval interval, const TileOptions& options,
                                        const base::Stop& stop) {
  if (std::optional<base::Diagnostic> fault = encoder::program::CheckWellFormed(graph, interval))
    return base::Unexpected(*fault);
  ShapeGrid grid = Thinned(GridOf(graph, profile, interval));
  TileOptions all = options;
  all.shapes = ShapesOf(grid);
  base::Expected<IntervalTiles> tiles =
      IntervalTiles::Build(graph, profile, interval, all, {}, &stop);
  if (!tiles) return base::Unexpected(tiles.error());
  tiles->DropClasses(stop);
  // After a stop shapes may be missing, so no statement about all shapes is proven.
  grid.thinned = grid.thinned || stop.Requested();

  Staircase staircase{*std::move(tiles), std::move(grid), {}, std::nullopt, std::nullopt, false};
  const Numbering numbering(staircase.grid);
  for (const encoder::program::Policy& policy : staircase.tiles.Policies()) {
    std::vector<size_t> candidates = CandidatesUnder(policy, staircase.tiles, numbering);
    if (candidates.empty()) continue;
    Walk walk(staircase.tiles, numbering, std::move(candidates), staircase.grid.thinned, stop);
    staircase.policies.push_back(walk.Run(policy));
  }
  Summarize(staircase);
  return staircase;
}

}  // namespace tessera::search::tiling
