// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "tessera/base/arithmetic.h"
#include "tessera/base/random.h"
#include "tessera/plan/execute/places.h"
#include "tessera/plan/execute/program.h"
#include "tessera/plan/lowered_program.h"
#include "tessera/plan/lowering/execution.h"
#include "tessera/plan/lowering/lowering.h"
#include "tessera/plan/lowering/memory_state.h"
#include "tessera/plan/lowering/performer.h"
#include "tessera/plan/plan.h"

// A lowered plan is correct if every execution that starts a job as soon as its waits are
// satisfied, in any order that the waits permit, computes the network's results. The interpreter
// executes the jobs in a random order among those that are permitted:
//
//     lowering --- UnrollRuns ---> runs and waits --- draw a ready run ---> Performer --> findings
//                                        |                                      |  tags
//                                        '--- EventOrder: which runs are in order
//
// **One order is representative of all.** Runs that touch a byte must be in order if one of them
// writes it (TaggedMemories). So each read finds the same value in every order as in this one. A
// missing wait is found whether or not the drawn order exposes it. A wait that others imply may be
// removed.
//
// Before the program starts, memory holds inputs, constants and state. After each subgraph, the
// tensors that later consumers read must be complete.
namespace tessera::plan::lowering {
namespace {

using execute::Contents;

constexpr int64_t kMostRuns = int64_t{1} << 24;

std::string DescribeJob(const Plan& plan, const Job& job) {
  std::string name(WordFor(job.does, kDoesNames));
  if (job.tensor >= 0)
    name += fmt::format(" '{}'", plan.network.tensors[static_cast<size_t>(job.tensor)].id);
  if (job.op >= 0)
    name += fmt::format(" '{}'", plan.network.operators[static_cast<size_t>(job.op)].id);
  return name;
}

class Interpreter : private Listener {
 public:
  Interpreter(const Plan& plan, uint64_t seed, const base::Stop& stop)
      : plan_(plan),
        stop_(stop),
        contents_(plan.network, plan.profile.table_bytes_per_channel),
        users_(verify::FindUsers(plan.network)),
        places_(plan, contents_, users_),
        whole_(plan, contents_, places_),
        memories_(SizesOf(plan, contents_)),
        performer_(plan, contents_, memories_, stop, *this),
        modes_(performer_.Rules()),
        random_(seed) {}

  Report Run() {
    for (const std::string& fault : FindForbidden(plan_)) Add(FindingKind::kForbidden, fault);
    // The current value of a state is found at its location.
    for (const bool next : {false, true}) {
      for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
        const bool is_next = plan_.network.tensors[i].next_of >= 0;
        if (users_[i].LastMaker() < execute::ProgramOf(plan_).first && is_next == next)
          whole_.Provide(static_cast<int>(i), memories_);
      }
    }
    for (size_t i = 0; i < plan_.subgraphs.size() && report_.obstacle.empty(); ++i) {
      subgraph_ = static_cast<int>(i);
      RunSubgraph(plan_.lowering->subgraphs[i]);
      report_.is_cut_off = stop_.Requested();
      if (report_.is_cut_off) return std::move(report_);
      ExpectResults(plan_.subgraphs[i].interval);
    }
    subgraph_ = static_cast<int>(plan_.subgraphs.size());
    for (size_t i = 0; i < plan_.network.tensors.size(); ++i) {
      const graph::Tensor& tensor = plan_.network.tensors[i];
      if (tensor.network_output || execute::StaysInPlace(plan_, users_, static_cast<int>(i)))
        Expect(static_cast<int>(i));
    }
    return std::move(report_);
  }

 private:
  void ReportFault(FindingKind kind, const std::string& fault) override {
    Add(kind, Where() + fault);
  }

  void Add(FindingKind kind, const std::string& message) {
    ++report_.found;
    if (report_.findings.size() < kMostFindings) report_.findings.push_back({kind, message});
  }

  void Note(const std::string& fault) { ReportFault(FindingKind::kMalformed, fault); }

  std::string NameOf(int32_t run) const override {
    if (run < 0) return "no run";
    if (run < first_run_) return "a run of a previous subgraph";
    return fmt::format("#{}", run - first_run_);
  }

