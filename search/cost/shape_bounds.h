#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/plan/plan.h"
#include "tessera/search/cost/objective.h"
#include "tessera/search/cost/tile_cost.h"
#include "tessera/search/cost/traffic.h"

// Lower bounds of the score of one tile shape, without its tiles.
namespace tessera::search::cost {

// The regions of the tiles of one interval, summed along each axis that is cut; see
// shape_bounds.cc. It does not depend on policies, so all crossings of an interval can share it.
// The graph must outlive it. Not thread-safe.
class AxisSums {
 public:
  AxisSums(const graph::Graph& graph, const hw_profiles::Profile& profile,
           graph::Interval interval);

  // Whether sums of axes multiply: each axis of each tensor depends on at most one cut axis, and no
  // two axes of a tensor on the same one. Otherwise nothing else may be called.
  bool IsSeparable() const { return separable_; }

  // What the positions along one axis need together, with tiles of one extent. Vectors are parallel
  // to the regions of Propagation::Run, or to its slots where that is said.
  struct Sums {
    int64_t positions = 1;
    std::vector<int64_t> lengths;  // of what operators read
    std::vector<int64_t> made;     // of what is made or loaded
    std::vector<int64_t> steps;   // the same, rounded up to the lanes of the operator that makes it
    std::vector<int64_t> shares;  // of what leaves; each index counts once
    std::vector<int64_t> asking;  // by slot: positions that make or load some of it
  };
  // With tiles that make all they need, or that keep rows, which counts each row once. nullptr where
  // nothing is certain.
  const Sums* Of(size_t axis, int64_t extent, bool keeps_rows);

  // The regions of the first tile of this shape, and the shares of the last.
  std::vector<graph::ops::Extent> FirstTile(const graph::tiling::TileShape& tile) const;
  graph::ops::Box LastBox(const graph::tiling::TileShape& tile) const;

  const graph::tiling::Propagation& Regions() const { return propagation_; }
  const graph::Shape& Output() const { return propagation_.ShapeOf(propagation_.LastSlot()); }
  int64_t WholeLength(size_t region) const { return whole_[region].Length(); }
  int64_t WholeSteps(size_t region) const;
  bool IsNeeded(size_t slot) const;  // whether the whole output needs some of the tensor

  // The axis of the output that decides a region; nullopt if none does.
  std::optional<size_t> DeciderOf(size_t region) const {
    return deciders_[region] < 0 ? std::nullopt
                                 : std::optional(static_cast<size_t>(deciders_[region]));
  }
  // The axes of the output that decide some axis of a slot, as bits.
  uint64_t DecidersOf(size_t slot) const { return slot_deciders_[slot]; }

 private:
  struct Entry {
    std::optional<Sums> recomputed;
    std::optional<Sums> kept;
  };
  bool FindDeciders();
  void FindLanes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 graph::Interval interval);
  const Entry& EntryOf(size_t axis, int64_t extent);
  bool HasIdleUser(const graph::ops::Box& box, std::span<const graph::ops::Extent> made) const;
  std::optional<Sums> Recompute(size_t axis, int64_t extent) const;
  std::optional<Sums> KeepRows(size_t axis, int64_t extent) const;
  Sums NoSums() const;
  void AddMade(std::span<const graph::ops::Extent> made, size_t axis, Sums& sums) const;
  void AddShares(const graph::ops::Box& box, size_t axis, std::vector<int64_t>& ends,
                 Sums& sums) const;

  graph::tiling::Propagation propagation_;
  bool separable_ = false;
  std::vector<char> is_shared_;  // by slot: more than one operator reads it, or one and it leaves
  bool has_barrier_ = false;
  std::vector<graph::ops::Extent> whole_;  // the regions of the whole output
  std::vector<int> deciders_;              // by region; -1: none
  std::vector<uint64_t> slot_deciders_;
  std::vector<int64_t> lanes_;  // by region of a result: what one step does along the axis
  std::map<std::pair<size_t, int64_t>, Entry> entries_;
};

// The bounds of one interval under some policies that keep the same boundary tensors. Graph,
// profile, usages and sums must outlive it. Not thread-safe.
class ShapeBounds {
 public:
  ShapeBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
              const std::vector<graph::Usage>& usages, graph::Interval interval,
              std::span<const encoder::program::Policy> policies, AxisSums& sums);

  // Whether bounds of shapes say more than the interval's own bound.
  bool AreOfUse() const { return usable_; }

  // A lower bound of the score of the shape under any of the policies; infinite if all of them
  // refuse it. `least`: lower bounds of the interval for any shape. The scale must use no limit,
  // maximum or ratio.
  double Find(const graph::tiling::TileShape& tile, const Tie& least, const Scale& scale);

 private:
  // A weight policy, and whether rows are kept.
  struct Kind {
    hw_profiles::WeightPolicy weights = hw_profiles::WeightPolicy::kResident;
    bool keeps_rows = false;
    friend bool operator==(const Kind&, const Kind&) = default;
  };
  // What does not depend on the tile.
  struct Constants {
    TileCosts costs;
    std::vector<ConstantFlow> flows;
  };
  // All tiles together.
  struct Totals {
    int64_t elements = 0;  // read
    int64_t made = 0;
    int64_t tiles = 0;  // that make or load some of it
    int64_t leaving = 0;
  };
  // Of a constant that is cut along K.
  struct Slices {
    int home = -1;          // index into Profile::memories; -1: there is none that is moved
    size_t channels = 0;    // the axis of the result
    int64_t bytes = 0;      // of the whole constant
    int64_t transfers = 0;  // for each tile
  };
  struct Work;

  void FindSlices(std::span<const encoder::program::Policy> policies);

  void FindTotals(const graph::tiling::TileShape& tile, bool keeps_rows, Work& work);
  void AddCrossings(const graph::tiling::TileShape& tile, bool keeps_rows, Work& work) const;
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
  Slices slices_;
  std::vector<Route> routes_;     // by slot
  std::vector<Worker> workers_;   // by operator of the interval
  std::vector<int> readers_;      // by slot: operators inside that read it
  std::vector<char> is_made_;     // by slot: inside
  std::vector<char> crosses_in_;  // by slot: it is read from its home
  double least_pj_ = 0;           // of one byte that crosses
  double leakage_pj_ = 0;         // of one cycle
};

}  // namespace tessera::search::cost
