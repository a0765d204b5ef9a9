#include "tessera/encoder/adapt/constant_lifespans.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "tessera/encoder/adapt/layout.h"

// What is loaded once stays to its last user; what comes in slices has two slots in turn, the first of which is filled while whatever
// runs before computes:
//
//               P | pass 0: C_0 C_1 | pass 1: C_0 C_1 | E
//     resident  w |  r   .          |  r   .          |
//     C_1's     . |  w   rw         |                 |        slot 0 of parity 0
//               . |      rw         |                 |        slot 1, where there is more than one slice
namespace tessera::encoder {
namespace {

using problem::AccessKind;
using problem::Step;

// While the subgraph before computes its last tile and stores it.
void Prefetch(SubgraphDrafts& drafts, BufferDraft& draft, const TensorUse& use) {
  const Timeline& before = *drafts.before;
  const Pass& pass = before.passes[before.LastPass()];
  drafts.ArriveBefore(draft, use, pass.begin, pass.end);
  if (before.epilogue) drafts.ArriveBefore(draft, use, *before.epilogue, *before.epilogue + 1);
}

void AddResident(SubgraphDrafts& drafts, const TensorUse& use) {
  BufferDraft& draft = drafts.OpenFor(use, BufferKind::kResident, "");
  std::vector<int> users = use.readers;
  for (int& user : users) user += drafts.uses.interval.first;
  draft.buffer.size = ConstantBytes(drafts.graph, drafts.profile, use.tensor, users);

  const Pass& last = drafts.timeline.passes.back();
  const Step end = drafts.timeline.tile_loop ? drafts.timeline.tile_loop->end : LastUse(use, last) + 1;
  if (drafts.uses.prefetch) {
    draft.Live(drafts.timeline.begin, end);
    Prefetch(drafts, draft, use);
  } else {
    const auto own_step = drafts.timeline.loads.find(use.tensor);
    const Step load = own_step != drafts.timeline.loads.end() ? own_step->second : *drafts.timeline.prologue;
    draft.Live(load, end);
    drafts.Move(draft, use, load, AccessKind::kWrite);
  }
  for (const Pass& pass : drafts.timeline.passes) drafts.TouchByEngines(draft, use, pass);
}

// How an operand comes. Slices of the depth are as large as the tile makes them (skeleton.cc).
Slicing SlicingOf(const SubgraphDrafts& drafts, int k, const TensorUse& use) {
  if (drafts.uses.by_depth) return {.count = drafts.uses.by_depth->Slices(), .bytes = 1};
  return SlicesOf(drafts.graph, drafts.profile, use.tensor, drafts.OperatorAt(k));
}

BufferDraft& OpenSlice(SubgraphDrafts& drafts, int k, const TensorUse& use, size_t parity, int slot) {
  BufferDraft& draft =
      drafts.Open(BufferKind::kSlice, fmt::format("s{}/{}/{}@{}.{}", drafts.subgraph, drafts.OperatorAt(k).id,
                                                  drafts.TensorAt(use.tensor).id, parity, slot));
  drafts.SetTensor(draft, use);
  draft.meaning.op = drafts.uses.interval.first + k;
  draft.meaning.parity = static_cast<int>(parity);
  draft.meaning.slot = slot;
  return draft;
}

// The steps between C_k of pass q and whatever is computed before it, that included.
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

void AddSlot(SubgraphDrafts& drafts, int k, const TensorUse& use, const Slicing& slicing, size_t parity,
             int slot) {
  BufferDraft& draft = OpenSlice(drafts, k, use, parity, slot);
  draft.buffer.size = slicing.bytes;
  const auto own_step = drafts.timeline.slice_loads.find({k, use.tensor});
  for (size_t q = parity; q < drafts.timeline.passes.size(); q += 2) {
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

void AddSlots(SubgraphDrafts& drafts, int k, const TensorUse& use) {
  const Slicing slicing = SlicingOf(drafts, k, use);
  const bool overlapped = !drafts.timeline.slice_loads.contains({k, use.tensor});
  const int slots = overlapped && slicing.count > 1 ? 2 : 1;
  for (size_t parity = 0; parity < drafts.timeline.Parities(); ++parity) {
    for (int slot = 0; slot < slots; ++slot) AddSlot(drafts, k, use, slicing, parity, slot);
  }
}

}  // namespace

void DraftResidents(SubgraphDrafts& drafts) {
  const size_t begin = drafts.list.size();
  for (const TensorUse& use : drafts.uses.constants) {
    if (use.residence == Residence::kResident) AddResident(drafts, use);
  }
  std::sort(drafts.list.begin() + static_cast<ptrdiff_t>(begin), drafts.list.end(),
            [](const BufferDraft& a, const BufferDraft& b) { return a.meaning.tensor < b.meaning.tensor; });
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
    const TensorUse& use = *std::find_if(drafts.uses.constants.begin(), drafts.uses.constants.end(),
                                         [tensor](const TensorUse& each) { return each.tensor == tensor; });
    if (use.residence == Residence::kStreamed) AddSlots(drafts, k, use);
  }
}

}  // namespace tessera::encoder
