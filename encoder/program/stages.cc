// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>

#include "tessera/encoder/program/buffer_builder.h"
#include "tessera/encoder/program/choices.h"

// A subgraph of two stages: while the second stage runs on a tile, the first runs on the next tile,
// each operator on its engine. This is software pipelining with two stages. Softmax on a vector
// unit next to the products of a matrix unit:
//
//     slot          0      |     1         |     2         |     3       four tiles take five slots
//     matrix   product 0   | product 1     | product 2     | ..
//     vector               | softmax 0     | softmax 1     | ..
//
// A loop of two passes runs the slots: pass q runs the first stage on tiles of phase q, and the
// second on tiles of the other phase. The operators of a stage run in their order; between the
// stages nothing orders them but the data. So an operator of the second stage may run at any step
// of the pass, like a transfer: what it touches lives through the whole pass, and its accesses
// count at each step. The table, for a tile of phase 0:
//
//                                   | pass 0      | pass 1      | pass 0 again
//     made and read in stage 1      |   w  .  r   |             |
//     made in stage 1, read in 2    |   w  .  .   | r  r  r  r  |
//     made and read in stage 2      |             | *  *  *  *  |
//     loaded for stage 2            | w  w  w  w  | r  r  r  r  |
//     stored, made in stage 2       |             | w  w  w  w  | r  r  r  r      E, the last tile
//
// Cost: linear in the operators and their operands, as for one stage.
namespace tessera::encoder::program {
namespace {

using hw_profiles::HaloStorage;
using hw_profiles::WeightPolicy;
using problem::AccessKind;
using problem::Step;

// The fewest tiles for which the passes form a loop.
constexpr int64_t kLeastTiles = kMostStraightTiles;

// Adds the part of a tile's life in the pass of the first stage. `crosses`: the second stage reads
// it.
void LiveInFirstStage(const SubgraphDrafts& drafts, BufferBuilder& draft, const TensorUse& use,
                      const Pass& pass, bool crosses) {
  const SubgraphUses& uses = drafts.uses;
  const bool is_loaded = use.residence == Residence::kLoaded;
  const Step from = is_loaded ? pass.begin : FirstStep(use, pass);
  int last = use.makers.empty() ? use.readers.front() : use.makers.front();
  for (const int k : use.readers) {
    if (!uses.IsLate(k)) last = std::max(last, k);
  }
  const bool to_the_end = crosses || use.residence == Residence::kStored;
  draft.Live(from, to_the_end ? pass.end : pass.compute[static_cast<size_t>(last)] + 1);
}

void TouchStage(const SubgraphDrafts& drafts, BufferBuilder& draft, const TensorUse& use,
                const Pass& pass, bool late) {
  for (const int k : use.makers) {
    if (drafts.uses.IsLate(k) == late) drafts.TouchBy(draft, k, pass, AccessKind::kWrite);
  }
  for (const int k : use.readers) {
    if (drafts.uses.IsLate(k) == late) drafts.TouchBy(draft, k, pass, AccessKind::kRead);
  }
}

bool IsReadInBoth(const SubgraphUses& uses, const TensorUse& use) {
  return !use.readers.empty() && !uses.IsLate(use.readers.front()) &&
         uses.IsLate(use.readers.back());
}

}  // namespace

void DraftStagedTile(SubgraphDrafts& drafts, const TensorUse& use) {
  const bool is_stored = use.residence == Residence::kStored;
  const bool is_loaded = use.residence == Residence::kLoaded;
  if (!is_stored && !is_loaded && use.residence != Residence::kInside) return;
  const SubgraphUses& uses = drafts.uses;
  const int first = use.makers.empty() ? use.readers.front() : use.makers.front();
  const int last = use.readers.empty() ? use.makers.back() : std::max(use.readers.back(), first);
  const bool begins_late = uses.IsLate(first);
  const bool ends_late = uses.IsLate(last);
  for (size_t phase = 0; phase < 2; ++phase) {
    BufferBuilder& draft =
        drafts.OpenFor(use, BufferKind::kTile, fmt::format("@{}", phase), static_cast<int>(phase));
    const Pass& early = drafts.timeline.passes[phase];
    const Pass& late = drafts.timeline.passes[1 - phase];
    if (!begins_late) {
      LiveInFirstStage(drafts, draft, use, early, ends_late);
      TouchStage(drafts, draft, use, early, false);
    }
    if (ends_late) {
      draft.Live(late.begin, late.end);
      TouchStage(drafts, draft, use, late, true);
    }
    if (is_loaded) {
      const Pass& before = begins_late ? early : late;
      drafts.MoveAlive(draft, use, before.begin, before.end, AccessKind::kWrite);
      if (!begins_late && phase == 0) {
        const Step prologue = *drafts.timeline.prologue;
        drafts.MoveAlive(draft, use, prologue, prologue + 1, AccessKind::kWrite);
      }
    }
    if (is_stored) {
      const Pass& after = begins_late ? early : late;
      drafts.MoveAlive(draft, use, after.begin, after.end, AccessKind::kRead);
      if (begins_late && drafts.timeline.LastPass() == 1 - phase) {
        const Step epilogue = *drafts.timeline.epilogue;
        drafts.MoveAlive(draft, use, epilogue, epilogue + 1, AccessKind::kRead);
      }
    }
  }
}

std::optional<base::Diagnostic> FindStageFault(const graph::Graph& graph,
                                               const hw_profiles::Profile& profile,
                                               const SubgraphUses& uses,
                                               const SubgraphChoice& choice, int64_t tiles) {
  const Policy& policy = choice.policy;
  const hw_profiles::Memory& memory = profile.memories[static_cast<size_t>(profile.tile_memory)];
  const auto is_state = [&graph](const TensorUse& use) {
    const graph::Tensor& tensor = graph.tensors[static_cast<size_t>(use.tensor)];
    return tensor.state || tensor.next_of >= 0;
  };
  const auto is_loaded_for_both = [&uses](const TensorUse& use) {
    return use.residence == Residence::kLoaded && IsReadInBoth(uses, use);
  };
  std::string expected;
  if (hw_profiles::EnginesAtOnce(profile) < 2 ||
      uses.dma != hw_profiles::DmaSteps::kDoubleBuffered) {
    expected = "a profile with concurrent: true and several engines, and double-buffered transfers";
  } else if (!memory.modes.empty()) {
    expected = "a tile memory without modes";
  } else if (policy.second_stage >= uses.Operators()) {
    expected = "an operator of the subgraph but the first";
  } else if (policy.halo != HaloStorage::kRecompute || policy.in_place ||
             !choice.prefetch.empty() ||
             (policy.weights != WeightPolicy::kResident &&
              policy.weights != WeightPolicy::kDirect)) {
    expected = "weights resident or direct, halo recompute, nothing in place or prefetched";
  } else if (tiles < kLeastTiles) {
    expected = fmt::format("at least {} tiles", kLeastTiles);
  } else if (std::any_of(uses.tensors.begin(), uses.tensors.end(), is_state)) {
    expected = "no state among its tensors";
  } else if (std::any_of(uses.tensors.begin(), uses.tensors.end(), is_loaded_for_both)) {
    expected = "each tensor that is loaded to be read in one stage";
  } else {
    return std::nullopt;
  }
  base::Diagnostic fault;
  fault.message = fmt::format("the subgraph that begins with '{}' cannot have two stages",
                              uses.OperatorAt(graph, 0).id);
  fault.expected = std::move(expected);
  fault.hint = "leave out second_stage";
  return fault;
}

}  // namespace tessera::encoder::program
