#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// From elements to bytes (docs/program.md, "Sizes"). Nothing overflows: what would exceed
// base::kMaxTotal is base::kMaxTotal.
namespace tessera::encoder::program {

// Elements along the axes that layouts know; 1 where a shape has no such axis. A shape without
// named axes is all channels.
struct NamedExtents {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};

// `extents` is parallel to `shape`, which gives the axes their names.
NamedExtents NameExtents(const graph::Shape& shape, graph::tiling::ExtentsView extents);

// Rows and columns stored around a tensor.
struct Pads {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t rows_above = 0;  // of the rows
};

// The most that any windowed operator among `readers` (indices into graph.operators) asks for; none
// with implicit padding.
Pads PadsFor(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const std::vector<int>& readers);

// Bytes of a feature tensor's part with these extents.
problem::Bytes FeatureBytes(const hw_profiles::RoleLayout& layout, base::DataType type,
                            const NamedExtents& extents, Pads pads);

// Bytes of a constant with the tables stored beside it. `users` are indices into graph.operators,
// ascending.
problem::Bytes ConstantBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             int tensor, const std::vector<int>& users);

// Whether all users of the constant in the interval need one channel of it for one output channel,
// so that it may come slice by slice: it is the weight of a convolution or of a matmul with one
// input, and has as many channels as the output.
bool IsSliceable(const graph::Graph& graph, int tensor, graph::Interval interval);

// How a sliceable constant is cut for one user: `count` slices of at most `bytes` each.
struct Slicing {
  int64_t count = 1;
  problem::Bytes bytes = 1;
};
Slicing SlicesOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
                 const graph::Operator& user);

// Whether operators of this kind need scratch, and how much of it for a tile with these extents of
// first input and output.
bool HasScratch(const hw_profiles::Profile& profile, const graph::Operator& op);
problem::Bytes ScratchBytes(const hw_profiles::Profile& profile, const graph::Operator& op,
                            const NamedExtents& input, const NamedExtents& output);

}  // namespace tessera::encoder::program
