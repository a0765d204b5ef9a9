// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "tessera/plan/execute/contents.h"
#include "tessera/plan/execute/instruction.h"
#include "tessera/plan/plan.h"

// Seeded faults: one entry of a plan that runs is changed, in the plan itself or in an instruction
// of its program. The check must find the fault where it does harm, by the kind of harm.
namespace tessera::plan::execute {

// Tensors of two convolutions, and the axis of their maps' rows.
inline constexpr int kX = 0;
inline constexpr int kWa = 1;
inline constexpr int kWb = 2;
inline constexpr int kM = 3;
inline constexpr int kY = 4;
inline constexpr size_t kRows = 2;

struct SpoiledPlan {
  std::string name;
  Plan (*plan)();
  std::function<void(Plan&)> spoil;
  std::string kind;
  std::string message;  // a part of it
};
void PrintTo(const SpoiledPlan& fault, std::ostream* out);

// Expects that the plan runs, and that the changed plan has a finding of that kind with that text.
void ExpectFound(const SpoiledPlan& fault);

using Spoil = std::function<void(Plan&)>;
Spoil Put(const std::string& id, const std::string& onto, int64_t shift = 0);
Spoil Shift(const std::string& id, int64_t bytes);
Spoil Grow(const std::string& id, int64_t bytes);
Spoil Live(const std::string& id, std::vector<problem::Lifespan> lifespans);
Spoil MoveOnly(std::vector<size_t> steps, std::vector<int> transfers);
Spoil Without(const std::string& id);
Spoil SwapUses(const std::string& a, const std::string& b);
Spoil DoNothingAt(std::vector<size_t> steps);

using Program = std::vector<Instruction>;

struct SpoiledProgram {
  std::string name;
  Plan (*plan)();
  std::function<void(Program&)> spoil;
  std::string kind;
  std::string message;
};
void PrintTo(const SpoiledProgram& fault, std::ostream* out);
void ExpectFound(const SpoiledProgram& fault);

template <typename Fault>
std::string NameOfFault(const testing::TestParamInfo<Fault>& info) {
  return info.param.name;
}

// The n-th transfer of a content, counted from 0; its first move; its wait.
size_t TransferAt(const Program& program, int content, int n);
Move& MoveAt(Program& program, int content, int n);
size_t FinishOf(const Program& program, size_t start);

// The n-th run of an operator.
size_t ComputeIndex(const Program& program, int op, int n);
Compute& ComputeAt(Program& program, int op, int n);

// The n-th copy of a content's rows.
size_t CopyIndex(const Program& program, int content, int n);
Move& CopiedAt(Program& program, int content, int n);

void Remove(Program& program, size_t at);

// Moves an instruction before another one.
void MoveBefore(Program& program, size_t from, size_t to);

// Applies the change to every place of a content.
void ForEachPlace(Program& program, int content, const std::function<void(Place&)>& change);

}  // namespace tessera::plan::execute
