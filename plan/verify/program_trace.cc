// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/verify/program_trace.h"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/plan/verify/buffer_touches.h"

// Derives lifespans by observation. docs/program.md states them as a table of closed forms, from
// which encoder/program builds them. This file does not use the table. It lays out the steps and
// executes them (passes.h): a list of *moments*, each of which runs one step. Each access to a
// buffer names the value (tile, slice, whole tensor) that it touches. A value must stay in place
// from the first moment that touches it to the last, so a buffer lives at the steps of all moments
// in between:
//
//     moment   0  1  2  3  4  5        step of each moment   0  1  2  1  2  3
//                                      (a loop of steps 1 and 2, run twice)
//     tile 0   w     r                 lives at moments 0..2:   steps 0 1 2
//     tile 1         w  .  r           lives at moments 2..4:   steps 2 1 2      buffer: [0, 3)
//
// A loop runs often enough for every step to meet all its possible neighbours: three passes if all
// passes are equal, four or five (by the phase of the tile count, which decides the exit) if ping
// and pong alternate, and three slices. Behaviour that the real program would show only in a longer
// run counts too, because a loop may always repeat. If ping and pong alternate, up to three tiles
// run in a row, without a loop: of three passes only the middle one has a neighbour on either side,
// and folding them onto two would make buffers meet that never meet.
//
// With a cached halo, rows of a tile stay for the next one. A rolling buffer is one value that all
// tiles touch. Otherwise the rows that tile i leaves are a separate value, numbered by the tile
// that will read them: in the line buffer from the step that saves them to the step that restores
// them, or in the halo of that tile's phase.
namespace tessera::plan::verify {
namespace {

using problem::Step;

constexpr int64_t kAlikePasses = 3;
constexpr int64_t kAlternatingPasses = 4;
constexpr int64_t kMostTilesInARow = 3;
// With two stages, tiles meet their neighbours in the slots between the first and the last.
constexpr int64_t kStagedSlots = 6;

class TraceBuilder {
 public:
  TraceBuilder(const Plan& plan, const std::vector<Users>& users, std::vector<std::set<int>> cached)
      : plan_(plan), users_(users) {
    trace_.cached = std::move(cached);
    trace_.cached.resize(plan.subgraphs.size());
  }

  Trace Run() {
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      here_.emplace(plan_, users_, static_cast<int>(i), trace_.cached[i]);
      FindCarried(static_cast<int>(i));
      touches_.EnterSubgraph(*here_, carried_);
      const Step begin = End();
      const bool overlaps = IsDoubleBuffered(plan_, plan_.subgraphs[i]);
      const int64_t tiles = overlaps ? LayOutDoubleBuffered() : LayOutSerialized();
      const SubgraphSteps subgraph = {
          plan_.network, trace_.steps, {begin, End()}, *here_, carried_};
      (overlaps ? RunDoubleBuffered : RunSerialized)(subgraph, tiles, touches_);
      trace_.subgraph_steps.push_back({begin, End()});
    }
    HoldOverProgram();
    trace_.buffers = touches_.Fold(trace_.steps.size());
    SortLoops();
    return std::move(trace_);
  }

 private:
  Step End() const { return static_cast<Step>(trace_.steps.size()); }

  void AddStep(StepKind kind, int phase, int op, const std::set<int>& transfers) {
    trace_.steps.push_back({kind, here_->Index(), phase, op, {transfers.begin(), transfers.end()}});
  }

  void FindCarried(int number) {
    carried_.clear();
    for (const int later : CarriedBy(plan_, number))
      carried_.emplace_back(plan_, users_, later, trace_.cached[static_cast<size_t>(later)]);
  }

