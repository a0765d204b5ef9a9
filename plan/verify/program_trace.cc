#include "tessera/plan/verify/program_trace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

// Lifespans by observation. docs/program.md, section 5, states them as closed forms, and
// encoder/program builds them from these; this file does not use them. It executes the program: a
// list of *moments*, each of which runs one step. Whoever touches a buffer says which value (tile,
// slice, whole tensor) it touches. A value must sit still from the first moment that touches it to
// the last, so a buffer lives at the steps of all moments in between:
//
//     moment   0  1  2  3  4  5        step of each moment   0  1  2  1  2  3      (a loop of steps 1 and 2, run twice)
//     tile 0   w     r                 lives at moments 0..2:   steps 0 1 2
//     tile 1         w  .  r           lives at moments 2..4:   steps 2 1 2        buffer: [0, 3)
//
// A loop runs often enough for every step to meet every neighbour it can have: three passes where
// all are alike, four or five (by the phase of the tile count, which decides the exit) where ping
// and pong alternate, and three slices. What the real program would do only in a longer run counts
// too: a loop may always go round again. Where ping and pong alternate, up to three tiles run in a
// row, without a loop: of three passes only the middle one has a neighbour on either side, and
// folding them onto two would make buffers meet that never do.
//
// With a cached halo, rows of a tile stay for the next one. A rolling buffer is one value that all
// tiles touch. Otherwise the rows that tile i leaves are a value of their own, numbered by the tile
// that will read them: in the line from the step that saves them to the step that restores them, or
// in the halo of that tile's phase.
namespace tessera::plan::verify {
namespace {

using problem::AccessKind;
using problem::Step;

constexpr int64_t kAlikePasses = 3;
constexpr int64_t kAlternatingPasses = 4;
constexpr int64_t kMostTilesInARow = 3;

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
      touches_.EnterSubgraph(*here_);
      FindNext(i + 1);
      const auto begin = static_cast<Step>(trace_.steps.size());
      if (plan_.profile.tiling.dma == hw_profiles::DmaSteps::kSerialized) {
        RunSerialized();
      } else {
        RunDoubleBuffered();
      }
      trace_.subgraph_steps.push_back({begin, static_cast<Step>(trace_.steps.size())});
    }
    HoldOverProgram();
    trace_.buffers = touches_.Fold(trace_.steps.size());
    NoteTransfers();
    SortLoops();
    return std::move(trace_);
  }

 private:
  Step AddStep(StepKind kind, int phase, int op) {
    trace_.steps.push_back({kind, here_->Index(), phase, op, {}});
    return static_cast<Step>(trace_.steps.size()) - 1;
  }

  // The subgraph of that number, if it is one whose constants arrive while the one before runs.
  void FindNext(size_t number) {
    next_.reset();
    if (number < plan_.subgraphs.size() && plan_.subgraphs[number].prefetch)
      next_.emplace(plan_, users_, static_cast<int>(number), trace_.cached[number]);
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

  void RunSerialized() {
    for (const int constant : here_->All(Residency::kResident)) {
      touches_.RunStep(AddStep(StepKind::kLoad, 0, -1));
      touches_.LoadResident(*here_, constant);
    }
    const auto begin = static_cast<Step>(trace_.steps.size());
    const std::vector<OwnTurn> turns = LayOutSerialized();
    const auto end = static_cast<Step>(trace_.steps.size());
    if (here_->Current().tiles > 1) trace_.loops.push_back({begin, end, {end}});
    const int64_t passes = here_->Current().tiles > 1 ? kAlikePasses : 1;
    for (int64_t tile = 0; tile < passes; ++tile) {
      for (const OwnTurn& turn : turns) RunOwnTurn(turn, tile);
    }
  }

  std::vector<OwnTurn> LayOutSerialized() {
    std::vector<OwnTurn> turns;
    std::set<int> loaded;
    for (int op = here_->Current().interval.first; op <= here_->Current().interval.last; ++op) {
      OwnTurn turn;
      turn.op = op;
      for (const int input : here_->At(op).inputs) {
        if (here_->HeldOf(input).residency != Residency::kLoaded || !loaded.insert(input).second)
          continue;
        turn.loads.emplace_back(AddStep(StepKind::kLoad, 0, -1), input);
      }
      if (here_->Restores(op)) turn.restore = AddStep(StepKind::kCopy, 0, op);
      const auto first = static_cast<Step>(trace_.steps.size());
      for (const Stream& stream : here_->StreamsOf(op)) {
        turn.weights.emplace_back(AddStep(StepKind::kLoad, 0, op), stream);
        turn.rounds = std::max(turn.rounds, std::min(stream.slices, kRoundsShown));
      }
      turn.compute = AddStep(StepKind::kCompute, 0, op);
      const Step computing = turn.rounds > 1 ? first : turn.compute;
      trace_.turns.push_back({op, 0, {computing, turn.compute + 1}});
      if (turn.rounds > 1) trace_.loops.push_back({first, turn.compute + 1, {turn.compute + 1}});
      if (here_->Saves(op)) turn.save = AddStep(StepKind::kCopy, 0, op);
      for (const int output : here_->At(op).outputs) {
        if (here_->HeldOf(output).residency == Residency::kStored) {
          turn.stores.emplace_back(AddStep(StepKind::kStore, 0, -1), output);
        }
      }
      turns.push_back(std::move(turn));
    }
    return turns;
  }

  void RunOwnTurn(const OwnTurn& turn, int64_t tile) {
    for (const auto& [step, tensor] : turn.loads) {
      touches_.RunStep(step);
      touches_.MoveTile(tensor, 0, tile, AccessKind::kWrite);
    }
    if (turn.restore) {
      touches_.RunStep(*turn.restore);
      touches_.Restore(turn.op, 0, tile);
    }
    for (int64_t round = 0; round < turn.rounds; ++round) {
      for (const auto& [step, stream] : turn.weights) {
        touches_.RunStep(step);
        touches_.LoadSlice(turn.op, stream.tensor, tile, round);
      }
      touches_.RunStep(turn.compute);
      touches_.Compute(turn.op, 0, tile, round);
    }
    if (turn.save) {
      touches_.RunStep(*turn.save);
      touches_.Save(turn.op, 0, 0, tile);
    }
    for (const auto& [step, tensor] : turn.stores) {
      touches_.RunStep(step);
      touches_.MoveTile(tensor, 0, tile, AccessKind::kRead);
    }
  }

  // One step of a double-buffered pass.
  struct PassStep {
    enum class Task : uint8_t { kRestore, kCompute, kSave };
    Task task = Task::kCompute;
    int op = 0;
    Step step = 0;
  };
  using Pass = std::vector<PassStep>;

  // A pass copies rows only from a neighbour before it and for one after it.
  Pass LayOutPass(int phase, bool has_before, bool has_after) {
    using Task = PassStep::Task;
    Pass pass;
    for (int op = here_->Current().interval.first; op <= here_->Current().interval.last; ++op) {
      if (has_before && here_->Restores(op))
        pass.push_back({Task::kRestore, op, AddStep(StepKind::kCopy, phase, op)});
      pass.push_back({Task::kCompute, op, AddStep(StepKind::kCompute, phase, op)});
      trace_.turns.push_back({op, phase, {pass.back().step, pass.back().step + 1}});
      if (has_after && here_->Saves(op))
        pass.push_back({Task::kSave, op, AddStep(StepKind::kCopy, phase, op)});
    }
    return pass;
  }

  void RunDoubleBuffered() {
    const int64_t tiles = here_->Current().tiles;
    const std::vector<int> incoming = here_->All(Residency::kLoaded);
    const std::vector<int> outgoing = here_->All(Residency::kStored);
    RunPrologue(incoming);
    const bool loops = tiles > kMostTilesInARow;
    std::vector<Pass> passes;
    for (int64_t i = 0; i < (loops ? 2 : tiles); ++i)
      passes.push_back(LayOutPass(PhaseOf(i), loops || i > 0, loops || i + 1 < tiles));
    const bool odd = tiles % 2 == 1;
    if (loops) {
      const Step exit = passes[odd ? 0 : 1].back().step + 1;
      trace_.loops.push_back({passes[0].front().step, passes[1].back().step + 1, {exit}});
    }
    const int64_t runs = loops ? kAlternatingPasses + (odd ? 1 : 0) : tiles;
    for (int64_t tile = 0; tile < runs; ++tile) {
      const Pass& pass = passes[static_cast<size_t>(tile) % passes.size()];
      for (size_t i = 0; i < pass.size(); ++i) {
        touches_.RunStep(pass[i].step);
        if (next_ && tile + 1 == runs) touches_.LoadResidents(*next_);
        RunDoubleBufferedStep(pass, i, tile, runs, incoming, outgoing);
      }
    }
    if (outgoing.empty()) return;
    touches_.RunStep(AddStep(StepKind::kEpilogue, 0, -1));
    if (next_) touches_.LoadResidents(*next_);
    for (const int tensor : outgoing)
      touches_.MoveTile(tensor, PhaseOf(runs - 1), runs - 1, AccessKind::kRead);
  }

  static int PhaseOf(int64_t tile) { return static_cast<int>(tile % 2); }

  void RunPrologue(const std::vector<int>& incoming) {
    const std::vector<int> residents = here_->All(Residency::kResident);
    const int first = here_->Current().interval.first;
    const bool loads_residents = !residents.empty() && !here_->Current().prefetch;
    if (!loads_residents && incoming.empty() && here_->StreamsOf(first).empty()) return;
    touches_.RunStep(AddStep(StepKind::kPrologue, 0, -1));
    if (loads_residents) touches_.LoadResidents(*here_);
    for (const int tensor : incoming) touches_.MoveTile(tensor, 0, 0, AccessKind::kWrite);
    touches_.FillFirstSlots(first, 0, 0);
  }

  // One step of a tile's pass, and beside it whatever moves for the tile before, the tile after,
  // and the operator that computes next.
  void RunDoubleBufferedStep(const Pass& pass, size_t position, int64_t tile, int64_t runs,
                             const std::vector<int>& incoming, const std::vector<int>& outgoing) {
    const int phase = PhaseOf(tile);
    if (tile + 1 < runs) {
      for (const int tensor : incoming)
        touches_.MoveTile(tensor, PhaseOf(tile + 1), tile + 1, AccessKind::kWrite);
    }
    if (tile > 0) {
      for (const int tensor : outgoing)
        touches_.MoveTile(tensor, PhaseOf(tile - 1), tile - 1, AccessKind::kRead);
    }
    const auto next =
        std::find_if(pass.begin() + static_cast<std::ptrdiff_t>(position) + 1, pass.end(),
                     [](const PassStep& step) { return step.task == PassStep::Task::kCompute; });
    if (next != pass.end()) {
      touches_.FillFirstSlots(next->op, phase, tile);
    } else if (tile + 1 < runs) {
      touches_.FillFirstSlots(here_->Current().interval.first, PhaseOf(tile + 1), tile + 1);
    }
    const int op = pass[position].op;
    switch (pass[position].task) {
      case PassStep::Task::kRestore:
        touches_.Restore(op, phase, tile);
        break;
      case PassStep::Task::kCompute:
        touches_.FillWhileComputing(op, phase, tile);
        touches_.Compute(op, phase, tile, 0);
        break;
      case PassStep::Task::kSave:
        if (tile + 1 < runs) touches_.Save(op, phase, PhaseOf(tile + 1), tile);
        break;
    }
  }

  // Whole buffers of tensors that come from before the program or are wanted after it.
  void HoldOverProgram() {
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
      const base::TensorRole role = RoleOf(tensor, users_[i], everything);
      if (role == base::TensorRole::kFeature || role == base::TensorRole::kBoundary) continue;
      if (hw_profiles::LayoutOf(plan_.profile, role).home != plan_.profile.tile_memory) continue;
      const auto index = static_cast<int>(i);
      const bool always = tensor.constant || tensor.state;
      if (always || tensor.network_input) touches_.HoldFromTheFirst(index);
      if (always || tensor.network_output || users_[i].readers.empty())
        touches_.HoldToTheLast(index);
    }
  }

  void NoteTransfers() {
    for (const auto& [step, tensor] : touches_.Transfers()) {
      trace_.steps[static_cast<size_t>(step)].transfers.push_back(tensor);
    }
  }

  // A pass may be nothing but one operator's slice loop; they are one loop then.
  void SortLoops() {
    std::sort(trace_.loops.begin(), trace_.loops.end(),
              [](const problem::Loop& a, const problem::Loop& b) {
                return std::tie(a.begin, a.end, a.exits) < std::tie(b.begin, b.end, b.exits);
              });
    trace_.loops.erase(std::unique(trace_.loops.begin(), trace_.loops.end()), trace_.loops.end());
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  std::optional<SubgraphResidency> here_;  // the subgraph that runs
  std::optional<SubgraphResidency> next_;  // the one after, where its constants are prefetched
  Touches touches_;
  Trace trace_;
};

}  // namespace

Trace Execute(const Plan& plan, const std::vector<Users>& users,
              std::vector<std::set<int>> cached) {
  return Execution(plan, users, std::move(cached)).Run();
}

}  // namespace tessera::plan::verify
