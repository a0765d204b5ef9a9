// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/stop.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/propagation.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

// The sums of the needs of all tiles of a shape, computed without its tiles.
namespace tessera::search::cost {

// The regions of the tiles of one interval, summed along each axis that is cut (axis_sums.cc). They
// do not depend on policies, so all bounds of an interval can share this object. The graph must
// outlive it. Not thread-safe.
class AxisSums {
 public:
  AxisSums(const graph::Graph& graph, const hw_profiles::Profile& profile, graph::Interval interval,
           const base::Stop* stop = nullptr);

  // Axes of the output.
  using AxisSet = graph::tiling::Propagation::AxisSet;
  static AxisSet SetOf(size_t axis) { return AxisSet{1} << axis; }

  // Returns whether sums multiply for tiles that cut these axes: each axis of each tensor depends
  // on at most one of them, no two axes of a tensor depend on the same one, and whether a tile
  // needs an operand at all does not depend on several of them together.
  bool IsSeparable(AxisSet cut) const;

  // The sums of the needs of the positions along one axis, with tiles of one extent. Vectors are
  // parallel to the regions of Propagation::Run, or to its slots where stated.
  struct Sums {
    int64_t positions = 1;
    std::vector<int64_t> lengths;  // of what operators read
    std::vector<int64_t> made;     // of what is made or loaded
    std::vector<int64_t> steps;    // `made`, rounded up to the lanes of the operator that makes it
    std::vector<int64_t> shares;   // of what leaves; each index counts once
    std::vector<int64_t> asking;   // by slot: positions that make or load some of it
  };
  // Returns the sums along an axis for tiles that make all they need or, if `keeps_rows`, for tiles
  // that keep rows, so that each row counts once. Returns nullptr if nothing is certain, or after a
  // stop.
  const Sums* Of(size_t axis, int64_t extent, bool keeps_rows);

  // FirstTile returns the regions of the first tile of this shape; LastBox returns the share of the
  // last tile.
  std::vector<graph::ops::Extent> FirstTile(const graph::tiling::TileShape& tile) const;
  graph::ops::Box LastBox(const graph::tiling::TileShape& tile) const;

  const graph::tiling::Propagation& Regions() const { return propagation_; }
  const graph::Shape& Output() const { return propagation_.ShapeOf(propagation_.LastSlot()); }
  int64_t WholeLength(size_t region) const { return whole_[region].Length(); }
  int64_t WholeSteps(size_t region) const;
  bool IsNeeded(size_t slot) const;  // whether the whole output needs a part of the tensor

  // Returns whether the tensor has several users. Users are the operators inside that read it, and
  // everything outside as one.
  bool IsShared(size_t slot) const { return is_shared_[slot] != 0; }

  // Returns the one of these axes that decides a region; nullopt if none does. They must be
  // separable.
  std::optional<size_t> DeciderOf(size_t region, AxisSet cut) const;
  // Returns whether the axis of the output decides some axis of a slot.
  bool IsDecidedBy(size_t slot, size_t axis) const {
    return (slot_deciders_[slot] & SetOf(axis)) != 0;
  }

 private:
  struct Entry {
    std::optional<Sums> recomputed;
    std::optional<Sums> kept;
  };
  void FindDeciders();
  bool IsDecidedAlong(size_t region, size_t axis) const {
    return (deciders_[region] & SetOf(axis)) != 0;
  }
  void FindLanes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                 graph::Interval interval);
  const Entry& EntryOf(size_t axis, int64_t extent);
  std::vector<char> FindUnshared(const graph::ops::Box& box) const;
  std::vector<char> FindPartlyAsked(std::span<const graph::ops::Extent> made,
                                    std::vector<char> found) const;
  std::optional<Sums> Recompute(size_t axis, int64_t extent);
  std::optional<Sums> KeepRows(size_t axis, int64_t extent);

  // Counts one position. Returns false once the stop was requested.
  bool Continues() { return work_.Continues(static_cast<int64_t>(propagation_.Asks().size()) + 1); }
  bool TakeNewShare(size_t slot, const graph::ops::Box& box, size_t axis,
                    std::span<const int64_t> ends, std::span<graph::ops::Extent> share) const;
  Sums NoSums() const;
  void AddMade(std::span<const graph::ops::Extent> needed, std::span<const graph::ops::Extent> made,
               std::span<const char> partly_asked, size_t axis, Sums& sums) const;
  void AddShares(const graph::ops::Box& box, size_t axis, std::vector<int64_t>& ends,
                 Sums& sums) const;

  graph::tiling::Propagation propagation_;
  base::PolledWork work_;
  std::vector<char> is_shared_;  // by slot
  bool has_barrier_ = false;
  std::vector<graph::ops::Extent> whole_;  // the regions of the whole output
  std::vector<AxisSet> deciders_;          // by region: the axes on which it depends if needed
  std::vector<AxisSet> slot_deciders_;     // by slot: of all its regions
  AxisSet emptying_ = 0;        // the axes on which it depends whether some tensor is needed
  std::vector<AxisSet> joint_;  // sets that only together decide whether some part is needed
  // By region of a result: the number of indices that one step makes along the axis. If
  // `one_is_less`, a single index needs only a part of a step.
  struct Lanes {
    int64_t count = 1;
    bool one_is_less = false;
    int64_t Fill(int64_t length) const;
  };
  std::vector<Lanes> lanes_;
  std::map<std::pair<size_t, int64_t>, Entry> entries_;
};

}  // namespace tessera::search::cost