  // The current actor, as the beginning of a sentence.
  std::string Where() const {
    if (subgraph_ == static_cast<int>(plan_.subgraphs.size())) return "after the program: ";
    if (current_ == nullptr)
      return fmt::format("{}subgraph {}: ", over_ ? "after " : "", subgraph_);
    const Job& job = plan_.lowering->subgraphs[static_cast<size_t>(subgraph_)]
                         .jobs[static_cast<size_t>(current_->job)];
    std::string where =
        fmt::format("subgraph {}, #{}: {}", subgraph_, number_, DescribeJob(plan_, job));
    if (current_->tile >= 0) where += fmt::format(" of tile {}", current_->tile);
    if (job.rounds > 1) where += fmt::format(", round {}", current_->round);
    return where + ": ";
  }

  void Expect(int tensor) {
    if (const std::string missing = whole_.FindMissing(tensor, memories_); !missing.empty())
      ReportFault(FindingKind::kIncomplete, missing);
  }

  void ExpectResults(graph::Interval interval) {
    over_ = true;
    for (size_t i = 0; i < users_.size(); ++i) {
      if (verify::IsMadeForOthers(plan_.network.tensors[i], users_[i], interval))
        Expect(static_cast<int>(i));
    }
  }

  void RunSubgraph(const Lowered& lowered) {
    over_ = false;
    if (!HasLoopsOfTile(lowered)) return Note("its loops are not those of the tile");
    std::vector<std::string> faults;
    const std::optional<std::vector<lowering::Run>> runs = UnrollRuns(lowered, kMostRuns, faults);
    for (const std::string& fault : faults) Note(fault);
    if (!runs) {
      report_.obstacle = fmt::format(
          "subgraph {} has more runs of jobs than an execution can go through", subgraph_);
      return;
    }
    order_ = EventOrder();
    first_run_ = static_cast<int32_t>(report_.tally.jobs);
    memories_.BeginRuns(order_);
    modes_.BeginRuns(order_);
    const size_t done = RunInSomeOrder(lowered, *runs);
    current_ = nullptr;
    if (done < runs->size() && !stop_.Requested())
      Note(fmt::format("{} runs of jobs wait for each other", runs->size() - done));
  }

  // Draws from the runs that have no open waits until none is left. Returns the number of executed
  // runs.
  size_t RunInSomeOrder(const Lowered& lowered, const std::vector<lowering::Run>& runs) {
    std::vector<std::vector<size_t>> after(runs.size());
    std::vector<size_t> left(runs.size());
    std::vector<size_t> ready;
    for (size_t i = 0; i < runs.size(); ++i) {
      left[i] = runs[i].before.size();
      for (const int other : runs[i].before) after[static_cast<size_t>(other)].push_back(i);
      if (left[i] == 0) ready.push_back(i);
    }
    std::vector<int> numbers(runs.size(), -1);  // in the order in which they run
    size_t done = 0;
    for (; !ready.empty() && !stop_.Requested(); ++done) {
      const auto drawn =
          static_cast<size_t>(random_.Uniform(0, static_cast<int64_t>(ready.size()) - 1));
      std::swap(ready[drawn], ready.back());
      const size_t next = ready.back();
      ready.pop_back();
      std::vector<int> before;
      for (const int other : runs[next].before)
        before.push_back(numbers[static_cast<size_t>(other)]);
      numbers[next] = order_.Add(before);
      Execute(lowered, runs[next], numbers[next]);
      for (const size_t other : after[next]) {
        if (--left[other] == 0) ready.push_back(other);
      }
    }
    return done;
  }

  bool HasLoopsOfTile(const Lowered& lowered) const {
    const Subgraph& subgraph = plan_.subgraphs[static_cast<size_t>(subgraph_)];
    const int last =
        plan_.network.operators[static_cast<size_t>(subgraph.interval.last)].outputs.front();
    const graph::Shape& shape = contents_.ShapeOf(last);
    std::vector<Loop> loops;
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const int64_t trips = base::CeilDiv(shape[axis], subgraph.tile[axis]);
      if (trips <= 1) continue;
      const Loop loop = {static_cast<int>(axis), shape[axis], subgraph.tile[axis], trips};
      // If tiles keep rows, the next tile is the one below, in every column.
      const bool keeps = subgraph.halo != hw_profiles::HaloStorage::kRecompute;
      const bool rows_innermost =
          keeps && shape.size() == 4 && axis == 3 && !loops.empty() && loops.back().axis == 2;
      loops.insert(rows_innermost ? loops.end() - 1 : loops.end(), loop);
    }
    return lowered.loops == loops;
  }

