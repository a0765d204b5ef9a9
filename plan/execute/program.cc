#include "tessera/plan/execute/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/plan/execute/actions.h"

// Every subgraph's steps fall into what comes before its passes, the passes, and what comes after:
//
//     own_steps     load w | load x  load w2  conv1 ... store y |          one pass, run N times; the load of a slice and
//                          |         '--- slice loop ---'       |          its operator once for each slice
//     overlapped    P      | C_0 .. C_n-1 | C_0 .. C_n-1 | .. | E           min(N, 3) passes, two in turn from N = 4 on
//
// The plan's own steps are walked, and each does what the plan says it does: a step that does not name a tensor does not move
// it. Tile q of an overlapped subgraph arrives at the steps of pass q - 1 that name it, from the first to the last of these, and
// leaves at those of pass q + 1; at E the last one leaves. Where slices stream, an operator's step has rounds: while slice r
// is used in slot r mod 2, slice r + 1 arrives in the other; the first arrives at the step before.
namespace tessera::plan::execute {
namespace {

using problem::Step;

class Unrolling {
 public:
  Unrolling(const Plan& plan, const Contents& contents, const std::function<void(const Instruction&)>& run)
      : plan_(plan),
        contents_(contents),
        run_(run),
        users_(UsersOf(plan.network)),
        places_(plan, contents, users_) {}

  void Run() {
    ProvideWhatIsThere();
    Step begin = 0;
    for (size_t i = 0; i < plan_.subgraphs.size(); ++i) {
      Step end = begin;
      while (end < Steps() && plan_.steps[static_cast<size_t>(end)].subgraph == static_cast<int>(i)) ++end;
      RunSubgraph(static_cast<int>(i), begin, end);
      begin = end;
    }
    ExpectWhatStays();
  }

 private:
  Step Steps() const { return static_cast<Step>(plan_.steps.size()); }
  const StepUse& At(Step step) const { return plan_.steps[static_cast<size_t>(step)]; }
  bool Moves(Step step, int tensor) const {
    const std::vector<int>& transfers = At(step).transfers;
    return std::find(transfers.begin(), transfers.end(), tensor) != transfers.end();
  }

  graph::Interval Program() const {
    return {plan_.subgraphs.front().interval.first, plan_.subgraphs.back().interval.last};
  }

  // Whatever no operator of the program makes.
  void ProvideWhatIsThere() {
    const Intent given = {Intent::By::kLink, problem::AccessKind::kRead, 0, 0};
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const auto tensor = static_cast<int>(i);
      if (users_[i].maker >= Program().first) continue;
      if (!plan_.network.tensors[i].constant) {
        Provide(places_.OfWhole(tensor, given));
        continue;
      }
      Provide(places_.OfConstantWhole(tensor, given, false));
      if (places_.HasTable(tensor)) Provide(places_.OfConstantWhole(tensor, given, true));
    }
  }

  void Provide(Place place) {
    if (place.where == Where::kNowhere) return;
    if (place.where == Where::kHome) place.refusal.clear();
    run_(execute::Provide{std::move(place)});
  }

  // What a subgraph made for others must be complete when it is over.
  void ExpectResults(const Subgraph& subgraph, Step last) {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, last, last};
    for (size_t i = 0; i < users_.size(); ++i) {
      if (!users_[i].MadeIn(subgraph.interval)) continue;
      const std::vector<int>& readers = users_[i].readers;
      const bool read_later = !readers.empty() && readers.back() > subgraph.interval.last;
      const graph::Tensor& tensor = plan_.network.tensors[i];
      if (!tensor.network_output && !tensor.state && !readers.empty() && !read_later) continue;
      Place place = places_.OfWhole(static_cast<int>(i), look);
      if (place.where == Where::kHome) place.refusal.clear();
      run_(Expect{place, WholeBox(tensor.shape)});
    }
  }

