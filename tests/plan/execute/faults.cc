// SPDX-License-Identifier: Apache-2.0

#include "faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "base_plans.h"
#include "plans.h"
#include "tessera/plan/execute/program.h"
#include "tessera/plan/lowering/execution.h"

namespace tessera::plan::execute {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

Program ProgramOf(const Plan& plan, const Contents& contents) {
  Program program;
  Unroll(plan, contents, [&](const Instruction& instruction) {
    program.push_back(instruction);
    return true;
  });
  return program;
}

std::vector<std::string> MessagesOfRun(const Plan& plan, const Contents& contents,
                                       const Program& program) {
  const base::Stop never;
  lowering::Execution execution(plan, contents, never);
  for (const Instruction& instruction : program) execution.Run(instruction);
  return MessagesOf(execution.TakeReport());
}

// The n-th instruction for which `is_it` holds.
template <typename Predicate>
size_t IndexOf(const Program& program, int n, const Predicate& is_it) {
  for (size_t i = 0; i < program.size(); ++i) {
    if (is_it(program[i]) && n-- == 0) return i;
  }
  return program.size();
}

const Move* MoveOf(const Copy& copy, int content) {
  const auto found =
      std::find_if(copy.moves.begin(), copy.moves.end(),
                   [content](const Move& move) { return move.to.content == content; });
  return found == copy.moves.end() ? nullptr : &*found;
}

}  // namespace

void PrintTo(const SpoiledPlan& fault, std::ostream* out) { *out << fault.name; }
void PrintTo(const SpoiledProgram& fault, std::ostream* out) { *out << fault.name; }

void ExpectFound(const SpoiledPlan& fault) {
  Plan plan = fault.plan();
  ASSERT_THAT(MessagesOf(plan), IsEmpty());
  fault.spoil(plan);
  EXPECT_THAT(MessagesOf(plan),
              Contains(AllOf(StartsWith(fault.kind + ": "), HasSubstr(fault.message))));
}

void ExpectFound(const SpoiledProgram& fault) {
  const Plan plan = WithHomes(fault.plan());
  const Contents contents(plan.network, plan.profile.table_bytes_per_channel);
  Program program = ProgramOf(plan, contents);
  ASSERT_THAT(MessagesOfRun(plan, contents, program), IsEmpty());
  fault.spoil(program);
  EXPECT_THAT(MessagesOfRun(plan, contents, program),
              Contains(AllOf(StartsWith(fault.kind + ": "), HasSubstr(fault.message))));
}

Spoil Put(const std::string& id, const std::string& onto, int64_t shift) {
  return [=](Plan& plan) { OffsetOf(plan, id) = OffsetOf(plan, onto) + shift; };
}

Spoil Shift(const std::string& id, int64_t bytes) {
  return [=](Plan& plan) { OffsetOf(plan, id) += bytes; };
}

Spoil Grow(const std::string& id, int64_t bytes) {
  return [=](Plan& plan) { FactsOf(plan, id).size += bytes; };
}

Spoil Live(const std::string& id, std::vector<problem::Lifespan> lifespans) {
  return [=](Plan& plan) { FactsOf(plan, id).lifespans = lifespans; };
}

Spoil MoveOnly(std::vector<size_t> steps, std::vector<int> transfers) {
  return [=](Plan& plan) {
    for (const size_t step : steps) plan.steps[step].transfers = transfers;
  };
}

Spoil Without(const std::string& id) {
  return [=](Plan& plan) { RemoveBuffer(plan, id); };
}

Spoil SwapUses(const std::string& a, const std::string& b) {
  return [=](Plan& plan) { std::swap(UseOf(plan, a), UseOf(plan, b)); };
}

Spoil DoNothingAt(std::vector<size_t> steps) {
  return [=](Plan& plan) {
    for (const size_t step : steps) plan.steps[step].op = -1;
    for (const size_t step : steps) plan.steps[step].kind = StepKind::kLoad;
  };
}

size_t TransferAt(const Program& program, int content, int n) {
  return IndexOf(program, n, [content](const Instruction& instruction) {
    const auto* start = std::get_if<StartTransfer>(&instruction);
    return start != nullptr && start->moves.front().to.content == content;
  });
}

Move& MoveAt(Program& program, int content, int n) {
  return std::get<StartTransfer>(program.at(TransferAt(program, content, n))).moves.front();
}

size_t FinishOf(const Program& program, size_t start) {
  const int64_t number = std::get<StartTransfer>(program.at(start)).number;
  return IndexOf(program, 0, [number](const Instruction& instruction) {
    const auto* finish = std::get_if<FinishTransfer>(&instruction);
    return finish != nullptr && finish->number == number;
  });
}

size_t ComputeIndex(const Program& program, int op, int n) {
  return IndexOf(program, n, [op](const Instruction& instruction) {
    const auto* compute = std::get_if<Compute>(&instruction);
    return compute != nullptr && compute->op == op;
  });
}

Compute& ComputeAt(Program& program, int op, int n) {
  return std::get<Compute>(program.at(ComputeIndex(program, op, n)));
}

size_t CopyIndex(const Program& program, int content, int n) {
  return IndexOf(program, n, [content](const Instruction& instruction) {
    const auto* copy = std::get_if<Copy>(&instruction);
    return copy != nullptr && MoveOf(*copy, content) != nullptr;
  });
}

Move& CopiedAt(Program& program, int content, int n) {
  auto& copy = std::get<Copy>(program.at(CopyIndex(program, content, n)));
  return copy.moves[static_cast<size_t>(MoveOf(copy, content) - copy.moves.data())];
}

void Remove(Program& program, size_t at) {
  program.erase(program.begin() + static_cast<std::ptrdiff_t>(at));
}

void MoveBefore(Program& program, size_t from, size_t to) {
  const Instruction moved = program.at(from);
  Remove(program, from);
  program.insert(program.begin() + static_cast<std::ptrdiff_t>(to > from ? to - 1 : to), moved);
}

void ForEachPlace(Program& program, int content, const std::function<void(Place&)>& change) {
  const auto change_if = [&](Place& place) {
    if (place.content == content && place.where == Where::kTileMemory) change(place);
  };
  for (Instruction& instruction : program) {
    if (auto* start = std::get_if<StartTransfer>(&instruction)) {
      for (Move& move : start->moves) change_if(move.from);
      for (Move& move : start->moves) change_if(move.to);
    } else if (auto* compute = std::get_if<Compute>(&instruction)) {
      for (Operand& operand : compute->operands) change_if(operand.place);
      for (Result& result : compute->results) change_if(result.place);
    }
  }
}

}  // namespace tessera::plan::execute
