#include "tessera/encoder/adapt/lifespans.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "tessera/encoder/adapt/layout.h"

// When each buffer of a subgraph lives and who touches it: one function for each row of the table in docs/program.md.
//
//            P | pass 0: C_0 C_1 .. C_{n-1} | pass 1: C_0 C_1 .. C_{n-1} | E
//     ping   w |  r  r                      |  w  w  ..  w               |        loaded, parity 0
//     pong     |  w  w  ..  w               |  r  r                      |        loaded, parity 1
//     out 0    |         w  ..              |  r  r  ..  r               | r      stored, parity 0, odd number of tiles
//
// A tile arrives in the pass before its own and leaves in the pass after it. In a loop either is the other pass; up to three tiles
// have a pass each, and what would come before the first or after the last is P or E. So the rows for one tile, for few and for
// many are one function each, which goes through the passes of the buffer's parity. Cost: linear in buffers times steps.
namespace tessera::encoder {
namespace {

using hw_profiles::HaloStorage;
using problem::AccessKind;
using problem::Step;

class Drafter {
 public:
  Drafter(const graph::Graph& graph, const hw_profiles::Profile& profile, const SubgraphUses& uses,
          int subgraph, Timeline& timeline, Timeline* before)
      : graph_(graph),
        profile_(profile),
        uses_(uses),
        subgraph_(subgraph),
        timeline_(timeline),
        before_(before) {}

  std::vector<BufferDraft> Draft() {
    for (const TensorUse& use : uses_.constants) {
      if (use.residence == Residence::kResident) AddResident(use);
    }
    std::sort(drafts_.begin(), drafts_.end(),
              [](const BufferDraft& a, const BufferDraft& b) { return a.meaning.tensor < b.meaning.tensor; });
    for (const TensorUse& use : uses_.tensors) AddTiles(use);
    for (int k = 0; k < uses_.Operators(); ++k) AddSlices(k);
    for (int k = 0; k < uses_.Operators(); ++k) AddScratch(k);
    if (uses_.by_depth) AddAccumulators(/*k=*/0);
    for (BufferDraft& draft : drafts_) draft.Finish();
    return std::move(drafts_);
  }

  std::vector<BufferDraft> DraftScratch(int k) {
    OpenScratch(k);
    for (BufferDraft& draft : drafts_) draft.Finish();
    return std::move(drafts_);
  }

 private:
  void AddTiles(const TensorUse& use) {
    if (use.cached && uses_.halo == HaloStorage::kRing) {
      AddRing(use);
      return;
    }
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      switch (use.residence) {
        case Residence::kInside:
          AddInside(use, parity);
          break;
        case Residence::kLoaded:
          AddLoaded(use, parity);
          break;
        case Residence::kStored:
          AddStored(use, parity);
          break;
        default:
          return;
      }
    }
    if (use.cached && uses_.halo == HaloStorage::kCopy) AddLine(use);
    if (use.cached && uses_.halo == HaloStorage::kAdjacent) AddHalos(use);
  }

  void AddInside(const TensorUse& use, size_t parity) {
    BufferDraft& draft = OpenTile(use, parity);
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      draft.Live(FirstStep(use, pass), LastUse(use, pass) + 1);
      Compute(draft, use, pass);
    }
  }

