// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// An operand that split-k cuts along one axis: each K slice uses one slice of it.
struct KOperand {
  int tensor = -1;
  size_t axis = 0;
};

// An operator whose result is a sum over its K extent, computed slice by slice (split_k.cc).
struct KCut {
  int op = -1;                       // index into Graph::operators
  int64_t k_extent = 1;              // length of the sum
  int64_t granularity = 1;           // of every slice but the last
  std::vector<KOperand> features;    // one or two
  std::optional<KOperand> constant;  // the operator's first
  size_t constant_channels = 0;      // the axis of output channels of the constant,
  size_t result_channels = 0;        // and of the result

  int64_t Slices() const { return (k_extent + granularity - 1) / granularity; }

  // The K extent of that slice.
  int64_t Length(int64_t slice) const {
    return slice + 1 < Slices() ? granularity : k_extent - slice * granularity;
  }

  // Whether the operator uses the tensor slice by slice, if the tensor is moved at all.
  bool Takes(int tensor) const;
};

// Returns the only operator of the interval as a sum over at least two slices of this K extent, or
// nullopt. The operator must be a convolution with one group (transposed or not), a matmul or a
// reduction, with a larger K extent. 0 stands for the operator's step (docs/program.md 7.1.5);
// other values are multiples of it.
std::optional<KCut> FindKCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             graph::Interval interval, int64_t k_extent = 0);

// Extents of one slice of a feature of which a tile needs `needed`.
graph::tiling::Extents SliceOf(const KOperand& feature, graph::tiling::ExtentsView needed,
                               int64_t k_extent);

// Bytes of one slice of the constant, and bytes of its table, which the slice does not include, for
// a tile with these extents of the result.
problem::Bytes ConstantSliceBytes(const graph::Graph& graph, const KCut& cut,
                                  graph::tiling::ExtentsView result, int64_t k_extent);
problem::Bytes ConstantTableBytes(const hw_profiles::Profile& profile, const KCut& cut,
                                  graph::tiling::ExtentsView result);

// Bytes of the partial sums for a tile with these extents of the result.
problem::Bytes AccumulatorBytes(const graph::Graph& graph, const graph::Operator& op,
                                graph::tiling::ExtentsView result);

// The residence of a tensor in a subgraph (docs/program.md, "How each tensor is held").
enum class Residence : uint8_t {
  kInside,    // a tile buffer that is not visible outside
  kLoaded,    // a tile buffer, filled by DMA
  kStored,    // a tile buffer, emptied by DMA
  kWhole,     // one buffer in the tile memory for the whole tensor; nothing is moved
  kDirect,    // engines access it in its home; no buffer
  kResident,  // a constant, filled once
  // slices, filled again for every tile: of a sliceable constant (layout.h), or of a tensor cut
  // along K
  kStreamed,
};

// The use of a tensor in one subgraph. Operators are counted from the first of the interval.
struct TensorUse {
  int tensor = -1;
  base::TensorRole role = base::TensorRole::kFeature;
  Residence residence = Residence::kInside;
  // between home and tile memory, for tensors that a DMA moves
  const hw_profiles::Link* link = nullptr;
  std::vector<int> makers;   // ascending; more than one only for state
  std::vector<int> readers;  // ascending, each once
  bool cached = false;       // rows are kept from tile to tile; see MarkCached

  // For a cached tensor, First returns its maker, or its first reader if it is loaded; Last returns
  // its last reader.
  int First() const { return makers.empty() ? readers.front() : makers.front(); }
  int Last() const { return readers.back(); }
};

// Properties of a subgraph that do not depend on its tile, except which tensors are cached. Refers
// to the profile.
struct SubgraphUses {
  graph::Interval interval;
  std::vector<TensorUse> tensors;         // features, by tensor
  std::vector<TensorUse> constants;       // in order of first use
  std::vector<std::string_view> engines;  // by operator
  std::vector<int> kept;                  // Policy::kept
  // operators whose result is in place channel by channel; see MarkByChannel
  std::vector<int> by_channel;
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  hw_profiles::DmaSteps dma = hw_profiles::DmaSteps::kSerialized;
  std::optional<KCut> split_k;  // set if slices are along K
  std::vector<int> prefetch;    // SubgraphChoice::prefetch
  bool slices_ahead = false;    // `prefetch` also states when slices of constants arrive
  int second_stage = 0;         // Policy::second_stage
  bool on_host = false;         // its only operator runs on the host

