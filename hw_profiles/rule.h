// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/problem/problem.h"

namespace tessera::hw_profiles {

// The role of a buffer for an operator.
enum class OperandKind : uint8_t { kInput, kConstant, kOutput, kScratch };

// "input.0", "constant.1", "output.0", "scratch": the k-th input, constant or output of an
// operator.
struct Operand {
  OperandKind kind = OperandKind::kInput;
  int index = 0;  // 0 for kScratch
  friend bool operator==(const Operand&, const Operand&) = default;
};

std::string NameOf(const Operand& operand);
std::optional<Operand> ParseOperand(std::string_view name);

// The buffers of the tile memory to which a rule applies: those that satisfy every non-empty field.
// An operator here is one of the buffer's subgraph (for a whole buffer: of the program) whose
// operand the buffer holds.
struct Selector {
  std::vector<std::string> roles = {};  // names of base::TensorRole, or "scratch"
  // the buffer is held by an operator of one of these kinds
  std::vector<base::OperatorKind> operators = {};
  std::vector<base::DataType> types = {};  // of the buffer's tensor
  problem::SizeRange sizes = {};           // of the buffer
  std::string name = {};  // glob of the buffer's name, or of its id if it has no name
  // the buffer's role for an operator; with pairs: of the first and the second
  std::vector<Operand> operands = {};
  bool ping_pong = false;  // pairs of phase 0 and 1 that are otherwise interchangeable
  friend bool operator==(const Selector&, const Selector&) = default;
};

// A restriction of the hardware as the profile states it. A requirement on pairs applies to ping
// and pong, or to two operands of one operator in one phase; one on sets may also apply to all
// selected buffers together.
struct Rule {
  std::string name;
  Selector select;
  problem::Requirement require;  // banks are those of the tile memory
  bool IsOnPairs() const;        // not on single buffers or their set
  friend bool operator==(const Rule&, const Rule&) = default;
};

// Applies the rules to a Problem without a network: by role, size and name, and pairs by ids that
// differ only in `@0` and `@1`. Adds them to `problem`, whose first memory is the profile's tile
// memory. Returns nullopt, or describes a rule that cannot be applied because it selects by
// operator, type or operand.
std::optional<std::string> ApplyRules(const std::vector<Rule>& rules, problem::Problem& problem);

// Whether the buffer satisfies the selector's conditions on role and name, which apply with and
// without a network.
bool MatchesText(const Selector& selector, const problem::Buffer& buffer);

}  // namespace tessera::hw_profiles
