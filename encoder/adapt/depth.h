#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/graph/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder {

// An operand of which each slice of the depth takes a slice, along one axis.
struct DepthOperand {
  int tensor = -1;
  size_t axis = 0;
};

// An operator whose result is a sum over its depth, taken slice by slice (depth.cc).
struct DepthCut {
  int op = -1;                           // index into Graph::operators
  int64_t depth = 1;                     // what is added up
  int64_t granule = 1;                   // of it in every slice but the last
  std::vector<DepthOperand> features;    // one or two
  std::optional<DepthOperand> constant;  // the operator's first
  size_t constant_channels = 0;          // the constant's axis of output channels,
  size_t result_channels = 0;            // and the result's

  int64_t Slices() const { return (depth + granule - 1) / granule; }

  // Depth of that slice.
  int64_t Length(int64_t slice) const { return slice + 1 < Slices() ? granule : depth - slice * granule; }

  // Whether the operator takes the tensor slice by slice, if it is moved at all.
  bool Takes(int tensor) const;
};

// The interval's one operator as a sum over at least two slices of that depth, or nullopt: it is a convolution of one group or a
// matmul, and deeper. 0 stands for the profile's granule, of which the depth is a multiple.
std::optional<DepthCut> FindDepthCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                     graph::Interval interval, int64_t depth = 0);

// Extents of one slice of a feature of which a tile needs `needed`.
graph::Extents SliceOf(const DepthOperand& feature, graph::ExtentsView needed, int64_t depth);

// Bytes of one slice of the constant for a tile with these extents of the result, its table apart, and of that table.
problem::Bytes ConstantSliceBytes(const graph::Graph& graph, const DepthCut& cut, graph::ExtentsView result,
                                  int64_t depth);
problem::Bytes ConstantTableBytes(const hw_profiles::Profile& profile, const DepthCut& cut,
                                  graph::ExtentsView result);

// Bytes of the sums for a tile with these extents of the result.
problem::Bytes AccumulatorBytes(const graph::Graph& graph, const graph::Operator& op,
                                graph::ExtentsView result);

}  // namespace tessera::encoder
