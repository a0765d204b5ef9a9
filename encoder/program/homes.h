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

// Which of several homes each tensor lives in (docs/program.md, "Several homes").
namespace tessera::encoder::program {

// The capacity without reserved ranges, each byte of which counts once.
problem::Bytes RoomOf(const hw_profiles::Memory& memory);

// The whole tensor in the layout of its role, pads not included; of a constant with its tables.
// `usage`: the tensor's.
problem::Bytes BytesAtHome(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const graph::Usage& usage, int tensor, base::TensorRole role);

// What offsets of tensors of this role in a home are multiples of, but for the alignment of the
// memory itself.
int64_t AlignmentAtHome(const hw_profiles::Profile& profile, base::TensorRole role, int memory);

// The role of a tensor wherever it is no feature. `tensor`: an index into graph.tensors.
base::TensorRole RoleAtHome(const graph::Graph& graph, int tensor);

// The memory that is home to the tensor when it has this role, as an index into Profile::memories;
// boundary tensors that a plan keeps in the tile memory apart.
int HomeOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor,
           base::TensorRole role);

// The network with graph::Tensor::home of every tensor as the rule of docs/program.md gives it. It
// depends neither on the order of the operators nor on what `home` was before. Cost: none to speak
// of where every role has one home; else O(n^2 / 64 + t * l) for n operators and t tensors in l
// lines.
graph::Graph WithHomes(graph::Graph graph, const hw_profiles::Profile& profile);

// What the memories outside the tile memory are home to, and whether they hold it (docs/program.md,
// "Homes").

// The first overflow of such a memory while one of the subgraphs runs: which memory, which
// operators, how many bytes and for how many there is room; or nullopt. The choices are
// consecutive; where they cover a part of the network, only tensors that they touch or that pass
// over them count. Cost: linear in tensors and subgraphs, plus the subgraphs that each tensor
// stays.
std::optional<base::Diagnostic> FindHomeOverflow(const graph::Graph& graph,
                                                 const hw_profiles::Profile& profile,
                                                 std::span<const SubgraphChoice> choices);

// The same for many subgraphs of one network by themselves: what a home holds while one runs
// follows from its operators and from what is kept on chip, wherever else the network is cut. Graph
// and profile outlive it.
class HomeRoom {
 public:
  HomeRoom(const graph::Graph& graph, const hw_profiles::Profile& profile);

  // `kept`: of the boundary tensors that the interval touches or that pass over it. Cost: linear in
  // tensors; none where every home has room for all of its tensors at once.
  std::optional<base::Diagnostic> FindOverflow(graph::Interval interval,
                                               const std::vector<int>& kept) const;

 private:
  // Empty where every home has room for all of its tensors at once.
  std::function<std::optional<base::Diagnostic>(graph::Interval, const std::vector<int>&)> find_;
};

// An overflow by constants and state alone, which no partition can avoid; or nullopt.
std::optional<base::Diagnostic> FindConstantOverflow(const graph::Graph& graph,
                                                     const hw_profiles::Profile& profile);

// A memory that holds too little, and what is at home there at the time. The first, as
// FindHomeOverflow and FindConstantOverflow find it, which comes next, where there are no choices;
// or nullopt.
struct HomeOverflow {
  int memory = 0;             // index into Profile::memories
  problem::Bytes needed = 0;  // of all tensors together
  problem::Bytes room = 0;
  std::vector<std::pair<int, problem::Bytes>> tensors;  // largest first
};
std::optional<HomeOverflow> FindOverfullHome(const graph::Graph& graph,
                                             const hw_profiles::Profile& profile,
                                             std::span<const SubgraphChoice> choices);

// Where the tensors at home in one memory may lie: a Problem of its own, whose steps are the
// subgraphs and whose buffers bear the tensors' ids.
struct HomeProblem {
  int memory = 0;  // index into Profile::memories
  problem::Problem problem;
  std::vector<int> tensors;  // parallel to problem.buffers, ascending
};

// One for each memory but the tile memory to which some tensor is home, by memory. The choices
// cover the network, and FindHomeOverflow finds nothing.
std::vector<HomeProblem> BuildHomes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                    std::span<const SubgraphChoice> choices);

}  // namespace tessera::encoder::program
