// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "tessera/plan/verify/residency.h"
#include "tessera/plan/verify/tiles.h"

// Bytes of buffers and of transferred regions: docs/program.md, Sizes.
namespace tessera::plan::verify {

// Extents of a tensor by the meaning of its axes; 1 if the rank has no such axis. For ranks without
// named axes all elements count as channels.
struct NamedExtents {
  int64_t batch = 1;
  int64_t channels = 1;
  int64_t rows = 1;
  int64_t columns = 1;
};
NamedExtents NameExtents(const std::vector<int64_t>& extents);

// Rows and columns stored as padding around a tensor: on each side the maximum that a windowed
// reader inside the interval needs.
struct Pads {
  std::array<int64_t, 2> low = {0, 0};
  std::array<int64_t, 2> high = {0, 0};
};
Pads PadsOf(const Plan& plan, const Users& users, graph::Interval interval);

// The bytes of a buffer with those extents, each row padded to `row_pitch`; at least 1.
int64_t StoredBytes(const NamedExtents& extents, base::DataType type, int64_t channel_block,
                    int64_t row_pitch);

// The bytes of a constant as stored in memory, without its tables.
int64_t ContentBytes(const graph::Tensor& constant);

// The bytes of a constant, or of one slice of it, as `op` uses it. An operator's table counts with
// its first constant.
int64_t ConstantBytes(const Plan& plan, const graph::Operator& op, int constant);
int64_t SliceBytes(const Plan& plan, const graph::Operator& op, int constant);

// Bytes of slice number `slice`: as many as the buffer holds, or what the slices before it leave.
int64_t BytesOfSlice(const Plan& plan, const graph::Operator& op, int constant, int64_t slice);

// The bytes of `some` of the `all` channels of the constant, with the operator's table for them.
int64_t BytesOfChannels(const Plan& plan, const graph::Operator& op, int constant, int64_t all,
                        int64_t some);

// Bytes of a slice of the constant that is multiplied with split K, for the given number of output
// channels, without its table.
int64_t KSliceBytes(const Plan& plan, const KSlices& slices, int64_t k_extent, int64_t channels);

// The maximum of ConstantBytes over the operators of the interval that use the constant.
int64_t ConstantBytes(const Plan& plan, const std::vector<Users>& users, int constant,
                      graph::Interval interval);

// The size and the alignment that a buffer must have. `largest` and `rows` are those of the
// buffer's subgraph, empty for whole buffers; `rows` is also empty if the halo is not cached.
// `by_channel`: operators that work in place channel by channel.
struct Footprint {
  int64_t size = 1;
  int64_t alignment = 1;
};
Footprint FootprintOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use,
                      const LargestExtents& largest, const RowTallies& rows = {},
                      const std::set<int>& by_channel = {});

// Whether rows of the tensor stay in tile buffers from one tile of the subgraph to the next.
bool IsCached(const Held& held, int tensor, const RowTallies& rows);

}  // namespace tessera::plan::verify
