#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/encoder/program/program.h"
#include "tessera/encoder/program/residence.h"
#include "tessera/encoder/program/timeline.h"
#include "tessera/problem/problem.h"

namespace tessera::encoder::program {

// A buffer under construction: lives and accesses come in any order and may repeat.
struct BufferBuilder {
  ProgramBuffer meaning;
  problem::Buffer buffer;

  // Lives at steps [lower, upper); none if they are equal.
  void Live(problem::Step lower, problem::Step upper);
  void LiveAt(problem::Step step) { Live(step, step + 1); }

  void Touch(problem::Step step, std::string_view engine, problem::AccessKind kind);

  // Sorts, merges lives that overlap or touch, and drops repetitions. Accesses are ascending by
  // step, then reads before writes, then by engine.
  void Finish();
};

// The buffers of one subgraph under construction, and the words in which their lifespans are told
// (tile_lifespans.h, kept_lifespans.h, constant_lifespans.h). Whatever moves is entered in the
// steps of the timeline too. All that it refers to outlives it.
class SubgraphDrafts {
 public:
  SubgraphDrafts(const graph::Graph& of, const hw_profiles::Profile& on, const SubgraphUses& used,
                 int number, Timeline& own, Timeline* of_the_one_before)
      : graph(of),
        profile(on),
        uses(used),
        subgraph(number),
        timeline(own),
        before(of_the_one_before) {}

  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const SubgraphUses& uses;
  const int subgraph;
  Timeline& timeline;
  Timeline* const before;  // of the subgraph before, if there is one
  std::vector<BufferBuilder> list;

  // Valid until the next one is opened. OpenFor: it holds the tensor, and is called
  // s<subgraph>/<tensor><suffix>.
  BufferBuilder& Open(BufferKind kind, std::string id);
  BufferBuilder& OpenFor(const TensorUse& use, BufferKind kind, std::string_view suffix,
                         int phase = 0);
  void SetTensor(BufferBuilder& draft, const TensorUse& use) const;

  // What engines do to the tensor in one pass.
  void TouchByEngines(BufferBuilder& draft, const TensorUse& use, const Pass& pass) const;

  // A transfer touches it at the step; at each of the steps [lower, upper), at which it lives; the
  // same beside the subgraph before.
  void Move(BufferBuilder& draft, const TensorUse& use, problem::Step step,
            problem::AccessKind kind) const;
  void MoveAlive(BufferBuilder& draft, const TensorUse& use, problem::Step lower,
                 problem::Step upper, problem::AccessKind kind) const;
  void ArriveBefore(BufferBuilder& draft, const TensorUse& use, problem::Step lower,
                    problem::Step upper) const;

  std::string_view EngineOf(int k) const { return uses.engines[static_cast<size_t>(k)]; }
  const graph::Operator& OperatorAt(int k) const { return uses.OperatorAt(graph, k); }
  const graph::Tensor& TensorAt(int tensor) const {
    return graph.tensors[static_cast<size_t>(tensor)];
  }
};

// The step of the pass at which kept rows are taken from the tile for the next one, if any are.
std::optional<problem::Step> SaveOf(const TensorUse& use, const Pass& pass);

// Where the tensor, made inside, is begun in the pass: at its maker's first step, or where kept
// rows come back.
problem::Step FirstStep(const TensorUse& use, const Pass& pass);

// The compute step of the last reader, or of the maker when nobody reads; the save step where rows
// are taken.
problem::Step LastUse(const TensorUse& use, const Pass& pass);

// What keeps rows of a tensor from tile to tile: the rolling buffer in which its tiles lie, the
// line that rows wait in, or the halo before the tile buffer of each phase.
void DraftRollingBuffer(SubgraphDrafts& drafts, const TensorUse& use);
void DraftLine(SubgraphDrafts& drafts, const TensorUse& use);
void DraftHalos(SubgraphDrafts& drafts, const TensorUse& use);

// Tile buffers, tensor by tensor, each with the rolling buffer, line or halos that keep rows of it.
void DraftTiles(SubgraphDrafts& drafts);

// Constants that are loaded once, by tensor; perhaps while the subgraph before runs.
void DraftResidents(SubgraphDrafts& drafts);

// The slots in which an operator gets what comes in slices.
void DraftSlices(SubgraphDrafts& drafts, int k);

// The buffers of subgraph number `subgraph`, whole ones apart: resident constants, tiles, slices,
// scratch, in that order. Sizes of tiles and scratch, which depend on the tile shape, stay 1.
// Enters each transfer in the steps of the timeline, or of the one `before`, where constants are
// prefetched: there it is not nullptr. See lifespans.cc.
std::vector<BufferBuilder> DraftBuffers(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        Timeline* before);

// The scratch of operator k of the subgraph, for each phase, whether the profile gives it any or
// not.
std::vector<BufferBuilder> DraftScratch(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        int k);

// The whole buffers of a program, by tensor, sizes included: whatever is at home in the tile
// memory, or kept there, and held while the program runs, touched by it or not. `uses` and
// `timelines` are parallel: the program's subgraphs in order, at least one; all keep the same.
std::vector<BufferBuilder> DraftWholeBuffers(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             std::span<const SubgraphUses> uses,
                                             std::span<const Timeline> timelines);

}  // namespace tessera::encoder::program
