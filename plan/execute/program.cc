// SPDX-License-Identifier: Apache-2.0

#include "tessera/plan/execute/program.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/actions.h"
#include "tessera/plan/verify/passes.h"
#include "tessera/plan/verify/tiles.h"

// The program begins with the tensors that none of its operators makes. Then the subgraphs run one
// after another (verify/passes.h). After each subgraph, its results for others must be complete,
// and at the end all tensors that outlive the program.
//
// The steps are those of the plan: a step that does not name a tensor does not move it. Between two
// steps, the contents of buffers that do not live at the second step are forgotten. A step to which
// no loop of the plan leads is entered too, with `foreseen` false.
namespace tessera::plan::execute {
namespace {

using problem::Step;

class Unrolling : private verify::PassVisitor {
 public:
  Unrolling(const Plan& plan, const Contents& contents,
            const std::function<bool(const Instruction&)>& run)
      : plan_(plan),
        contents_(contents),
        run_(run),
        users_(verify::FindUsers(plan.network)),
        places_(plan, contents, users_),
        first_scheduled_(problem::Horizon(plan.problem).lower) {}

  void Run() {
    for (const bool next : {false, true}) ProvideWhatIsThere(next);
    Step begin = 0;
    for (size_t i = 0; i < plan_.subgraphs.size() && !is_over_; ++i) {
      Step end = begin;
      while (end < Steps() && At(end).subgraph == static_cast<int>(i)) ++end;
      RunSubgraph(static_cast<int>(i), {begin, end});
      if (end > begin) ExpectResults(plan_.subgraphs[i].interval, end - 1);
      begin = end;
    }
    if (!is_over_) ExpectWhatStays();
  }

 private:
  Step Steps() const { return static_cast<Step>(plan_.steps.size()); }
  const StepUse& At(Step step) const { return plan_.steps[static_cast<size_t>(step)]; }

  void HandOut(const Instruction& instruction) { is_over_ = is_over_ || !run_(instruction); }

  // Provides the tensors that no operator of the program makes: the next values of states if
  // `next`, otherwise all others. A next value that exists before the program may lie in the place
  // of its state.
  void ProvideWhatIsThere(bool next) {
    const Intent given = {Intent::By::kLink, problem::AccessKind::kRead, {0}};
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const auto tensor = static_cast<int>(i);
      const bool is_next = plan_.network.tensors[i].next_of >= 0;
      if (users_[i].LastMaker() >= ProgramOf(plan_).first || is_next != next) continue;
      if (!plan_.network.tensors[i].constant) {
        Provide(places_.OfWhole(tensor, given));
        continue;
      }
      Provide(places_.OfConstantWhole(tensor, given, false));
      if (places_.HasTable(tensor)) Provide(places_.OfConstantWhole(tensor, given, true));
    }
  }

  void Provide(Place place) {
    if (place.where == Where::kNone) return;
    if (place.where == Where::kHome) place.refusal.clear();
    HandOut(execute::Provide{std::move(place)});
  }

  // Results that a subgraph made for others must be complete when it ends.
  void ExpectResults(graph::Interval interval, Step last) {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, {last}};
    for (size_t i = 0; i < users_.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      if (!verify::IsMadeForOthers(tensor, users_[i], interval)) continue;
      Place place = places_.OfWhole(static_cast<int>(i), look);
      if (place.where == Where::kHome) place.refusal.clear();
      HandOut(Expect{place, WholeOf(tensor.shape)});
    }
  }

