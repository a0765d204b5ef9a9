#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/encoder/adapt/buffer_draft.h"
#include "tessera/encoder/adapt/residence.h"
#include "tessera/encoder/adapt/timeline.h"

namespace tessera::encoder {

// The buffers of one subgraph under construction, and the words in which their lifespans are told (tile_lifespans.h, kept_lifespans.h,
// constant_lifespans.h). Whatever moves is entered in the steps of the timeline too. All that it refers to outlives it.
class SubgraphDrafts {
 public:
  SubgraphDrafts(const graph::Graph& of, const hw_profiles::Profile& on, const SubgraphUses& used, int number,
                 Timeline& own, Timeline* of_the_one_before)
      : graph(of), profile(on), uses(used), subgraph(number), timeline(own), before(of_the_one_before) {}

  const graph::Graph& graph;
  const hw_profiles::Profile& profile;
  const SubgraphUses& uses;
  const int subgraph;
  Timeline& timeline;
  Timeline* const before;  // of the subgraph before, if there is one
  std::vector<BufferDraft> list;

  // Valid until the next one is opened. OpenFor: it holds the tensor, and is called s<subgraph>/<tensor><suffix>.
  BufferDraft& Open(BufferKind kind, std::string id);
  BufferDraft& OpenFor(const TensorUse& use, BufferKind kind, std::string_view suffix, int parity = 0);
  void SetTensor(BufferDraft& draft, const TensorUse& use) const;

  // What engines do to the tensor in one pass.
  void TouchByEngines(BufferDraft& draft, const TensorUse& use, const Pass& pass) const;

  // A transfer touches it at the step; at each of the steps [lower, upper), at which it lives; the same beside the subgraph before.
  void Move(BufferDraft& draft, const TensorUse& use, problem::Step step, problem::AccessKind kind) const;
  void MoveAlive(BufferDraft& draft, const TensorUse& use, problem::Step lower, problem::Step upper,
                 problem::AccessKind kind) const;
  void ArriveBefore(BufferDraft& draft, const TensorUse& use, problem::Step lower, problem::Step upper) const;

  std::string_view EngineOf(int k) const { return uses.engines[static_cast<size_t>(k)]; }
  const graph::Operator& OperatorAt(int k) const { return uses.OperatorAt(graph, k); }
  const graph::Tensor& TensorAt(int tensor) const { return graph.tensors[static_cast<size_t>(tensor)]; }
};

// The step of the pass at which kept rows are taken from the tile for the next one, if any are.
std::optional<problem::Step> SaveOf(const TensorUse& use, const Pass& pass);

// Where the tensor, made inside, is begun in the pass: at its maker's first step, or where kept rows come back.
problem::Step FirstStep(const TensorUse& use, const Pass& pass);

// The compute step of the last reader, or of the maker when nobody reads; the save step where rows are taken.
problem::Step LastUse(const TensorUse& use, const Pass& pass);

}  // namespace tessera::encoder
