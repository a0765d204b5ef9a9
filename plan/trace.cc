#include "tessera/plan/trace.h"

#include <algorithm>
#include <set>

#include "tessera/plan/moment_log.h"

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
namespace tessera::plan {
namespace {

using problem::AccessKind;
using problem::Step;

constexpr int64_t kAlikePasses = 3;
constexpr int64_t kAlternatingPasses = 4;
constexpr int64_t kMostTilesInARow = 3;
constexpr int64_t kSlices = 3;

class Execution {
 public:
  Execution(const Plan& plan, const std::vector<Users>& users) : plan_(plan), users_(users) {}

  Trace Run() {
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      Enter(static_cast<int>(i));
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
  // A streamed constant of one operator.
  struct Stream {
    int constant = 0;
    int64_t slices = 1;
  };

  const Subgraph& Current() const { return plan_.subgraphs[static_cast<size_t>(subgraph_)]; }
  const graph::Operator& At(int op) const { return plan_.network.operators[static_cast<size_t>(op)]; }
  const Held& HeldOf(int tensor) const { return held_.at(tensor); }

  void Enter(int subgraph) {
    subgraph_ = subgraph;
    held_.clear();
    for (const int tensor : TensorsOf(plan_.network, Current().interval)) {
      held_.emplace(tensor, HoldingOf(plan_, users_, Current(), tensor));
    }
  }

  // The tensors of that holding, in order of first use.
  std::vector<int> All(Holding holding) const {
    std::vector<int> tensors;
    for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
      for (const auto* list : {&At(op).inputs, &At(op).weights, &At(op).outputs}) {
        for (const int tensor : *list) {
          if (HeldOf(tensor).holding != holding) continue;
          if (std::find(tensors.begin(), tensors.end(), tensor) == tensors.end()) tensors.push_back(tensor);
        }
      }
    }
    return tensors;
  }

  std::vector<Stream> StreamsOf(int op) const {
    std::vector<Stream> streams;
    for (const int constant : At(op).weights) {
      if (HeldOf(constant).holding != Holding::kStreamed) continue;
      const bool seen = std::any_of(streams.begin(), streams.end(),
                                    [&](const Stream& stream) { return stream.constant == constant; });
      if (!seen) streams.push_back({constant, SlicingOf(plan_, At(op), constant).slices});
    }
    return streams;
  }

  BufferUse TileOf(int tensor, int parity) const {
    return {BufferKind::kTile, subgraph_, tensor, -1, parity, 0};
  }
  BufferUse ResidentOf(int constant) const { return {BufferKind::kResident, subgraph_, constant, -1, 0, 0}; }
  BufferUse SliceOf(int op, int constant, int parity, int slot) const {
    return {BufferKind::kSlice, subgraph_, constant, op, parity, slot};
  }
  static BufferUse WholeOf(int tensor) { return {BufferKind::kWhole, -1, tensor, -1, 0, 0}; }

  Step AddStep(StepKind kind, int parity, int op) {
    trace_.steps.push_back({kind, subgraph_, parity, op, {}});
    return static_cast<Step>(trace_.steps.size()) - 1;
  }

  void Move(const BufferUse& use, int64_t value, AccessKind kind) {
    log_.Touch(use, value, HeldOf(use.tensor).link, kind);
    moved_at_.insert({current_step_, use.tensor});
  }

  void RunStep(Step step) {
    current_step_ = step;
    log_.RunStep(step);
  }

  // C_k for one tile and one group of slices.
  void Compute(int op, int parity, int64_t tile, int64_t round) {
    const std::string engine = EngineOf(op);
    for (const int input : At(op).inputs) TouchOperand(input, parity, tile, engine, AccessKind::kRead);
    for (const int constant : At(op).weights)
      TouchConstant(op, constant, parity, tile * kSlices + round, engine);
    if (HasScratch(op)) {
      const BufferUse scratch{BufferKind::kScratch, subgraph_, -1, op, parity, 0};
      log_.Touch(scratch, tile, engine, AccessKind::kRead);
      log_.Touch(scratch, tile, engine, AccessKind::kWrite);
    }
    for (const int output : At(op).outputs) TouchOperand(output, parity, tile, engine, AccessKind::kWrite);
  }

  void TouchOperand(int tensor, int parity, int64_t tile, const std::string& engine, AccessKind kind) {
    switch (HeldOf(tensor).holding) {
      case Holding::kWhole:
        log_.Touch(WholeOf(tensor), 0, engine, kind);
        break;
      case Holding::kInner:
      case Holding::kLoaded:
      case Holding::kStored:
        log_.Touch(TileOf(tensor, parity), tile, engine, kind);
        break;
      case Holding::kDirect:
      case Holding::kResident:
      case Holding::kStreamed:
        break;
    }
  }

