// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/plan/execute/program.h"
#include "tessera/plan/lowering/job_recorder.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/verify/tiles.h"

namespace tessera::plan::lowering {

namespace {

// The first place where two lists differ, in words; empty if they are equal.
template <typename T>
std::string FirstDifference(const std::vector<T>& found, const std::vector<T>& expected,
                            std::string_view what) {
  for (size_t i = 0; i < std::min(found.size(), expected.size()); ++i) {
    if (!(found[i] == expected[i]))
      return fmt::format("{} {} is not what the plan makes of it", what, i);
  }
  if (found.size() == expected.size()) return "";
  return fmt::format("there are {} of {} where the plan has {}", found.size(), what,
                     expected.size());
}

std::string DifferenceOf(const Job& found, const Job& expected) {
  if (std::string difference = FirstDifference(found.operands, expected.operands, "operand");
      !difference.empty())
    return difference;
  return FirstDifference(found.waits, expected.waits, "depends_on");
}

std::string DifferenceOf(const Lowered& found, const Lowered& expected) {
  std::string difference = FirstDifference(found.loops, expected.loops, "loop");
  if (difference.empty() && found.phases != expected.phases)
    difference = "it has another number of phases";
  for (size_t i = 0; difference.empty() && i < std::min(found.jobs.size(), expected.jobs.size());
       ++i) {
    difference = DifferenceOf(found.jobs[i], expected.jobs[i]);
    if (!difference.empty()) difference = fmt::format("job {}: {}", i, difference);
  }
  if (difference.empty()) difference = FirstDifference(found.jobs, expected.jobs, "job");
  if (difference.empty())
    difference = FirstDifference(found.once, expected.once, "work that is done once");
  for (size_t i = 0;
       difference.empty() && i < std::min(found.classes.size(), expected.classes.size()); ++i) {
    difference = FirstDifference(found.classes[i].work, expected.classes[i].work, "work");
    if (!difference.empty()) difference = fmt::format("class {}: {}", i, difference);
  }
  return difference.empty() ? FirstDifference(found.classes, expected.classes, "class")
                            : difference;
}

}  // namespace

std::vector<std::string> FindDifferences(const Program& found, const Program& expected) {
  std::vector<std::string> differences;
  for (size_t i = 0; i < std::min(found.subgraphs.size(), expected.subgraphs.size()); ++i) {
    const std::string difference = DifferenceOf(found.subgraphs[i], expected.subgraphs[i]);
    if (!difference.empty()) differences.push_back(fmt::format("subgraph {}: {}", i, difference));
  }
  if (found.subgraphs.size() != expected.subgraphs.size())
    differences.emplace_back("it has another number of subgraphs");
  return differences;
}

// The program is unrolled once, in the same way as for an execution, and folded again:
//
//     plan --- Unroll ---> instructions --- Recorder ---> job runs --+-- FoldTiles ---> classes
//              (execute)                    jobs, operands           |                  of tiles
//                                                                    '-- FindDependencies --->
//                                                           FoldWaits, then DropImpliedWaits
//
// The result has no steps or lifespans; the waits replace them. Subgraphs are lowered one by one,
// because each completes before the next begins.
namespace {

constexpr size_t kMostJobRuns = size_t{1} << 18;

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

std::vector<Loop> LoopsOf(const Plan& plan, const Subgraph& subgraph) {
  const graph::Operator& last = plan.network.operators[static_cast<size_t>(subgraph.interval.last)];
  const graph::Shape& shape = plan.network.tensors[static_cast<size_t>(last.outputs.front())].shape;
  std::vector<Loop> loops;
  for (const size_t axis : verify::LoopOrder(subgraph, shape.size())) {
    const int64_t trips = base::CeilDiv(shape[axis], subgraph.tile[axis]);
    if (trips > 1)
      loops.push_back({static_cast<int>(axis), shape[axis], subgraph.tile[axis], trips});
  }
  return loops;
}

class Lowering {
 public:
  Lowering(const Plan& plan, const base::Stop& stop)
      : plan_(plan),
        stop_(stop),
        contents_(plan.network, plan.profile.table_bytes_per_channel),
        buffers_(FindBuffers(plan)) {}

  base::Expected<Program> Run() {
    if (std::string why = execute::FindObstacle(plan_); !why.empty()) return Refuse(why);
    if (contents_.CellsPerByte() > 1)
      return Refuse("elements of four bits have no addresses in bytes");
    FindSwitches();
    execute::Unroll(plan_, contents_,
                    [this](const execute::Instruction& instruction) { return Take(instruction); });
    Finish();
    if (!refusal_.empty()) return Refuse(refusal_);
    return std::move(program_);
  }

 private:
  // The positions in the passes of a subgraph at which some tile finds another mode.
  using Position = std::tuple<int, Before, int, bool>;  // subgraph, step, operator, outside tiles

  static base::Expected<Program> Refuse(const std::string& why) {
    base::Diagnostic diagnostic;
    diagnostic.message = "the plan cannot be lowered: " + why;
    return base::Unexpected(diagnostic);
  }

  const StepUse& StepAt(int64_t step) const { return plan_.steps[static_cast<size_t>(step)]; }

