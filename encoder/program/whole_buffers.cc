// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "tessera/encoder/program/buffer_builder.h"
#include "tessera/encoder/program/layout.h"

// A tensor that is at home in the tile memory, or kept there, is one buffer, with one address for
// all subgraphs that touch it.
//
//     step   0        s0         |       s1 (a loop)     |      s2        |
//     in     |-------------------|                             last read in s0, which has one tile
//     a             |------------------------------------|     made in s0, read in the loop: lives
//                                                              to the end of the loop
//     b                          |-----------------------------------|
//                                                              made in the loop: lives from the
//                                                              begin of the loop
//     w      |----------------------------------------------------------|
//                                                              a constant: always present
//
// Within a loop a tensor lives from begin to end, because every tile makes or reads a part of it.
// If a few tiles run straight through, it lives from its maker's first pass to its reader's last
// one. Cost: n log n in the tensors that subgraphs touch, plus the tensors of the graph and all
// accesses.
namespace tessera::encoder::program {
namespace {

using base::TensorRole;
using problem::AccessKind;
using problem::Step;

class WholeDrafter {
 public:
  WholeDrafter(const graph::Graph& graph, const std::vector<graph::Usage>& usages,
               const hw_profiles::Profile& profile, std::span<const SubgraphUses> uses,
               std::span<const Timeline> timelines)
      : graph_(graph),
        usages_(usages),
        profile_(profile),
        uses_(uses),
        timelines_(timelines),
        program_{uses.front().interval.first, uses.back().interval.last} {
    for (size_t s = 0; s < uses.size(); ++s) {
      for (const TensorUse& use : uses[s].tensors) touches_.push_back({use.tensor, s, &use});
      for (const TensorUse& use : uses[s].constants) touches_.push_back({use.tensor, s, &use});
    }
    std::stable_sort(touches_.begin(), touches_.end(), BeforeTensor());
  }

  std::vector<BufferBuilder> Draft() {
    std::vector<BufferBuilder> drafts;
    for (const int tensor : MayBeHeldInTileMemory(graph_, profile_, uses_.front().kept)) {
      if (!IsHeld(tensor)) continue;
      const TensorRole role = RoleOf(tensor);
      if (role != TensorRole::kFeature &&
          IsHeldInTileMemory(graph_, profile_, uses_.front().kept, tensor, role))
        drafts.push_back(Draft(tensor, role));
    }
    return drafts;
  }

 private:
  // A tensor that a subgraph touches.
  struct Touching {
    int tensor = -1;
    size_t subgraph = 0;
    const TensorUse* use = nullptr;
  };

  struct BeforeTensor {
    bool operator()(const Touching& a, const Touching& b) const { return a.tensor < b.tensor; }
  };

  BufferBuilder Draft(int tensor, TensorRole role) const {
    BufferBuilder draft;
    draft.meaning.kind = BufferKind::kWhole;
    draft.meaning.tensor = tensor;
    draft.buffer.id = TensorAt(tensor).id;
    draft.buffer.name = TensorAt(tensor).id;
    draft.buffer.role = base::NameOf(role);
    draft.buffer.size = SizeOf(tensor, role);
    draft.buffer.alignment = hw_profiles::LayoutOf(profile_, role).alignment_bytes;
    draft.buffer.span = profile_.memories[static_cast<size_t>(profile_.tile_memory)].span;
    draft.Live(StartOf(tensor), EndOf(tensor));
    const auto [first, last] =
        std::equal_range(touches_.begin(), touches_.end(), Touching{tensor}, BeforeTensor());
    std::for_each(first, last, [&](const Touching& each) { Touch(draft, each); });
    draft.Finish();
    return draft;
  }

  // The role of a tensor in the subgraph that makes it; in the first subgraph if none makes it.
  TensorRole RoleOf(int tensor) const {
    const size_t maker = SubgraphOf(usages_[static_cast<size_t>(tensor)].producer).value_or(0);
    return graph::RoleIn(graph_, usages_[static_cast<size_t>(tensor)], tensor,
                         uses_[maker].interval);
  }

