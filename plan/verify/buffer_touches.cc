// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/buffer_touches.h"

#include <algorithm>

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

std::map<BufferUse, ObservedUse> MomentLog::Fold(size_t steps) const {
  std::map<BufferUse, ObservedUse> buffers;
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
using problem::AccessKind;

namespace {

// After this many slices a loop over slices shows no new behaviour.
constexpr int64_t kRoundsShown = 3;

int64_t SliceOf(const RunIndex& run) { return run.tile * kRoundsShown + run.round; }

}  // namespace

void Touches::EnterSubgraph(const SubgraphResidency& here,
                            std::span<const SubgraphResidency> carried) {
  here_ = &here;
  carried_ = carried;
}

void Touches::Enter(Step step, int64_t /*tile*/) {
  log_.RunStep(step);
  for (const auto& [number, touch] : under_way_) Log(touch);
}

int64_t Touches::Begin(const Transfer& transfer) {
  Log(under_way_.emplace(transfers_, TouchOf(transfer)).first->second);
  return transfers_++;
}

// With slices ahead every slot shows its use, so every round runs. There is one tile.
int64_t Touches::RoundsOf(int op) {
  const int64_t rounds = here_->RoundsOf(op);
  if (TakesSlicesAhead(here_->Current())) return rounds;
  return rounds > 1 ? kRoundsShown : 1;
}

// The value in a tile buffer. In a rolling buffer all tiles are one value.
int64_t Touches::ValueOf(int tensor, int64_t tile) const {
  return here_->Caches(tensor, HaloStorage::kRollingBuffer) ? 0 : tile;
}

Touches::Touch Touches::TouchOf(const Transfer& transfer) const {
  const int tensor = transfer.tensor;
  const RunIndex& run = transfer.run;
  switch (transfer.kind) {
    case Transfer::Kind::kResident:
      return {here_->ResidentOf(tensor), 0, here_->HeldOf(tensor).link, AccessKind::kWrite};
    case Transfer::Kind::kPrefetch: {
      const SubgraphResidency& later = carried_[transfer.carried];
      const std::string& link = later.HeldOf(tensor).link;
      if (transfer.op < 0) return {later.ResidentOf(tensor), 0, link, AccessKind::kWrite};
      return {later.SliceOf(transfer.op, tensor, 0, run.slot), SliceOf({0, 0, run.round}), link,
              AccessKind::kWrite};
    }
    case Transfer::Kind::kSlice:
      return {here_->SliceOf(transfer.op, tensor, run.phase, run.slot), SliceOf(run),
              here_->HeldOf(tensor).link, AccessKind::kWrite};
    case Transfer::Kind::kLoad:
    case Transfer::Kind::kStore:
      break;
  }
  return {here_->TileOf(tensor, run.phase), ValueOf(tensor, run.tile), here_->HeldOf(tensor).link,
          transfer.kind == Transfer::Kind::kLoad ? AccessKind::kWrite : AccessKind::kRead};
}

void Touches::Restore(int op, const RunIndex& run, Step /*step*/) {
  if (run.tile == 0) return;
  const std::string engine = here_->EngineNameOf(op);
  for (const int tensor : here_->RestoredBy(op)) {
    log_.Touch(here_->LineOf(tensor), run.tile, engine, AccessKind::kRead);
    log_.Touch(here_->TileOf(tensor, run.phase), run.tile, engine, AccessKind::kWrite);
  }
}

void Touches::Save(int op, const RunIndex& run, int next_phase, Step /*step*/) {
  const std::string engine = here_->EngineNameOf(op);
  for (const int tensor : here_->SavedBy(op)) {
    log_.Touch(here_->TileOf(tensor, run.phase), run.tile, engine, AccessKind::kRead);
    const bool line = here_->Caches(tensor, HaloStorage::kLineBuffer);
    if (!line && run.tile > 0)
      log_.Touch(here_->HaloOf(tensor, run.phase), run.tile, engine, AccessKind::kRead);
    log_.Touch(line ? here_->LineOf(tensor) : here_->HaloOf(tensor, next_phase), run.tile + 1,
               engine, AccessKind::kWrite);
  }
}

void Touches::Compute(int op, const RunIndex& run, Step /*step*/) {
  const std::string engine = here_->EngineNameOf(op);
  for (const auto* list : {&here_->At(op).inputs, &here_->At(op).weights}) {
    for (const int tensor : *list) TouchOperand(op, tensor, run, engine, AccessKind::kRead);
  }
  if (here_->HasScratch(op)) WorkIn(here_->ScratchOf(op, run.phase), run.tile, engine);
  if (here_->SlicesOfK()) WorkIn(here_->AccumulatorOf(op, run.phase), run.tile, engine);
  for (const int output : here_->At(op).outputs)
    TouchOperand(op, output, run, engine, AccessKind::kWrite);
}

void Touches::MayCompute(int op, const RunIndex& run) { Compute(op, run, /*step=*/-1); }

void Touches::WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine) {
  log_.Touch(workspace, tile, engine, AccessKind::kRead);
  log_.Touch(workspace, tile, engine, AccessKind::kWrite);
}

void Touches::TouchOperand(int op, int tensor, const RunIndex& run, const std::string& engine,
                           AccessKind kind) {
  switch (here_->HeldOf(tensor).residency) {
    case Residency::kWhole:
      log_.Touch(WholeOf(tensor), 0, engine, kind);
      break;
    case Residency::kInner:
    case Residency::kLoaded:
    case Residency::kStored:
      log_.Touch(here_->TileOf(tensor, run.phase), ValueOf(tensor, run.tile), engine, kind);
      if (here_->Caches(tensor, HaloStorage::kAdjacent) && kind == AccessKind::kRead &&
          run.tile > 0)
        log_.Touch(here_->HaloOf(tensor, run.phase), run.tile, engine, kind);
      break;
    case Residency::kResident:
      log_.Touch(here_->ResidentOf(tensor), 0, engine, kind);
      break;
    case Residency::kStreamed:
      log_.Touch(here_->SliceOf(op, tensor, run.phase, run.slot), SliceOf(run), engine, kind);
      break;
    case Residency::kDirect:
      break;
  }
}

}  // namespace tessera::plan::verify
