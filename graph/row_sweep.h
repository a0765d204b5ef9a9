#pragma once

#include <optional>

#include "tessera/graph/row_structure.h"
#include "tessera/graph/tiling.h"

// Tiles that keep rows, swept once for all strips (row_sweep.cc).
namespace tessera::graph {

// TileKeepingRows (kept_rows.h) for a structure that is not tied; classes only where `wants_classes`. nullopt: strips must be swept one by
// one.
std::optional<TiledSubgraph> SweepRows(const RowStructure& structure, const TileShape& tile,
                                       bool across_batch, const ClassTest& wants_classes);

}  // namespace tessera::graph
