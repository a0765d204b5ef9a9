#include <algorithm>
#include <utility>

#include "tessera/plan/verify/program_trace.h"

namespace tessera::plan::verify {

using problem::Step;

void MomentLog::Touch(const BufferUse& use, int64_t value, const std::string& engine,
                      problem::AccessKind kind) {
  records_[use].accesses.insert({moments_.back(), engine, kind});
  Hold(use, value, Now());
}

void MomentLog::Hold(const BufferUse& use, int64_t value, size_t moment) {
  Stay& stay = records_[use].stays.try_emplace(value, Stay{moment, moment}).first->second;
  stay.first = std::min(stay.first, moment);
  stay.last = std::max(stay.last, moment);
}

std::map<BufferUse, ObservedUse, UseOrder> MomentLog::Fold(size_t steps) const {
  std::map<BufferUse, ObservedUse, UseOrder> buffers;
  for (const auto& [use, record] : records_) {
    ObservedUse& observed_use = buffers[use];
    observed_use.lifespans = LifespansOf(record, steps);
    for (const auto& [step, engine, kind] : record.accesses)
      observed_use.accesses.push_back({step, engine, kind});
  }
  return buffers;
}

std::vector<problem::Lifespan> MomentLog::LifespansOf(const Record& record, size_t steps) const {
  std::vector<char> alive(steps, 0);
  for (const auto& [value, stay] : record.stays) {
    for (size_t moment = stay.first; moment <= stay.last; ++moment)
      alive[static_cast<size_t>(moments_[moment])] = 1;
  }
  std::vector<problem::Lifespan> lifespans;
  for (size_t i = 0; i < steps; ++i) {
    if (alive[i] == 0) continue;
    const auto step = static_cast<Step>(i);
    if (!lifespans.empty() && lifespans.back().upper == step) {
      lifespans.back().upper = step + 1;
    } else {
      lifespans.push_back({step, step + 1});
    }
  }
  return lifespans;
}

using hw_profiles::HaloStorage;

SubgraphResidency::SubgraphResidency(const Plan& plan, const std::vector<Users>& users,
                                     int subgraph, std::set<int> cached)
    : plan_(&plan), subgraph_(subgraph), cached_(std::move(cached)) {
  for (const int tensor : TensorsOf(plan.network, Current().interval))
    held_.emplace(tensor, ResidencyOf(plan, users, Current(), tensor));
  k_slices_ = FindKSlices(plan, Current());
}

std::vector<int> SubgraphResidency::All(Residency residency) const {
  std::vector<int> tensors;
  for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
    for (const auto* list : {&At(op).inputs, &At(op).weights, &At(op).outputs}) {
      for (const int tensor : *list) {
        if (HeldOf(tensor).residency != residency) continue;
        if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end())
          tensors.push_back(tensor);
      }
    }
  }
  return tensors;
}

std::vector<Stream> SubgraphResidency::StreamsOf(int op) const {
  std::vector<Stream> streams;
  for (const auto* list : {&At(op).inputs, &At(op).weights}) {
    for (const int tensor : *list) {
      if (HeldOf(tensor).residency != Residency::kStreamed) continue;
      const bool seen = std::any_of(streams.begin(), streams.end(),
                                    [&](const Stream& stream) { return stream.tensor == tensor; });
      const int64_t slices =
          k_slices_ ? k_slices_->Count() : SlicingOf(*plan_, At(op), tensor).slices;
      if (!seen) streams.push_back({tensor, slices});
    }
  }
  return streams;
}

bool SubgraphResidency::Caches(int tensor, HaloStorage halo) const {
  return Current().halo == halo && cached_.contains(tensor);
}