  void Execute(const Lowered& lowered, const lowering::Run& run, int number) {
    const Job& job = lowered.jobs[static_cast<size_t>(run.job)];
    current_ = &run;
    number_ = number;
    ++report_.tally.jobs;
    memories_.Begin(number);
    const int64_t phase = run.tile < 0 ? 0 : run.tile % lowered.phases;
    if (job.does == Does::kMode) return Switch(job, static_cast<size_t>(phase), number);
    performer_.Perform(job, run, static_cast<int>(phase));
    const std::string fault =
        modes_.Use(number, {job.on, performer_.ReadBanks(), performer_.WrittenBanks()});
    if (!fault.empty()) ReportFault(FindingKind::kForbidden, fault);
  }

  void Switch(const Job& job, size_t phase, int number) {
    if (phase >= job.modes.size() || job.modes[phase] < 0) return Note("sets no mode");
    const int mode = job.modes[phase];
    if (const std::string fault = modes_.Switch(number, mode); !fault.empty())
      ReportFault(FindingKind::kForbidden, fault);
    const problem::Memory& memory = performer_.Rules().Memory();
    const std::vector<problem::BankMode>& states = memory.modes[static_cast<size_t>(mode)].banks;
    for (size_t bank = 0; bank < std::min(states.size(), memory.banks.size()); ++bank) {
      if (!states[bank].off) continue;
      const problem::AddressRange& range = memory.banks[bank].range;
      for (int64_t byte = range.begin;
           byte < range.end && memories_.Contains(plan_.profile.tile_memory, byte); ++byte)
        memories_.Set(plan_.profile.tile_memory, byte, Contents::TagOf(contents_.Lost(), 0));
    }
  }

  const Plan& plan_;
  const base::Stop& stop_;
  const Contents contents_;
  const std::vector<verify::Users> users_;
  const execute::Places places_;
  const WholeTensors whole_;
  EventOrder order_;
  TaggedMemories memories_;
  Performer performer_;
  Modes modes_;
  base::Random random_;
  int subgraph_ = 0;
  bool over_ = false;                       // all runs of the subgraph are
  const lowering::Run* current_ = nullptr;  // nullptr: none
  int number_ = 0;                          // of the current run
  int32_t first_run_ = 0;                   // of the subgraph, in the memories
  Report report_;
};

}  // namespace

std::vector<std::string> FindForbidden(const Plan& plan) {
  std::vector<std::string> faults;
  const std::vector<verify::Users> users = verify::FindUsers(plan.network);
  for (size_t i = 0; i < plan.lowering->subgraphs.size(); ++i) {
    for (const Job& job : plan.lowering->subgraphs[i].jobs) {
      const bool by_link = job.does == Does::kLoad || job.does == Does::kStore;
      for (const plan::Operand& operand : job.operands) {
        if (operand.memory == plan.profile.tile_memory || operand.tensor < 0) continue;
        const bool writes = operand.part == Part::kOutput || operand.part == Part::kTo ||
                            operand.part == Part::kPartialSums;
        const auto tensor = static_cast<size_t>(operand.tensor);
        const std::string refusal = execute::RefusalAtHome(
            plan.profile,
            verify::RoleOf(plan.network.tensors[tensor], users[tensor], plan.subgraphs[i].interval),
            operand.memory, by_link ? execute::Intent::By::kLink : execute::ByOf(plan, job.op),
            writes ? problem::AccessKind::kWrite : problem::AccessKind::kRead);
        if (refusal.empty()) continue;
        faults.push_back(fmt::format("subgraph {}: {}: {} '{}' {}", i, DescribeJob(plan, job),
                                     writes ? "writes" : "reads", plan.network.tensors[tensor].id,
                                     refusal));
      }
    }
  }
  return faults;
}

Report Interpret(const Plan& plan, uint64_t seed, const base::Stop& stop) {
  Report report;
  report.obstacle =
      FindObstacle(plan, Contents(plan.network, plan.profile.table_bytes_per_channel));
  if (!report.obstacle.empty()) return report;
  if (plan.lowering->subgraphs.size() != plan.subgraphs.size()) {
    report.obstacle = "not every subgraph is lowered";
    return report;
  }
  return Interpreter(plan, seed, stop).Run();
}

}  // namespace tessera::plan::lowering
