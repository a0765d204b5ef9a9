// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
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

}  // namespace tessera::plan::verify
