#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/adapt/program.h"
#include "tessera/graph/graph.h"

namespace tessera::encoder {

// Why the interval is no interval of the graph's operators, or nullopt.
std::optional<base::Diagnostic> FindFault(const graph::Graph& graph, graph::Interval interval);

// Why the tile shape is none for the last output of a valid interval: wrong number of axes, extents out of range, a cut along an
// axis that the operators inside do not let through; or nullopt.
std::optional<base::Diagnostic> FindFault(const graph::Graph& graph, graph::Interval interval,
                                          const graph::TileShape& tile);

// The fault of the first of many tile shapes that has one, or nullopt.
std::optional<base::Diagnostic> FindFault(const graph::Graph& graph, graph::Interval interval,
                                          std::span<const graph::TileShape> tiles);

// Why the choices are no program: none at all, gaps between them, the fault of one, or something kept on chip that is no border
// between them; or nullopt.
std::optional<base::Diagnostic> FindFault(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                          std::span<const SubgraphChoice> choices);

// What some choice keeps on chip: tensors, ascending.
std::vector<int> KeptBy(std::span<const SubgraphChoice> choices);

// Why one of these tensors can be kept by nobody: it is no border as the network is cut; or nullopt.
std::optional<base::Diagnostic> FindUnkeepable(const graph::Graph& graph,
                                               std::span<const SubgraphChoice> choices,
                                               std::span<const int> kept);

// The shape that tiles of the interval cut: that of the last operator's first output.
const graph::Shape& OutputShape(const graph::Graph& graph, graph::Interval interval);

}  // namespace tessera::encoder
