// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <set>
#include <span>
#include <vector>

#include "tessera/base/diagnostic.h"
#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/encoder/program/timeline.h"
#include "tessera/graph/graph.h"
#include "tessera/graph/tiling/tiling.h"
#include "tessera/hw_profiles/profile.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// Buffers that share one place, one after another. See in_place.cc.
class SharedPlaces {
 public:
  // The buffers must outlive this object. `relations` contains the colocations so far, each of an
  // operand and the result in its place; other relations are ignored.
  SharedPlaces(std::span<const problem::Buffer> buffers,
               std::span<const problem::Relation> relations);

  // Whether the result may take the place of the operand; arguments are indices of buffers. No
  // other result may have taken the place of the operand, and the result may not have taken another
  // place; the two lives share only steps of one of the `turns`; and every other buffer in either
  // place is disjoint in time from the buffers of the other place.
  bool MayJoin(size_t operand, size_t result, std::span<const problem::Lifespan> turns) const;

  void Join(const problem::Relation& relation);

 private:
  bool ShareOnly(std::span<const problem::Lifespan> turns, size_t a, size_t b) const;

  std::span<const problem::Buffer> buffers_;
  std::vector<size_t> place_;  // by buffer: a number shared by all buffers in one place
  std::vector<std::vector<size_t>> guests_;  // by that number: the buffers of the place
  std::set<size_t> operands_;                // whose place is taken
  std::set<size_t> results_;                 // that have taken a place
};

// Depthwise results in the place of their operands (docs/program.md, "Channel by channel").

// Whether the profile lets the operator work channel by channel, and each channel of its result
// depends only on the same channel of its operand.
bool WorksByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const graph::Operator& op);

// Lists in uses.by_channel the operators whose tiles in this tiling allow it. `uses` are marked for
// these tiles (MarkCached).
void MarkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::tiling::TiledSubgraph& tiling, SubgraphUses& uses);

// Bytes of one channel of the operator's result, in the largest tile; 0 if no tile needs any of it.
problem::Bytes ChannelBytes(const graph::Graph& graph, const graph::tiling::TiledSubgraph& tiling,
                            const graph::Operator& op);

// A program without the data that depends on the tile shapes: sizes of tiles and scratch are 1, and
// only channel-by-channel results are in place. It holds for every choice of tiles that has the
// same number of tiles up to phase (timeline.h), caches the same tensors, and allows the same
// operators to work channel by channel. Refers to the profile.
struct ProgramTemplate {
  Program program;
  std::vector<SubgraphUses> uses;   // by subgraph
  std::vector<Timeline> timelines;  // by subgraph
};

// `uses` and `tiles` are parallel. uses.by_channel lists the operators that may work channel by
// channel; the template keeps those that do.
ProgramTemplate BuildProgramTemplate(const graph::Graph& graph,
                                     const std::vector<graph::Usage>& usages,
                                     const hw_profiles::Profile& profile,
                                     std::vector<SubgraphUses> uses,
                                     std::span<const int64_t> tiles);

// Bytes of the buffer that holds a tile of the tensor, or of the rolling buffer with its rows, for
// this tiling. `uses` must be marked for it (MarkCached).
problem::Bytes TileBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling,
                         int tensor);

// Bytes of a slot that holds every K slice of an operand in turn. uses.split_k takes the tensor.
problem::Bytes KSliceBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                           const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling,
                           int tensor);

// The size of each buffer for these tilings. Refuses totals beyond base::kMaxTotal.
base::Expected<std::vector<problem::Bytes>> SizesOf(
    const graph::Graph& graph, const hw_profiles::Profile& profile,
    const ProgramTemplate& program_template, std::span<const graph::tiling::TiledSubgraph> tilings);

// Colocations of results with operands whose life ends as the results are made. `relations`
// contains the relations of halos and of earlier results in place, and `places` is made from them;
// both functions add to both. See in_place.cc.

// Adds the colocations of the operators that uses.by_channel names, for subgraph number `subgraph`
// of a program template. Operators without one are removed from that list.
void AddByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  ProgramTemplate& program_template, int subgraph, SharedPlaces& places,
                  std::vector<problem::Relation>& relations);

// Adds all other colocations of the subgraph for this tiling and these buffer sizes.
void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const ProgramTemplate& program_template, int subgraph,
                const graph::tiling::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                SharedPlaces& places, std::vector<problem::Relation>& relations);

// Returns the rules of the profile, resolved to the buffers of a program whose subgraphs cover
// these intervals (docs/program.md, "Rules"). A rule that selects nothing is omitted. Cost: rules *
// buffers * operators of a subgraph.
std::vector<problem::Rule> ResolveRules(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile, const Program& program,
                                        std::span<const graph::Interval> intervals);

}  // namespace tessera::encoder::program
