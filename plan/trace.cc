#include "tessera/plan/trace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "tessera/plan/moment_log.h"
#include "tessera/plan/subgraph_holdings.h"

// Lifespans by observation. docs/program.md states them as a table of closed forms, and encoder/adapt builds them
// from it; this file never looks at the table. It executes the program: a list of *moments*, each of which runs one
// step. Whoever touches a buffer says which value (tile, slice, whole tensor) it touches. A value must sit still from
// the first moment that touches it to the last, so a buffer lives at the steps of all moments in between:
//
//     moment   0  1  2  3  4  5        step of each moment   0  1  2  1  2  3      (a loop of steps 1 and 2, run twice)
//     tile 0   w     r                 lives at moments 0..2:   steps 0 1 2
//     tile 1         w  .  r           lives at moments 2..4:   steps 2 1 2        buffer: [0, 3)
//
// A loop runs often enough for every step to meet every neighbour it can have: three passes where all are alike, four
// or five (by the parity of the tile count, which decides the exit) where ping and pong alternate, and three slices.
// What the real program would do only in a longer run counts too: a loop may always go round again. Where ping and pong
// alternate, up to three tiles run in a row, without a loop: of three passes only the middle one has a neighbour on either
// side, and folding them onto two would make buffers meet that never do.
//
// With a cached halo, rows of a tile stay for the next one. A ring is one value that all tiles touch. Otherwise the rows that
// tile i leaves are a value of their own, numbered by the tile that will read them: in the line from the step that saves them to
// the step that restores them, or in the halo of that tile's parity.
namespace tessera::plan {
namespace {

using hw_profiles::HaloStorage;
using problem::AccessKind;
using problem::Step;

constexpr int64_t kAlikePasses = 3;
constexpr int64_t kAlternatingPasses = 4;
constexpr int64_t kMostTilesInARow = 3;
constexpr int64_t kSlices = 3;

class Execution {
 public:
  Execution(const Plan& plan, const std::vector<Users>& users, std::vector<std::set<int>> cached)
      : plan_(plan), users_(users) {
    trace_.cached = std::move(cached);
    trace_.cached.resize(plan.subgraphs.size());
  }

  Trace Run() {
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      here_.emplace(plan_, users_, static_cast<int>(i), trace_.cached[i]);
      FindNext(i + 1);
      const auto begin = static_cast<Step>(trace_.steps.size());
      if (plan_.profile.tiling.dma == hw_profiles::DmaSteps::kOwnSteps) {
        RunOwnSteps();
      } else {
        RunOverlapped();
      }
      trace_.subgraph_steps.push_back({begin, static_cast<Step>(trace_.steps.size())});
    }
    HoldOverProgram();
    trace_.buffers = log_.Fold(trace_.steps.size());
    NoteTransfers();
    SortLoops();
    return std::move(trace_);
  }

 private:
  // What a tile buffer holds; all tiles are one in a ring.
  int64_t ValueOf(int tensor, int64_t tile) const {
    return here_->Caches(tensor, HaloStorage::kRing) ? 0 : tile;
  }

  void MoveTile(int tensor, int parity, int64_t tile, AccessKind kind) {
    Move(here_->TileOf(tensor, parity), ValueOf(tensor, tile), kind);
  }

  // R_k: the rows that the tile before has left come into the tile.
  void Restore(int op, int parity, int64_t tile) {
    if (tile == 0) return;
    for (const int tensor : here_->CachedFirstBy(op)) {
      log_.Touch(here_->LineOf(tensor), tile, here_->EngineNameOf(op), AccessKind::kRead);
      log_.Touch(here_->TileOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kWrite);
    }
  }

  // S_k: rows are put aside for the tile after, whose parity is given too.
  void Save(int op, int parity, int next_parity, int64_t tile) {
    for (const int tensor : here_->CachedLastBy(op)) {
      log_.Touch(here_->TileOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kRead);
      const bool line = here_->Current().halo == HaloStorage::kCopy;
      if (!line && tile > 0)
        log_.Touch(here_->HaloOf(tensor, parity), tile, here_->EngineNameOf(op), AccessKind::kRead);
      log_.Touch(line ? here_->LineOf(tensor) : here_->HaloOf(tensor, next_parity), tile + 1,
                 here_->EngineNameOf(op), AccessKind::kWrite);
    }
  }
  static BufferUse WholeOf(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }

  Step AddStep(StepKind kind, int parity, int op) {
    trace_.steps.push_back({kind, here_->Index(), parity, op, {}});
    return static_cast<Step>(trace_.steps.size()) - 1;
  }