std::vector<int> SubgraphResidency::CachedAt(int op, bool first) const {
  std::vector<int> tensors;
  for (const int tensor : cached_) {
    std::vector<int> touching;
    for (int each = Current().interval.first; each <= Current().interval.last; ++each) {
      const auto lists = {&At(each).inputs, &At(each).outputs};
      const bool touches =
          std::any_of(lists.begin(), lists.end(), [tensor](const std::vector<int>* list) {
            return std::find(list->begin(), list->end(), tensor) != list->end();
          });
      if (touches) touching.push_back(each);
    }
    if ((first ? touching.front() : touching.back()) == op) tensors.push_back(tensor);
  }
  return tensors;
}

bool SubgraphResidency::Restores(int op) const {
  return Current().halo == HaloStorage::kLineBuffer && !CachedFirstBy(op).empty();
}
bool SubgraphResidency::Saves(int op) const {
  const bool copies =
      Current().halo == HaloStorage::kLineBuffer || Current().halo == HaloStorage::kAdjacent;
  return copies && !CachedLastBy(op).empty();
}

BufferUse SubgraphResidency::TileOf(int tensor, int phase) const {
  const bool rolling_buffer = Caches(tensor, HaloStorage::kRollingBuffer);
  return {rolling_buffer ? BufferKind::kRollingBuffer : BufferKind::kTile,
          subgraph_,
          tensor,
          -1,
          rolling_buffer ? 0 : phase,
          0};
}

std::string SubgraphResidency::EngineNameOf(int op) const {
  const hw_profiles::Engine* engine = EngineOf(*plan_, At(op));
  return engine == nullptr ? "" : engine->name;
}

bool SubgraphResidency::HasScratch(int op) const {
  return At(op).scratch_bytes > 0 ||
         std::any_of(
             plan_->profile.scratch.begin(), plan_->profile.scratch.end(),
             [&](const hw_profiles::Scratch& scratch) { return scratch.kind == At(op).kind; });
}

using hw_profiles::HaloStorage;
using problem::AccessKind;

void Touches::RunStep(problem::Step step) {
  step_ = step;
  log_.RunStep(step);
}

void Touches::LoadResident(const SubgraphResidency& of, int constant) {
  MoveBy(of.HeldOf(constant).link, of.ResidentOf(constant), 0, AccessKind::kWrite);
}

void Touches::LoadResidents(const SubgraphResidency& of) {
  for (const int constant : of.All(Residency::kResident)) LoadResident(of, constant);
}

void Touches::LoadSlice(int op, int tensor, int64_t tile, int64_t round) {
  Move(here_->SliceOf(op, tensor, 0, 0), tile * kRoundsShown + round, AccessKind::kWrite);
}

// The value in a tile buffer. In a rolling buffer all tiles are one value.
int64_t Touches::ValueOf(int tensor, int64_t tile) const {
  return here_->Caches(tensor, HaloStorage::kRollingBuffer) ? 0 : tile;
}

void Touches::MoveTile(int tensor, int phase, int64_t tile, AccessKind kind) {
  Move(here_->TileOf(tensor, phase), ValueOf(tensor, tile), kind);
}

void Touches::Restore(int op, int phase, int64_t tile) {
  if (tile == 0) return;
  for (const int tensor : here_->CachedFirstBy(op)) {
    log_.Touch(here_->LineOf(tensor), tile, here_->EngineNameOf(op), AccessKind::kRead);
    log_.Touch(here_->TileOf(tensor, phase), tile, here_->EngineNameOf(op), AccessKind::kWrite);
  }
}

void Touches::Save(int op, int phase, int next_phase, int64_t tile) {
  for (const int tensor : here_->CachedLastBy(op)) {
    log_.Touch(here_->TileOf(tensor, phase), tile, here_->EngineNameOf(op), AccessKind::kRead);
    const bool line = here_->Current().halo == HaloStorage::kLineBuffer;
    if (!line && tile > 0)
      log_.Touch(here_->HaloOf(tensor, phase), tile, here_->EngineNameOf(op), AccessKind::kRead);
    log_.Touch(line ? here_->LineOf(tensor) : here_->HaloOf(tensor, next_phase), tile + 1,
               here_->EngineNameOf(op), AccessKind::kWrite);
  }
}

