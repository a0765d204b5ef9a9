// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/axis_sums.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/split_k_cost.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// Lower bounds of the score of one tile shape, computed without its tiles.
namespace tessera::search::cost {

// The bounds of one interval under some policies that keep the same boundary tensors. Graph,
// profile, usages and sums must outlive this object. Not thread-safe.
class ShapeBounds {
 public:
  ShapeBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const std::vector<graph::Usage>& usages, graph::Interval interval,
              std::span<const encoder::program::Policy> policies, AxisSums& sums);

  // Returns whether bounds of shapes can exceed the bound of the interval.
  bool AreOfUse() const { return usable_; }

  // Returns a lower bound of the score of the shape under any of the policies; infinite if all of
  // them exclude it. `least` contains lower bounds of the interval for any shape. The scale must
  // use no limit, maximum or ratio.
  double Find(const graph::tiling::TileShape& tile, const Tie& least, const Scale& scale);

 private:
  // A weight policy, and whether rows are kept.
  struct Kind {
    hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
    bool keeps_rows = false;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  // The parts that do not depend on the tile.
  struct Constants {
    TileCosts costs;
    std::vector<ConstantFlow> flows;
  };
  // Elements of a tensor, for all tiles together.
  struct Totals {
    int64_t elements = 0;  // read
    int64_t made = 0;
    int64_t tiles = 0;  // that make or load some of it
    int64_t leaving = 0;
  };
  struct Work;

  void FindTotals(const graph::tiling::TileShape& tile, bool keeps_rows, Work& work);
  void AddCrossings(const graph::tiling::TileShape& tile, std::span<const graph::ops::Extent> first,
                    bool keeps_rows, Work& work) const;
  void FindFirstSlices(std::span<const graph::ops::Extent> first, Work& work) const;
  bool IsSliced(size_t slot) const;
  std::optional<SplitKBounds::Constant> CutConstant() const;
  int64_t CyclesOfAll(int home, bool reads, int64_t transfers, int64_t bytes) const;
  int64_t BytesOf(size_t slot, int64_t elements) const;
  plan::Metrics MetricsOf(const Work& work, Kind kind, const Tie& least) const;
  int64_t EnginePass(const Work& work, Kind kind, const Constants& constants) const;

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  graph::Interval interval_;
  AxisSums& sums_;
  bool usable_ = false;
  bool divides_channels_ = false;
  std::vector<Kind> kinds_;
  std::vector<std::pair<hw_profiles::WeightPolicy, std::unique_ptr<Constants>>> constants_;
  std::optional<SplitKBounds> split_k_;  // if a policy cuts along K
  std::vector<Route> routes_;            // by slot
  std::vector<Worker> workers_;          // by operator of the interval
  std::vector<char> is_made_;            // by slot: inside
  std::vector<char> crosses_in_;         // by slot: it is read from its home
  double least_pj_ = 0;                  // of one byte that crosses
  double leakage_pj_ = 0;                // of one cycle
};

}  // namespace tessera::search::cost
