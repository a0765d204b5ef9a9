// SPDX-License-Identifier: Apache-2.0

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

// A buffer under construction. Lives and accesses may be added in any order and may repeat.
struct BufferBuilder {
  BufferUse meaning;
  problem::Buffer buffer;

  // Adds the life [lower, upper) in steps; adds nothing if the two are equal.
  void Live(problem::Step lower, problem::Step upper);
  void LiveAt(problem::Step step) { Live(step, step + 1); }

  void Touch(problem::Step step, std::string_view engine, problem::AccessKind kind);

  // Sorts, merges lives that overlap or touch, and drops repetitions. Afterwards accesses are
  // ascending by step, then reads before writes, then by engine.
  void Finish();
};

// The buffers of one subgraph under construction, and the operations that define their lifespans.
// Every transfer is also entered in the steps of the timeline. All arguments must outlive this
// object.
class SubgraphDrafts {
 public:
  SubgraphDrafts(const graph::Graph& of, const hw_profiles::Profile& on, const SubgraphUses& used,
                 int number, Timeline& own, std::span<Timeline> of_earlier)
      : graph(of), profile(on), uses(used), subgraph(number), timeline(own), earlier(of_earlier) {}

  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const SubgraphUses& uses;
  const int subgraph;
  Timeline& timeline;
  const std::span<Timeline> earlier;  // of the subgraphs before, for prefetched constants
  std::vector<BufferBuilder> list;

  // Appends a buffer. The reference is valid until the next Open or OpenFor.
  BufferBuilder& Open(BufferKind kind, std::string id);
  // Appends a buffer that holds the tensor, with the id s<subgraph>/<tensor><suffix>.
  BufferBuilder& OpenFor(const TensorUse& use, BufferKind kind, std::string_view suffix,
                         int phase = 0);
  void SetTensor(BufferBuilder& draft, const TensorUse& use) const;

  // Adds the accesses of operator k in one pass (ComputeSteps).
  void TouchBy(BufferBuilder& draft, int k, const Pass& pass, problem::AccessKind kind) const;

  // Adds the accesses of engines to the tensor in one pass.
  void TouchByEngines(BufferBuilder& draft, const TensorUse& use, const Pass& pass) const;

  // Lets a transfer touch the buffer at the step.
  void Move(BufferBuilder& draft, const TensorUse& use, problem::Step step,
            problem::AccessKind kind) const;
  // Lets a transfer touch the buffer at each of the steps [lower, upper), at which it also lives.
  void MoveAlive(BufferBuilder& draft, const TensorUse& use, problem::Step lower,
                 problem::Step upper, problem::AccessKind kind) const;
  // Does the same as MoveAlive, for a load on the timeline of an earlier subgraph.
  void ArriveAhead(BufferBuilder& draft, const TensorUse& use, Timeline& carrier,
                   problem::Step lower, problem::Step upper) const;

  std::string_view EngineOf(int k) const { return uses.engines[static_cast<size_t>(k)]; }
  const graph::Operator& OperatorAt(int k) const { return uses.OperatorAt(graph, k); }
  const graph::Tensor& TensorAt(int tensor) const {
    return graph.tensors[static_cast<size_t>(tensor)];
  }
};

// Returns the steps of the pass at which operator k may compute: its own step, or if it is of the
// second stage, all of them.
problem::Lifespan ComputeSteps(const SubgraphUses& uses, const Pass& pass, int k);

// Returns the step of the pass at which kept rows are copied from the tile for the next tile, if
// rows are kept.
std::optional<problem::Step> SaveOf(const TensorUse& use, const Pass& pass);

// Returns the step of the pass at which a tensor made inside the subgraph begins to live: the first
// step of its maker, or the step at which kept rows return.
problem::Step FirstStep(const TensorUse& use, const Pass& pass);

// Returns the compute step of the last reader, or of the maker if there is no reader; the save step
// if rows are kept.
problem::Step LastUse(const TensorUse& use, const Pass& pass);

// Make the buffers that keep rows of a tensor from tile to tile: the rolling buffer that holds its
// tiles, the line in which rows wait, or the halo before the tile buffer of each phase.
void DraftRollingBuffer(SubgraphDrafts& drafts, const TensorUse& use);
void DraftLine(SubgraphDrafts& drafts, const TensorUse& use);
void DraftHalos(SubgraphDrafts& drafts, const TensorUse& use);

// Makes the tile buffers, by tensor, each with the rolling buffer, line or halos that keep its
// rows.
void DraftTiles(SubgraphDrafts& drafts);

// Makes the tile buffers of a tensor in a subgraph of two stages, if it has any (stages.cc).
void DraftStagedTile(SubgraphDrafts& drafts, const TensorUse& use);

// Makes the constants that are loaded once, by tensor. They may be loaded while earlier subgraphs
// run.
void DraftResidents(SubgraphDrafts& drafts);

// Makes the slots for the sliced inputs of an operator.
void DraftSlices(SubgraphDrafts& drafts, int k);

// Makes the buffers of subgraph number `subgraph`, except whole ones, in the order: resident
// constants, tiles, slices, scratch. Sizes of tiles and scratch depend on the tile shape; here they
// are 1. Enters each transfer in the steps of the timeline, except those of prefetched constants,
// which are entered in `earlier`, the timelines of the subgraphs before. See subgraph_buffers.cc.
std::vector<BufferBuilder> DraftBuffers(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        std::span<Timeline> earlier);

// Makes the scratch of operator k of the subgraph, for each phase, even if the profile states no
// scratch for it.
std::vector<BufferBuilder> DraftScratch(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile,
                                        const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                        int k);

// Makes the whole buffers of a program with their sizes, by tensor: for the tensors whose home is
// the tile memory, and for those kept there that live while the program runs, even if it does not
// touch them. `uses` and `timelines` are parallel: the subgraphs of the program in order, at least
// one. All subgraphs keep the same tensors.
std::vector<BufferBuilder> DraftWholeBuffers(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             std::span<const SubgraphUses> uses,
                                             std::span<const Timeline> timelines);

}  // namespace tessera::encoder::program