void Touches::Move(const BufferUse& use, int64_t value, AccessKind kind) {
  MoveBy(here_->HeldOf(use.tensor).link, use, value, kind);
}

void Touches::MoveBy(const std::string& link, const BufferUse& use, int64_t value,
                     AccessKind kind) {
  log_.Touch(use, value, link, kind);
  transfers_.insert({step_, use.tensor});
}

void Touches::Compute(int op, int phase, int64_t tile, int64_t round) {
  const std::string engine = here_->EngineNameOf(op);
  const int64_t slice = tile * kRoundsShown + round;
  for (const int input : here_->At(op).inputs) {
    if (here_->HeldOf(input).residency == Residency::kStreamed) {
      log_.Touch(here_->SliceOf(op, input, phase, 0), slice, engine, AccessKind::kRead);
    } else {
      TouchOperand(input, phase, tile, engine, AccessKind::kRead);
    }
  }
  for (const int constant : here_->At(op).weights)
    TouchConstant(op, constant, phase, slice, engine);
  if (here_->HasScratch(op)) WorkIn(here_->ScratchOf(op, phase), tile, engine);
  if (here_->Accumulates()) WorkIn(here_->AccumulatorOf(op, phase), tile, engine);
  for (const int output : here_->At(op).outputs)
    TouchOperand(output, phase, tile, engine, AccessKind::kWrite);
}

void Touches::WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine) {
  log_.Touch(workspace, tile, engine, AccessKind::kRead);
  log_.Touch(workspace, tile, engine, AccessKind::kWrite);
}

void Touches::TouchOperand(int tensor, int phase, int64_t tile, const std::string& engine,
                           AccessKind kind) {
  switch (here_->HeldOf(tensor).residency) {
    case Residency::kWhole:
      log_.Touch(WholeOf(tensor), 0, engine, kind);
      break;
    case Residency::kInner:
    case Residency::kLoaded:
    case Residency::kStored:
      log_.Touch(here_->TileOf(tensor, phase), ValueOf(tensor, tile), engine, kind);
      if (here_->Caches(tensor, HaloStorage::kAdjacent) && kind == AccessKind::kRead && tile > 0)
        log_.Touch(here_->HaloOf(tensor, phase), tile, engine, kind);
      break;
    case Residency::kDirect:
    case Residency::kResident:
    case Residency::kStreamed:
      break;
  }
}

void Touches::TouchConstant(int op, int constant, int phase, int64_t slice,
                            const std::string& engine) {
  const Residency residency = here_->HeldOf(constant).residency;
  if (residency == Residency::kWhole) log_.Touch(WholeOf(constant), 0, engine, AccessKind::kRead);
  if (residency == Residency::kResident)
    log_.Touch(here_->ResidentOf(constant), 0, engine, AccessKind::kRead);
  if (residency == Residency::kStreamed) {
    log_.Touch(here_->SliceOf(op, constant, phase, 0), slice, engine, AccessKind::kRead);
  }
}

void Touches::FillFirstSlots(int op, int phase, int64_t tile) {
  for (const Stream& stream : here_->StreamsOf(op)) {
    Move(here_->SliceOf(op, stream.tensor, phase, 0), tile * kRoundsShown, AccessKind::kWrite);
  }
}

void Touches::FillWhileComputing(int op, int phase, int64_t tile) {
  for (const Stream& stream : here_->StreamsOf(op)) {
    if (stream.slices == 1) continue;
    for (const int slot : {0, 1}) {
      Move(here_->SliceOf(op, stream.tensor, phase, slot), tile * kRoundsShown, AccessKind::kWrite);
    }
    log_.Touch(here_->SliceOf(op, stream.tensor, phase, 1), tile * kRoundsShown,
               here_->EngineNameOf(op), AccessKind::kRead);
  }
}

}  // namespace tessera::plan::verify
