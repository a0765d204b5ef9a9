#include "tessera/encoder/adapt/kept_lifespans.h"

#include <fmt/format.h>

#include <optional>

// Rows stay in the ring, which all passes share; else they wait for the next tile:
//
//            | pass 0: R_0 C_0 S_0 | pass 1: R_0 C_0 S_0 |
//     line   |  .. r         w  .. |  .. r         w  .. |        copied aside and back
//     halo 1 |               w     |     r    r          |        copied to where the next tile has it before its own rows
namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Step;

// From one step to another in the pass after, over the end of the loop if need be.
void LiveAcross(const Timeline& timeline, BufferDraft& draft, Step from, Step to) {
  if (from < to) {
    draft.Live(from, to + 1);
  } else {
    draft.Live(from, timeline.tile_loop->end);
    draft.Live(timeline.tile_loop->begin, to + 1);
  }
}

BufferDraft& OpenHalo(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  return drafts.OpenFor(use, BufferKind::kHalo, fmt::format("@{}.halo", parity), static_cast<int>(parity));
}

void FillRing(SubgraphDrafts& drafts, BufferDraft& draft, const TensorUse& use) {
  if (const auto load = drafts.timeline.loads.find(use.tensor); load != drafts.timeline.loads.end()) {
    drafts.Move(draft, use, load->second, AccessKind::kWrite);
    return;
  }
  drafts.MoveAlive(draft, use, *drafts.timeline.prologue, *drafts.timeline.prologue + 1, AccessKind::kWrite);
  for (size_t q = 0; q < drafts.timeline.passes.size(); ++q) {
    const Pass& pass = drafts.timeline.passes[q];
    if (drafts.timeline.After(q) != nullptr)
      drafts.MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kWrite);
  }
}

void DrainRing(SubgraphDrafts& drafts, BufferDraft& draft, const TensorUse& use) {
  if (const auto store = drafts.timeline.stores.find(use.tensor); store != drafts.timeline.stores.end()) {
    drafts.Move(draft, use, store->second, AccessKind::kRead);
    return;
  }
  drafts.MoveAlive(draft, use, *drafts.timeline.epilogue, *drafts.timeline.epilogue + 1, AccessKind::kRead);
  for (size_t q = 0; q < drafts.timeline.passes.size(); ++q) {
    const Pass& pass = drafts.timeline.passes[q];
    if (drafts.timeline.Before(q) != nullptr)
      drafts.MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kRead);
  }
}

}  // namespace

void DraftRing(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferDraft& draft = drafts.OpenFor(use, BufferKind::kRing, "@ring");
  for (const Pass& pass : drafts.timeline.passes) drafts.TouchByEngines(draft, use, pass);
  if (drafts.timeline.tile_loop) {
    draft.Live(drafts.timeline.tile_loop->begin, drafts.timeline.tile_loop->end);
  } else {
    const bool arrives = use.residence == Residence::kLoaded;
    draft.Live(arrives ? *drafts.timeline.prologue : FirstStep(use, drafts.timeline.passes.front()),
               use.residence == Residence::kStored ? *drafts.timeline.epilogue
                                                   : LastUse(use, drafts.timeline.passes.back()) + 1);
  }
  if (use.residence == Residence::kLoaded) FillRing(drafts, draft, use);
  if (use.residence == Residence::kStored) DrainRing(drafts, draft, use);
}

void DraftLine(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferDraft& draft = drafts.OpenFor(use, BufferKind::kLine, "@line");
  draft.buffer.alignment = hw_profiles::LayoutOf(drafts.profile, use.role).alignment_bytes;
  for (size_t q = 0; q < drafts.timeline.passes.size(); ++q) {
    const Pass* after = drafts.timeline.After(q);
    if (after == nullptr) continue;
    const Step save = drafts.timeline.passes[q].saves.at(use.Last());
    const Step restore = after->restores.at(use.First());
    LiveAcross(drafts.timeline, draft, save, restore);
    draft.Touch(save, drafts.EngineOf(use.Last()), AccessKind::kWrite);
    draft.Touch(restore, drafts.EngineOf(use.First()), AccessKind::kRead);
  }
}

void DraftHalos(SubgraphDrafts& drafts, const TensorUse& use) {
  for (size_t parity = 0; parity < drafts.timeline.Parities(); ++parity) {
    BufferDraft* halo = nullptr;
    for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
      const Pass* before = drafts.timeline.Before(q);
      if (before == nullptr) continue;
      if (halo == nullptr) halo = &OpenHalo(drafts, use, parity);
      const Pass& pass = drafts.timeline.passes[q];
      const Step filled = before->saves.at(use.Last());
      LiveAcross(drafts.timeline, *halo, filled, LastUse(use, pass));
      halo->Touch(filled, drafts.EngineOf(use.Last()), AccessKind::kWrite);
      for (const int k : use.readers)
        halo->Touch(pass.compute[static_cast<size_t>(k)], drafts.EngineOf(k), AccessKind::kRead);
      if (const auto save = SaveOf(use, pass))
        halo->Touch(*save, drafts.EngineOf(use.Last()), AccessKind::kRead);
    }
  }
}

}  // namespace tessera::encoder