  // What the tile memory holds beyond the program: state, constants at home there, results of the network, and what is read later.
  void ExpectWhatStays() {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, Steps() - 1, Steps() - 1};
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const std::vector<int>& readers = users_[i].readers;
      const bool made = users_[i].maker >= Program().first && users_[i].maker <= Program().last;
      const bool read_later =
          !readers.empty() && readers.back() > Program().last && users_[i].maker <= Program().last;
      const bool wanted = tensor.constant || tensor.state ||
                          (made && (tensor.network_output || readers.empty())) || read_later;
      if (!wanted || !places_.IsWhole(static_cast<int>(i))) continue;
      const Place place = tensor.constant ? places_.OfConstantWhole(static_cast<int>(i), look, false)
                                          : places_.OfWhole(static_cast<int>(i), look);
      run_(Expect{place, WholeBox(tensor.shape)});
    }
  }

  void RunSubgraph(int subgraph, Step begin, Step end) {
    actions_.emplace(plan_, contents_, users_, places_, subgraph);
    const int64_t planned = plan_.subgraphs[static_cast<size_t>(subgraph)].tiles;
    tiles_ = std::min(planned, actions_->Tiles());
    if (planned > tiles_)
      run_(Complaint{fmt::format("subgraph {} has {} tiles where there are {}", subgraph, planned, tiles_)});
    if (plan_.profile.tiling.dma == hw_profiles::DmaSteps::kOwnSteps) {
      RunOwnSteps(begin, end);
    } else {
      RunOverlapped(begin, end);
    }
    if (end > begin) ExpectResults(actions_->Of(), end - 1);
  }

  void Enter(Step step, int64_t tile) {
    EnterStep enter{step, tile, std::nullopt, true};
    if (!plan_.allocation.modes.empty() &&
        static_cast<size_t>(step) < plan_.allocation.modes.front().size()) {
      enter.mode = plan_.allocation.modes.front()[static_cast<size_t>(step)];
    }
    enter.foreseen = before_ < 0 || MayFollow(before_, step);
    run_(enter);
    if (before_ >= 0) {
      const auto [known, fresh] = dying_.try_emplace({before_, step});
      if (fresh) known->second = DyingBetween(before_, step);
      if (!known->second.empty()) run_(Forget{known->second});
    }
    before_ = step;
  }

  // Whether the plan's loops lead from one step to the other.
  bool MayFollow(Step from, Step to) const {
    bool follows = to == from + 1;
    for (const problem::Loop& loop : plan_.problem.loops) {
      const bool exits = std::find(loop.exits.begin(), loop.exits.end(), from + 1) != loop.exits.end();
      if (from + 1 == loop.end && to == loop.begin) return true;
      if (exits && to == loop.end) return true;
      if (from + 1 == loop.end && !exits) follows = false;
    }
    return follows;
  }

  // Where a buffer lives at `from` and none does at `to`.
  std::vector<problem::AddressRange> DyingBetween(Step from, Step to) const {
    const auto cells_of = [&](size_t i) {
      const int64_t offset = plan_.allocation.offsets[i];
      return problem::AddressRange{offset * contents_.CellsPerByte(),
                                   (offset + plan_.problem.buffers[i].size) * contents_.CellsPerByte()};
    };
    std::vector<problem::AddressRange> living;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
      if (LivesAt(plan_.problem.buffers[i], to)) living.push_back(cells_of(i));
    }
    std::sort(living.begin(), living.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<problem::AddressRange> dying;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
      const problem::Buffer& buffer = plan_.problem.buffers[i];
      if (!LivesAt(buffer, from) || LivesAt(buffer, to)) continue;
      problem::AddressRange rest = cells_of(i);
      for (const problem::AddressRange& other : living) {
        if (other.begin > rest.begin) dying.push_back({rest.begin, std::min(rest.end, other.begin)});
        rest.begin = std::max(rest.begin, std::min(rest.end, other.end));
        if (rest.begin >= rest.end) break;
      }
      if (rest.begin < rest.end) dying.push_back(rest);
    }
    std::erase_if(dying, [](const auto& range) { return range.begin >= range.end; });
    return dying;
  }

  void Start(const StartTransfer& transfer, std::vector<int64_t>& under_way) {
    run_(transfer);
    under_way.push_back(transfer.number);
  }

  void Finish(std::vector<int64_t>& under_way) {
    for (const int64_t number : under_way) run_(FinishTransfer{number});
    under_way.clear();
  }

  void RunOwnSteps(Step begin, Step end) {
    Step pass = begin;
    while (pass < end && LoadsResidents(pass)) RunTransfers(pass++, -1, 0);
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      for (Step step = pass; step < end;) step = RunTurn(step, end, tile);
    }
  }

  // One step, or the loop over slices that begins here; gives the step behind.
  Step RunTurn(Step step, Step end, int64_t tile) {
    Step compute = step;
    while (compute < end && At(compute).kind == StepKind::kLoad && LoadsSlice(compute)) ++compute;
    if (compute == end || At(compute).kind != StepKind::kCompute) {
      RunTransfers(step, tile, 0);
      return step + 1;
    }
    for (int64_t round = 0; round < actions_->RoundsOf(At(compute).op); ++round) {
      for (Step load = step; load < compute; ++load) RunTransfers(load, tile, round);
      Enter(compute, tile);
      run_(actions_->Run(At(compute).op, tile, At(compute).parity, round, 0, compute));
    }
    return compute + 1;
  }

  bool LoadsResidents(Step step) const {
    const std::vector<int>& transfers = At(step).transfers;
    return At(step).kind == StepKind::kLoad && At(step).op < 0 &&
           std::all_of(transfers.begin(), transfers.end(),
                       [&](int tensor) { return actions_->IsResident(tensor); });
  }

  bool LoadsSlice(Step step) const {
    const StepUse& use = At(step);
    return use.op >= 0 && std::any_of(use.transfers.begin(), use.transfers.end(),
                                      [&](int tensor) { return actions_->IsStreamed(use.op, tensor); });
  }

  // A step that does nothing but move.
  void RunTransfers(Step step, int64_t tile, int64_t round) {
    Enter(step, tile);
    const StepUse& use = At(step);
    std::vector<int64_t> under_way;
    for (const int tensor : use.transfers) {
      if (actions_->IsResident(tensor)) {
        Start(actions_->LoadResident(tensor, {step, step}), under_way);
      } else if (use.op >= 0 && actions_->IsStreamed(use.op, tensor)) {
        Start(actions_->LoadSlice(use.op, tensor, round, use.parity, 0, {step, step}), under_way);
      } else if (tile >= 0 && actions_->ComesIn(tensor)) {
        Start(actions_->LoadTile(tensor, tile, use.parity, {step, step}), under_way);
      } else if (tile >= 0 && actions_->GoesOut(tensor)) {
        Start(actions_->StoreTile(tensor, tile, use.parity, {step, step}), under_way);
      } else {
        Complain(step, tensor);
      }
    }
    Finish(under_way);
  }

  void Complain(Step step, int tensor) {
    run_(Complaint{
        fmt::format("step {} moves {}, which it has nothing to do with", step, contents_.NameOf(tensor))});
  }

  void RunOverlapped(Step begin, Step end) {
    Step first = begin;
    while (first < end && At(first).kind == StepKind::kPrologue) RunPrologue(first++);
    Step last = first;
    while (last < end && At(last).kind == StepKind::kCompute) ++last;
    const int64_t laid_out = tiles_ <= 3 ? tiles_ : 2;
    const Step operators = (last - first) / laid_out;
    for (int64_t tile = 0; tile < tiles_; ++tile) {
      const Step pass = first + tile % laid_out * operators;
      RunPass(pass, pass + operators, tile);
    }
    for (Step step = last; step < end; ++step) RunEpilogue(step);
  }

  void RunPrologue(Step step) {
    Enter(step, -1);
    std::vector<int64_t> under_way;
    const int first = actions_->Of().interval.first;
    for (const int tensor : At(step).transfers) {
      if (actions_->IsResident(tensor)) {
        Start(actions_->LoadResident(tensor, {step, step}), under_way);
      } else if (actions_->IsStreamed(first, tensor)) {
        Start(actions_->LoadSlice(first, tensor, 0, 0, 0, {step, step}), under_way);
      } else if (actions_->ComesIn(tensor)) {
        Start(actions_->LoadTile(tensor, 0, 0, {step, step}), under_way);
      } else {
        Complain(step, tensor);
      }
    }
    Finish(under_way);
  }

  void RunEpilogue(Step step) {
    Enter(step, tiles_ - 1);
    std::vector<int64_t> under_way;
    for (const int tensor : At(step).transfers) {
      if (actions_->GoesOut(tensor)) {
        Start(actions_->StoreTile(tensor, tiles_ - 1, static_cast<int>((tiles_ - 1) % 2), {step, step}),
              under_way);
      } else {
        Complain(step, tensor);
      }
    }
    Finish(under_way);
  }

  // The steps of a pass at which a tensor's neighbouring tiles move.
  std::map<int, Span> SpansOf(Step begin, Step end) const {
    std::map<int, Span> spans;
    for (Step step = begin; step < end; ++step) {
      for (const int tensor : At(step).transfers) {
        if (!actions_->ComesIn(tensor) && !actions_->GoesOut(tensor)) continue;
        spans.try_emplace(tensor, Span{step, step}).first->second.last = step;
      }
    }
    return spans;
  }

  void RunPass(Step begin, Step end, int64_t tile) {
    const std::map<int, Span> spans = SpansOf(begin, end);
    std::map<int, std::vector<int64_t>> neighbours;  // under way, by tensor
    for (Step step = begin; step < end; ++step) {
      Enter(step, tile);
      const int other = 1 - At(step).parity;
      std::vector<int64_t> under_way;
      for (const auto& [tensor, span] : spans) {
        if (span.first != step) continue;
        if (actions_->ComesIn(tensor) && tile + 1 < tiles_) {
          Start(actions_->LoadTile(tensor, tile + 1, other, span), neighbours[tensor]);
        } else if (actions_->GoesOut(tensor) && tile > 0) {
          Start(actions_->StoreTile(tensor, tile - 1, other, span), neighbours[tensor]);
        }
      }
      StartConstants(step, step + 1 < end ? step + 1 : -1, tile, under_way);
      RunRounds(step, tile);
      Finish(under_way);
      for (const auto& [tensor, span] : spans) {
        if (span.last == step) Finish(neighbours[tensor]);
      }
    }
  }

  // Residents that the step names, and the first slices for whoever computes next.
  void StartConstants(Step step, Step next, int64_t tile, std::vector<int64_t>& under_way) {
    const bool same_tile = next >= 0;
    const int op = same_tile ? At(next).op : actions_->Of().interval.first;
    const int parity = same_tile ? At(step).parity : 1 - At(step).parity;
    for (const int tensor : At(step).transfers) {
      if (actions_->IsResident(tensor)) {
        Start(actions_->LoadResident(tensor, {step, step}), under_way);
      } else if (actions_->IsStreamed(op, tensor) && (same_tile || tile + 1 < tiles_)) {
        Start(actions_->LoadSlice(op, tensor, 0, parity, 0, {step, step}), under_way);
      }
    }
  }

  void RunRounds(Step step, int64_t tile) {
    const StepUse& use = At(step);
    const int64_t rounds = actions_->RoundsOf(use.op);
    for (int64_t round = 0; round < rounds; ++round) {
      std::vector<int64_t> under_way;
      for (const int tensor : use.transfers) {
        if (round + 1 == rounds || !actions_->IsStreamed(use.op, tensor)) continue;
        Start(actions_->LoadSlice(use.op, tensor, round + 1, use.parity, static_cast<int>((round + 1) % 2),
                                  {step, step}),
              under_way);
      }
      run_(actions_->Run(use.op, tile, use.parity, round, static_cast<int>(round % 2), step));
      Finish(under_way);
    }
  }

  const Plan& plan_;
  const Contents& contents_;
  const std::function<void(const Instruction&)>& run_;
  std::vector<Users> users_;
  Places places_;
  std::map<std::pair<Step, Step>, std::vector<problem::AddressRange>> dying_;
  std::optional<Actions> actions_;  // of the subgraph that runs
  int64_t tiles_ = 0;
  Step before_ = -1;
};

}  // namespace

void Unroll(const Plan& plan, const Contents& contents, const std::function<void(const Instruction&)>& run) {
  Unrolling(plan, contents, run).Run();
}

}  // namespace tessera::plan::execute
