// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "tessera/encoder/program/buffer_builder.h"
#include "tessera/encoder/program/layout.h"

namespace tessera::encoder::program {

// Rows stay in the rolling buffer, which all passes share. Without one, they wait for the next
// tile:
//
//            | pass 0: R_0 C_0 S_0 | pass 1: R_0 C_0 S_0 |
//     line   |  .. r         w  .. |  .. r         w  .. |   copied aside and back
//     halo 1 |               w     |     r    r          |   copied to the address directly before
//                                                            the next tile's own rows
namespace {

using problem::AccessKind;
using problem::Step;

// Lives from one step to another one in the next pass, over the end of the loop if necessary.
void LiveAcross(const Timeline& timeline, BufferBuilder& draft, Step from, Step to) {
  if (from < to) {
    draft.Live(from, to + 1);
  } else {
    draft.Live(from, timeline.tile_loop->end);
    draft.Live(timeline.tile_loop->begin, to + 1);
  }
}

BufferBuilder& OpenHalo(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  return drafts.OpenFor(use, BufferKind::kHalo, fmt::format("@{}.halo", phase),
                        static_cast<int>(phase));
}

void FillRollingBuffer(SubgraphDrafts& drafts, BufferBuilder& draft, const TensorUse& use) {
  if (const auto load = drafts.timeline.loads.find(use.tensor);
      load != drafts.timeline.loads.end()) {
    drafts.Move(draft, use, load->second, AccessKind::kWrite);
    return;
  }
  drafts.MoveAlive(draft, use, *drafts.timeline.prologue, *drafts.timeline.prologue + 1,
                   AccessKind::kWrite);
  for (size_t q = 0; q < drafts.timeline.passes.size(); ++q) {
    const Pass& pass = drafts.timeline.passes[q];
    if (drafts.timeline.After(q) != nullptr)
      drafts.MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kWrite);
  }
}

void DrainRollingBuffer(SubgraphDrafts& drafts, BufferBuilder& draft, const TensorUse& use) {
  if (const auto store = drafts.timeline.stores.find(use.tensor);
      store != drafts.timeline.stores.end()) {
    drafts.Move(draft, use, store->second, AccessKind::kRead);
    return;
  }
  drafts.MoveAlive(draft, use, *drafts.timeline.epilogue, *drafts.timeline.epilogue + 1,
                   AccessKind::kRead);
  for (size_t q = 0; q < drafts.timeline.passes.size(); ++q) {
    const Pass& pass = drafts.timeline.passes[q];
    if (drafts.timeline.Before(q) != nullptr)
      drafts.MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kRead);
  }
}

}  // namespace

void DraftRollingBuffer(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferBuilder& draft = drafts.OpenFor(use, BufferKind::kRollingBuffer, "@rolling_buffer");
  for (const Pass& pass : drafts.timeline.passes) drafts.TouchByEngines(draft, use, pass);
  if (drafts.timeline.tile_loop) {
    draft.Live(drafts.timeline.tile_loop->begin, drafts.timeline.tile_loop->end);
  } else {
    const bool arrives = use.residence == Residence::kLoaded;
    draft.Live(arrives ? *drafts.timeline.prologue : FirstStep(use, drafts.timeline.passes.front()),
               use.residence == Residence::kStored
                   ? *drafts.timeline.epilogue
                   : LastUse(use, drafts.timeline.passes.back()) + 1);
  }
  if (use.residence == Residence::kLoaded) FillRollingBuffer(drafts, draft, use);
  if (use.residence == Residence::kStored) DrainRollingBuffer(drafts, draft, use);
}

