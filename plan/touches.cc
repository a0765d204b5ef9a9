#include "tessera/plan/touches.h"

namespace tessera::plan {

using hw_profiles::HaloStorage;
using problem::AccessKind;

void Touches::RunStep(problem::Step step) {
  step_ = step;
  log_.RunStep(step);
}

void Touches::LoadResident(const SubgraphHoldings& of, int constant) {
  MoveBy(of.HeldOf(constant).link, of.ResidentOf(constant), 0, AccessKind::kWrite);
}

void Touches::LoadResidents(const SubgraphHoldings& of) {
  for (const int constant : of.All(Holding::kResident)) LoadResident(of, constant);
}

void Touches::LoadSlice(int op, int tensor, int64_t tile, int64_t round) {
  Move(here_->SliceOf(op, tensor, 0, 0), tile * kRoundsShown + round, AccessKind::kWrite);
}

// What a tile buffer holds; all tiles are one in a ring.
int64_t Touches::ValueOf(int tensor, int64_t tile) const {
  return here_->Caches(tensor, HaloStorage::kRing) ? 0 : tile;
}

void Touches::MoveTile(int tensor, int parity, int64_t tile, AccessKind kind) {
  Move(here_->TileOf(tensor, parity), ValueOf(tensor, tile), kind);
}

void Touches::Restore(int op, int parity, int64_t tile) {
  if (tile == 0) return;
  for (const int tensor : here_->CachedFirstBy(op)) {
    log_.Touch(here_->LineOf(tensor), tile, here_->EngineNameOf(op), AccessKind::kRead);
    log_.Touch(here_->TileOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kWrite);
  }
}

void Touches::Save(int op, int parity, int next_parity, int64_t tile) {
  for (const int tensor : here_->CachedLastBy(op)) {
    log_.Touch(here_->TileOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kRead);
    const bool line = here_->Current().halo == HaloStorage::kCopy;
    if (!line && tile > 0)
      log_.Touch(here_->HaloOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kRead);
    log_.Touch(line ? here_->LineOf(tensor) : here_->HaloOf(tensor, next_parity), tile + 1,
               here_->EngineNameOf(op), AccessKind::kWrite);
  }
}

void Touches::Move(const BufferUse& use, int64_t value, AccessKind kind) {
  MoveBy(here_->HeldOf(use.tensor).link, use, value, kind);
}

void Touches::MoveBy(const std::string& link, const BufferUse& use, int64_t value, AccessKind kind) {
  log_.Touch(use, value, link, kind);
  transfers_.insert({step_, use.tensor});
}

void Touches::Compute(int op, int parity, int64_t tile, int64_t round) {
  const std::string engine = here_->EngineNameOf(op);
  const int64_t slice = tile * kRoundsShown + round;
  for (const int input : here_->At(op).inputs) {
    if (here_->HeldOf(input).holding == Holding::kStreamed) {
      log_.Touch(here_->SliceOf(op, input, parity, 0), slice, engine, AccessKind::kRead);
    } else {
      TouchOperand(input, parity, tile, engine, AccessKind::kRead);
    }
  }
  for (const int constant : here_->At(op).weights) TouchConstant(op, constant, parity, slice, engine);
  if (here_->HasScratch(op)) WorkIn(here_->ScratchOf(op, parity), tile, engine);
  if (here_->Accumulates()) WorkIn(here_->AccumulatorOf(op, parity), tile, engine);
  for (const int output : here_->At(op).outputs)
    TouchOperand(output, parity, tile, engine, AccessKind::kWrite);
}

void Touches::WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine) {
  log_.Touch(workspace, tile, engine, AccessKind::kRead);
  log_.Touch(workspace, tile, engine, AccessKind::kWrite);
}

void Touches::TouchOperand(int tensor, int parity, int64_t tile, const std::string& engine, AccessKind kind) {
  switch (here_->HeldOf(tensor).holding) {
    case Holding::kWhole:
      log_.Touch(WholeOf(tensor), 0, engine, kind);
      break;
    case Holding::kInner:
    case Holding::kLoaded:
    case Holding::kStored:
      log_.Touch(here_->TileOf(tensor, parity), ValueOf(tensor, tile), engine, kind);
      if (here_->Caches(tensor, HaloStorage::kAdjacent) && kind == AccessKind::kRead && tile > 0)
        log_.Touch(here_->HaloOf(tensor, parity), tile, engine, kind);
      break;
    case Holding::kDirect:
    case Holding::kResident:
    case Holding::kStreamed:
      break;
  }
}

void Touches::TouchConstant(int op, int constant, int parity, int64_t slice, const std::string& engine) {
  const Holding holding = here_->HeldOf(constant).holding;
  if (holding == Holding::kWhole) log_.Touch(WholeOf(constant), 0, engine, AccessKind::kRead);
  if (holding == Holding::kResident) log_.Touch(here_->ResidentOf(constant), 0, engine, AccessKind::kRead);
  if (holding == Holding::kStreamed) {
    log_.Touch(here_->SliceOf(op, constant, parity, 0), slice, engine, AccessKind::kRead);
  }
}

void Touches::FillFirstSlots(int op, int parity, int64_t tile) {
  for (const Stream& stream : here_->StreamsOf(op)) {
    Move(here_->SliceOf(op, stream.tensor, parity, 0), tile * kRoundsShown, AccessKind::kWrite);
  }
}

void Touches::FillWhileComputing(int op, int parity, int64_t tile) {
  for (const Stream& stream : here_->StreamsOf(op)) {
    if (stream.slices == 1) continue;
    for (const int slot : {0, 1}) {
      Move(here_->SliceOf(op, stream.tensor, parity, slot), tile * kRoundsShown, AccessKind::kWrite);
    }
    log_.Touch(here_->SliceOf(op, stream.tensor, parity, 1), tile * kRoundsShown, here_->EngineNameOf(op),
               AccessKind::kRead);
  }
}

}  // namespace tessera::plan