  // The constants of this or a later subgraph of which a part arrives while this one runs.
  std::set<int> ArrivingFor(const SubgraphResidency& user) const {
    std::set<int> constants = All(user, Residency::kResident);
    std::erase_if(constants, [&](int tensor) {
      const Range share =
          ShareOf(plan_.network, user.Current(), tensor, user.Index() - here_->Index());
      return share.begin == share.end;
    });
    for (const int tensor : user.All(Residency::kStreamed)) {
      if (user.HasSlicesAhead(tensor, user.Index() - here_->Index())) constants.insert(tensor);
    }
    return constants;
  }

  // The arriving constants of later subgraphs.
  std::set<int> Prefetched() const {
    std::set<int> constants;
    for (const SubgraphResidency& later : carried_) constants.merge(ArrivingFor(later));
    return constants;
  }

  static std::set<int> All(const SubgraphResidency& subgraph, Residency residency) {
    const std::vector<int> tensors = subgraph.All(residency);
    return {tensors.begin(), tensors.end()};
  }

  // Lays out a step for each transfer. Returns the number of tiles that show all behaviours.
  int64_t LayOutSerialized() {
    for (const int constant : here_->All(Residency::kResident))
      AddStep(StepKind::kLoad, 0, -1, {constant});
    const Step begin = End();
    std::set<int> loaded;
    const graph::Interval interval = here_->Current().interval;
    for (int op = interval.first; op <= interval.last; ++op) {
      for (const int input : here_->At(op).inputs) {
        if (here_->Is(input, Residency::kLoaded) && loaded.insert(input).second)
          AddStep(StepKind::kLoad, 0, -1, {input});
      }
      if (here_->Restores(op)) AddStep(StepKind::kCopy, 0, op, {});
      const Step slices = End();
      for (const Stream& stream : here_->StreamsOf(op))
        AddStep(StepKind::kLoad, 0, op, {stream.tensor});
      const Step compute = End();
      AddStep(StepKind::kCompute, 0, op, {});
      const bool repeats = here_->RoundsOf(op) > 1;
      trace_.turns.push_back({op, 0, {repeats ? slices : compute, End()}});
      if (repeats) trace_.loops.push_back({slices, End(), {End()}});
      if (here_->Saves(op)) AddStep(StepKind::kCopy, 0, op, {});
      for (const int output : here_->At(op).outputs) {
        if (here_->Is(output, Residency::kStored)) AddStep(StepKind::kStore, 0, -1, {output});
      }
    }
    if (here_->Current().tiles == 1) return 1;
    trace_.loops.push_back({begin, End(), {End()}});
    return kAlikePasses;
  }

  // Lays out passes in which transfers overlap compute. Returns the number of tiles that show all
  // behaviours.
  int64_t LayOutDoubleBuffered() {
    const bool staged = here_->Current().second_stage > 0;
    const int64_t slots = here_->Current().tiles + (staged ? 1 : 0);
    LayOutPrologue();
    const bool loops = slots > kMostTilesInARow;
    const bool odd = slots % 2 == 1;
    const Step begin = End();
    Step exit = begin;
    for (int64_t i = 0; i < (loops ? 2 : slots); ++i) {
      const bool is_last = loops ? i == (odd ? 0 : 1) : i + 1 == slots;
      LayOutPass(static_cast<int>(i % 2), loops || i > 0, loops || i + 1 < slots);
      if (is_last) exit = End();
    }
    if (loops) trace_.loops.push_back({begin, End(), {exit}});
    std::set<int> outgoing = All(*here_, Residency::kStored);
    if (staged) std::erase_if(outgoing, [&](int tensor) { return here_->LagOf(tensor) == 0; });
    if (!outgoing.empty()) {
      std::set<int> transfers = outgoing;
      transfers.merge(Prefetched());
      AddStep(StepKind::kEpilogue, 0, -1, transfers);
    }
    if (staged) return kStagedSlots + (odd ? 1 : 0) - 1;
    return loops ? kAlternatingPasses + (odd ? 1 : 0) : slots;
  }