  Position PositionOf(const execute::EnterStep& enter) const {
    return {StepAt(enter.step).subgraph, BeforeOf(enter.step), StepAt(enter.step).op,
            enter.tile < 0};
  }

  Before BeforeOf(int64_t step) const {
    switch (StepAt(step).kind) {
      case StepKind::kPrologue:
        return Before::kPrologue;
      case StepKind::kLoad:
        return Before::kLoad;
      case StepKind::kCompute:
        return Before::kCompute;
      case StepKind::kStore:
        return Before::kStore;
      case StepKind::kEpilogue:
        return Before::kEpilogue;
      case StepKind::kCopy:
        break;
    }
    return ComputesNext(step) ? Before::kRestore : Before::kSave;
  }

  // Whether the next operator that computes is that of the copy step, in the same pass.
  bool ComputesNext(int64_t step) const {
    for (auto next = static_cast<size_t>(step) + 1; next < plan_.steps.size(); ++next) {
      const StepUse& use = plan_.steps[next];
      if (use.kind != StepKind::kCompute) continue;
      const StepUse& copy = StepAt(step);
      return use.subgraph == copy.subgraph && use.op == copy.op && use.phase == copy.phase;
    }
    return false;
  }

  int64_t Phases() const {
    const Subgraph& current = plan_.subgraphs[static_cast<size_t>(subgraph_)];
    return verify::IsDoubleBuffered(plan_, current) && current.tiles > 1 ? 2 : 1;
  }

  void FindSwitches() {
    if (plan_.allocation.modes.empty()) return;
    std::optional<int> mode;
    execute::Unroll(plan_, contents_, [&](const execute::Instruction& instruction) {
      const auto* enter = std::get_if<execute::EnterStep>(&instruction);
      if (stop_.Requested()) return false;
      if (enter == nullptr || !enter->mode) return true;
      if (mode != enter->mode) switches_.insert(PositionOf(*enter));
      mode = enter->mode;
      return true;
    });
  }

  // Returns false if the plan cannot be lowered.
  bool Take(const execute::Instruction& instruction) {
    std::visit(
        Overloaded{[this](const execute::EnterStep& enter) { Enter(enter); },
                   [this](const execute::StartTransfer& transfer) { recorder_->Record(transfer); },
                   [this](const execute::Compute& compute) { recorder_->Record(compute); },
                   [this](const execute::Copy& copy) { recorder_->Record(copy); },
                   [this](const execute::Refusal& refusal) { refusal_ = refusal.message; },
                   [](const auto& /*other*/) {}},
        instruction);
    if (IsStopped()) return false;
    if (recorder_ && recorder_->JobRuns().size() > kMostJobRuns) {
      refusal_ = fmt::format("subgraph {} has more than {} transfers and runs of operators",
                             subgraph_, kMostJobRuns);
    }
    return refusal_.empty();
  }

  bool IsStopped() {
    if (stop_.Requested()) refusal_ = "it was stopped first";
    return !refusal_.empty();
  }

  void Enter(const execute::EnterStep& enter) {
    const StepUse& step = plan_.steps[static_cast<size_t>(enter.step)];
    if (step.subgraph != subgraph_) {
      Finish();
      subgraph_ = step.subgraph;
      recorder_.emplace(plan_, contents_, buffers_);
    }
    if (!enter.mode || !switches_.contains(PositionOf(enter))) return;
    const int64_t phase = enter.tile < 0 ? 0 : enter.tile % Phases();
    recorder_->SetMode(*enter.mode, BeforeOf(enter.step), step.op, enter.tile,
                       static_cast<int>(phase));
  }

  void Finish() {
    if (!recorder_ || !refusal_.empty()) return;
    refusal_ = recorder_->Refusal();
    if (!refusal_.empty()) return;
    const Subgraph& subgraph = plan_.subgraphs[static_cast<size_t>(subgraph_)];
    Lowered lowered;
    lowered.loops = LoopsOf(plan_, subgraph);
    lowered.phases = Phases();
    lowered.jobs = recorder_->Jobs();
    FoldTiles(recorder_->JobRuns(), lowered);
    const auto dependencies = FindDependencies(plan_, lowered.jobs, recorder_->JobRuns(), stop_);
    if (IsStopped()) return;
    FoldWaits(recorder_->JobRuns(), dependencies, lowered.jobs);
    if (!LookBack(recorder_->JobRuns(), lowered.jobs)) {
      refusal_ =
          fmt::format("in subgraph {} some tiles would wait for what comes after them", subgraph_);
      return;
    }
    DropImpliedWaits(recorder_->JobRuns(), dependencies, lowered.jobs, stop_);
    if (IsStopped()) return;
    program_.subgraphs.push_back(std::move(lowered));
    recorder_.reset();
  }

  const Plan& plan_;
  const base::Stop& stop_;
  const execute::Contents contents_;
  const BuffersById buffers_;
  std::set<Position> switches_;
  std::optional<Recorder> recorder_;
  int subgraph_ = -1;
  Program program_;
  std::string refusal_;
};

}  // namespace

base::Expected<Program> Lower(const Plan& plan, const base::Stop& stop) {
  return Lowering(plan, stop).Run();
}

}  // namespace tessera::plan::lowering
