// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/base/text.h"
#include "tessera/plan/verify/derivation.h"

namespace tessera::plan::verify {
namespace {

using hw_profiles::Operand;
using hw_profiles::OperandKind;
using hw_profiles::Selector;

template <typename T>
bool IsNoneOr(const std::vector<T>& wanted, const T& value) {
  return wanted.empty() || std::find(wanted.begin(), wanted.end(), value) != wanted.end();
}

class RuleFinder {
 public:
  RuleFinder(const Plan& plan, const std::vector<Users>& users, const Trace& trace)
      : plan_(plan), users_(users), trace_(trace) {}

  RuleMatch Find(const hw_profiles::Rule& rule) const {
    RuleMatch match;
    match.rule = &rule;
    std::vector<BufferUse> candidates;
    for (const auto& [use, observed_use] : trace_.buffers) {
      if (Looks(rule.select, use)) candidates.push_back(use);
    }
    const bool pairwise = rule.IsOnPairs();
    for (const BufferUse& use : candidates) {
      if (!pairwise && IsOperand(rule.select, use)) match.buffers.insert(use);
      if (!pairwise) continue;
      for (const BufferUse& other : candidates) {
        if (ArePaired(rule.select, use, other)) match.pairs.emplace_back(use, other);
      }
    }
    return match;
  }

 private:
  const graph::Operator& OperatorAt(int op) const {
    return plan_.network.operators[static_cast<size_t>(op)];
  }
  const graph::Tensor& TensorAt(int tensor) const {
    return plan_.network.tensors[static_cast<size_t>(tensor)];
  }

  // Buffers private to an operator. For rules, accumulators are scratch.
  static bool IsWorkspace(const BufferUse& use) {
    return use.kind == BufferKind::kScratch || use.kind == BufferKind::kAccumulator;
  }

  bool Looks(const Selector& select, const BufferUse& use) const {
    if (IsWorkspace(use)) {
      const bool named =
          select.name.empty() || base::MatchesGlob(OperatorAt(use.op).id, select.name);
      return named && select.types.empty() && IsNoneOr<std::string>(select.roles, "scratch");
    }
    const graph::Tensor& tensor = TensorAt(use.tensor);
    return (select.name.empty() || base::MatchesGlob(tensor.id, select.name)) &&
           IsNoneOr(select.types, tensor.type) &&
           IsNoneOr(select.roles, std::string(NameOf(RoleOf(plan_, users_, use))));
  }

  // Whether the buffer holds this operand while the operator runs.
  bool Holds(const BufferUse& use, int op, const Operand& operand) const {
    const bool own = use.kind == BufferKind::kSlice || IsWorkspace(use);
    if (own && use.op != op) return false;
    if (use.kind == BufferKind::kLine) return false;
    if (use.subgraph >= 0 &&
        !Contains(plan_.subgraphs[static_cast<size_t>(use.subgraph)].interval, op))
      return false;
    if (IsWorkspace(use) || operand.kind == OperandKind::kScratch)
      return IsWorkspace(use) && operand.kind == OperandKind::kScratch;
    const auto stands_in = [&](const std::vector<int>& tensors) {
      const auto at = static_cast<size_t>(operand.index);
      return at < tensors.size() && tensors[at] == use.tensor;
    };
    switch (operand.kind) {
      case OperandKind::kInput:
        return stands_in(OperatorAt(op).inputs);
      case OperandKind::kConstant:
        return stands_in(OperatorAt(op).weights);
      case OperandKind::kOutput:
        return stands_in(OperatorAt(op).outputs);
      case OperandKind::kScratch:
        return false;
    }
    return false;
  }

  bool Touches(const BufferUse& use, int op) const {
    if (Holds(use, op, {OperandKind::kScratch, 0})) return true;
    const graph::Operator& user = OperatorAt(op);
    const auto most =
        static_cast<int>(std::max({user.inputs.size(), user.weights.size(), user.outputs.size()}));
    for (int index = 0; index < most; ++index) {
      for (const OperandKind kind :
           {OperandKind::kInput, OperandKind::kConstant, OperandKind::kOutput}) {
        if (Holds(use, op, {kind, index})) return true;
      }
    }
    return false;
  }

  bool IsOperand(const Selector& select, const BufferUse& use) const {
    if (select.operators.empty() && select.operands.empty()) return true;
    for (int op = 0; op < static_cast<int>(plan_.network.operators.size()); ++op) {
      if (!IsNoneOr(select.operators, OperatorAt(op).kind)) continue;
      const bool any = select.operands.empty() && Touches(use, op);
      if (any || std::any_of(select.operands.begin(), select.operands.end(),
                             [&](const Operand& operand) { return Holds(use, op, operand); })) {
        return true;
      }
    }
    return false;
  }

  bool ArePaired(const Selector& select, const BufferUse& a, const BufferUse& b) const {
    if (select.ping_pong) {
      BufferUse pong = a;
      pong.phase = 1;
      const bool same = b == pong;
      return a.phase == 0 && same && IsOperand(select, a) && IsOperand(select, b);
    }
    const bool same = a == b;
    const bool both_turn = Turns(a) && Turns(b);
    if (same || (both_turn && a.phase != b.phase)) return false;
    if (a.subgraph >= 0 && b.subgraph >= 0 && a.subgraph != b.subgraph) return false;
    for (int op = 0; op < static_cast<int>(plan_.network.operators.size()); ++op) {
      if (!IsNoneOr(select.operators, OperatorAt(op).kind)) continue;
      if (Holds(a, op, select.operands[0]) && Holds(b, op, select.operands[1])) return true;
    }
    return false;
  }

  // Whether there is one buffer for each phase.
  static bool Turns(const BufferUse& use) {
    return use.kind != BufferKind::kWhole && use.kind != BufferKind::kResident &&
           use.kind != BufferKind::kRollingBuffer && use.kind != BufferKind::kLine;
  }

  const Plan& plan_;
  const std::vector<Users>& users_;
  const Trace& trace_;
};

}  // namespace

std::vector<RuleMatch> FindRules(const Plan& plan, const std::vector<Users>& users,
                                 const Trace& trace) {
  std::vector<RuleMatch> found;
  const RuleFinder finder(plan, users, trace);
  for (const hw_profiles::Rule& rule : plan.profile.rules) {
    RuleMatch match = finder.Find(rule);
    if (!match.buffers.empty() || !match.pairs.empty()) found.push_back(std::move(match));
  }
  return found;
}

}  // namespace tessera::plan::verify