  // The contents of the tile memory beyond the program: state, constants at home there, results of
  // the network, and what is read later.
  void ExpectWhatStays() {
    const Intent look = {Intent::By::kLink, problem::AccessKind::kRead, {Steps() - 1}};
    const graph::Interval program = ProgramOf(plan_);
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const auto index = static_cast<int>(i);
      const graph::Tensor& tensor = plan_.network.tensors[i];
      const verify::Users& users = users_[i];
      const bool made = users.LastMaker() >= program.first && users.LastMaker() <= program.last;
      const bool wanted = tensor.constant || StaysInPlace(plan_, users_, index) ||
                          (made && (tensor.network_output || users.readers.empty())) ||
                          (users.AreReadAfter(program.last) && users.LastMaker() <= program.last);
      if (!wanted || !places_.IsWhole(index)) continue;
      const Place place = tensor.constant ? places_.OfConstantWhole(index, look, false)
                                          : places_.OfWhole(index, look);
      HandOut(Expect{place, WholeOf(tensor.shape)});
    }
  }

  void RunSubgraph(int subgraph, verify::StepRange own) {
    carried_.clear();
    for (const int later : verify::CarriedBy(plan_, subgraph))
      carried_.push_back(verify::SubgraphResidency::OfBuffers(plan_, users_, later));
    here_ = verify::SubgraphResidency::OfBuffers(plan_, users_, subgraph);
    actions_.emplace(plan_, contents_, users_, *here_, carried_, places_);
    const int64_t planned = here_->Current().tiles;
    const int64_t tiles = std::min(planned, actions_->Tiles());
    if (planned > tiles)
      Refuse(fmt::format("subgraph {} has {} tiles where there are {}", subgraph, planned, tiles));
    const verify::SubgraphSteps steps = {plan_.network, plan_.steps, own, *here_, carried_};
    if (verify::IsDoubleBuffered(plan_, here_->Current())) {
      RunDoubleBuffered(steps, tiles, *this);
    } else {
      RunSerialized(steps, tiles, *this);
    }
  }

  void Enter(Step step, int64_t tile) override {
    if (is_over_) return;
    EnterStep enter{step, tile, std::nullopt, before_ < 0 || MayFollow(before_, step)};
    const Step scheduled = step - first_scheduled_;
    const auto modes = plan_.allocation.modes.empty() ? 0 : plan_.allocation.modes.front().size();
    if (scheduled >= 0 && static_cast<size_t>(scheduled) < modes)
      enter.mode = plan_.allocation.modes.front()[static_cast<size_t>(scheduled)];
    HandOut(enter);
    if (before_ >= 0) {
      const auto [known, fresh] = dying_.try_emplace({before_, step});
      if (fresh) known->second = DyingBetween(before_, step);
      if (!known->second.empty()) HandOut(Forget{known->second});
    }
    before_ = step;
  }

  int64_t Begin(const verify::Transfer& transfer) override {
    if (!is_over_) HandOut(actions_->Start(transfer, transfers_));
    return transfers_++;
  }
  void End(int64_t transfer) override { HandOut(FinishTransfer{transfer}); }
  int64_t RoundsOf(int op) override { return here_->RoundsOf(op); }
  void Compute(int op, const RunIndex& run, Step step) override {
    if (!is_over_) HandOut(actions_->Run(op, run, step));
  }
  void Restore(int op, const RunIndex& run, Step step) override {
    if (!is_over_) CopyRows(actions_->Restore(op, run, step));
  }
  void Save(int op, const RunIndex& run, int next_phase, Step step) override {
    if (!is_over_) CopyRows(actions_->Save(op, run, next_phase, step));
  }
  void CopyRows(const Copy& copy) {
    if (!copy.moves.empty()) HandOut(copy);
  }
  void Refuse(const std::string& why) override { HandOut(Refusal{why}); }

  // Whether the plan's loops lead from one step to the other.
  bool MayFollow(Step from, Step to) const {
    bool follows = to == from + 1;
    for (const problem::Loop& loop : plan_.problem.loops) {
      const bool exits =
          std::find(loop.exits.begin(), loop.exits.end(), from + 1) != loop.exits.end();
      if (from + 1 == loop.end && to == loop.begin) return true;
      if (exits && to == loop.end) return true;
      if (from + 1 == loop.end && !exits) follows = false;
    }
    return follows;
  }

  problem::AddressRange CellsOf(size_t buffer) const {
    const int64_t offset = plan_.allocation.offsets[buffer];
    return {offset * contents_.CellsPerByte(),
            (offset + plan_.problem.buffers[buffer].size) * contents_.CellsPerByte()};
  }

  // The cells in which a buffer lives at `from` and none lives at `to`.
  std::vector<problem::AddressRange> DyingBetween(Step from, Step to) const {
    std::vector<problem::AddressRange> living;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
      if (LivesAt(plan_.problem.buffers[i], to)) living.push_back(CellsOf(i));
    }
    std::sort(living.begin(), living.end(),
              [](const auto& a, const auto& b) { return a.begin < b.begin; });
    std::vector<problem::AddressRange> dying;
    for (size_t i = 0; i < plan_.problem.buffers.size(); ++i) {
      const problem::Buffer& buffer = plan_.problem.buffers[i];
      if (!LivesAt(buffer, from) || LivesAt(buffer, to)) continue;
      problem::AddressRange rest = CellsOf(i);
      for (const problem::AddressRange& other : living) {
        if (other.begin > rest.begin)
          dying.push_back({rest.begin, std::min(rest.end, other.begin)});
        rest.begin = std::max(rest.begin, std::min(rest.end, other.end));
        if (rest.begin >= rest.end) break;
      }
      if (rest.begin < rest.end) dying.push_back(rest);
    }
    std::erase_if(dying, [](const auto& range) { return range.begin >= range.end; });
    return dying;
  }

  const Plan& plan_;
  const Contents& contents_;
  const std::function<bool(const Instruction&)>& run_;
  const std::vector<verify::Users> users_;
  Places places_;
  std::optional<verify::SubgraphResidency> here_;   // the subgraph that runs
  std::vector<verify::SubgraphResidency> carried_;  // later ones whose constants arrive in it
  std::optional<Actions> actions_;
  int64_t transfers_ = 0;
  Step first_scheduled_;  // a schedule of modes begins where the first buffer lives
  std::map<std::pair<Step, Step>, std::vector<problem::AddressRange>> dying_;
  Step before_ = -1;
  bool is_over_ = false;  // no further instruction is wanted
};