  void Move(const BufferUse& use, int64_t value, AccessKind kind) {
    Move(use, value, kind, here_->HeldOf(use.tensor).link);
  }

  void Move(const BufferUse& use, int64_t value, AccessKind kind, const std::string& link) {
    log_.Touch(use, value, link, kind);
    moved_at_.insert({current_step_, use.tensor});
  }

  // The subgraph of that number, if it is one whose constants arrive while the one before runs.
  void FindNext(size_t number) {
    next_.reset();
    if (number < plan_.subgraphs.size() && plan_.subgraphs[number].prefetch)
      next_.emplace(plan_, users_, static_cast<int>(number), trace_.cached[number]);
  }

  // The constants that a subgraph, perhaps the next one, loads once.
  void MoveResidents(const SubgraphHoldings& of) {
    for (const int constant : of.All(Holding::kResident))
      Move(of.ResidentOf(constant), 0, AccessKind::kWrite, of.HeldOf(constant).link);
  }

  void RunStep(Step step) {
    current_step_ = step;
    log_.RunStep(step);
  }

  // C_k for one tile and one group of slices.
  void Compute(int op, int parity, int64_t tile, int64_t round) {
    const std::string engine = here_->EngineNameOf(op);
    const int64_t slice = tile * kSlices + round;
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

  void WorkIn(const BufferUse& workspace, int64_t tile, const std::string& engine) {
    log_.Touch(workspace, tile, engine, AccessKind::kRead);
    log_.Touch(workspace, tile, engine, AccessKind::kWrite);
  }

  void TouchOperand(int tensor, int parity, int64_t tile, const std::string& engine, AccessKind kind) {
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

  void TouchConstant(int op, int constant, int parity, int64_t slice, const std::string& engine) {
    const Holding holding = here_->HeldOf(constant).holding;
    if (holding == Holding::kWhole) log_.Touch(WholeOf(constant), 0, engine, AccessKind::kRead);
    if (holding == Holding::kResident) log_.Touch(here_->ResidentOf(constant), 0, engine, AccessKind::kRead);
    if (holding == Holding::kStreamed) {
      log_.Touch(here_->SliceOf(op, constant, parity, 0), slice, engine, AccessKind::kRead);
    }
  }

  // The steps of one operator in a pass with steps of its own for each transfer.
  struct OwnTurn {
    int op = 0;
    std::vector<std::pair<Step, int>> loads;
    std::optional<Step> restore;
    std::vector<std::pair<Step, Stream>> weights;
    Step compute = 0;
    std::optional<Step> save;
    std::vector<std::pair<Step, int>> stores;
    int64_t rounds = 1;  // of the slice loop
  };

  void RunOwnSteps() {
    for (const int constant : here_->All(Holding::kResident)) {
      RunStep(AddStep(StepKind::kLoad, 0, -1));
      Move(here_->ResidentOf(constant), 0, AccessKind::kWrite);
    }
    const auto begin = static_cast<Step>(trace_.steps.size());
    const std::vector<OwnTurn> turns = LayOutOwnSteps();
    const auto end = static_cast<Step>(trace_.steps.size());
    if (here_->Current().tiles > 1) trace_.loops.push_back({begin, end, {end}});
    const int64_t passes = here_->Current().tiles > 1 ? kAlikePasses : 1;
    for (int64_t tile = 0; tile < passes; ++tile) {
      for (const OwnTurn& turn : turns) RunOwnTurn(turn, tile);
    }
  }

  std::vector<OwnTurn> LayOutOwnSteps() {
    std::vector<OwnTurn> turns;
    std::set<int> loaded;
    for (int op = here_->Current().interval.first; op <= here_->Current().interval.last; ++op) {
      OwnTurn turn;
      turn.op = op;
      for (const int input : here_->At(op).inputs) {
        if (here_->HeldOf(input).holding != Holding::kLoaded || !loaded.insert(input).second) continue;
        turn.loads.emplace_back(AddStep(StepKind::kLoad, 0, op), input);
      }
      if (here_->Restores(op)) turn.restore = AddStep(StepKind::kCopy, 0, op);
      const auto first = static_cast<Step>(trace_.steps.size());
      for (const Stream& stream : here_->StreamsOf(op)) {
        turn.weights.emplace_back(AddStep(StepKind::kLoad, 0, op), stream);
        turn.rounds = std::max(turn.rounds, std::min(stream.slices, kSlices));
      }
      turn.compute = AddStep(StepKind::kCompute, 0, op);
      const Step computing = turn.rounds > 1 ? first : turn.compute;
      trace_.turns.push_back({op, 0, {computing, turn.compute + 1}});
      if (turn.rounds > 1) trace_.loops.push_back({first, turn.compute + 1, {turn.compute + 1}});
      if (here_->Saves(op)) turn.save = AddStep(StepKind::kCopy, 0, op);
      for (const int output : here_->At(op).outputs) {
        if (here_->HeldOf(output).holding == Holding::kStored) {
          turn.stores.emplace_back(AddStep(StepKind::kStore, 0, op), output);
        }
      }
      turns.push_back(std::move(turn));
    }
    return turns;
  }

  void RunOwnTurn(const OwnTurn& turn, int64_t tile) {
    for (const auto& [step, tensor] : turn.loads) {
      RunStep(step);
      MoveTile(tensor, 0, tile, AccessKind::kWrite);
    }
    if (turn.restore) {
      RunStep(*turn.restore);
      Restore(turn.op, 0, tile);
    }
    for (int64_t round = 0; round < turn.rounds; ++round) {
      for (const auto& [step, stream] : turn.weights) {
        RunStep(step);
        Move(here_->SliceOf(turn.op, stream.tensor, 0, 0), tile * kSlices + round, AccessKind::kWrite);
      }
      RunStep(turn.compute);
      Compute(turn.op, 0, tile, round);
    }
    if (turn.save) {
      RunStep(*turn.save);
      Save(turn.op, 0, 0, tile);
    }
    for (const auto& [step, tensor] : turn.stores) {
      RunStep(step);
      MoveTile(tensor, 0, tile, AccessKind::kRead);
    }
  }

  // Slot 0 of every streamed operand of `op` is filled for a tile that will be computed next.
  void FillFirstSlots(int op, int parity, int64_t tile) {
    for (const Stream& stream : here_->StreamsOf(op)) {
      Move(here_->SliceOf(op, stream.tensor, parity, 0), tile * kSlices, AccessKind::kWrite);
    }
  }

  // Further slices arrive in both slots while the operator computes.
  void FillWhileComputing(int op, int parity, int64_t tile) {
    for (const Stream& stream : here_->StreamsOf(op)) {
      if (stream.slices == 1) continue;
      for (const int slot : {0, 1}) {
        Move(here_->SliceOf(op, stream.tensor, parity, slot), tile * kSlices, AccessKind::kWrite);
      }
      log_.Touch(here_->SliceOf(op, stream.tensor, parity, 1), tile * kSlices, here_->EngineNameOf(op),
                 AccessKind::kRead);
    }
  }

  // One step of an overlapped pass.
  struct PassStep {
    enum class Task : uint8_t { kRestore, kCompute, kSave };
    Task task = Task::kCompute;
    int op = 0;
    Step step = 0;
  };
  using Pass = std::vector<PassStep>;

  // A pass copies rows only from a neighbour before it and for one after it.
  Pass LayOutPass(int parity, bool has_before, bool has_after) {
    using Task = PassStep::Task;
    Pass pass;
    for (int op = here_->Current().interval.first; op <= here_->Current().interval.last; ++op) {
      if (has_before && here_->Restores(op))
        pass.push_back({Task::kRestore, op, AddStep(StepKind::kCopy, parity, op)});
      pass.push_back({Task::kCompute, op, AddStep(StepKind::kCompute, parity, op)});
      trace_.turns.push_back({op, parity, {pass.back().step, pass.back().step + 1}});
      if (has_after && here_->Saves(op))
        pass.push_back({Task::kSave, op, AddStep(StepKind::kCopy, parity, op)});
    }
    return pass;
  }

  void RunOverlapped() {
    const int64_t tiles = here_->Current().tiles;
    const std::vector<int> incoming = here_->All(Holding::kLoaded);
    const std::vector<int> outgoing = here_->All(Holding::kStored);
    RunPrologue(incoming);
    const bool loops = tiles > kMostTilesInARow;
    std::vector<Pass> passes;
    for (int64_t i = 0; i < (loops ? 2 : tiles); ++i)
      passes.push_back(LayOutPass(ParityOf(i), loops || i > 0, loops || i + 1 < tiles));
    const bool odd = tiles % 2 == 1;
    if (loops) {
      const Step exit = passes[odd ? 0 : 1].back().step + 1;
      trace_.loops.push_back({passes[0].front().step, passes[1].back().step + 1, {exit}});
    }
    const int64_t runs = loops ? kAlternatingPasses + (odd ? 1 : 0) : tiles;
    for (int64_t tile = 0; tile < runs; ++tile) {
      const Pass& pass = passes[static_cast<size_t>(tile) % passes.size()];
      for (size_t i = 0; i < pass.size(); ++i) {
        RunStep(pass[i].step);
        if (next_ && tile + 1 == runs) MoveResidents(*next_);
        RunOverlappedStep(pass, i, tile, runs, incoming, outgoing);
      }
    }
    if (outgoing.empty()) return;
    RunStep(AddStep(StepKind::kEpilogue, 0, -1));
    if (next_) MoveResidents(*next_);
    for (const int tensor : outgoing) MoveTile(tensor, ParityOf(runs - 1), runs - 1, AccessKind::kRead);
  }

  static int ParityOf(int64_t tile) { return static_cast<int>(tile % 2); }

  void RunPrologue(const std::vector<int>& incoming) {
    const std::vector<int> residents = here_->All(Holding::kResident);
    const int first = here_->Current().interval.first;
    const bool loads_residents = !residents.empty() && !here_->Current().prefetch;
    if (!loads_residents && incoming.empty() && here_->StreamsOf(first).empty()) return;
    RunStep(AddStep(StepKind::kPrologue, 0, -1));
    if (loads_residents) MoveResidents(*here_);
    for (const int tensor : incoming) MoveTile(tensor, 0, 0, AccessKind::kWrite);
    FillFirstSlots(first, 0, 0);
  }

  // One step of a tile's pass, and beside it whatever moves for the tile before, the tile after, and the operator that
  // computes next.
  void RunOverlappedStep(const Pass& pass, size_t position, int64_t tile, int64_t runs,
                         const std::vector<int>& incoming, const std::vector<int>& outgoing) {
    const int parity = ParityOf(tile);
    if (tile + 1 < runs) {
      for (const int tensor : incoming) MoveTile(tensor, ParityOf(tile + 1), tile + 1, AccessKind::kWrite);
    }
    if (tile > 0) {
      for (const int tensor : outgoing) MoveTile(tensor, ParityOf(tile - 1), tile - 1, AccessKind::kRead);
    }
    const auto next =
        std::find_if(pass.begin() + static_cast<std::ptrdiff_t>(position) + 1, pass.end(),
                     [](const PassStep& step) { return step.task == PassStep::Task::kCompute; });
    if (next != pass.end()) {
      FillFirstSlots(next->op, parity, tile);
    } else if (tile + 1 < runs) {
      FillFirstSlots(here_->Current().interval.first, ParityOf(tile + 1), tile + 1);
    }
    const int op = pass[position].op;
    switch (pass[position].task) {
      case PassStep::Task::kRestore:
        Restore(op, parity, tile);
        break;
      case PassStep::Task::kCompute:
        FillWhileComputing(op, parity, tile);
        Compute(op, parity, tile, 0);
        break;
      case PassStep::Task::kSave:
        if (tile + 1 < runs) Save(op, parity, ParityOf(tile + 1), tile);
        break;
    }
  }

  // Whole buffers of tensors that come from before the program or are wanted after it.
  void HoldOverProgram() {
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
      const base::TensorRole role = RoleOf(tensor, users_[i], everything);
      if (role == base::TensorRole::kFeature || role == base::TensorRole::kBorder) continue;
      if (hw_profiles::LayoutOf(plan_.profile, role).home != plan_.profile.tile_memory) continue;
      const BufferUse whole = WholeOf(static_cast<int>(i));
      const bool always = tensor.constant || tensor.state;
      if (always || tensor.network_input) log_.Hold(whole, 0, 0);
      if (always || tensor.network_output || users_[i].readers.empty()) log_.Hold(whole, 0, log_.Now());
    }
  }

  void NoteTransfers() {
    for (const auto& [step, tensor] : moved_at_) {
      trace_.steps[static_cast<size_t>(step)].transfers.push_back(tensor);
    }
  }

  // A pass may be nothing but one operator's slice loop; they are one loop then.
  void SortLoops() {
    std::sort(trace_.loops.begin(), trace_.loops.end(), [](const problem::Loop& a, const problem::Loop& b) {
      return std::tie(a.begin, a.end, a.exits) < std::tie(b.begin, b.end, b.exits);
    });
    trace_.loops.erase(std::unique(trace_.loops.begin(), trace_.loops.end()), trace_.loops.end());
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  std::optional<SubgraphHoldings> here_;  // the subgraph that runs
  std::optional<SubgraphHoldings> next_;  // the one after, where its constants are prefetched
  Step current_step_ = 0;
  std::set<std::pair<Step, int>> moved_at_;  // step and tensor of each transfer
  MomentLog log_;
  Trace trace_;
};

}  // namespace

Trace Execute(const Plan& plan, const std::vector<Users>& users, std::vector<std::set<int>> cached) {
  return Execution(plan, users, std::move(cached)).Run();
}

}  // namespace tessera::plan