void DraftLine(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferBuilder& draft = drafts.OpenFor(use, BufferKind::kLine, "@line");
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
  for (size_t phase = 0; phase < drafts.timeline.Phases(); ++phase) {
    BufferBuilder* halo = nullptr;
    for (size_t q = phase; q < drafts.timeline.passes.size(); q += 2) {
      const Pass* before = drafts.timeline.Before(q);
      if (before == nullptr) continue;
      if (halo == nullptr) halo = &OpenHalo(drafts, use, phase);
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

// A tile arrives in the pass before its own and leaves in the pass after it:
//
//            P | pass 0: C_0 C_1 .. C_{n-1} | pass 1: C_0 C_1 .. C_{n-1} | E
//     ping   w |  r  r                      |  w  w  ..  w               |     loaded, phase 0
//     pong     |  w  w  ..  w               |  r  r                      |     loaded, phase 1
//     out 0    |         w  ..              |  r  r  ..  r               | r   stored, phase 0, odd
//                                                                              number of tiles
//
// In a loop the previous and the next pass are the same, other pass. Up to three tiles have a pass
// each; P replaces a pass before the first, and E one after the last. So one function for each kind
// of tile buffer covers one tile, few tiles and many; it iterates over the passes of the buffer's
// phase.

namespace {

using hw_profiles::HaloStorage;
using problem::AccessKind;

BufferBuilder& OpenTile(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  return drafts.OpenFor(use, BufferKind::kTile, fmt::format("@{}", phase), static_cast<int>(phase));
}

void AddInside(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  BufferBuilder& draft = OpenTile(drafts, use, phase);
  for (size_t q = phase; q < drafts.timeline.passes.size(); q += 2) {
    const Pass& pass = drafts.timeline.passes[q];
    draft.Live(FirstStep(use, pass), LastUse(use, pass) + 1);
    drafts.TouchByEngines(draft, use, pass);
  }
}

void AddLoaded(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  BufferBuilder& draft = OpenTile(drafts, use, phase);
  const auto load = drafts.timeline.loads.find(use.tensor);
  for (size_t q = phase; q < drafts.timeline.passes.size(); q += 2) {
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

void AddStored(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  BufferBuilder& draft = OpenTile(drafts, use, phase);
  const auto store = drafts.timeline.stores.find(use.tensor);
  for (size_t q = phase; q < drafts.timeline.passes.size(); q += 2) {
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

// Does nothing if the tensor has no tile buffer.
void AddTile(SubgraphDrafts& drafts, const TensorUse& use, size_t phase) {
  if (use.residence == Residence::kInside) AddInside(drafts, use, phase);
  if (use.residence == Residence::kLoaded) AddLoaded(drafts, use, phase);
  if (use.residence == Residence::kStored) AddStored(drafts, use, phase);
}

}  // namespace

void DraftTiles(SubgraphDrafts& drafts) {
  for (const TensorUse& use : drafts.uses.tensors) {
    if (drafts.uses.second_stage > 0) {
      DraftStagedTile(drafts, use);
      continue;
    }
    if (use.cached && drafts.uses.halo == HaloStorage::kRollingBuffer) {
      DraftRollingBuffer(drafts, use);
      continue;
    }
    for (size_t phase = 0; phase < drafts.timeline.Phases(); ++phase) AddTile(drafts, use, phase);
    if (use.cached && drafts.uses.halo == HaloStorage::kLineBuffer) DraftLine(drafts, use);
    if (use.cached && drafts.uses.halo == HaloStorage::kAdjacent) DraftHalos(drafts, use);
  }
}

// A constant that is loaded once stays to its last user. A constant in slices has two slots that
// alternate; the first is filled while the previous step computes:
//
//               P | pass 0: C_0 C_1 | pass 1: C_0 C_1 | E
//     resident  w |  r   .          |  r   .          |
//     C_1's     . |  w   rw         |                 |     slot 0 of phase 0
//               . |      rw         |                 |     slot 1, if there is more than one slice
//
// Slices that arrive ahead have a slot each. The slices after them take turns in these slots and
// one more.

namespace {

using problem::AccessKind;
using problem::Step;

// Parts arrive while earlier subgraphs run, from their first tile on. From the first part on the
// constant stays. The rest arrives at P. `arrives`: whether a part arrives that many subgraphs
// earlier.
template <typename Arrives>
void Prefetch(SubgraphDrafts& drafts, BufferBuilder& draft, const TensorUse& use,
              const Arrives& arrives) {
  bool has_begun = false;
  for (size_t i = 0; i < drafts.earlier.size(); ++i) {
    if (!arrives(static_cast<int>(drafts.earlier.size() - i))) continue;
    Timeline& carrier = drafts.earlier[i];
    drafts.ArriveAhead(draft, use, carrier, carrier.passes.front().begin,
                       carrier.passes.back().end);
    if (carrier.epilogue)
      drafts.ArriveAhead(draft, use, carrier, *carrier.epilogue, *carrier.epilogue + 1);
    if (!has_begun) draft.Live(carrier.end, drafts.timeline.begin);
    has_begun = true;
  }
  if (arrives(0)) drafts.Move(draft, use, *drafts.timeline.prologue, AccessKind::kWrite);
}

void AddResident(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferBuilder& draft = drafts.OpenFor(use, BufferKind::kResident, "");
  std::vector<int> users = use.readers;
  for (int& user : users) user += drafts.uses.interval.first;
  draft.buffer.size = ConstantBytes(drafts.graph, drafts.profile, use.tensor, users);

  const Pass& last = drafts.timeline.passes.back();
  const Step end =
      drafts.timeline.tile_loop ? drafts.timeline.tile_loop->end : LastUse(use, last) + 1;
  if (!drafts.uses.prefetch.empty()) {
    draft.Live(drafts.timeline.begin, end);
    const graph::Tensor& constant = drafts.TensorAt(use.tensor);
    Prefetch(drafts, draft, use, [&](int ahead) {
      return !PartAhead(constant, drafts.uses.prefetch, ahead).IsEmpty();
    });
  } else {
    const auto own_step = drafts.timeline.loads.find(use.tensor);
    const Step load =
        own_step != drafts.timeline.loads.end() ? own_step->second : *drafts.timeline.prologue;
    draft.Live(load, end);
    drafts.Move(draft, use, load, AccessKind::kWrite);
  }
  for (const Pass& pass : drafts.timeline.passes) drafts.TouchByEngines(draft, use, pass);
}

// The slices of an operand. The tile determines the size of K slices (build_program.cc).
Slicing SlicingOf(const SubgraphDrafts& drafts, int k, const TensorUse& use) {
  if (drafts.uses.split_k) return {.count = drafts.uses.split_k->Slices(), .bytes = 1};
  return SlicesOf(drafts.graph, drafts.profile, use.tensor, drafts.OperatorAt(k));
}

BufferBuilder& OpenSlice(SubgraphDrafts& drafts, int k, const TensorUse& use, size_t phase,
                         int slot) {
  BufferBuilder& draft = drafts.Open(
      BufferKind::kSlice, fmt::format("s{}/{}/{}@{}.{}", drafts.subgraph, drafts.OperatorAt(k).id,
                                      drafts.TensorAt(use.tensor).id, phase, slot));
  drafts.SetTensor(draft, use);
  draft.meaning.op = drafts.uses.interval.first + k;
  draft.meaning.phase = static_cast<int>(phase);
  draft.meaning.slot = slot;
  return draft;
}

// The steps after the previous compute step, that step included, up to C_k of pass q.
std::vector<Step> StepsBefore(const SubgraphDrafts& drafts, int k, size_t q) {
  const Pass& pass = drafts.timeline.passes[q];
  std::vector<Step> steps;
  const auto add = [&steps](Step lower, Step upper) {
    for (Step step = lower; step < upper; ++step) steps.push_back(step);
  };
  const Step compute = pass.compute[static_cast<size_t>(k)];
  add(k > 0 ? pass.compute[static_cast<size_t>(k) - 1] : pass.begin, compute);
  if (k > 0) return steps;
  if (q == 0) steps.push_back(*drafts.timeline.prologue);
  if (const Pass* before = drafts.timeline.Before(q)) add(before->compute.back(), before->end);
  return steps;
}

void AddSlot(SubgraphDrafts& drafts, int k, const TensorUse& use, const Slicing& slicing,
             size_t phase, int slot) {
  BufferBuilder& draft = OpenSlice(drafts, k, use, phase, slot);
  draft.buffer.size = slicing.bytes;
  const auto own_step = drafts.timeline.slice_loads.find({k, use.tensor});
  for (size_t q = phase; q < drafts.timeline.passes.size(); q += 2) {
    const Step compute = drafts.timeline.passes[q].compute[static_cast<size_t>(k)];
    draft.LiveAt(compute);
    draft.Touch(compute, drafts.EngineOf(k), AccessKind::kRead);
    if (own_step != drafts.timeline.slice_loads.end()) {
      draft.Live(own_step->second, compute + 1);
      drafts.Move(draft, use, own_step->second, AccessKind::kWrite);
      continue;
    }
    if (slicing.count > 1) drafts.Move(draft, use, compute, AccessKind::kWrite);
    if (slot > 0) continue;
    for (const Step before : StepsBefore(drafts, k, q))
      drafts.MoveAlive(draft, use, before, before + 1, AccessKind::kWrite);
  }
}

// A slot whose first slice arrives ahead (slot < ahead), or that takes the first slice after these.
void AddSlotAhead(SubgraphDrafts& drafts, int k, const TensorUse& use, const Slicing& slicing,
                  int64_t ahead, int slot) {
  BufferBuilder& draft = OpenSlice(drafts, k, use, 0, slot);
  draft.buffer.size = slicing.bytes;
  const Step compute = drafts.timeline.passes.front().compute[static_cast<size_t>(k)];
  draft.LiveAt(compute);
  draft.Touch(compute, drafts.EngineOf(k), AccessKind::kRead);
  const bool is_taken_again = slot + ahead + 1 < slicing.count;
  if (slot == ahead || is_taken_again) drafts.Move(draft, use, compute, AccessKind::kWrite);
  if (slot == ahead) return;
  draft.Live(drafts.timeline.begin, compute);
  const int64_t extent =
      FirstExtentOfSlice(drafts.TensorAt(use.tensor), drafts.OperatorAt(k), slicing, slot);
  Prefetch(drafts, draft, use, [&](int earlier) {
    return !SlicePartAhead(slot, extent, drafts.uses.prefetch, earlier).IsEmpty();
  });
}

void AddSlots(SubgraphDrafts& drafts, int k, const TensorUse& use) {
  const Slicing slicing = SlicingOf(drafts, k, use);
  if (drafts.uses.slices_ahead) {
    const int64_t ahead = SlicesAhead(slicing.count, drafts.uses.prefetch);
    for (int slot = 0; slot < std::min(ahead + 1, slicing.count); ++slot)
      AddSlotAhead(drafts, k, use, slicing, ahead, slot);
    return;
  }
  const bool double_buffered = !drafts.timeline.slice_loads.contains({k, use.tensor});
  const int slots = double_buffered && slicing.count > 1 ? 2 : 1;
  for (size_t phase = 0; phase < drafts.timeline.Phases(); ++phase) {
    for (int slot = 0; slot < slots; ++slot) AddSlot(drafts, k, use, slicing, phase, slot);
  }
}

}  // namespace

void DraftResidents(SubgraphDrafts& drafts) {
  const size_t begin = drafts.list.size();
  for (const TensorUse& use : drafts.uses.constants) {
    if (use.residence == Residence::kResident) AddResident(drafts, use);
  }
  std::sort(drafts.list.begin() + static_cast<ptrdiff_t>(begin), drafts.list.end(),
            [](const BufferBuilder& a, const BufferBuilder& b) {
              return a.meaning.tensor < b.meaning.tensor;
            });
}

void DraftSlices(SubgraphDrafts& drafts, int k) {
  const graph::Operator& op = drafts.OperatorAt(k);
  for (const int tensor : op.inputs) {
    if (IsStreamed(drafts.uses, tensor)) AddSlots(drafts, k, UseOf(drafts.uses, tensor));
  }
  for (size_t i = 0; i < op.weights.size(); ++i) {
    const int tensor = op.weights[i];
    if (std::find(op.weights.begin(), op.weights.begin() + static_cast<ptrdiff_t>(i), tensor) !=
        op.weights.begin() + static_cast<ptrdiff_t>(i)) {
      continue;  // the same constant as an earlier operand
    }
    const TensorUse& use =
        *std::find_if(drafts.uses.constants.begin(), drafts.uses.constants.end(),
                      [tensor](const TensorUse& each) { return each.tensor == tensor; });
    if (use.residence == Residence::kStreamed) AddSlots(drafts, k, use);
  }
}

}  // namespace tessera::encoder::program
