// SPDX-License-Identifier: Apache-2.0

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

// Returns why the interval is not a valid interval of the graph's operators, or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                graph::Interval interval);

// Returns why the tile shape is not valid for the last output of a valid interval, or nullopt.
// Errors: wrong number of axes, extents out of range, a cut along an axis that an inner operator
// does not allow.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                const graph::tiling::TileShape& tile);

// Returns the error of the first invalid tile shape, or nullopt.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph, graph::Interval interval,
                                                std::span<const graph::tiling::TileShape> tiles);

// Returns why the choices do not form a program, or nullopt. Errors: no choices, gaps between them,
// an invalid choice, or a tensor kept on chip that is not a boundary tensor between them.
std::optional<base::Diagnostic> CheckWellFormed(const graph::Graph& graph,
                                                const hw_profiles::Profile& profile,
                                                std::span<const SubgraphChoice> choices);

// The tensors that at least one choice keeps on chip, ascending.
std::vector<int> KeptBy(std::span<const SubgraphChoice> choices);

// Returns why some tensor of `kept` cannot be kept by any choice (with these subgraphs it is not a
// boundary tensor), or nullopt.
std::optional<base::Diagnostic> FindUnkeepable(const graph::Graph& graph,
                                               std::span<const SubgraphChoice> choices,
                                               std::span<const int> kept);

// Returns the engines that may run the operator: all that can, without the host; if the author of
// the network names one, at most that one. The host alone if no engine can.
std::vector<const hw_profiles::Engine*> EnginesFor(const graph::Graph& graph,
                                                   const hw_profiles::Profile& profile,
                                                   const graph::Operator& op);

// Returns whether several engines may run some operator.
bool HasChoiceOfEngines(const graph::Graph& graph, const hw_profiles::Profile& profile);

// Returns why a subgraph with these uses and tiles cannot have the second stage that `uses` states
// (stages.cc), or nullopt.
std::optional<base::Diagnostic> FindStageFault(const graph::Graph& graph,
                                               const hw_profiles::Profile& profile,
                                               const SubgraphUses& uses,
                                               const SubgraphChoice& choice, int64_t tiles);

// The shape that tiles of the interval partition: the first output of the last operator.
const graph::Shape& OutputShape(const graph::Graph& graph, graph::Interval interval);

// Rows that are kept from tile to tile (docs/program.md, "Cached halo").

// Whether tiles of this shape may keep rows for each other. They must form strips; they may be
// adjacent along the columns only if padding is implicit.
bool MayKeepRows(const hw_profiles::Profile& profile, const graph::Shape& output,
                 const graph::tiling::TileShape& tile);

// The tiles of a valid choice under its policy.
graph::tiling::TiledSubgraph CutTiles(const graph::Graph& graph, graph::Interval interval,
                                      const graph::tiling::TileShape& tile,
                                      hw_profiles::HaloStorage halo);

// Whether tiles keep the same rows under both storages, even if they store them differently.
bool KeepSameRows(hw_profiles::HaloStorage a, hw_profiles::HaloStorage b);

// Cuts tiles like CutTiles, for many shapes and policies of one interval. Each combination is cut
// only once. The graph must outlive this object. Not thread-safe.
class SharedTilings {
 public:
  // A stop, if given, must outlive this object.
  SharedTilings(const graph::Graph& graph, graph::Interval interval,
                const base::Stop* stop = nullptr)
      : stop_(stop), tiler_(graph, interval, stop) {}
  SharedTilings(const SharedTilings&) = delete;
  SharedTilings& operator=(const SharedTilings&) = delete;
  ~SharedTilings() { Forget(); }

  // Returns nullptr if the stop came first, even for a cached tiling. `wants_classes` may exclude
  // classes that are not needed.
  std::shared_ptr<graph::tiling::TiledSubgraph> Cut(
      const graph::tiling::TileShape& tile, hw_profiles::HaloStorage halo,
      const graph::tiling::ClassTest& wants_classes = {});

  // Discards the cached tilings. Data that does not depend on the tile stays.
  void Forget();

 private:
  const base::Stop* stop_;
  graph::tiling::Tiler tiler_;
  std::map<std::pair<graph::tiling::TileShape, hw_profiles::HaloStorage>,
           std::shared_ptr<graph::tiling::TiledSubgraph>>
      tilings_;
};

// Marks the tensors whose rows are cached in this tiling. Returns false if there is none.
bool MarkCached(const graph::tiling::TiledSubgraph& tiling, hw_profiles::HaloStorage halo,
                SubgraphUses& uses);

// Whether keeping rows saves work: rows of the tensor that tiles share are made, loaded or stored
// fewer times. This holds if the tensor is loaded or made inside.
bool GainsByKeeping(const TensorUse& use);

// Whether tiles that keep rows run differently from tiles of the same shape that recompute them.
// That is so if a row that tiles share is made, moved or stored only once, or if strips change the
// order of tiles of different classes and transfers overlap. May err towards true if classes were
// excluded.
bool DiffersFromRecompute(const graph::Graph& graph, const SubgraphUses& uses,
                          const graph::tiling::TiledSubgraph& tiling);

// The bytes of a buffer of a tensor whose rows are kept: kTile, kRollingBuffer, kLine or kHalo.
// `largest` is the largest extent in elements of any tile, `pads` the pads of a tile buffer, and
// `alignment` the alignment of the buffer.
problem::Bytes CachedBytes(const hw_profiles::Profile& profile, BufferKind kind,
                           const SubgraphUses& uses, const TensorUse& use,
                           const graph::tiling::RowCounts& rows, base::DataType type,
                           NamedExtents largest, Pads pads, int64_t alignment);

// Relations that place each halo directly before the tile buffer of its phase.
std::vector<problem::Relation> AdjacentHalos(std::span<const BufferUse> buffers);

// The engine of each operator, and the host, which runs what no other engine lists
// (docs/program.md, "Engines" and "The host").

// The data type that an operator works on: that of its first input, or of its first output if it
// has no input.
base::DataType WorkingType(const graph::Graph& graph, const graph::Operator& op);

// The engine that runs the operator, or nullptr.
const hw_profiles::Engine* EngineOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    const graph::Operator& op);

bool RunsOnHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const graph::Operator& op);

// Whether the interval is one operator that runs on the host. Such a subgraph has only whole
// buffers in the tile memory.
bool RunsOnHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
                graph::Interval interval);

// Whether the interval has several operators and the host runs one of them, which no subgraph may.
bool JoinsHost(const graph::Graph& graph, const hw_profiles::Profile& profile,
               graph::Interval interval);

// The only policy of a subgraph on the host.
Policy PolicyOfHost(std::vector<int> kept);

// Returns why the interval cannot be a subgraph with this policy if the host runs one of its
// operators, or nullopt.
std::optional<base::Diagnostic> FindUnfitForHost(const graph::Graph& graph,
                                                 const hw_profiles::Profile& profile,
                                                 graph::Interval interval, const Policy& policy);

}  // namespace tessera::encoder::program
