// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// Selects the home of each tensor among several (docs/program.md, "Several homes").
namespace tessera::encoder::program {

// Returns the capacity without reserved ranges. Each byte counts once, even if ranges overlap.
problem::Bytes RoomOf(const hw_profiles::Memory& memory);

// Bytes of the whole tensor in the layout of its role, without pads; for a constant, with its
// tables. `usage`: the usage of the tensor.
problem::Bytes BytesAtHome(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const graph::Usage& usage, int tensor, base::TensorRole role);

// The alignment of offsets of tensors of this role in a home, without the alignment of the memory
// itself.
int64_t AlignmentAtHome(const hw_profiles::Profile& profile, base::TensorRole role, int memory);

// The role of a tensor wherever it is not a feature. `tensor`: an index into graph.tensors.
base::TensorRole RoleAtHome(const graph::Graph& graph, int tensor);

// The home memory of the tensor in this role, as an index into Profile::memories. Boundary tensors
// that a plan keeps in the tile memory are not considered.
int HomeOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
           base::TensorRole role);

// Returns the stored bytes of a constant, or a part of one, of so many bytes: at the ratio of the
// profile if it has one.
problem::Bytes StoredBytes(const hw_profiles::Profile& profile, problem::Bytes packed);

// Returns the network with the stored bytes of constants that follow from the profile's ratio.
graph::Graph WithStoredBytes(graph::Graph graph, const hw_profiles::Profile& profile);

// Returns the network of WithStoredBytes, with graph::Tensor::home of every tensor set by the rule
// of docs/program.md. The result depends neither on the order of the operators nor on earlier
// values of `home`. Cost: negligible if every role has one home; else O(n^2 / 64 + t * l) for n
// operators and t tensors in l lines.
graph::Graph WithHomes(graph::Graph graph, const hw_profiles::Profile& profile);

// The contents of the memories outside the tile memory, and whether they fit (docs/program.md,
// "Homes").

// The first overflow of such a memory while one of the subgraphs runs, or nullopt. The diagnostic
// names the memory, the operators, the bytes needed and the bytes available. The choices are
// consecutive. If they cover a part of the network, only tensors that they touch or that pass over
// them count. Cost: linear in tensors and subgraphs, plus the number of subgraphs for which each
// tensor stays.
std::optional<base::Diagnostic> FindHomeOverflow(const graph::Graph& graph,
                                                 const hw_profiles::Profile& profile,
                                                 std::span<const SubgraphChoice> choices);

// Finds overflows for single subgraphs of one network. The contents of a home while a subgraph runs
// follow from its operators and from the tensors kept on chip; they do not depend on the other cuts
// of the network. Graph and profile must outlive this object.
class HomeCapacity {
 public:
  HomeCapacity(const graph::Graph& graph, const hw_profiles::Profile& profile);

  // Returns the overflow while the interval runs, or nullopt. `kept` lists the kept tensors among
  // the boundary tensors that the interval touches or that pass over it. Cost: linear in tensors;
  // none if every home has space for all of its tensors at the same time.
  std::optional<base::Diagnostic> FindOverflow(graph::Interval interval,
                                               const std::vector<int>& kept) const;

  // Whether every home has space for all of its tensors at the same time.
  bool HoldsEverything() const { return find_ == nullptr; }

 private:
  // Empty if every home has space for all of its tensors at the same time.
  std::function<std::optional<base::Diagnostic>(graph::Interval, const std::vector<int>&)> find_;
};

// An overflow caused by constants and state alone, or nullopt. No partition can avoid it.
std::optional<base::Diagnostic> FindConstantOverflow(const graph::Graph& graph,
                                                     const hw_profiles::Profile& profile);

// A memory that is too small, and the tensors that it holds at that time.
struct HomeOverflow {
  int memory = 0;             // index into Profile::memories
  problem::Bytes needed = 0;  // total of all tensors
  problem::Bytes room = 0;
  std::vector<std::pair<int, problem::Bytes>> tensors;  // largest first
};
// Returns the first overflow, in the order of FindHomeOverflow and then of FindConstantOverflow
// (which alone applies without choices), or nullopt.
std::optional<HomeOverflow> FindOverfullHome(const graph::Graph& graph,
                                             const hw_profiles::Profile& profile,
                                             std::span<const SubgraphChoice> choices);

// The placement of the tensors whose home is one memory, as a separate Problem. Its steps are the
// subgraphs; its buffers have the ids of the tensors.
struct HomeProblem {
  int memory = 0;  // index into Profile::memories
  problem::Problem problem;
  std::vector<int> tensors;  // parallel to problem.buffers, ascending
};

// Returns one Problem for each memory, except the tile memory, that is the home of some tensor;
// ordered by memory. The choices cover the network, and FindHomeOverflow finds nothing.
std::vector<HomeProblem> BuildHomes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    std::span<const SubgraphChoice> choices);

}  // namespace tessera::encoder::program
