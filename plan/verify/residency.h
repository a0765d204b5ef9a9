// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tessera/plan/index_box.h"
#include "tessera/plan/plan.h"

// Subgraphs that accumulate slice by slice: docs/program.md, "Split K".
namespace tessera::plan::verify {

// One operator and the tensors that it multiplies.
struct KSlices {
  int op = -1;
  int64_t k_extent = 1;
  int64_t granularity = 1;
  std::map<int, size_t> along;  // by tensor that is multiplied: the axis that runs over K
  int constant = -1;            // the constant among them, if any,
  size_t channels = 0;          // its axis of output channels,
  size_t result_channels = 0;   // and that of the result

  int64_t Count() const;
  Range SliceAt(int64_t slice) const;  // of K
  int64_t DepthOf(int64_t slice) const { return SliceAt(slice).Length(); }
};

// The granularity of K: the K extents of slices of the subgraph's first operator are multiples of
// it.
int64_t KStepOf(const Plan& plan, const Subgraph& subgraph);

// The K extent of the subgraph's slices; 0 if it has another policy.
int64_t KExtentOfSlices(const Plan& plan, const Subgraph& subgraph);

// Returns nullopt if the subgraph has another policy, or cannot have this one.
std::optional<KSlices> FindKSlices(const Plan& plan, const Subgraph& subgraph);

// Returns why a subgraph with the policy split K cannot have it, apart from the residency of its
// operands; empty if it can.
std::string SplitKFault(const Plan& plan, const Subgraph& subgraph);

// Whether transfers share steps with compute, instead of having separate steps.
bool IsDoubleBuffered(const Plan& plan, const Subgraph& subgraph);

// The residency of each tensor in each subgraph: docs/program.md, "How each tensor is held".

// The operators that use a tensor: indices, ascending, each once. Only state has several makers.
struct Users {
  std::vector<int> makers;
  std::vector<int> readers;  // as input or as weight

