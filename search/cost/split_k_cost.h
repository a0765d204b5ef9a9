// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tessera/base/arithmetic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/traffic.h"

// The cost of operands that come in slices.
namespace tessera::search::cost {

// The slices of one tile that come from one memory. The first must arrive before the operator
// begins.
struct SliceFlow {
  int64_t first_cycles = 0;
  int64_t first_bytes = 0;
  int64_t later_cycles = 0;
  int64_t later_bytes = 0;

  int64_t Cycles() const { return base::SaturatingAdd(first_cycles, later_cycles); }
  int64_t Bytes() const { return base::SaturatingAdd(first_bytes, later_bytes); }
};

// The additional cost of a tile of a subgraph with split-k (encoder/program/residence.h).
struct SplitKCost {
  std::vector<SliceFlow> memories;  // parallel to Profile::memories
  int64_t input_bytes = 0;          // bytes moved
  int64_t weight_bytes = 0;
  int64_t constant_bytes = 0;  // bytes of the constant that the engine reads
  // Bytes of partial sums that are written before the last slice and read again.
  int64_t sums_bytes = 0;
};

// A feature tensor that is a factor of the products and whose slices are moved.
struct SlicedFeature {
  const graph::Tensor* tensor = nullptr;
  encoder::program::KOperand along;
  Route route;
  graph::tiling::ExtentsView needed;  // by the tile
};

SplitKCost SplitKCostOf(const graph::Graph& graph, const hw_profiles::Profile& profile,
                        const encoder::program::KCut& cut, TransferKind constants,
                        const std::vector<SlicedFeature>& features,
                        graph::tiling::ExtentsView result);

// Lower bounds of the costs of split-k, for shape_bounds.h: of an operator whose sums are made
// slice by slice (encoder/program/residence.h), under any of the policies, which may differ in the
// K extent of a slice. Each number is the least over the policies. Graph and profile must outlive
// this object.
class SplitKBounds {
 public:
  SplitKBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
               graph::Interval interval, std::span<const encoder::program::Policy> policies);

  // The constant that is cut, if it is moved: every tile gets all slices of its channels.
  struct Constant {
    int home = 0;           // index into Profile::memories
    size_t channels = 0;    // the axis of the result
    int64_t bytes = 0;      // of the whole constant
    int64_t transfers = 0;  // for each tile; 1 over a pipelined link
  };
  const std::optional<Constant>& CutConstant() const { return constant_; }

  // Returns whether the tensor comes in slices, if it is moved at all.
  bool Takes(int tensor) const;

  // A moved operand, and what the first tile needs of it.
  struct Operand {
    const Route* route = nullptr;
    graph::tiling::Extents needed;
  };

  // Returns for each memory the cycles of the slices that the first tile waits for; empty if
  // nothing is certain. `result` contains the extents that the tile makes. `operand_of` returns the
  // operands that are moved.
  std::vector<int64_t> FirstSlices(
      graph::tiling::ExtentsView result,
      const std::function<std::optional<Operand>(int tensor)>& operand_of) const;

  // Returns the bytes of partial sums that tiles with this total number of results write and read
  // again.
  int64_t SumsBytes(int64_t results) const;

 private:
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::vector<encoder::program::KCut> cuts_;  // one for each K extent; empty: nothing is certain
  std::optional<Constant> constant_;
};

}  // namespace tessera::search::cost