  void TouchConstant(int op, int constant, int parity, int64_t slice, const std::string& engine) {
    const Holding holding = HeldOf(constant).holding;
    if (holding == Holding::kWhole) log_.Touch(WholeOf(constant), 0, engine, AccessKind::kRead);
    if (holding == Holding::kResident) log_.Touch(ResidentOf(constant), 0, engine, AccessKind::kRead);
    if (holding == Holding::kStreamed) {
      log_.Touch(SliceOf(op, constant, parity, 0), slice, engine, AccessKind::kRead);
    }
  }

  std::string EngineOf(int op) const {
    const hw_profiles::Engine* engine = tessera::plan::EngineOf(plan_, At(op));
    return engine == nullptr ? "" : engine->name;
  }

  bool HasScratch(int op) const {
    return At(op).scratch_bytes > 0 ||
           std::any_of(plan_.profile.scratch.begin(), plan_.profile.scratch.end(),
                       [&](const hw_profiles::Scratch& scratch) { return scratch.kind == At(op).kind; });
  }

  // The steps of one operator in a pass with steps of its own for each transfer.
  struct OwnTurn {
    int op = 0;
    std::vector<std::pair<Step, int>> loads;
    std::vector<std::pair<Step, Stream>> weights;
    Step compute = 0;
    std::vector<std::pair<Step, int>> stores;
    int64_t rounds = 1;  // of the slice loop
  };

  void RunOwnSteps() {
    for (const int constant : All(Holding::kResident)) {
      RunStep(AddStep(StepKind::kLoad, 0, -1));
      Move(ResidentOf(constant), 0, AccessKind::kWrite);
    }
    const auto begin = static_cast<Step>(trace_.steps.size());
    const std::vector<OwnTurn> turns = LayOutOwnSteps();
    const auto end = static_cast<Step>(trace_.steps.size());
    if (Current().tiles > 1) trace_.loops.push_back({begin, end, {end}});
    const int64_t passes = Current().tiles > 1 ? kAlikePasses : 1;
    for (int64_t tile = 0; tile < passes; ++tile) {
      for (const OwnTurn& turn : turns) RunOwnTurn(turn, tile);
    }
  }

