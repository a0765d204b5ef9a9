// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstddef>
#include <vector>

#include "tessera/search/partition/paths/label_search.h"

// Finds the path with the least ratio N / l: N is a weighted sum of numerators (energy, bytes), and
// l the latency.
//
// N / l is no sum over arcs. But N - r * l is one for every number r, and its least value is
// negative exactly if some path has a ratio below r. So the search begins with r = 0, finds the
// path of least N - r * l, continues with the ratio of that path, and ends when the ratio no longer
// falls (Dinkelbach 1967, nonlinear fractional programming):
//
//     least of N - r*l
//          |                          each path is a line N - r*l over r; the lower envelope of
//        0 +--.-------r3--r2----r1-   all lines falls, and is 0 at the least ratio; each step
//          |     '-.                  goes to where the line of the last path is 0
//
// The ratios found fall faster than geometrically, so a few searches suffice. Each of them is a
// search for an additive objective (label_search.h) with two components, N - r * l and the latency
// that has a limit, in which labels replace each other. A search for the ratio itself would have to
// keep labels of all different latencies.
//
// Some arcs are lower bounds of subgraphs that are not examined yet, without an upper bound of the
// latency. A path with such an arc may take as long as the limit allows, so the best of these paths
// is the one with the least N. A separate search finds it: such arcs count as -1 in a sum to which
// other arcs add 0, and a limit below 0 on that sum requires one of them.
namespace tessera::search::partition::paths {
namespace {

class RatioPaths {
 public:
  RatioPaths(const cost::Scale& scale, const ArcLists& arcs, std::span<const Forbidden> forbidden,
             PathLook& look)
      : scale_(scale), arcs_(arcs), forbidden_(forbidden), look_(look) {}

  std::optional<Path> Find() {
    TakeIfBetter(FindLeastNumerator());
    if (!look_.IsCutShort()) FindLeastRatio();
    if (look_.IsCutShort()) return std::nullopt;
    return std::move(best_);
  }

 private:
  // Finds the best path with at least one arc without a known latency.
  std::optional<Path> FindLeastNumerator() {
    const ChangedArcs arcs(
        arcs_, [this](const Arc& arc) { return std::optional(scale_.Parametric(arc.cost, 0)); });
    return FindIn(arcs, scale_.ForParameter(cost::Scale::Latency::kUnknown));
  }

  // Finds the best path over arcs with known latencies.
  void FindLeastRatio() {
    const cost::Scale additive = scale_.ForParameter(cost::Scale::Latency::kKnown);
    double ratio = 0;
    for (bool falls = true; falls && !look_.IsCutShort();) {
      const ChangedArcs arcs(arcs_, [&](const Arc& arc) {
        return cost::Scale::LatencyOf(arc.cost) == cost::Scale::Latency::kUnknown
                   ? std::nullopt
                   : std::optional(scale_.Parametric(arc.cost, ratio));
      });
      std::optional<Path> path = FindIn(arcs, additive);
      if (!path) return;
      const double found = scale_.ScoreOf(path->cost);
      falls = ratio == 0 || cost::IsLess(found, ratio);
      ratio = found;
      falls = falls && ratio > 0;
      TakeIfBetter(std::move(path));
    }
  }

  // Returns the best path over the changed arcs, with the original costs.
  std::optional<Path> FindIn(const ChangedArcs& arcs, const cost::Scale& scale) {
    std::optional<Path> path = FindBestPath(scale, arcs.Lists(), forbidden_, look_);
    if (!path) return std::nullopt;
    path->cost = {};
    for (Arc& arc : path->arcs) {
      arc.cost = CostOf(arc);
      path->cost = cost::Join(path->cost, arc.cost);
    }
    return path;
  }

  const cost::Cost& CostOf(const Arc& arc) const {
    for (const ArcLists::Place& place : arcs_.From(static_cast<size_t>(arc.begin))) {
      if (place.arcs == nullptr || place.end != static_cast<uint32_t>(arc.end)) continue;
      for (const Arc& own : place.arcs->All()) {
        if (own.interval == arc.interval && own.choice == arc.choice) return own.cost;
      }
    }
    return arc.cost;
  }

  void TakeIfBetter(std::optional<Path> path) {
    if (path && (!best_ || scale_.Prefers(path->cost, best_->cost))) best_ = std::move(path);
  }

  const cost::Scale& scale_;
  const ArcLists& arcs_;
  std::span<const Forbidden> forbidden_;
  PathLook& look_;
  std::optional<Path> best_;
};

}  // namespace

std::optional<Path> FindBestRatioPath(const cost::Scale& scale, const ArcLists& arcs,
                                      std::span<const Forbidden> forbidden, PathLook& look) {
  return RatioPaths(scale, arcs, forbidden, look).Find();
}

}  // namespace tessera::search::partition::paths
