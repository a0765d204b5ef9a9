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

// The later subgraphs of which parts of constants arrive while subgraph number `carrier` runs,
// ascending.
std::vector<int> CarriedBy(const Plan& plan, int carrier);

// The indices along its first axis of a constant that is loaded once, that arrive so many subgraphs
// ahead of the one that uses it (Subgraph::prefetch); 0: when that one begins. A scalar has one.
Range ShareOf(const graph::Graph& network, const Subgraph& user, int constant, int ahead);

// The share's bytes, of a constant with so many.
int64_t ShareOfBytes(const graph::Graph& network, const Subgraph& user, int constant, int ahead,
                     int64_t bytes);

// One subgraph: how it holds each of its tensors, and which of its operators moves or copies them.
// Plan and users must outlive it.
class SubgraphResidency {
 public:
  // As it follows from network, profile and policies. `cached`: the tensors whose rows stay from
  // tile to tile.
  SubgraphResidency(const Plan& plan, const std::vector<Users>& users, int subgraph,
                    const std::set<int>& cached);

  // As the plan's buffers hold them, whether they should or not. A tensor without a buffer is
  // accessed in its home.
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

  // Each once.
  std::vector<Stream> StreamsOf(int op) const;

  // The rounds in which the operator makes its result: one for each slice of what it streams.
  int64_t RoundsOf(int op) const;

  // Whether rows of the tensor stay from tile to tile, with that halo policy.
  bool Caches(int tensor, hw_profiles::HaloStorage halo) const;

  // The cached tensors that the operator makes or, if they are loaded, reads before all others; and
  // those that it reads last. In the order of its operands.
  std::vector<int> CachedFirstBy(int op) const { return CachedAt(op, true); }
  std::vector<int> CachedLastBy(int op) const { return CachedAt(op, false); }

  // Those whose rows are copied into tiles before the operator's step, or out of them after it.
  std::vector<int> RestoredBy(int op) const;
  std::vector<int> SavedBy(int op) const;
  bool Restores(int op) const { return !RestoredBy(op).empty(); }
  bool Saves(int op) const { return !SavedBy(op).empty(); }

  // The engine's name; empty if no engine runs the operator.
  std::string EngineNameOf(int op) const;
  bool HasScratch(int op) const;

  // Unset unless the operator accumulates slice by slice.
  const std::optional<KSlices>& SlicesOfK() const { return k_slices_; }

  // Its buffers. A rolling buffer is the tile buffer of both phases.
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
