#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/plan/depth.h"
#include "tessera/plan/holdings.h"

namespace tessera::plan {

// A streamed operand of one operator.
struct Stream {
  int tensor = 0;
  int64_t slices = 1;
};

// One subgraph: how it holds each of its tensors, and which of its operators moves or copies what. Plan and users outlive it.
class SubgraphHoldings {
 public:
  // `cached`: the tensors of which rows stay from tile to tile.
  SubgraphHoldings(const Plan& plan, const std::vector<Users>& users, int subgraph, std::set<int> cached);

  int Index() const { return subgraph_; }
  const Subgraph& Current() const { return plan_->subgraphs[static_cast<size_t>(subgraph_)]; }
  const graph::Operator& At(int op) const { return plan_->network.operators[static_cast<size_t>(op)]; }
  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

  // The tensors of that holding, in order of first use.
  std::vector<int> All(Holding holding) const;

  // Each once.
  std::vector<Stream> StreamsOf(int op) const;

  // Whether rows of the tensor stay from tile to tile, in that way.
  bool Caches(int tensor, hw_profiles::HaloStorage halo) const;

  // The cached tensors that the operator makes, or, of loaded ones, reads before all others; those that it reads last.
  std::vector<int> CachedFirstBy(int op) const { return CachedAt(op, true); }
  std::vector<int> CachedLastBy(int op) const { return CachedAt(op, false); }

  // Whether rows are copied into tiles before the operator's step, or out of them after it.
  bool Restores(int op) const;
  bool Saves(int op) const;

  // The engine's name; empty where none runs the operator.
  std::string EngineNameOf(int op) const;
  bool HasScratch(int op) const;

  // Whether the operator adds up slice by slice.
  bool Accumulates() const { return depth_.has_value(); }

  // Its buffers. A ring serves as tile buffer of both parities.
  BufferUse TileOf(int tensor, int parity) const;
  BufferUse LineOf(int tensor) const { return {BufferKind::kLine, subgraph_, tensor, -1, 0, 0}; }
  BufferUse HaloOf(int tensor, int parity) const {
    return {BufferKind::kHalo, subgraph_, tensor, -1, parity, 0};
  }
  BufferUse ResidentOf(int constant) const { return {BufferKind::kResident, subgraph_, constant, -1, 0, 0}; }
  BufferUse SliceOf(int op, int tensor, int parity, int slot) const {
    return {BufferKind::kSlice, subgraph_, tensor, op, parity, slot};
  }
  BufferUse ScratchOf(int op, int parity) const {
    return {BufferKind::kScratch, subgraph_, -1, op, parity, 0};
  }
  BufferUse AccumulatorOf(int op, int parity) const {
    return {BufferKind::kAccumulator, subgraph_, -1, op, parity, 0};
  }

 private:
  std::vector<int> CachedAt(int op, bool first) const;

  const Plan* plan_;
  int subgraph_;
  std::set<int> cached_;
  std::map<int, Held> held_;
  std::optional<DepthSlices> depth_;
};

}  // namespace tessera::plan
