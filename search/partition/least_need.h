// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// The least bytes of the tile memory that one operator needs: a test of whether it fits that
// decides no placement. Lower bounds that proofs use are in encoder/program/memory_lower_bound.h.
namespace tessera::search::partition {

struct Need {
  problem::Bytes bytes = 0;
  problem::Bytes longest = 0;  // of one buffer

  void Add(problem::Bytes buffer);
};

// Returns a network that consists of the operator.
graph::Graph Alone(const graph::Graph& network, const graph::Operator& op);

const hw_profiles::Memory& TileMemory(const hw_profiles::Profile& profile);

// Whether the tile memory has as many bytes, and a bank as long as the longest buffer.
bool Fits(const Need& need, const hw_profiles::Profile& profile);

// Whether the profile lets an operator take its operands in slices along K.
bool HasSlices(const hw_profiles::Profile& profile);

// The extents of the operator's result in the smallest tile that the profile's axes allow, and how
// many elements these are.
std::vector<int64_t> SmallestExtents(const graph::Graph& network,
                                     const hw_profiles::Profile& profile,
                                     const graph::Operator& op);
int64_t SmallestTile(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op);

// The needs of an operator alone, in the smallest tile. `NeedOf` counts the first operand and the
// result; the others are for opaque operators. A barrier has all its tensors as a whole.
Need NeedOf(const graph::Graph& network, const hw_profiles::Profile& profile,
            const graph::Operator& op);
Need NeedOfBarrier(const graph::Graph& network, const graph::Operator& op);
Need NeedOfDescribed(const graph::Graph& network, const hw_profiles::Profile& profile,
                     const graph::Operator& op);

// The needs of a sum of products of which `k_extent` indices of K are added up, in a tile with
// these extents of the result: those of its operands, and those with a slice of its constant and
// the sums in their wide type, where all that is loaded has two slots if transfers are always
// double-buffered.
Need NeedOfFactors(const graph::Graph& network, const hw_profiles::Profile& profile,
                   const graph::Operator& op, const std::vector<int64_t>& extents,
                   int64_t k_extent);
Need NeedOfSum(const graph::Graph& network, const hw_profiles::Profile& profile,
               const graph::Operator& op, const std::vector<int64_t>& extents, int64_t k_extent);

// The needs of the addition of so many partial sums of a sum of products, in such a tile.
Need NeedOfAddition(const graph::Graph& network, const hw_profiles::Profile& profile,
                    const graph::Operator& op, const std::vector<int64_t>& extents, int64_t parts);

// The needs of an operator in every subgraph, whatever part of its result is needed: these axes of
// its first operand, which it reduces; or all operands that a described operator reads in full.
Need SurelyNeeded(const graph::Graph& network, const hw_profiles::Profile& profile,
                  const graph::Operator& op, std::span<const int> axes);
Need SurelyNeededOfDescribed(const graph::Graph& network, const graph::Operator& op);

// The bytes of the constants of operator `number` that are in the tile memory as a whole.
problem::Bytes TablesOf(const graph::Graph& network, const hw_profiles::Profile& profile,
                        size_t number);

}  // namespace tessera::search::partition
