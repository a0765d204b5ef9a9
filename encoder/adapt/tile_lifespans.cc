#include "tessera/encoder/adapt/tile_lifespans.h"

#include <fmt/format.h>

#include <algorithm>

#include "tessera/encoder/adapt/kept_lifespans.h"

// A tile arrives in the pass before its own and leaves in the pass after it:
//
//            P | pass 0: C_0 C_1 .. C_{n-1} | pass 1: C_0 C_1 .. C_{n-1} | E
//     ping   w |  r  r                      |  w  w  ..  w               |        loaded, parity 0
//     pong     |  w  w  ..  w               |  r  r                      |        loaded, parity 1
//     out 0    |         w  ..              |  r  r  ..  r               | r      stored, parity 0, odd number of tiles
//
// In a loop either is the other pass; up to three tiles have a pass each, and what would come before the first or after the last is P
// or E. So the rows for one tile, for few and for many are one function each, which goes through the passes of the buffer's parity.
namespace tessera::encoder {
namespace {

using hw_profiles::HaloStorage;
using problem::AccessKind;

BufferDraft& OpenTile(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  return drafts.OpenFor(use, BufferKind::kTile, fmt::format("@{}", parity), static_cast<int>(parity));
}

void AddInside(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  BufferDraft& draft = OpenTile(drafts, use, parity);
  for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
    const Pass& pass = drafts.timeline.passes[q];
    draft.Live(FirstStep(use, pass), LastUse(use, pass) + 1);
    drafts.TouchByEngines(draft, use, pass);
  }
}

void AddLoaded(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  BufferDraft& draft = OpenTile(drafts, use, parity);
  const auto load = drafts.timeline.loads.find(use.tensor);
  for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
    const Pass& pass = drafts.timeline.passes[q];
    drafts.TouchByEngines(draft, use, pass);
    if (load != drafts.timeline.loads.end()) {
      draft.Live(load->second, LastUse(use, pass) + 1);
      drafts.Move(draft, use, load->second, AccessKind::kWrite);
      continue;
    }
    draft.Live(pass.begin, LastUse(use, pass) + 1);
    if (q == 0)
      drafts.MoveAlive(draft, use, *drafts.timeline.prologue, *drafts.timeline.prologue + 1,
                       AccessKind::kWrite);
    if (const Pass* before = drafts.timeline.Before(q))
      drafts.MoveAlive(draft, use, before->begin, before->end, AccessKind::kWrite);
  }
}

void AddStored(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  BufferDraft& draft = OpenTile(drafts, use, parity);
  const auto store = drafts.timeline.stores.find(use.tensor);
  for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
    const Pass& pass = drafts.timeline.passes[q];
    drafts.TouchByEngines(draft, use, pass);
    if (store != drafts.timeline.stores.end()) {
      draft.Live(FirstStep(use, pass), std::max(store->second, LastUse(use, pass)) + 1);
      drafts.Move(draft, use, store->second, AccessKind::kRead);
      continue;
    }
    draft.Live(FirstStep(use, pass), pass.end);
    if (const Pass* after = drafts.timeline.After(q))
      drafts.MoveAlive(draft, use, after->begin, after->end, AccessKind::kRead);
    if (q == drafts.timeline.LastPass())
      drafts.MoveAlive(draft, use, *drafts.timeline.epilogue, *drafts.timeline.epilogue + 1,
                       AccessKind::kRead);
  }
}

// Nothing where the tensor has no tile buffer.
void AddTile(SubgraphDrafts& drafts, const TensorUse& use, size_t parity) {
  if (use.residence == Residence::kInside) AddInside(drafts, use, parity);
  if (use.residence == Residence::kLoaded) AddLoaded(drafts, use, parity);
  if (use.residence == Residence::kStored) AddStored(drafts, use, parity);
}

}  // namespace

void DraftTiles(SubgraphDrafts& drafts) {
  for (const TensorUse& use : drafts.uses.tensors) {
    if (use.cached && drafts.uses.halo == HaloStorage::kRing) {
      DraftRing(drafts, use);
      continue;
    }
    for (size_t parity = 0; parity < drafts.timeline.Parities(); ++parity) AddTile(drafts, use, parity);
    if (use.cached && drafts.uses.halo == HaloStorage::kCopy) DraftLine(drafts, use);
    if (use.cached && drafts.uses.halo == HaloStorage::kAdjacent) DraftHalos(drafts, use);
  }
}

}  // namespace tessera::encoder