  // Whether the tensor is made before the end of the program and needed after its begin.
  bool IsHeld(int index) const {
    const graph::Tensor& tensor = TensorAt(index);
    const graph::Usage& usage = usages_[static_cast<size_t>(index)];
    if (tensor.constant || tensor.state) return true;
    if (usage.producer > program_.last) return false;
    return WantedToTheEnd(index) || usage.consumers.back() >= program_.first;
  }

  // Whether the tensor is needed at the end of the program: a constant, a state, a network output,
  // a tensor without reader, or one that is read after the program.
  bool WantedToTheEnd(int index) const {
    const graph::Tensor& tensor = TensorAt(index);
    const std::vector<int>& consumers = usages_[static_cast<size_t>(index)].consumers;
    return tensor.constant || tensor.state || tensor.network_output || consumers.empty() ||
           consumers.back() > program_.last;
  }

  Step StartOf(int index) const {
    const graph::Tensor& tensor = TensorAt(index);
    const int producer = usages_[static_cast<size_t>(index)].producer;
    const std::optional<size_t> s = SubgraphOf(producer);
    if (tensor.constant || tensor.state || tensor.network_input || !s) return 0;
    const Timeline& timeline = timelines_[*s];
    if (timeline.tile_loop) return timeline.tile_loop->begin;
    return timeline.passes.front().first[static_cast<size_t>(producer - uses_[*s].interval.first)];
  }

  Step EndOf(int index) const {
    if (WantedToTheEnd(index)) return timelines_.back().end;
    const int reader = usages_[static_cast<size_t>(index)].consumers.back();
    const size_t s = SubgraphOf(reader).value();
    const Timeline& timeline = timelines_[s];
    if (timeline.tile_loop) return timeline.tile_loop->end;
    return timeline.passes.back().compute[static_cast<size_t>(reader - uses_[s].interval.first)] +
           1;
  }

  problem::Bytes SizeOf(int index, TensorRole role) const {
    const graph::Tensor& tensor = TensorAt(index);
    const std::vector<int>& readers = usages_[static_cast<size_t>(index)].consumers;
    if (tensor.constant) return ConstantBytes(graph_, profile_, index, readers);
    return FeatureBytes(hw_profiles::LayoutOf(profile_, role), tensor.type,
                        NameExtents(tensor.shape, tensor.shape),
                        PadsFor(graph_, profile_, readers));
  }

  void Touch(BufferBuilder& draft, const Touching& touching) const {
    const size_t s = touching.subgraph;
    for (const Pass& pass : timelines_[s].passes) {
      for (const int k : touching.use->makers) TouchAt(draft, s, pass, k, AccessKind::kWrite);
      for (const int k : touching.use->readers) TouchAt(draft, s, pass, k, AccessKind::kRead);
    }
  }

  void TouchAt(BufferBuilder& draft, size_t s, const Pass& pass, int k, AccessKind kind) const {
    const problem::Lifespan steps = ComputeSteps(uses_[s], pass, k);
    for (Step step = steps.lower; step < steps.upper; ++step)
      draft.Touch(step, uses_[s].engines[static_cast<size_t>(k)], kind);
  }

  std::optional<size_t> SubgraphOf(int op) const {
    const auto after =
        std::partition_point(uses_.begin(), uses_.end(),
                             [op](const SubgraphUses& uses) { return uses.interval.last < op; });
    if (after == uses_.end() || op < after->interval.first) return std::nullopt;
    return static_cast<size_t>(after - uses_.begin());
  }

  const graph::Tensor& TensorAt(int tensor) const {
    return graph_.tensors[static_cast<size_t>(tensor)];
  }

  const graph::Graph& graph_;
  const std::vector<graph::Usage>& usages_;
  const hw_profiles::Profile& profile_;
  std::span<const SubgraphUses> uses_;
  std::span<const Timeline> timelines_;
  graph::Interval program_;
  std::vector<Touching> touches_;  // by tensor, then in the order of the subgraphs
};

}  // namespace

std::vector<BufferBuilder> DraftWholeBuffers(const graph::Graph& graph,
                                             const std::vector<graph::Usage>& usages,
                                             const hw_profiles::Profile& profile,
                                             std::span<const SubgraphUses> uses,
                                             std::span<const Timeline> timelines) {
  return WholeDrafter(graph, usages, profile, uses, timelines).Draft();
}

}  // namespace tessera::encoder::program