// The limits of what an execution can hold and visit.
constexpr int64_t kMostBytes = int64_t{1} << 31;
constexpr int64_t kMostElements = int64_t{1} << 32;
constexpr int64_t kMostTiles = int64_t{1} << 24;

bool IsIndex(int index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

std::string FindObstacleInSteps(const Plan& plan) {
  int subgraph = 0;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const StepUse& step = plan.steps[i];
    if (step.subgraph < subgraph || !IsIndex(step.subgraph, plan.subgraphs.size())) {
      return fmt::format("step {} is out of its subgraph's order", i);
    }
    subgraph = step.subgraph;
    const graph::Interval interval = plan.subgraphs[static_cast<size_t>(subgraph)].interval;
    const bool needs_operator = step.kind == StepKind::kCompute || step.kind == StepKind::kCopy;
    if ((needs_operator || step.op >= 0) && (step.op < interval.first || interval.last < step.op)) {
      return fmt::format("step {} names no operator of its subgraph", i);
    }
    if (step.phase != 0 && step.phase != 1) return fmt::format("step {} has no phase", i);
    for (const int tensor : step.transfers) {
      if (!IsIndex(tensor, plan.network.tensors.size()))
        return fmt::format("step {} moves no tensor", i);
    }
  }
  return "";
}

}  // namespace

graph::Interval ProgramOf(const Plan& plan) {
  return {plan.subgraphs.front().interval.first, plan.subgraphs.back().interval.last};
}

bool StaysInPlace(const Plan& plan, const std::vector<verify::Users>& users, int tensor) {
  if (!plan.network.tensors[static_cast<size_t>(tensor)].state) return false;
  for (size_t i = 0; i < users.size(); ++i) {
    if (plan.network.tensors[i].next_of == tensor && users[i].LastMaker() <= ProgramOf(plan).last)
      return false;
  }
  return true;
}

void Unroll(const Plan& plan, const Contents& contents,
            const std::function<bool(const Instruction&)>& run) {
  Unrolling(plan, contents, run).Run();
}

std::string FindObstacle(const Plan& plan) {
  if (plan.subgraphs.empty() || plan.steps.empty()) return "the plan has no steps";
  if (plan.problem.buffers.size() != plan.buffers.size() ||
      plan.problem.buffers.size() != plan.allocation.offsets.size()) {
    return "buffers, their uses and their offsets are not the same number";
  }
  int next = plan.subgraphs.front().interval.first;
  for (const Subgraph& subgraph : plan.subgraphs) {
    if (subgraph.interval.first != next || subgraph.interval.last < next || next < 0 ||
        !IsIndex(subgraph.interval.last, plan.network.operators.size())) {
      return "subgraphs are not neighbouring intervals of the operators";
    }
    next = subgraph.interval.last + 1;
    const graph::Operator& last =
        plan.network.operators[static_cast<size_t>(subgraph.interval.last)];
    const graph::Shape& shape =
        plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
    if (subgraph.tiles < 1 || subgraph.tile.size() != shape.size() ||
        std::any_of(subgraph.tile.begin(), subgraph.tile.end(),
                    [](int64_t extent) { return extent < 1; })) {
      return "a subgraph has no tiles";
    }
    if (verify::CountTiles(shape, subgraph.tile) > kMostTiles)
      return "a subgraph has more tiles than an execution can go through";
    if (subgraph.halo != hw_profiles::HaloStorage::kRecompute &&
        !verify::MayCacheHalo(plan.profile, shape, subgraph.tile)) {
      return "a subgraph keeps rows of tiles that do not lie one below the other";
    }
  }
  const int64_t capacity =
      plan.profile.memories[static_cast<size_t>(plan.profile.tile_memory)].capacity_bytes;
  if (std::min(capacity, EndOfBuffers(plan)) > kMostBytes)
    return "the tile memory is too large to execute";
  for (const graph::Tensor& tensor : plan.network.tensors) {
    if (graph::ElementsOf(tensor.shape) > kMostElements) {
      return fmt::format("tensor '{}' has more elements than an execution can tell apart",
                         tensor.id);
    }
    if (tensor.stored_bytes > 0 &&
        tensor.stored_bytes != base::BytesOf(tensor.type, graph::ElementsOf(tensor.shape))) {
      return fmt::format("the bytes of constant '{}' have no known elements: it has stored_bytes",
                         tensor.id);
    }
  }
  return FindObstacleInSteps(plan);
}

int64_t EndOfBuffers(const Plan& plan) {
  int64_t end = 0;
  for (size_t i = 0; i < plan.problem.buffers.size(); ++i) {
    end = std::max(end, plan.allocation.offsets[i] + plan.problem.buffers[i].size);
  }
  return end;
}

}  // namespace tessera::plan::execute