  int Operators() const { return interval.last - interval.first + 1; }

  // Whether the k-th operator is of the second stage.
  bool IsLate(int k) const { return second_stage > 0 && k >= second_stage; }

  // The k-th operator of the interval.
  const graph::Operator& OperatorAt(const graph::Graph& graph, int k) const {
    return graph.operators[static_cast<size_t>(interval.first) + static_cast<size_t>(k)];
  }
};

// Whether a tensor in this role has its home in the tile memory, or is kept there.
bool IsHeldInTileMemory(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const std::vector<int>& kept, int tensor, base::TensorRole role);

// Returns the tensors for which IsHeldInTileMemory may hold in some subgraph, ascending: the kept
// ones, and those with a role of which the tile memory is a home. Does not visit the network if the
// tile memory is no home.
std::vector<int> MayBeHeldInTileMemory(const graph::Graph& graph,
                                       const hw_profiles::Profile& profile,
                                       const std::vector<int>& kept);

// The use of a feature tensor that the subgraph touches.
const TensorUse& UseOf(const SubgraphUses& uses, int tensor);

// Whether the operator, which uses the tensor, receives it in slices.
bool IsStreamed(const SubgraphUses& uses, int tensor);

// Returns the uses of the interval under the policy. Refuses what the profile cannot run: an
// operator without an engine, a transfer without a link, a result in a read-only home, a constant
// read in a home that does not allow it, split-k if no tensor is sliced, an operator of the host
// together with others or with a policy that the host does not support.
base::Expected<SubgraphUses> FindUses(const graph::Graph& graph,
                                      const std::vector<graph::Usage>& usages,
                                      const hw_profiles::Profile& profile, graph::Interval interval,
                                      const Policy& policy);

// The part of a constant, [begin, end) along its first axis, that PartAhead finds.
struct ConstantPart {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t of = 1;  // the extent of the axis

  bool IsEmpty() const { return begin == end; }
  problem::Bytes BytesOf(problem::Bytes whole) const;  // the parts of a constant add up to `whole`
};
// Returns the part that arrives while the subgraph that comes `ahead` earlier runs. `prefetch` is
// plan::Subgraph::prefetch; if it is empty, all of the constant arrives at 0.
ConstantPart PartAhead(const graph::Tensor& constant, std::span<const int> prefetch, int ahead);

// Whether slices of constants arrive ahead: each is used once, because there is one tile.
inline bool PrefetchesSlices(hw_profiles::WeightPolicy weights, int64_t tiles,
                             std::span<const int> prefetch) {
  return weights == hw_profiles::WeightPolicy::kStreamed && tiles == 1 && !prefetch.empty();
}

// Each of the first slices of a constant arrives in this many parts of `prefetch`, the last of them
// perhaps in fewer. Later slices arrive while their operator runs.
inline constexpr int64_t kPartsOfSlice = 8;

// The number of slices that arrive before their operator runs, of `slices`.
int64_t SlicesAhead(int64_t slices, std::span<const int> prefetch);

// The slices [begin, end), of `slices`, of which a part arrives while the subgraph that comes
// `ahead` earlier runs, or when this one begins if `ahead` is 0.
struct SliceRange {
  int64_t begin = 0;
  int64_t end = 0;
};
SliceRange SlicesArriving(int64_t slices, std::span<const int> prefetch, int ahead);

// That part of one of these slices, along the first axis of the slice, whose extent is `extent`.
ConstantPart SlicePartAhead(int64_t slice, int64_t extent, std::span<const int> prefetch,
                            int ahead);

// Returns why no constant of the subgraph can be prefetched (none is loaded once, and no slices
// arrive ahead), or nullopt.
std::optional<base::Diagnostic> FindNothingToPrefetch(const graph::Graph& graph,
                                                      const SubgraphUses& uses);

}  // namespace tessera::encoder::program
