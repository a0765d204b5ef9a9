#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/vocabulary.h"
#include "tessera/problem/problem.h"

namespace tessera::hw_profiles {

// What a buffer is to an operator.
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

// Which buffers of the tile memory a rule is about: those that satisfy every line that says
// something. An operator here is one of the buffer's subgraph (of a whole buffer: of the program)
// whose operand it holds.
struct Selector {
  std::vector<std::string> roles = {};             // names of base::TensorRole, or "scratch"
  std::vector<base::OperatorKind> operators = {};  // held by an operator of one of these kinds
  std::vector<base::DataType> types = {};          // of the buffer's tensor
  problem::SizeRange sizes = {};                   // of the buffer
  std::string name = {};  // glob of the buffer's name, or of its id where it has none
  std::vector<Operand> operands =
      {};                  // what it is to an operator; with pairs: the first and the second
  bool ping_pong = false;  // pairs of phase 0 and 1 that are alike otherwise
  friend bool operator==(const Selector&, const Selector&) = default;
};

// A restriction of the hardware in the profile's words. A requirement on pairs is about ping and
// pong, or about two operands of one operator in one phase.
struct Rule {
  std::string name;
  Selector select;
  problem::Requirement require;  // banks are those of the tile memory
  friend bool operator==(const Rule&, const Rule&) = default;
};

// The rules as a Problem without a network can have them: by role, size and name, and pairs by ids
// that differ in `@0` and `@1` alone. Adds them to `problem`, whose first memory is the profile's
// tile memory. Returns what rule cannot be applied because it selects by operator, type or operand,
// in words, or nullopt.
std::optional<std::string> ApplyRules(const std::vector<Rule>& rules, problem::Problem& problem);

// What both ways of applying a rule ask of a buffer that is in the tile memory.
bool MatchesText(const Selector& selector, const problem::Buffer& buffer);

}  // namespace tessera::hw_profiles