  int LastMaker() const { return makers.empty() ? -1 : makers.back(); }  // -1: there from the start
  bool AreReadAfter(int op) const { return !readers.empty() && readers.back() > op; }
};
std::vector<Users> FindUsers(const graph::Graph& network);

bool Contains(graph::Interval interval, int op);
bool AnyInside(const std::vector<int>& operators, graph::Interval interval);

// From the first to the last operator of the interval that makes or reads the tensor; from last to
// first if none does.
graph::Interval TouchedIn(const Users& users, graph::Interval interval);

base::TensorRole RoleOf(const graph::Tensor& tensor, const Users& users, graph::Interval interval);

// Whether operators of the interval make the tensor for others: it is an output, a state, read
// after the interval, or never read.
bool IsMadeForOthers(const graph::Tensor& tensor, const Users& users, graph::Interval interval);

// The role of a buffer's content, seen from its subgraph. For a whole buffer, seen from its maker's
// subgraph, or from the first subgraph if it has no maker. The buffer holds a tensor.
base::TensorRole RoleOf(const Plan& plan, const std::vector<Users>& users, const BufferUse& use);

// The role of a tensor that is not a feature, and its home in this role, as an index into the
// profile's memories. If the role has several homes, graph::Tensor::home selects one. Tensors that
// the plan keeps in the tile memory are treated as if they were not kept.
base::TensorRole RoleAtHome(const graph::Tensor& tensor);
int HomeOf(const Plan& plan, int tensor);

// Whether the tensor is a state or the next value of one, and lives in the tile memory.
bool IsStateInTileMemory(const Plan& plan, int tensor);

// The memory that holds a tensor of this role between subgraphs, as an index into the profile's
// memories: its home, but the tile memory for boundary tensors that the plan keeps.
int MemoryOf(const Plan& plan, int tensor, base::TensorRole role);

enum class Residency : uint8_t {
  kInner,     // a tile buffer, nothing is moved
  kLoaded,    // a tile buffer that a link fills
  kStored,    // a tile buffer that a link empties
  kWhole,     // at home in the tile memory, or kept there: one buffer over program time
  kDirect,    // stays in its home; no buffer
  kResident,  // a constant loaded once for the subgraph
  // loaded slice by slice for every tile: a constant with which each user computes channel by
  // channel, or an operand that is multiplied with split K
  kStreamed,
};

// The residency of one tensor in one subgraph whose operators use it.
struct Held {
  Residency residency = Residency::kInner;
  base::TensorRole role = base::TensorRole::kFeature;
  int home = 0;       // MemoryOf
  bool made = false;  // by an operator of the subgraph
  bool read = false;
  std::string link;   // between home and tile memory; empty if nothing is moved
  std::string fault;  // why the profile does not allow this; empty if it does
};
Held ResidencyOf(const Plan& plan, const std::vector<Users>& users, const Subgraph& subgraph,
                 int tensor);

// The tensors that the operators of the interval use, ascending.
std::vector<int> TensorsOf(const graph::Graph& network, graph::Interval interval);

// A constant that holds filters: index i along its axis `constant` serves index i along the axis
// `result` of the result, and no other. This holds for the filters of a convolution, one of which
// makes one channel, and for the columns of the matrix of a matmul with one operand. For any other
// constant (a bias, a table, a second factor) the part that an output channel uses is unknown. The
// constant is op.weights[position].
struct FilterAxes {
  size_t constant = 0;
  size_t result = 0;
};
std::optional<FilterAxes> FilterAxesOf(const graph::Graph& network, const graph::Operator& op,
                                       size_t position);

// The axes in the order of a permutation; in ascending order if the permutation is empty.
std::vector<int> OrderOf(const std::vector<int>& permutation, size_t rank);

// The axis over which the operator adds up or reduces: of a feature operand, or of a constant with
// filters. It exists if elements of the result are sums of products, or if the operator reduces.
std::optional<size_t> KAxisOfInput(const graph::Graph& network, const graph::Operator& op,
                                   size_t position);
std::optional<size_t> KAxisOfFilters(const graph::Graph& network, const graph::Operator& op);

// The slices in which a streamed constant of `op` arrives: ceil(O / g) slices of g output channels.
struct Slicing {
  int64_t channels = 1;     // O
  int64_t granularity = 1;  // g
  int64_t slices = 1;
};
Slicing SlicingOf(const Plan& plan, const graph::Operator& op, int constant);

// The indices along the constant's first axis that one of these slices holds.
Range FirstAxisOfSlice(const Plan& plan, const graph::Operator& op, int constant, int64_t slice);

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

// floor(whole * part / parts)
int64_t Portion(int64_t whole, int64_t part, int64_t parts);

// The bytes of this share, if the constant has `bytes` bytes.
int64_t ShareOfBytes(const graph::Graph& network, const Subgraph& user, int constant, int ahead,
                     int64_t bytes);

// Whether slices of the subgraph's streamed constants arrive before its operators run, as
// Subgraph::prefetch states. Only slices along channels do, in subgraphs of one tile.
bool TakesSlicesAhead(const Subgraph& subgraph);

// The number of slices that arrive ahead: each in eight parts of Subgraph::prefetch, the last one
// in what is left. 0 if none does.
int64_t SlicesAhead(const Subgraph& subgraph);

// The share of one of these slices that arrives `ahead` subgraphs before the subgraph that uses it,
// or when that one begins if `ahead` is 0: a range of indices along the first axis of the slice,
// which has `extent` of them.
Range ShareOfSlice(const Subgraph& user, int64_t slice, int64_t extent, int ahead);

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

  // The slices by which those that arrive are ahead of the one that is used: in round r of an
  // operator slice r + Lead() arrives. Slices alternate between Lead() + 1 slots.
  int64_t Lead() const { return std::max<int64_t>(1, SlicesAhead(Current())); }

  // The slices of the constant for that operator of which a share arrives `ahead` subgraphs before
  // this one.
  std::vector<int64_t> SlicesAheadOf(int op, int constant, int ahead) const;
  bool HasSlicesAhead(int constant, int ahead) const;  // for some operator

  // Whether the operator is of the second stage. LagOf: the tiles by which a tensor that is loaded
  // or stored runs behind the first stage: 1 if the second stage makes it, or reads it alone.
  bool IsLate(int op) const {
    return Current().second_stage > 0 && op >= Current().interval.first + Current().second_stage;
  }
  int64_t LagOf(int tensor) const;

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
