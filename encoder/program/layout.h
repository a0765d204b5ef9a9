// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// Converts elements to bytes (docs/program.md, "Sizes"). Nothing overflows: results saturate at
// base::kMaxTotal.
namespace tessera::encoder::program {

// Elements along the axes that layouts distinguish; 1 if a shape has no such axis. If a shape has
// more than four axes, `batch` is the product of all axes before the rows.
struct NamedExtents {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};

// `extents` is parallel to `shape`, which names the axes.
NamedExtents NameExtents(const graph::Shape& shape, graph::tiling::ExtentsView extents);

// Rows and columns stored around a tensor.
struct Pads {
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t rows_above = 0;  // part of `rows`
};

// The largest pads that a windowed operator among `readers` (indices into graph.operators) needs;
// none with implicit padding.
Pads PadsFor(const graph::Graph& graph, const hw_profiles::Profile& profile,
             const std::vector<int>& readers);

// Bytes of a part of a feature tensor with these extents.
problem::Bytes FeatureBytes(const hw_profiles::RoleLayout& layout, base::DataType type,
                            const NamedExtents& extents, Pads pads);

// Bytes of a constant with its stored tables. `users` are indices into graph.operators, ascending.
problem::Bytes ConstantBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             int tensor, const std::vector<int>& users);

// Whether the constant may be streamed in slices: all of its users in the interval need one channel
// of it for one output channel. It must be the weight of a convolution or of a matmul with one
// input, and must have as many channels as the output.
bool IsSliceable(const graph::Graph& graph, int tensor, graph::Interval interval);

// The slices of a sliceable constant for one user: `count` slices of at most `bytes` and `channels`
// each.
struct Slicing {
  int64_t count = 1;
  problem::Bytes bytes = 1;
  int64_t channels = 1;
};
Slicing SlicesOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
                 const graph::Operator& user);

// The extent of one slice along the first axis of the constant.
int64_t FirstExtentOfSlice(const graph::Tensor& constant, const graph::Operator& user,
                           const Slicing& slicing, int64_t slice);

// Bytes of the largest buffer that the memory can hold: its capacity, or its longest bank if
// buffers must lie inside one bank.
problem::Bytes LongestBuffer(const hw_profiles::Memory& memory);

// Whether the operator needs scratch, by the profile or by its own description.
bool HasScratch(const hw_profiles::Profile& profile, const graph::Operator& op);
// Bytes of the scratch for a tile with these extents of the first input and output; 0 if an extent
// is 0.
problem::Bytes ScratchBytes(const hw_profiles::Profile& profile, const graph::Operator& op,
                            const NamedExtents& input, const NamedExtents& output);

}  // namespace tessera::encoder::program
