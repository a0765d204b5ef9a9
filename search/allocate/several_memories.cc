// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/allocate/several_memories.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "tessera/problem/validator.h"

// Relations and costs concern buffers of one memory, and modes belong to one memory. So memories
// are independent unless a rule relates buffers of several. If they are independent:
//
//     least sum of peaks = sum of least peaks         whatever the (positive) weights
//
// Each memory is a separate Problem. Proofs about each memory are valid for the whole, and so is
// the bound of the objective. The cost is that of the single Problems. A schedule of modes is
// extended to the steps of the whole, because staying in a mode is always allowed.
namespace tessera::search::allocate {

using problem::Bytes;
using problem::Problem;
using problem::Result;
using problem::Status;

namespace {

// Returns for each buffer of the whole its number in its memory.
std::vector<int> NumbersInMemories(const Problem& problem) {
  std::vector<int> next(problem.memories.size());
  std::vector<int> numbers;
  numbers.reserve(problem.buffers.size());
  for (const problem::Buffer& buffer : problem.buffers)
    numbers.push_back(next[static_cast<size_t>(buffer.memory)]++);
  return numbers;
}

int MemoryOf(const Problem& problem, int buffer) {
  return problem.buffers[static_cast<size_t>(buffer)].memory;
}

// Returns the first rule that relates buffers of several memories, or null. Pairs may depend on
// each other (common_delta).
const problem::Rule* FindRuleAcross(const Problem& problem) {
  for (const problem::Rule& rule : problem.rules) {
    std::vector<int> together = problem::IsOnSet(rule) ? rule.buffers : std::vector<int>();
    for (const auto& [first, second] : rule.pairs) together.insert(together.end(), {first, second});
    const bool is_across = std::any_of(together.begin(), together.end(), [&](int buffer) {
      return MemoryOf(problem, buffer) != MemoryOf(problem, together.front());
    });
    if (is_across) return &rule;
  }
  return nullptr;
}

// If one memory has no placement, the whole has none, so the worse status counts.
Status WorseOf(Status a, Status b) {
  constexpr std::array kWorstFirst = {Status::kInvalid, Status::kInfeasible, Status::kUnsupported,
                                      Status::kUnknown, Status::kFeasible};
  const auto* worse = std::find_if(kWorstFirst.begin(), kWorstFirst.end(),
                                   [&](Status each) { return each == a || each == b; });
  return worse == kWorstFirst.end() ? Status::kOptimal : *worse;
}

class Join {
 public:
  Join(const Problem& problem, const PeakObjective& objective)
      : problem_(problem), objective_(objective), numbers_(NumbersInMemories(problem)) {
    joined_.result.status = Status::kOptimal;
  }

  void Add(int memory, Result result) {
    Result& all = joined_.result;
    const std::string& name = problem_.memories[static_cast<size_t>(memory)].name;
    // If the memory has no weight, a placement need not be the lowest.
    Status status = result.status;
    if (WeightOf(memory) == 0 && status == Status::kFeasible) status = Status::kOptimal;
    all.status = WorseOf(all.status, status);
    if (!result.reason.empty())
      all.reason +=
          fmt::format("{}memory '{}': {}", all.reason.empty() ? "" : "; ", name, result.reason);
    if (!result.engine.empty() && all.engine.find(result.engine) == std::string::npos)
      all.engine += (all.engine.empty() ? "" : ", ") + result.engine;
    if (result.cost) {
      all.cost = all.cost.value_or(0) + *result.cost;
      all.least_cost += result.least_cost;
    }
    problem::Accumulate(all.statistics, result.statistics);
    if (memory == 0) all.lower_bound = result.lower_bound;
    joined_.peaks.push_back({.memory = name, .peak = 0, .lower_bound = result.lower_bound});
    parts_.push_back(std::move(result));
  }

  MemoriesResult Take() {
    Result& all = joined_.result;
    const bool all_placed = std::all_of(parts_.begin(), parts_.end(), [](const Result& part) {
      return part.allocation.has_value();
    });
    if (!all_placed) {
      joined_.peaks.clear();
      return std::move(joined_);
    }
    problem::Allocation& allocation = all.allocation.emplace();
    for (size_t i = 0; i < problem_.buffers.size(); ++i) {
      const auto memory = static_cast<size_t>(problem_.buffers[i].memory);
      allocation.offsets.push_back(
          parts_[memory].allocation->offsets[static_cast<size_t>(numbers_[i])]);
    }
    for (size_t memory = 0; memory < parts_.size(); ++memory)
      allocation.modes.push_back(ScheduleOf(static_cast<int>(memory)));
    for (size_t memory = 0; memory < parts_.size(); ++memory) {
      problem::MemoryPeak& peak = joined_.peaks[memory];
      peak.peak = problem::PeakOf(problem_, allocation, static_cast<int>(memory));
      const double unit =
          objective_.is_relative ? static_cast<double>(std::max<Bytes>(1, peak.lower_bound)) : 1.0;
      joined_.score += WeightOf(static_cast<int>(memory)) * static_cast<double>(peak.peak) / unit;
      joined_.bound +=
          WeightOf(static_cast<int>(memory)) * static_cast<double>(peak.lower_bound) / unit;
    }
    all.peak = joined_.peaks.front().peak;
    return std::move(joined_);
  }

