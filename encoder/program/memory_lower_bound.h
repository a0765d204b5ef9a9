// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// Whether the profile allows the operator to make its result in place of an operand. Tiles and
// lifespans are not considered.
bool MayTakeAPlace(const hw_profiles::Profile& profile, const graph::Operator& op);

// A lower bound of the tile memory that a subgraph needs, computed without its Problem
// (memory_lower_bound.cc).
class RoomLowerBound {
 public:
  // `in_place`: whether results may be in place of operands. All arguments must outlive this
  // object. `uses` may be marked for other tiles between calls of Find (MarkCached).
  RoomLowerBound(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
                 const hw_profiles::Profile& profile, const SubgraphUses& uses, bool in_place);

  // Returns a lower bound in bytes of the peak of every placement of the subgraph with this tiling.
  // `uses` must be marked for it. Returns base::kMaxTotal if no placement exists.
  problem::Bytes Find(const graph::tiling::TiledSubgraph& tiling) const;

 private:
  // Which pass of the subgraph a load is of: the only one; the first or the last of two that run
  // straight through; or one that has a pass before it and one after it.
  enum class PassKind : uint8_t { kOnly, kFirst, kLast, kMiddle };
  static constexpr size_t kPassKinds = 4;
  // A buffer that stays from pass to pass: from an operator in the first pass to one in the last.
  struct Stay {
    int first = 0;
    int last = 0;
    problem::Bytes bytes = 0;
  };

  bool IsDoubleBuffered() const { return uses_->dma == hw_profiles::DmaSteps::kDoubleBuffered; }
  int Last() const { return uses_->Operators() - 1; }
  void AddWholes(const std::vector<graph::Usage>& usages);
  void AddConstants();
  void AddSlices(const TensorUse& use);
  void AddToAll(const Stay& stay);
  bool MayTakeAPlace(const graph::Operator& op) const;
  problem::Bytes LoadOf(const graph::tiling::TiledSubgraph& tiling, PassKind pass) const;
  problem::Bytes SplitLoad(const graph::tiling::TiledSubgraph& tiling, bool has_after) const;

  const graph::Graph* graph_;
  const hw_profiles::Profile* profile_;
  const SubgraphUses* uses_;
  bool in_place_;
  problem::Bytes largest_;     // the largest buffer that can exist
  problem::Bytes always_ = 0;  // the load of every step of any tile
  // by kind of pass, then operator: the load at its step that is the same for all tile shapes
  std::array<std::vector<problem::Bytes>, kPassKinds> during_;
};

// The bytes of tensors, constants and state outside the tile memory, all memories together
// (memory_lower_bound.cc).
class BytesAtHomes {
 public:
  BytesAtHomes(const graph::Graph& graph, const hw_profiles::Profile& profile);

  // Returns the bytes while each of these subgraphs runs. The choices cover the network in
  // sequence. Cost: the sum over all tensors of the number of subgraphs for which the tensor stays.
  std::vector<problem::Bytes> DuringEach(std::span<const SubgraphChoice> choices) const;

  // Returns a lower bound of the sum of the peaks of all memories while one subgraph runs, for
  // every placement. `kept` is as for HomeCapacity. Cost: linear in tensors.
  problem::Bytes LeastPeak(graph::Interval interval, const std::vector<int>& kept) const;

  // Returns such a bound that holds for every partition.
  problem::Bytes LeastPeak() const;

 private:
  // A tensor while operators [first, last] run.
  struct Stay {
    int tensor = 0;
    size_t memory = 0;
    problem::Bytes bytes = 0;
    problem::Bytes rounded = 0;  // up to where the next tensor may begin
    int first = 0;
    int last = 0;
    bool is_boundary = false;  // it is only present if one of them is in another subgraph
    bool at_begin = false;     // whole when the program begins
    bool at_end = false;       // whole when it ends
  };
  class Stack;

  std::vector<Stay> stays_;  // by tensor
  size_t memories_ = 0;
};

}  // namespace tessera::encoder::program