  void LayOutPrologue() {
    std::set<int> transfers = All(*here_, Residency::kLoaded);
    std::erase_if(transfers, [&](int tensor) { return here_->LagOf(tensor) > 0; });
    transfers.merge(ArrivingFor(*here_));
    if (!TakesSlicesAhead(here_->Current()))
      AddStreams(here_->Current().interval.first, 1, transfers);
    if (!transfers.empty()) AddStep(StepKind::kPrologue, 0, -1, transfers);
  }

  // A pass copies rows only from a tile before it and for a tile after it. All its steps move the
  // neighbouring tiles and the prefetched constants. Each step also moves the slices that it uses
  // and the first slices of the operator that computes next.
  void LayOutPass(int phase, bool has_before, bool has_after) {
    const graph::Interval interval = here_->Current().interval;
    const Step begin = End();
    for (int op = interval.first; op <= interval.last; ++op) {
      if (has_before && here_->Restores(op)) AddStep(StepKind::kCopy, phase, op, {});
      const int of_tile = here_->IsLate(op) ? 1 - phase : phase;
      trace_.turns.push_back({op, of_tile, {End(), End() + 1}});
      AddStep(StepKind::kCompute, of_tile, op, {});
      if (has_after && here_->Saves(op)) AddStep(StepKind::kCopy, phase, op, {});
    }
    std::set<int> always = Prefetched();
    if (has_after) always.merge(All(*here_, Residency::kLoaded));
    if (has_before) always.merge(All(*here_, Residency::kStored));
    std::optional<int> next = has_after ? std::optional(interval.first) : std::nullopt;
    for (Step step = End(); step-- > begin;) {
      StepUse& use = trace_.steps[static_cast<size_t>(step)];
      std::set<int> transfers = always;
      if (next && !TakesSlicesAhead(here_->Current())) AddStreams(*next, 1, transfers);
      if (use.kind == StepKind::kCompute) {
        AddStreams(use.op, here_->Lead() + 1, transfers);
        next = use.op;
      }
      use.transfers.assign(transfers.begin(), transfers.end());
    }
  }

  // The constants that the operator streams in that number of slices or more.
  void AddStreams(int op, int64_t least, std::set<int>& transfers) const {
    for (const Stream& stream : here_->StreamsOf(op)) {
      if (stream.slices >= least) transfers.insert(stream.tensor);
    }
  }

  // Holds whole buffers of tensors that exist before the program or are needed after it.
  void HoldOverProgram() {
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const graph::Interval everything{0, static_cast<int>(plan_.network.operators.size()) - 1};
      const base::TensorRole role = RoleOf(tensor, users_[i], everything);
      if (role == base::TensorRole::kFeature || role == base::TensorRole::kBoundary) continue;
      const auto index = static_cast<int>(i);
      if (HomeOf(plan_, index) != plan_.profile.tile_memory) continue;
      const bool always = tensor.constant || tensor.state;
      if (always || tensor.network_input) touches_.HoldFromTheFirst(index);
      if (always || tensor.network_output || users_[i].readers.empty())
        touches_.HoldToTheLast(index);
    }
  }

  // A pass may consist of only one operator's slice loop; the two are then one loop.
  void SortLoops() {
    std::sort(trace_.loops.begin(), trace_.loops.end(),
              [](const problem::Loop& a, const problem::Loop& b) {
                return std::tie(a.begin, a.end, a.exits) < std::tie(b.begin, b.end, b.exits);
              });
    trace_.loops.erase(std::unique(trace_.loops.begin(), trace_.loops.end()), trace_.loops.end());
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  std::optional<SubgraphResidency> here_;   // the subgraph that runs
  std::vector<SubgraphResidency> carried_;  // later ones whose constants arrive in it
  Touches touches_;
  Trace trace_;
};

}  // namespace

Trace Execute(const Plan& plan, const std::vector<Users>& users,
              std::vector<std::set<int>> cached) {
  return TraceBuilder(plan, users, std::move(cached)).Run();
}

}  // namespace tessera::plan::verify
