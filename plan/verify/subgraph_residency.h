// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/plan/plan.h"
#include "tessera/plan/verify/residency.h"

namespace tessera::plan::verify {

// A streamed operand of one operator.
struct Stream {
  int tensor = 0;
  int64_t slices = 1;
};

// The later subgraphs for which parts of constants arrive while subgraph `carrier` runs, ascending.
std::vector<int> CarriedBy(const Plan& plan, int carrier);

// The share of a constant that arrives `ahead` subgraphs before the subgraph that uses it
// (Subgraph::prefetch), or when that one begins if `ahead` is 0. The constant is loaded once. The
// share is a range of indices along its first axis; a scalar has one index.
Range ShareOf(const graph::Graph& network, const Subgraph& user, int constant, int ahead);

// The bytes of this share, if the constant has `bytes` bytes.
int64_t ShareOfBytes(const graph::Graph& network, const Subgraph& user, int constant, int ahead,
                     int64_t bytes);

// One subgraph: how it holds each of its tensors, and which of its operators moves or copies them.
// Plan and users must outlive it.
class SubgraphResidency {
 public:
  // Derives the residencies from network, profile and policies. `cached`: the tensors whose rows
  // stay from tile to tile.
  SubgraphResidency(const Plan& plan, const std::vector<Users>& users, int subgraph,
                    const std::set<int>& cached);

  // Derives the residencies from the plan's buffers, whether these are correct or not. A tensor
  // without a buffer is accessed in its home.
  static SubgraphResidency OfBuffers(const Plan& plan, const std::vector<Users>& users,
                                     int subgraph);

  int Index() const { return subgraph_; }
  const Subgraph& Current() const { return plan_->subgraphs[static_cast<size_t>(subgraph_)]; }
  const graph::Operator& At(int op) const {
    return plan_->network.operators[static_cast<size_t>(op)];
  }
  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

  // The tensors with that residency, in order of first use.
  std::vector<int> All(Residency residency) const;

  // False for a tensor that the subgraph does not use.
  bool Is(int tensor, Residency residency) const;
  bool IsInTiles(int tensor) const;
  bool IsStreamed(int op, int tensor) const;  // by that operator

  // The operands that the operator streams, each once.
  std::vector<Stream> StreamsOf(int op) const;

  // The rounds in which the operator makes its result: one for each slice of what it streams.
  int64_t RoundsOf(int op) const;

  // Whether rows of the tensor stay from tile to tile, with that halo policy.
  bool Caches(int tensor, hw_profiles::HaloStorage halo) const;

  // CachedFirstBy returns the cached tensors that the operator makes or, if they are loaded, reads
  // before all other operators. CachedLastBy returns those that it reads last. Both are in the
  // order of its operands.
  std::vector<int> CachedFirstBy(int op) const { return CachedAt(op, true); }
  std::vector<int> CachedLastBy(int op) const { return CachedAt(op, false); }

  // The tensors whose rows are copied into tiles before the operator's step, and those whose rows
  // are copied out of tiles after it.
  std::vector<int> RestoredBy(int op) const;
  std::vector<int> SavedBy(int op) const;
  bool Restores(int op) const { return !RestoredBy(op).empty(); }
  bool Saves(int op) const { return !SavedBy(op).empty(); }

  // The engine's name; empty if no engine runs the operator.
  std::string EngineNameOf(int op) const;
  bool HasScratch(int op) const;

  // The slices of the first operator; unset unless it accumulates slice by slice.
  const std::optional<KSlices>& SlicesOfK() const { return k_slices_; }

  // The buffers of the subgraph. A rolling buffer is the tile buffer of both phases.
  BufferUse TileOf(int tensor, int phase) const;
  BufferUse LineOf(int tensor) const { return {BufferKind::kLine, subgraph_, tensor, -1, 0, 0}; }
  BufferUse HaloOf(int tensor, int phase) const {
    return {BufferKind::kHalo, subgraph_, tensor, -1, phase, 0};
  }
  BufferUse ResidentOf(int constant) const {
    return {BufferKind::kResident, subgraph_, constant, -1, 0, 0};
  }
  BufferUse SliceOf(int op, int tensor, int phase, int slot) const {
    return {BufferKind::kSlice, subgraph_, tensor, op, phase, slot};
  }
  BufferUse ScratchOf(int op, int phase) const {
    return {BufferKind::kScratch, subgraph_, -1, op, phase, 0};
  }
  BufferUse AccumulatorOf(int op, int phase) const {
    return {BufferKind::kAccumulator, subgraph_, -1, op, phase, 0};
  }

 private:
  SubgraphResidency(const Plan& plan, const std::vector<Users>& users, int subgraph);
  std::vector<int> CachedAt(int op, bool first) const;

  const Plan* plan_;
  const std::vector<Users>* users_;
  int subgraph_;
  std::map<int, Held> held_;
  std::map<int, hw_profiles::HaloStorage> cached_;  // by tensor whose rows stay
  std::optional<KSlices> k_slices_;
};

}  // namespace tessera::plan::verify
