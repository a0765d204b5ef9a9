#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/layout.h"
#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"

namespace tessera::encoder::program {

// Why the interval is no interval of the graph's operators, or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                graph::Interval interval);

// Why the tile shape is none for the last output of a valid interval: wrong number of axes, extents
// out of range, a cut along an axis that the operators inside do not let through; or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                const graph::tiling::TileShape& tile);

// The fault of the first of many tile shapes that has one, or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                std::span<const graph::tiling::TileShape> tiles);

// Why the choices are no program: none at all, gaps between them, the fault of one, or something
// kept on chip that is no boundary tensor between them; or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                std::span<const SubgraphChoice> choices);

// What some choice keeps on chip: tensors, ascending.
std::vector<int> KeptBy(std::span<const SubgraphChoice> choices);

// Why one of these tensors can be kept by nobody: it is no boundary tensor as the network is cut;
// or nullopt.
std::optional<base::Diagnostic> FindUnkeepable(const graph::Graph& graph,
                                               std::span<const SubgraphChoice> choices,
                                               std::span<const int> kept);

// The shape that tiles of the interval cut: that of the last operator's first output.
const graph::Shape& OutputShape(const graph::Graph& graph, graph::Interval interval);

// Rows that stay from tile to tile (docs/program.md, "Cached halo").

// Whether tiles of this shape may keep rows for each other: they lie in strips, beside each other
// only where padding is implicit.
bool MayKeepRows(const hw_profiles::Profile& profile, const graph::Shape& output,
                 const graph::tiling::TileShape& tile);

// The tiles of a valid choice, as its policy makes them.
graph::tiling::TiledSubgraph CutTiles(const graph::Graph& graph, graph::Interval interval,
                                      const graph::tiling::TileShape& tile,
                                      hw_profiles::HaloStorage halo);

// Whether tiles keep the same rows, however they store them.
bool KeepSameRows(hw_profiles::HaloStorage a, hw_profiles::HaloStorage b);

// The same for many shapes and policies of one interval, each cut once. The graph outlives it. Not
// safe to use from two threads at once.
class SharedTilings {
 public:
  // A stop outlives it.
  SharedTilings(const graph::Graph& graph, graph::Interval interval,
                const base::Stop* stop = nullptr)
      : tiler_(graph, interval, stop) {}

  // nullptr where the stop came first. Classes may be left out where they are not wanted.
  std::shared_ptr<graph::tiling::TiledSubgraph> Cut(
      const graph::tiling::TileShape& tile, hw_profiles::HaloStorage halo,
      const graph::tiling::ClassTest& wants_classes = {});

  // Gives up what was cut so far; what does not depend on the tile stays.
  void Forget() { tilings_.clear(); }

 private:
  graph::tiling::Tiler tiler_;
  std::map<std::pair<graph::tiling::TileShape, hw_profiles::HaloStorage>,
           std::shared_ptr<graph::tiling::TiledSubgraph>>
      tilings_;
};

// Marks the tensors whose rows are cached when the subgraph is cut like that. False if none is.
bool MarkCached(const graph::tiling::TiledSubgraph& tiling, hw_profiles::HaloStorage halo,
                SubgraphUses& uses);

// Whether rows of the tensor that tiles share are made, loaded or stored fewer times where tiles
// keep rows: it is loaded, or made inside.
bool GainsByKeeping(const TensorUse& use);

// Whether tiles cut like that, which keep rows, run otherwise than tiles of the same shape that
// compute them again: some row that tiles share is made, moved or stored once; or strips bring
// tiles of different classes into another order, and transfers overlap. May err towards true where
// classes were left out.
bool DiffersFromRecompute(const graph::Graph& graph, const hw_profiles::Profile& profile,
                          const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling);

// The bytes of a buffer of a tensor whose rows are kept: kTile, kRollingBuffer, kLine or kHalo.
// `largest` are the most elements that any tile needs, `pads` those of a tile buffer, `alignment`
// what the buffer is aligned to.
problem::Bytes CachedBytes(const hw_profiles::Profile& profile, BufferKind kind,
                           const SubgraphUses& uses, const TensorUse& use,
                           const graph::tiling::RowCounts& rows, base::DataType type,
                           NamedExtents largest, Pads pads, int64_t alignment);

// Each halo lies directly before the tile buffer of its phase.
std::vector<problem::Relation> AdjacentHalos(std::span<const ProgramBuffer> buffers);

// The tiles that one policy makes of one interval. Graph and profile outlive it.
class PolicyTiles {
 public:
  // Refuses an interval that is none, and what FindUses refuses. `usages` are those of the graph.
  static base::Expected<PolicyTiles> Make(const graph::Graph& graph,
                                          const std::vector<graph::Usage>& usages,
                                          const hw_profiles::Profile& profile,
                                          graph::Interval interval, const Policy& policy,
                                          TilesMade made = TilesMade::kThatDiffer);

  // nullptr for a shape that a policy with a cached halo refuses, or would cut into more than 4096
  // tiles; with kThatDiffer also where it makes the tiles of recomputing, and where `cut` gives
  // none. Whatever is returned, Uses() says from then on what tiles of this shape keep. The shape
  // has no fault (choice.h).
  std::shared_ptr<graph::tiling::TiledSubgraph> Cut(const graph::tiling::TileShape& tile,
                                                    const TileCutter& cut);

  // Whether the policy would cut the shape, but into too many tiles to follow.
  bool LeavesOut(const graph::tiling::TileShape& tile) const;

  // Whether the policy makes these tiles; Uses() says from then on what they keep.
  bool Mark(const graph::tiling::TiledSubgraph& tiling);

  // Whether tiles of the shape that was marked last keep rows in some tile buffer.
  bool AnyCached() const;

  const SubgraphUses& Uses() const { return uses_; }

 private:
  PolicyTiles(const graph::Graph& graph, const hw_profiles::Profile& profile,
              hw_profiles::HaloStorage halo, TilesMade made, SubgraphUses uses)
      : graph_(&graph), profile_(&profile), halo_(halo), made_(made), uses_(std::move(uses)) {}

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  hw_profiles::HaloStorage halo_;
  TilesMade made_;
  SubgraphUses uses_;
};

}  // namespace tessera::encoder::program
