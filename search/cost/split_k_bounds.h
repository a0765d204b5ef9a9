// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/search/cost/traffic.h"

namespace tessera::search::cost {

// The facts about split-k for shape_bounds.h: an operator whose sums are made slice by slice
// (encoder/program/residence.h), under any of the policies, which may differ in the K extent of a
// slice. Each number is the least of theirs. Graph and profile must outlive it.
class SplitKBounds {
 public:
  SplitKBounds(const graph::Graph& graph, const hw_profiles::Profile& profile,
               graph::Interval interval, std::span<const encoder::program::Policy> policies);

  // The constant that is cut, if it is moved: every tile gets all slices of its channels.
  struct Constant {
    int home = 0;           // index into Profile::memories
    size_t channels = 0;    // the axis of the result
    int64_t bytes = 0;      // of the whole constant
    int64_t transfers = 0;  // for each tile; over a pipelined link, those that wait
  };
  const std::optional<Constant>& CutConstant() const { return constant_; }

  // Whether the tensor comes in slices, if it is moved at all.
  bool Takes(int tensor) const;

  // A moved operand, and what the first tile needs of it.
  struct Operand {
    const Route* route = nullptr;
    graph::tiling::Extents needed;
  };

  // By memory: the cycles of the slices that the first tile waits for. `result`: what it makes.
  // `operand_of` gives the operands that are moved. Empty: nothing is certain.
  std::vector<int64_t> FirstSlices(
      graph::tiling::ExtentsView result,
      const std::function<std::optional<Operand>(int tensor)>& operand_of) const;

  // Bytes of partial sums that are written, and read again, of tiles with so many results together.
  int64_t SumsBytes(int64_t results) const;

 private:
  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  std::vector<encoder::program::KCut> cuts_;  // one for each K extent; empty: nothing is certain
  std::optional<Constant> constant_;
};

}  // namespace tessera::search::cost
