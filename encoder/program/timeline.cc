// SPDX-License-Identifier: Apache-2.0

#include "tessera/encoder/program/timeline.h"

#include <algorithm>

#include "tessera/encoder/program/layout.h"

// Steps of a subgraph, as docs/program.md defines them.
//
// With `dma: serialized` a transfer has a separate step, just before its first use or after
// production:
//
//     load w | load x  C_0  C_1  store y |        the pass is a loop if there are several tiles
//
// With `dma: double_buffered` it runs concurrently with compute. Then two passes, with ping and
// pong exchanged, form the loop, because a placement that is valid for one phase may be invalid for
// the next tile. Up to three tiles need no loop: each has a separate pass.
//
//     P | C_0 C_1 | C_0 C_1 | E           two tiles run straight through
//     P | C_0 C_1 | C_0 C_1 | E           five tiles loop; an odd number exits between the passes
//         ^...................'
//
// With two stages (stages.cc) the operators of the second run a tile behind, so there is one pass
// more than tiles, and always a loop.
//
// If kept rows are copied, steps R_k and S_k surround C_k, in every pass that has a neighbour to
// take rows from or to keep them for.
//
// Cost: linear in the operators and their operands.
namespace tessera::encoder::program {
namespace {

using hw_profiles::HaloStorage;
using problem::Loop;
using problem::Step;

class Clock {
 public:
  Clock(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
        int subgraph, Timeline& timeline)
      : graph_(graph), profile_(profile), uses_(uses), subgraph_(subgraph), timeline_(timeline) {
    timeline_.end = timeline_.begin;
  }

  void LaySerialized() {
    for (const TensorUse& use : uses_.constants) {
      if (use.residence == Residence::kResident)
        timeline_.loads[use.tensor] = Tick(StepKind::kLoad, 0, -1);
    }
    Pass pass = OpenPass();
    const bool repeats = timeline_.slots > 1;
    for (int k = 0; k < uses_.Operators(); ++k) LaySerialized(k, repeats, pass);
    ClosePass(std::move(pass));
    if (timeline_.slots == 1) return;
    const Pass& only = timeline_.passes.front();
    timeline_.tile_loop = Loop{only.begin, only.end, {only.end}};
    std::erase(timeline_.slice_loops, *timeline_.tile_loop);
  }

  void LayDoubleBuffered() {
    if (HasPrologue()) timeline_.prologue = Tick(StepKind::kPrologue, 0, -1);
    const bool repeats = timeline_.slots > kMostStraightTiles;
    const int passes = repeats ? 2 : static_cast<int>(timeline_.slots);
    for (int q = 0; q < passes; ++q) {
      Pass pass = OpenPass();
      for (int k = 0; k < uses_.Operators(); ++k) {
        if (repeats || q > 0) Restore(k, q % 2, pass);
        Compute(k, (uses_.IsLate(k) ? q + 1 : q) % 2, pass);
        if (repeats || q + 1 < passes) Save(k, q % 2, pass);
      }
      ClosePass(std::move(pass));
    }
    if (repeats) {
      const Pass& last = timeline_.passes[timeline_.LastPass()];
      timeline_.tile_loop =
          Loop{timeline_.passes.front().begin, timeline_.passes.back().end, {last.end}};
    }
    if (HasEpilogue()) timeline_.epilogue = Tick(StepKind::kEpilogue, /*phase=*/0, -1);
  }

 private:
  void LaySerialized(int k, bool repeats, Pass& pass) {
    const graph::Operator& op = OperatorAt(k);
    for (const int tensor : op.inputs) {
      const TensorUse& use = UseOf(uses_, tensor);
      if (use.residence != Residence::kLoaded || timeline_.loads.contains(tensor)) continue;
      timeline_.loads[tensor] = Tick(StepKind::kLoad, 0, -1);
    }
    if (repeats) Restore(k, 0, pass);
    const Step before_slices = timeline_.end;
    const bool in_slices = LoadSlices(k);
    Compute(k, 0, pass);
    if (in_slices) {
      pass.first.back() = before_slices;
      timeline_.slice_loops.push_back({before_slices, timeline_.end, {timeline_.end}});
    }
    if (repeats) Save(k, 0, pass);
    for (const int tensor : op.outputs) {
      if (UseOf(uses_, tensor).residence != Residence::kStored) continue;
      timeline_.stores[tensor] = Tick(StepKind::kStore, 0, -1);
    }
  }

  // Adds the steps that load the slices of operator k. Returns whether some operand arrives in
  // several slices.
  bool LoadSlices(int k) {
    bool several = false;
    for (const std::vector<int>* operands : {&OperatorAt(k).inputs, &OperatorAt(k).weights}) {
      for (const int tensor : *operands) {
        if (!IsStreamed(uses_, tensor) || timeline_.slice_loads.contains({k, tensor})) continue;
        timeline_.slice_loads[{k, tensor}] = Tick(StepKind::kLoad, 0, uses_.interval.first + k);
        several =
            several || uses_.split_k || SlicesOf(graph_, profile_, tensor, OperatorAt(k)).count > 1;
      }
    }
    return several;
  }

