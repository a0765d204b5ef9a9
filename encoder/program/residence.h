#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// An operand of which each slice of the depth takes a slice, along one axis.
struct KOperand {
  int tensor = -1;
  size_t axis = 0;
};

// An operator whose result is a sum over its depth, taken slice by slice (k_extent.cc).
struct KCut {
  int op = -1;                       // index into Graph::operators
  int64_t k_extent = 1;              // what is added up
  int64_t granularity = 1;           // of it in every slice but the last
  std::vector<KOperand> features;    // one or two
  std::optional<KOperand> constant;  // the operator's first
  size_t constant_channels = 0;      // the constant's axis of output channels,
  size_t result_channels = 0;        // and the result's

  int64_t Slices() const { return (k_extent + granularity - 1) / granularity; }

  // Depth of that slice.
  int64_t Length(int64_t slice) const {
    return slice + 1 < Slices() ? granularity : k_extent - slice * granularity;
  }

  // Whether the operator takes the tensor slice by slice, if it is moved at all.
  bool Takes(int tensor) const;
};

// The interval's one operator as a sum over at least two slices of that depth, or nullopt: it is a
// convolution of one group or a matmul, and deeper. 0 stands for the profile's granularity, of
// which the depth is a multiple.
std::optional<KCut> FindKCut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                             graph::Interval interval, int64_t k_extent = 0);

// Extents of one slice of a feature of which a tile needs `needed`.
graph::tiling::Extents SliceOf(const KOperand& feature, graph::tiling::ExtentsView needed,
                               int64_t k_extent);

// Bytes of one slice of the constant for a tile with these extents of the result, its table apart,
// and of that table.
problem::Bytes ConstantSliceBytes(const graph::Graph& graph, const KCut& cut,
                                  graph::tiling::ExtentsView result, int64_t k_extent);
problem::Bytes ConstantTableBytes(const hw_profiles::Profile& profile, const KCut& cut,
                                  graph::tiling::ExtentsView result);

// Bytes of the sums for a tile with these extents of the result.
problem::Bytes AccumulatorBytes(const graph::Graph& graph, const graph::Operator& op,
                                graph::tiling::ExtentsView result);

// What becomes of a tensor in a subgraph (docs/program.md, "What becomes of each tensor").
enum class Residence : uint8_t {
  kInside,    // a tile buffer that nobody outside sees
  kLoaded,    // a tile buffer, filled by DMA
  kStored,    // a tile buffer, emptied by DMA
  kWhole,     // one buffer in the tile memory for the whole tensor; nothing is moved
  kDirect,    // engines use it in its home; no buffer
  kResident,  // a constant, filled once
  kStreamed,  // slices, filled again for every tile: of a sliceable constant (layout.h), or of what is cut along K
};

// A tensor as one subgraph uses it. Operators are counted from the first of the interval.
struct TensorUse {
  int tensor = -1;
  base::TensorRole role = base::TensorRole::kFeature;
  Residence residence = Residence::kInside;
  const hw_profiles::Link* link = nullptr;  // between home and tile memory, for what a DMA moves
  std::vector<int> makers;                  // ascending; more than one only for state
  std::vector<int> readers;                 // ascending, each once
  bool cached = false;                      // rows stay from tile to tile; see MarkCached

  // Of a cached tensor: who makes it, or reads it first if it is loaded; who reads it last.
  int First() const { return makers.empty() ? readers.front() : makers.front(); }
  int Last() const { return readers.back(); }
};

// What holds for a subgraph whatever its tile, but for what is cached. Refers to the profile.
struct SubgraphUses {
  graph::Interval interval;
  std::vector<TensorUse> tensors;         // features, by tensor
  std::vector<TensorUse> constants;       // in order of first use
  std::vector<std::string_view> engines;  // by operator
  std::vector<int> kept;                  // Policy::kept
  std::vector<int>
      by_channel;  // operators whose result is in place channel by channel; see MarkByChannel
  hw_profiles::HaloStorage halo = hw_profiles::HaloStorage::kRecompute;
  std::optional<KCut> split_k;  // where slices are of the depth
  bool prefetch = false;        // SubgraphChoice::prefetch

  int Operators() const { return interval.last - interval.first + 1; }

  // The k-th operator of the interval.
  const graph::Operator& OperatorAt(const graph::Graph& graph, int k) const {
    return graph.operators[static_cast<size_t>(interval.first) + static_cast<size_t>(k)];
  }
};

// Whether the tile memory is home to a tensor that has this role, or stands in for its home.
bool IsHeldInTileMemory(const hw_profiles::Profile& profile, const std::vector<int>& kept,
                        int tensor, base::TensorRole role);

// The use of a feature tensor that the subgraph touches.
const TensorUse& UseOf(const SubgraphUses& uses, int tensor);

// Whether the operator, which uses the tensor, gets it in slices.
bool IsStreamed(const SubgraphUses& uses, int tensor);

// The data type that an operator works on: that of its first input, of its first output if it has
// none.
base::DataType WorkingType(const graph::Graph& graph, const graph::Operator& op);

// Refuses what the profile cannot run: an operator without an engine, a transfer without a link, a
// result in a read-only home, a constant read in a home that does not allow it, state without a
// place, a cut along K where nothing comes in slices.
base::Expected<SubgraphUses> FindUses(const graph::Graph& graph,
                                      const std::vector<graph::Usage>& usages,
                                      const hw_profiles::Profile& profile, graph::Interval interval,
                                      const Policy& policy);

// Why no constant of the subgraph can be prefetched: none is loaded once; or nullopt.
std::optional<base::Diagnostic> FindNothingToPrefetch(const graph::Graph& graph,
                                                      const SubgraphUses& uses);

}  // namespace tessera::encoder::program