  void AddLoaded(const TensorUse& use, size_t parity) {
    BufferDraft& draft = OpenTile(use, parity);
    const auto load = timeline_.loads.find(use.tensor);
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      Compute(draft, use, pass);
      if (load != timeline_.loads.end()) {
        draft.Live(load->second, LastUse(use, pass) + 1);
        Move(draft, use, load->second, AccessKind::kWrite);
        continue;
      }
      draft.Live(pass.begin, LastUse(use, pass) + 1);
      if (q == 0) MoveAlive(draft, use, *timeline_.prologue, *timeline_.prologue + 1, AccessKind::kWrite);
      if (const Pass* before = timeline_.Before(q))
        MoveAlive(draft, use, before->begin, before->end, AccessKind::kWrite);
    }
  }

  void AddStored(const TensorUse& use, size_t parity) {
    BufferDraft& draft = OpenTile(use, parity);
    const auto store = timeline_.stores.find(use.tensor);
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Pass& pass = timeline_.passes[q];
      Compute(draft, use, pass);
      if (store != timeline_.stores.end()) {
        draft.Live(FirstStep(use, pass), std::max(store->second, LastUse(use, pass)) + 1);
        Move(draft, use, store->second, AccessKind::kRead);
        continue;
      }
      draft.Live(FirstStep(use, pass), pass.end);
      if (const Pass* after = timeline_.After(q))
        MoveAlive(draft, use, after->begin, after->end, AccessKind::kRead);
      if (q == timeline_.LastPass())
        MoveAlive(draft, use, *timeline_.epilogue, *timeline_.epilogue + 1, AccessKind::kRead);
    }
  }

  // All passes share it, so it never rests.
  void AddRing(const TensorUse& use) {
    BufferDraft& draft =
        Open(BufferKind::kRing, fmt::format("s{}/{}@ring", subgraph_, TensorAt(use.tensor).id));
    SetTensor(draft, use);
    for (const Pass& pass : timeline_.passes) Compute(draft, use, pass);
    if (timeline_.tile_loop) {
      draft.Live(timeline_.tile_loop->begin, timeline_.tile_loop->end);
    } else {
      const bool arrives = use.residence == Residence::kLoaded;
      draft.Live(arrives ? *timeline_.prologue : FirstStep(use, timeline_.passes.front()),
                 use.residence == Residence::kStored ? *timeline_.epilogue
                                                     : LastUse(use, timeline_.passes.back()) + 1);
    }
    if (use.residence == Residence::kLoaded) FillRing(draft, use);
    if (use.residence == Residence::kStored) DrainRing(draft, use);
  }

  void FillRing(BufferDraft& draft, const TensorUse& use) {
    if (const auto load = timeline_.loads.find(use.tensor); load != timeline_.loads.end()) {
      Move(draft, use, load->second, AccessKind::kWrite);
      return;
    }
    MoveAlive(draft, use, *timeline_.prologue, *timeline_.prologue + 1, AccessKind::kWrite);
    for (size_t q = 0; q < timeline_.passes.size(); ++q) {
      const Pass& pass = timeline_.passes[q];
      if (timeline_.After(q) != nullptr) MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kWrite);
    }
  }

  void DrainRing(BufferDraft& draft, const TensorUse& use) {
    if (const auto store = timeline_.stores.find(use.tensor); store != timeline_.stores.end()) {
      Move(draft, use, store->second, AccessKind::kRead);
      return;
    }
    MoveAlive(draft, use, *timeline_.epilogue, *timeline_.epilogue + 1, AccessKind::kRead);
    for (size_t q = 0; q < timeline_.passes.size(); ++q) {
      const Pass& pass = timeline_.passes[q];
      if (timeline_.Before(q) != nullptr) MoveAlive(draft, use, pass.begin, pass.end, AccessKind::kRead);
    }
  }

  void AddLine(const TensorUse& use) {
    BufferDraft& draft =
        Open(BufferKind::kLine, fmt::format("s{}/{}@line", subgraph_, TensorAt(use.tensor).id));
    SetTensor(draft, use);
    draft.buffer.alignment = hw_profiles::LayoutOf(profile_, use.role).alignment_bytes;
    for (size_t q = 0; q < timeline_.passes.size(); ++q) {
      const Pass* after = timeline_.After(q);
      if (after == nullptr) continue;
      const Step save = timeline_.passes[q].saves.at(use.Last());
      const Step restore = after->restores.at(use.First());
      LiveAcross(draft, save, restore);
      draft.Touch(save, EngineOf(use.Last()), AccessKind::kWrite);
      draft.Touch(restore, EngineOf(use.First()), AccessKind::kRead);
    }
  }

  void AddHalos(const TensorUse& use) {
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      BufferDraft* halo = nullptr;
      for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
        const Pass* before = timeline_.Before(q);
        if (before == nullptr) continue;
        if (halo == nullptr) halo = &OpenHalo(use, parity);
        const Pass& pass = timeline_.passes[q];
        const Step filled = before->saves.at(use.Last());
        LiveAcross(*halo, filled, LastUse(use, pass));
        halo->Touch(filled, EngineOf(use.Last()), AccessKind::kWrite);
        for (const int k : use.readers)
          halo->Touch(pass.compute[static_cast<size_t>(k)], EngineOf(k), AccessKind::kRead);
        if (const auto save = SaveOf(use, pass)) halo->Touch(*save, EngineOf(use.Last()), AccessKind::kRead);
      }
    }
  }

  BufferDraft& OpenHalo(const TensorUse& use, size_t parity) {
    BufferDraft& draft =
        Open(BufferKind::kHalo, fmt::format("s{}/{}@{}.halo", subgraph_, TensorAt(use.tensor).id, parity));
    SetTensor(draft, use);
    draft.meaning.parity = static_cast<int>(parity);
    return draft;
  }

  // From one step to another in the pass after, over the end of the loop if need be.
  void LiveAcross(BufferDraft& draft, Step from, Step to) const {
    if (from < to) {
      draft.Live(from, to + 1);
    } else {
      draft.Live(from, timeline_.tile_loop->end);
      draft.Live(timeline_.tile_loop->begin, to + 1);
    }
  }

  void AddResident(const TensorUse& use) {
    BufferDraft& draft =
        Open(BufferKind::kResident, fmt::format("s{}/{}", subgraph_, TensorAt(use.tensor).id));
    SetTensor(draft, use);
    std::vector<int> users = use.readers;
    for (int& user : users) user += uses_.interval.first;
    draft.buffer.size = ConstantBytes(graph_, profile_, use.tensor, users);

    const Pass& last = timeline_.passes.back();
    const Step end = timeline_.tile_loop ? timeline_.tile_loop->end : LastUse(use, last) + 1;
    if (uses_.prefetch) {
      draft.Live(timeline_.begin, end);
      Prefetch(draft, use);
    } else {
      const auto own_step = timeline_.loads.find(use.tensor);
      const Step load = own_step != timeline_.loads.end() ? own_step->second : *timeline_.prologue;
      draft.Live(load, end);
      Move(draft, use, load, AccessKind::kWrite);
    }
    for (const Pass& pass : timeline_.passes) Compute(draft, use, pass);
  }

  // Arrives while the subgraph before computes its last tile and stores it.
  void Prefetch(BufferDraft& draft, const TensorUse& use) {
    const Pass& pass = before_->passes[before_->LastPass()];
    const auto arrive = [&](Step lower, Step upper) {
      draft.Live(lower, upper);
      for (Step step = lower; step < upper; ++step) MoveAt(*before_, draft, use, step, AccessKind::kWrite);
    };
    arrive(pass.begin, pass.end);
    if (before_->epilogue) arrive(*before_->epilogue, *before_->epilogue + 1);
  }

  void AddSlices(int k) {
    const graph::Operator& op = OperatorAt(k);
    for (const int tensor : op.inputs) {
      if (IsStreamed(uses_, tensor)) AddSlices(k, UseOf(uses_, tensor));
    }
    for (size_t i = 0; i < op.weights.size(); ++i) {
      const int tensor = op.weights[i];
      if (std::find(op.weights.begin(), op.weights.begin() + static_cast<ptrdiff_t>(i), tensor) !=
          op.weights.begin() + static_cast<ptrdiff_t>(i)) {
        continue;  // the same constant as an earlier operand
      }
      const TensorUse& use = *std::find_if(uses_.constants.begin(), uses_.constants.end(),
                                           [tensor](const TensorUse& each) { return each.tensor == tensor; });
      if (use.residence == Residence::kStreamed) AddSlices(k, use);
    }
  }

  // How an operand comes. Slices of the depth are as large as the tile makes them (skeleton.cc).
  Slicing SlicingOf(int k, const TensorUse& use) const {
    if (uses_.by_depth) return {.count = uses_.by_depth->Slices(), .bytes = 1};
    return SlicesOf(graph_, profile_, use.tensor, OperatorAt(k));
  }

  void AddSlices(int k, const TensorUse& use) {
    const Slicing slicing = SlicingOf(k, use);
    const bool overlapped = !timeline_.slice_loads.contains({k, use.tensor});
    const int slots = overlapped && slicing.count > 1 ? 2 : 1;
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      for (int slot = 0; slot < slots; ++slot) AddSlot(k, use, slicing, parity, slot);
    }
  }

  void AddSlot(int k, const TensorUse& use, const Slicing& slicing, size_t parity, int slot) {
    BufferDraft& draft = OpenSlice(k, use, parity, slot);
    draft.buffer.size = slicing.bytes;
    const auto own_step = timeline_.slice_loads.find({k, use.tensor});
    for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
      const Step compute = timeline_.passes[q].compute[static_cast<size_t>(k)];
      draft.LiveAt(compute);
      draft.Touch(compute, uses_.engines[static_cast<size_t>(k)], AccessKind::kRead);
      if (own_step != timeline_.slice_loads.end()) {
        draft.Live(own_step->second, compute + 1);
        Move(draft, use, own_step->second, AccessKind::kWrite);
        continue;
      }
      if (slicing.count > 1) Move(draft, use, compute, AccessKind::kWrite);
      if (slot > 0) continue;
      for (const Step before : StepsBefore(k, q))
        MoveAlive(draft, use, before, before + 1, AccessKind::kWrite);
    }
  }

  BufferDraft& OpenSlice(int k, const TensorUse& use, size_t parity, int slot) {
    BufferDraft& draft = Open(BufferKind::kSlice, fmt::format("s{}/{}/{}@{}.{}", subgraph_, OperatorAt(k).id,
                                                              TensorAt(use.tensor).id, parity, slot));
    SetTensor(draft, use);
    draft.meaning.op = uses_.interval.first + k;
    draft.meaning.parity = static_cast<int>(parity);
    draft.meaning.slot = slot;
    return draft;
  }

  // The steps between C_k of pass q and whatever is computed before it, that included.
  std::vector<Step> StepsBefore(int k, size_t q) const {
    const Pass& pass = timeline_.passes[q];
    std::vector<Step> steps;
    const auto add = [&steps](Step lower, Step upper) {
      for (Step step = lower; step < upper; ++step) steps.push_back(step);
    };
    const Step compute = pass.compute[static_cast<size_t>(k)];
    add(k > 0 ? pass.compute[static_cast<size_t>(k) - 1] : pass.begin, compute);
    if (k > 0) return steps;
    if (q == 0) steps.push_back(*timeline_.prologue);
    if (const Pass* before = timeline_.Before(q)) add(before->compute.back(), before->end);
    return steps;
  }

  void AddScratch(int k) {
    if (HasScratch(profile_, OperatorAt(k))) OpenScratch(k);
  }

  void OpenScratch(int k) { AddWorkspace(k, BufferKind::kScratch, "scratch"); }

  void AddAccumulators(int k) { AddWorkspace(k, BufferKind::kAccumulator, "accumulator"); }

  // What operator k reads and writes for itself as long as it works on a tile.
  void AddWorkspace(int k, BufferKind kind, std::string_view word) {
    const graph::Operator& op = OperatorAt(k);
    for (size_t parity = 0; parity < timeline_.Parities(); ++parity) {
      BufferDraft& draft = Open(kind, fmt::format("s{}/{}/{}@{}", subgraph_, op.id, word, parity));
      draft.meaning.op = uses_.interval.first + k;
      draft.meaning.parity = static_cast<int>(parity);
      draft.buffer.name = op.id;
      draft.buffer.role = "scratch";
      draft.buffer.alignment = hw_profiles::LayoutOf(profile_, base::TensorRole::kFeature).alignment_bytes;
      for (size_t q = parity; q < timeline_.passes.size(); q += 2) {
        const Pass& pass = timeline_.passes[q];
        const Step compute = pass.compute[static_cast<size_t>(k)];
        draft.Live(pass.first[static_cast<size_t>(k)], compute + 1);
        draft.Touch(compute, uses_.engines[static_cast<size_t>(k)], AccessKind::kRead);
        draft.Touch(compute, uses_.engines[static_cast<size_t>(k)], AccessKind::kWrite);
      }
    }
  }

  BufferDraft& OpenTile(const TensorUse& use, size_t parity) {
    BufferDraft& draft =
        Open(BufferKind::kTile, fmt::format("s{}/{}@{}", subgraph_, TensorAt(use.tensor).id, parity));
    SetTensor(draft, use);
    draft.meaning.parity = static_cast<int>(parity);
    return draft;
  }

  BufferDraft& Open(BufferKind kind, std::string id) {
    BufferDraft& draft = drafts_.emplace_back();
    draft.meaning.kind = kind;
    draft.meaning.subgraph = subgraph_;
    draft.buffer.id = std::move(id);
    draft.buffer.span = profile_.memories[static_cast<size_t>(profile_.tile_memory)].span;
    return draft;
  }

  void SetTensor(BufferDraft& draft, const TensorUse& use) const {
    draft.meaning.tensor = use.tensor;
    draft.buffer.name = TensorAt(use.tensor).id;
    draft.buffer.role = base::NameOf(use.role);
    const int64_t alignment = hw_profiles::LayoutOf(profile_, use.role).alignment_bytes;
    draft.buffer.alignment = use.link == nullptr ? alignment : std::lcm(alignment, use.link->alignment_bytes);
  }

  // What engines do to the tensor in one pass.
  void Compute(BufferDraft& draft, const TensorUse& use, const Pass& pass) const {
    if (const auto restore = RestoreOf(use, pass))
      draft.Touch(*restore, EngineOf(use.First()), AccessKind::kWrite);
    if (const auto save = SaveOf(use, pass)) draft.Touch(*save, EngineOf(use.Last()), AccessKind::kRead);
    for (const int k : use.makers) {
      draft.Touch(pass.compute[static_cast<size_t>(k)], uses_.engines[static_cast<size_t>(k)],
                  AccessKind::kWrite);
    }
    for (const int k : use.readers) {
      draft.Touch(pass.compute[static_cast<size_t>(k)], uses_.engines[static_cast<size_t>(k)],
                  AccessKind::kRead);
    }
  }

  void Move(BufferDraft& draft, const TensorUse& use, Step step, AccessKind kind) {
    MoveAt(timeline_, draft, use, step, kind);
  }
  static void MoveAt(Timeline& timeline, BufferDraft& draft, const TensorUse& use, Step step,
                     AccessKind kind) {
    draft.Touch(step, use.link->name, kind);
    timeline.steps[static_cast<size_t>(step - timeline.begin)].transfers.push_back(use.tensor);
  }

  // Lives at steps [lower, upper), at each of which a transfer may touch it.
  void MoveAlive(BufferDraft& draft, const TensorUse& use, Step lower, Step upper, AccessKind kind) {
    draft.Live(lower, upper);
    for (Step step = lower; step < upper; ++step) Move(draft, use, step, kind);
  }

  // The step of the pass at which kept rows come back into the tile, and that at which rows are taken from it.
  static std::optional<Step> RestoreOf(const TensorUse& use, const Pass& pass) {
    return use.cached ? Find(pass.restores, use.First()) : std::nullopt;
  }
  static std::optional<Step> SaveOf(const TensorUse& use, const Pass& pass) {
    return use.cached ? Find(pass.saves, use.Last()) : std::nullopt;
  }
  static std::optional<Step> Find(const std::map<int, Step>& steps, int k) {
    const auto found = steps.find(k);
    return found == steps.end() ? std::nullopt : std::optional(found->second);
  }

  std::string_view EngineOf(int k) const { return uses_.engines[static_cast<size_t>(k)]; }

  static Step FirstStep(const TensorUse& use, const Pass& pass) {
    return RestoreOf(use, pass).value_or(pass.first[static_cast<size_t>(use.makers.front())]);
  }

  // The compute step of the last reader, or of the maker when nobody reads; the save step where rows are taken.
  static Step LastUse(const TensorUse& use, const Pass& pass) {
    if (const auto save = SaveOf(use, pass)) return *save;
    return pass.compute[static_cast<size_t>(use.readers.empty() ? use.makers.back() : use.readers.back())];
  }

  const graph::Operator& OperatorAt(int k) const { return uses_.OperatorAt(graph_, k); }
  const graph::Tensor& TensorAt(int tensor) const { return graph_.tensors[static_cast<size_t>(tensor)]; }

  const graph::Graph& graph_;
  const hw_profiles::Profile& profile_;
  const SubgraphUses& uses_;
  int subgraph_;
  Timeline& timeline_;
  Timeline* before_;  // of the subgraph before, if there is one
  std::vector<BufferDraft> drafts_;
};

}  // namespace

std::vector<BufferDraft> DraftBuffers(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline,
                                      Timeline* before) {
  return Drafter(graph, profile, uses, subgraph, timeline, before).Draft();
}

std::vector<BufferDraft> DraftScratch(const graph::Graph& graph, const hw_profiles::Profile& profile,
                                      const SubgraphUses& uses, int subgraph, Timeline& timeline, int k) {
  return Drafter(graph, profile, uses, subgraph, timeline, nullptr).DraftScratch(k);
}

}  // namespace tessera::encoder