  void Compute(int k, int phase, Pass& pass) {
    pass.compute.push_back(Tick(StepKind::kCompute, phase, uses_.interval.first + k));
    pass.first.push_back(pass.compute.back());
  }

  // Restores the rows that the previous tile kept, before operator k runs.
  void Restore(int k, int phase, Pass& pass) {
    const bool copies = uses_.halo == HaloStorage::kLineBuffer;
    if (copies && CachesAny([k](const TensorUse& use) { return use.First() == k; }))
      pass.restores[k] = Tick(StepKind::kCopy, phase, uses_.interval.first + k);
  }

  // Saves the rows that the next tile needs, after operator k ran.
  void Save(int k, int phase, Pass& pass) {
    const bool copies =
        uses_.halo == HaloStorage::kLineBuffer || uses_.halo == HaloStorage::kAdjacent;
    if (copies && CachesAny([k](const TensorUse& use) { return use.Last() == k; }))
      pass.saves[k] = Tick(StepKind::kCopy, phase, uses_.interval.first + k);
  }

  template <typename Predicate>
  bool CachesAny(Predicate holds) const {
    return std::any_of(uses_.tensors.begin(), uses_.tensors.end(),
                       [&holds](const TensorUse& use) { return use.cached && holds(use); });
  }

  Pass OpenPass() const {
    Pass pass;
    pass.begin = timeline_.end;
    return pass;
  }

  void ClosePass(Pass pass) {
    pass.end = timeline_.end;
    timeline_.passes.push_back(std::move(pass));
  }

  Step Tick(StepKind kind, int phase, int op) {
    timeline_.steps.push_back({kind, subgraph_, phase, op, {}});
    return timeline_.end++;
  }

  bool HasPrologue() const {
    const auto arrives = [this](const TensorUse& use) {
      return (use.residence == Residence::kLoaded && !uses_.IsLate(use.readers.front())) ||
             (use.residence == Residence::kResident &&
              !PartAhead(graph_.tensors[static_cast<size_t>(use.tensor)], uses_.prefetch, 0)
                   .IsEmpty()) ||
             (use.residence == Residence::kStreamed && FirstSliceArrives(use));
    };
    return std::any_of(uses_.tensors.begin(), uses_.tensors.end(), arrives) ||
           std::any_of(uses_.constants.begin(), uses_.constants.end(), arrives);
  }

  // Whether a slice arrives before the first operator runs, and not ahead.
  bool FirstSliceArrives(const TensorUse& use) const {
    if (!uses_.slices_ahead) return use.readers.front() == 0;
    return std::any_of(use.readers.begin(), use.readers.end(), [&](int k) {
      const Slicing slicing = SlicesOf(graph_, profile_, use.tensor, OperatorAt(k));
      const graph::Tensor& constant = graph_.tensors[static_cast<size_t>(use.tensor)];
      const SliceRange range = SlicesArriving(slicing.count, uses_.prefetch, 0);
      for (int64_t slice = range.begin; slice < range.end; ++slice) {
        const int64_t extent = FirstExtentOfSlice(constant, OperatorAt(k), slicing, slice);
        if (!SlicePartAhead(slice, extent, uses_.prefetch, 0).IsEmpty()) return true;
      }
      return false;
    });
  }

  bool HasEpilogue() const {
    return std::any_of(uses_.tensors.begin(), uses_.tensors.end(), [this](const TensorUse& use) {
      return use.residence == Residence::kStored &&
             (uses_.second_stage == 0 || uses_.IsLate(use.makers.front()));
    });
  }

  const graph::Operator& OperatorAt(int k) const { return uses_.OperatorAt(graph_, k); }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const SubgraphUses& uses_;
  int subgraph_;
  Timeline& timeline_;
};

}  // namespace

const Pass* Timeline::Before(size_t q) const {
  if (q > 0) return &passes[q - 1];
  return tile_loop ? &passes.back() : nullptr;
}

const Pass* Timeline::After(size_t q) const {
  if (q + 1 < passes.size()) return &passes[q + 1];
  return tile_loop ? &passes.front() : nullptr;
}

Timeline LayOut(const graph::Graph& graph, const hw_profiles::Profile& profile,
                const SubgraphUses& uses, int subgraph, int64_t tiles, Step begin) {
  Timeline timeline;
  timeline.begin = begin;
  timeline.slots = tiles + (uses.second_stage > 0 ? 1 : 0);
  Clock clock(graph, profile, uses, subgraph, timeline);
  if (uses.dma == hw_profiles::DmaSteps::kSerialized) {
    clock.LaySerialized();
  } else {
    clock.LayDoubleBuffered();
  }
  return timeline;
}

}  // namespace tessera::encoder::program
