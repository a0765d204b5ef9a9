#pragma once

#include "tessera/graph/graph.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

// Which of several homes each tensor lives in (docs/program.md, "Several homes").
namespace tessera::encoder {

// The capacity without reserved ranges, each byte of which counts once.
problem::Bytes RoomOf(const hw_profiles::Memory& memory);

// The whole tensor in the layout of its role, pads not included; of a constant with its tables. `usage`: the tensor's.
problem::Bytes BytesAtHome(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const graph::Usage& usage, int tensor, base::TensorRole role);

// What offsets of tensors of this role in a home are multiples of, but for the alignment of the memory itself.
int64_t AlignmentAtHome(const hw_profiles::Profile& profile, base::TensorRole role, int memory);

// The role of a tensor wherever it is no feature. `tensor`: an index into graph.tensors.
base::TensorRole RoleAtHome(const graph::Graph& graph, int tensor);

// The memory that is home to the tensor when it has this role, as an index into Profile::memories; borders that a plan keeps in the tile
// memory apart.
int HomeOf(const graph::Graph& graph, const hw_profiles::Profile& profile, int tensor, base::TensorRole role);

// The network with graph::Tensor::home of every tensor as the rule of docs/program.md gives it. It depends neither on the order of the
// operators nor on what `home` was before. Cost: none to speak of where every role has one home; else O(n^2 / 64 + t * l) for n operators
// and t tensors in l lines.
graph::Graph WithHomes(graph::Graph graph, const hw_profiles::Profile& profile);

}  // namespace tessera::encoder