 private:
  double WeightOf(int memory) const { return objective_.weights[static_cast<size_t>(memory)]; }

  // Returns the schedule of a memory from the first to the last step of the whole.
  problem::ModeSchedule ScheduleOf(int memory) const {
    if (problem_.memories[static_cast<size_t>(memory)].modes.empty()) return {};
    const problem::Lifespan whole = problem::Horizon(problem_);
    problem::ModeSchedule schedule = parts_[static_cast<size_t>(memory)].allocation->modes.front();
    if (schedule.empty())
      return problem::ModeSchedule(static_cast<size_t>(whole.upper - whole.lower), 0);
    const problem::Lifespan part = problem::Horizon(ProblemOf(problem_, memory));
    schedule.insert(schedule.begin(), static_cast<size_t>(part.lower - whole.lower),
                    schedule.front());
    schedule.insert(schedule.end(), static_cast<size_t>(whole.upper - part.upper), schedule.back());
    return schedule;
  }

  const Problem& problem_;
  const PeakObjective& objective_;
  const std::vector<int> numbers_;
  std::vector<Result> parts_;  // by memory
  MemoriesResult joined_;
};

}  // namespace

Problem ProblemOf(const Problem& problem, int memory) {
  const std::vector<int> numbers = NumbersInMemories(problem);
  const auto is_here = [&](int buffer) { return MemoryOf(problem, buffer) == memory; };
  const auto number_of = [&](int buffer) { return numbers[static_cast<size_t>(buffer)]; };
  Problem part;
  part.name = problem.name;
  part.memories = {problem.memories[static_cast<size_t>(memory)]};
  part.loops = problem.loops;
  for (const problem::Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    part.buffers.push_back(buffer);
    part.buffers.back().memory = 0;
  }
  for (problem::Relation relation : problem.relations) {
    if (!is_here(relation.first)) continue;
    relation.first = number_of(relation.first);
    relation.second = number_of(relation.second);
    part.relations.push_back(relation);
  }
  for (problem::Cost cost : problem.costs) {
    const bool is_switch = cost.kind == problem::CostKind::kModeSwitch;
    if (is_switch ? cost.memory != memory : !is_here(cost.first)) continue;
    cost.memory = 0;
    if (!is_switch) cost.first = number_of(cost.first), cost.second = number_of(cost.second);
    part.costs.push_back(cost);
  }
  for (problem::Rule rule : problem.rules) {
    std::erase_if(rule.buffers, [&](int buffer) { return !is_here(buffer); });
    std::erase_if(rule.pairs, [&](const auto& pair) { return !is_here(pair.first); });
    for (int& buffer : rule.buffers) buffer = number_of(buffer);
    for (auto& [first, second] : rule.pairs) first = number_of(first), second = number_of(second);
    if (!rule.buffers.empty() || !rule.pairs.empty()) part.rules.push_back(std::move(rule));
  }
  return part;
}

base::Expected<MemoriesResult> AllocateMemories(const Problem& problem,
                                                const PeakObjective& objective,
                                                const SolveMemory& solve, const base::Stop& stop) {
  if (const problem::Rule* rule = FindRuleAcross(problem)) {
    MemoriesResult refused;
    refused.result.status = Status::kUnsupported;
    refused.result.reason = fmt::format(
        "{} relates buffers of several memories, so their peaks cannot be lowered one by one",
        Describe(*rule));
    return refused;
  }
  Join join(problem, objective);
  const size_t memories = problem.memories.size();
  for (size_t memory = 0; memory < memories; ++memory) {
    const base::Stop in_part(stop.Before(1.0 / static_cast<double>(memories - memory)), &stop);
    base::Expected<Result> result =
        solve(ProblemOf(problem, static_cast<int>(memory)), objective.weights[memory] > 0, in_part);
    if (!result) return base::Unexpected(result.error());
    join.Add(static_cast<int>(memory), *std::move(result));
  }
  MemoriesResult joined = join.Take();
  const Result& result = joined.result;
  if (!result.allocation) return joined;
  const auto violations =
      problem::Validate(problem, *result.allocation, problem.memories.front().capacity, 1);
  if (violations.empty()) return joined;
  base::Diagnostic fault;
  fault.message = "the joined allocation of several memories is wrong";
  fault.found = violations.front().message;
  fault.hint = "this is a fault of the program, not of the input; please report it with the input";
  return base::Unexpected(std::move(fault));
}

}  // namespace tessera::search::allocate