  std::vector<OwnTurn> LayOutOwnSteps() {
    std::vector<OwnTurn> turns;
    std::set<int> loaded;
    for (int op = Current().interval.first; op <= Current().interval.last; ++op) {
      OwnTurn turn;
      turn.op = op;
      for (const int input : At(op).inputs) {
        if (HeldOf(input).holding != Holding::kLoaded || !loaded.insert(input).second) continue;
        turn.loads.emplace_back(AddStep(StepKind::kLoad, 0, op), input);
      }
      const auto first = static_cast<Step>(trace_.steps.size());
      for (const Stream& stream : StreamsOf(op)) {
        turn.weights.emplace_back(AddStep(StepKind::kLoad, 0, op), stream);
        turn.rounds = std::max(turn.rounds, std::min(stream.slices, kSlices));
      }
      turn.compute = AddStep(StepKind::kCompute, 0, op);
      const Step computing = turn.rounds > 1 ? first : turn.compute;
      trace_.turns.push_back({op, 0, {computing, turn.compute + 1}});
      if (turn.rounds > 1) trace_.loops.push_back({first, turn.compute + 1, {turn.compute + 1}});
      for (const int output : At(op).outputs) {
        if (HeldOf(output).holding == Holding::kStored) {
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
      Move(TileOf(tensor, 0), tile, AccessKind::kWrite);
    }
    for (int64_t round = 0; round < turn.rounds; ++round) {
      for (const auto& [step, stream] : turn.weights) {
        RunStep(step);
        Move(SliceOf(turn.op, stream.constant, 0, 0), tile * kSlices + round, AccessKind::kWrite);
      }
      RunStep(turn.compute);
      Compute(turn.op, 0, tile, round);
    }
    for (const auto& [step, tensor] : turn.stores) {
      RunStep(step);
      Move(TileOf(tensor, 0), tile, AccessKind::kRead);
    }
  }

  // Slot 0 of every streamed constant of `op` is filled for a tile that will be computed next.
  void FillFirstSlots(int op, int parity, int64_t tile) {
    for (const Stream& stream : StreamsOf(op)) {
      Move(SliceOf(op, stream.constant, parity, 0), tile * kSlices, AccessKind::kWrite);
    }
  }

  // Further slices arrive in both slots while the operator computes.
  void FillWhileComputing(int op, int parity, int64_t tile) {
    for (const Stream& stream : StreamsOf(op)) {
      if (stream.slices == 1) continue;
      for (const int slot : {0, 1}) {
        Move(SliceOf(op, stream.constant, parity, slot), tile * kSlices, AccessKind::kWrite);
      }
      log_.Touch(SliceOf(op, stream.constant, parity, 1), tile * kSlices, EngineOf(op), AccessKind::kRead);
    }
  }

  void RunOverlapped() {
    const graph::Interval interval = Current().interval;
    const Step operators = Step{interval.last} - interval.first + 1;
    const int64_t tiles = Current().tiles;
    const std::vector<int> incoming = All(Holding::kLoaded);
    const std::vector<int> outgoing = All(Holding::kStored);
    RunPrologue(incoming);
    const auto begin = static_cast<Step>(trace_.steps.size());
    const bool loops = tiles > kMostTilesInARow;
    const int64_t laid_out = loops ? 2 : tiles;
    for (int64_t pass = 0; pass < laid_out; ++pass) {
      for (int op = interval.first; op <= interval.last; ++op) {
        const Step step = AddStep(StepKind::kCompute, ParityOf(pass), op);
        trace_.turns.push_back({op, ParityOf(pass), {step, step + 1}});
      }
    }
    const bool odd = tiles % 2 == 1;
    if (loops) {
      trace_.loops.push_back(
          {begin, begin + 2 * operators, {odd ? begin + operators : begin + 2 * operators}});
    }
    const int64_t passes = loops ? kAlternatingPasses + (odd ? 1 : 0) : tiles;
    for (int64_t tile = 0; tile < passes; ++tile) {
      const Step pass = begin + (tile % laid_out) * operators;
      for (Step k = 0; k < operators; ++k) {
        RunStep(pass + k);
        RunOverlappedStep(interval.first + static_cast<int>(k), tile, passes, incoming, outgoing);
      }
    }
    if (outgoing.empty()) return;
    RunStep(AddStep(StepKind::kEpilogue, 0, -1));
    for (const int tensor : outgoing)
      Move(TileOf(tensor, ParityOf(passes - 1)), passes - 1, AccessKind::kRead);
  }

  static int ParityOf(int64_t tile) { return static_cast<int>(tile % 2); }

  void RunPrologue(const std::vector<int>& incoming) {
    const std::vector<int> residents = All(Holding::kResident);
    const int first = Current().interval.first;
    if (residents.empty() && incoming.empty() && StreamsOf(first).empty()) return;
    RunStep(AddStep(StepKind::kPrologue, 0, -1));
    for (const int constant : residents) Move(ResidentOf(constant), 0, AccessKind::kWrite);
    for (const int tensor : incoming) Move(TileOf(tensor, 0), 0, AccessKind::kWrite);
    FillFirstSlots(first, 0, 0);
  }

  // C_k of one tile, and beside it whatever moves for the tile before and the tile after.
  void RunOverlappedStep(int op, int64_t tile, int64_t passes, const std::vector<int>& incoming,
                         const std::vector<int>& outgoing) {
    if (tile + 1 < passes) {
      for (const int tensor : incoming)
        Move(TileOf(tensor, ParityOf(tile + 1)), tile + 1, AccessKind::kWrite);
    }
    if (tile > 0) {
      for (const int tensor : outgoing) Move(TileOf(tensor, ParityOf(tile - 1)), tile - 1, AccessKind::kRead);
    }
    if (op < Current().interval.last) {
      FillFirstSlots(op + 1, ParityOf(tile), tile);
    } else if (tile + 1 < passes) {
      FillFirstSlots(Current().interval.first, ParityOf(tile + 1), tile + 1);
    }
    FillWhileComputing(op, ParityOf(tile), tile);
    Compute(op, ParityOf(tile), tile, 0);
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
  int subgraph_ = 0;
  std::map<int, Held> held_;  // of the current subgraph
  Step current_step_ = 0;
  std::set<std::pair<Step, int>> moved_at_;  // step and tensor of each transfer
  MomentLog log_;
  Trace trace_;
};

}  // namespace

Trace Execute(const Plan& plan, const std::vector<Users>& users) { return Execution(plan, users).Run(); }

}  // namespace tessera::plan
