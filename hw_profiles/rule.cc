// SPDX-License-Identifier: Apache-2.0

#include "tessera/hw_profiles/rule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <utility>

#include "tessera/base/text.h"

namespace tessera::hw_profiles {
namespace {

constexpr std::array<std::string_view, 4> kOperandKinds = {"input", "constant", "output",
                                                           "scratch"};

// Pairs of buffers whose ids are equal except for a "@0" in the first that is a "@1" in the second.
std::vector<std::pair<int, int>> PairsByPhase(const problem::Problem& problem,
                                              const std::vector<int>& buffers) {
  std::map<std::string, int> by_id;
  for (const int i : buffers) by_id.emplace(problem.buffers[static_cast<size_t>(i)].id, i);
  std::vector<std::pair<int, int>> pairs;
  for (const int i : buffers) {
    std::string id = problem.buffers[static_cast<size_t>(i)].id;
    const size_t at = id.rfind("@0");
    if (at == std::string::npos) continue;
    id[at + 1] = '1';
    if (const auto pong = by_id.find(id); pong != by_id.end()) pairs.emplace_back(i, pong->second);
  }
  return pairs;
}

}  // namespace

std::string NameOf(const Operand& operand) {
  std::string name(kOperandKinds[static_cast<size_t>(operand.kind)]);
  return operand.kind == OperandKind::kScratch ? name : name + "." + std::to_string(operand.index);
}

std::optional<Operand> ParseOperand(std::string_view name) {
  const size_t dot = name.find('.');
  const std::string_view word = name.substr(0, dot);
  const auto* const known = std::find(kOperandKinds.begin(), kOperandKinds.end(), word);
  if (known == kOperandKinds.end()) return std::nullopt;
  Operand operand{static_cast<OperandKind>(known - kOperandKinds.begin()), 0};
  const bool is_scratch = operand.kind == OperandKind::kScratch;
  if (is_scratch || dot == std::string_view::npos) {
    if (is_scratch != (dot == std::string_view::npos)) return std::nullopt;
    return operand;
  }
  const char* const end = name.data() + name.size();
  const auto [rest, fault] = std::from_chars(name.data() + dot + 1, end, operand.index);
  if (fault != std::errc() || rest != end || operand.index < 0 || name[dot + 1] == '+')
    return std::nullopt;
  return operand;
}

bool Rule::IsOnPairs() const {
  const problem::RuleTraits& traits = TraitsOf(require.kind);
  const bool states_pairs = select.ping_pong || select.operands.size() == 2;
  return traits.pairwise && (states_pairs || !traits.sets);
}

bool MatchesText(const Selector& selector, const problem::Buffer& buffer) {
  const bool role =
      selector.roles.empty() ||
      std::find(selector.roles.begin(), selector.roles.end(), buffer.role) != selector.roles.end();
  const std::string& name = buffer.name.empty() ? buffer.id : buffer.name;
  return role && (selector.name.empty() || base::MatchesGlob(name, selector.name));
}

std::optional<std::string> ApplyRules(const std::vector<Rule>& rules, problem::Problem& problem) {
  for (const Rule& rule : rules) {
    problem::Rule applied{rule.name, rule.require, {}, {}, rule.select.sizes};
    if (!rule.select.operators.empty() || !rule.select.types.empty() ||
        !rule.select.operands.empty()) {
      return Describe(applied) +
             ", which selects by operator, type or operand: a problem states none";
    }
    std::vector<int> buffers;
    for (size_t i = 0; i < problem.buffers.size(); ++i) {
      const problem::Buffer& buffer = problem.buffers[i];
      if (buffer.memory == 0 && MatchesText(rule.select, buffer))
        buffers.push_back(static_cast<int>(i));
    }
    if (rule.IsOnPairs()) {
      applied.pairs = PairsByPhase(problem, buffers);
    } else {
      applied.buffers = std::move(buffers);
    }
    if (!applied.buffers.empty() || !applied.pairs.empty())
      problem.rules.push_back(std::move(applied));
  }
  return std::nullopt;
}

}  // namespace tessera::hw_profiles
