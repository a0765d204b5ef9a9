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

// Buffers that lie in one place, one after another. See shared_places.cc.
class SharedPlaces {
 public:
  // The buffers outlive it. `relations`: colocations so far, each of an operand and the result in
  // its place; others do not count.
  SharedPlaces(std::span<const problem::Buffer> buffers,
               std::span<const problem::Relation> relations);

  // Whether the result may take the place of the operand, by indices of buffers: neither did so
  // before, the lives of the two have nothing in common but steps of one of the turns, and
  // everybody else who lies in either place keeps clear of the other's.
  bool MayJoin(size_t operand, size_t result, std::span<const problem::Lifespan> turns) const;

  void Join(const problem::Relation& relation);

 private:
  bool ShareOnly(std::span<const problem::Lifespan> turns, size_t a, size_t b) const;

  std::span<const problem::Buffer> buffers_;
  std::vector<size_t> place_;  // by buffer: a number that all who lie in one place have in common
  std::vector<std::vector<size_t>> guests_;  // by that number: who lie there
  std::set<size_t> operands_;                // whose place is taken
  std::set<size_t> results_;                 // who have taken one
};

// Depthwise results in the place of their operands (docs/program.md, "Channel by channel").

// Whether the profile lets the operator work so, and each channel of its result is made of the same
// channel of its operand.
bool WorksByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                    const graph::Operator& op);

// Lists in uses.by_channel the operators whose tiles, cut like that, allow it. `uses` are marked
// for these tiles (MarkCached).
void MarkByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                   const graph::tiling::TiledSubgraph& tiling, SubgraphUses& uses);

// Bytes of one channel of the operator's result, in the largest tile.
problem::Bytes ChannelBytes(const graph::Graph& graph, const graph::tiling::TiledSubgraph& tiling,
                            const graph::Operator& op);

// A program without what depends on the tile shapes: sizes of tiles and scratch are 1, and nothing
// is in place but channel by channel. It holds for every choice of tiles that has the same numbers
// of tiles up to phase (timeline.h), caches the same tensors and allows the same operators to work
// channel by channel. Refers to the profile.
struct ProgramTemplate {
  Program program;
  std::vector<SubgraphUses> uses;   // by subgraph
  std::vector<Timeline> timelines;  // by subgraph
};

// `uses` and `tiles` are parallel. Of uses.by_channel, what may be done by channel, the program
// template keeps what is.
ProgramTemplate BuildProgramTemplate(const graph::Graph& graph,
                                     const std::vector<graph::Usage>& usages,
                                     const hw_profiles::Profile& profile,
                                     std::vector<SubgraphUses> uses,
                                     std::span<const int64_t> tiles);

// Bytes of the buffer that holds a tile of the tensor, or the rolling buffer with its rows, when
// the subgraph is cut like that. `uses` are marked accordingly (MarkCached).
problem::Bytes TileBytes(const graph::Graph& graph, const hw_profiles::Profile& profile,
                         const SubgraphUses& uses, const graph::tiling::TiledSubgraph& tiling,
                         int tensor);

// The size of each buffer when the subgraphs are cut like that. Refuses totals beyond
// base::kMaxTotal.
base::Expected<std::vector<problem::Bytes>> SizesOf(
    const graph::Graph& graph, const hw_profiles::Profile& profile,
    const ProgramTemplate& program_template, std::span<const graph::tiling::TiledSubgraph> tilings);

// Colocations of results with operands that die as they are made. `relations` hold those of halos
// and of what was put in place before; more are appended. See in_place.cc.

// Of subgraph number `subgraph` of a program template, those of the operators that uses.by_channel
// names. The others are taken off that list.
void AddByChannel(const graph::Graph& graph, const hw_profiles::Profile& profile,
                  ProgramTemplate& program_template, int subgraph,
                  std::vector<problem::Relation>& relations);

// All others of the subgraph, when it is cut like `tiling` and its buffers have these sizes.
void AddInPlace(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const ProgramTemplate& program_template, int subgraph,
                const graph::tiling::TiledSubgraph& tiling, std::span<const problem::Bytes> sizes,
                std::vector<problem::Relation>& relations);

// The profile's rules, resolved onto the buffers of a program whose subgraphs cover these intervals
// (docs/program.md, "Rules"). A rule that selects nothing is left out. Cost: rules * buffers *
// operators of a subgraph.
std::vector<problem::Rule> ResolveRules(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile, const Program& program,
                                        std::span<const graph::Interval> intervals);

}  // namespace tessera::encoder::program
