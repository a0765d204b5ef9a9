// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "tessera/encoder/program/program_template.h"

namespace tessera::encoder::program {
namespace {

using hw_profiles::Operand;
using hw_profiles::OperandKind;
using hw_profiles::Selector;

// Maps operators to the buffers that hold their operands.
class Resolver {
 public:
  Resolver(const graph::Graph& graph, const Program& program,
           std::span<const graph::Interval> intervals)
      : graph_(graph), program_(program), intervals_(intervals) {
    for (int i = 0; i < static_cast<int>(program.buffers.size()); ++i) {
      const BufferUse& buffer = program.buffers[static_cast<size_t>(i)];
      if (buffer.kind == BufferKind::kScratch || buffer.kind == BufferKind::kAccumulator) {
        scratch_[{buffer.subgraph, buffer.op}].push_back(i);
      } else if (buffer.kind == BufferKind::kSlice) {
        slices_[{buffer.subgraph, buffer.op, buffer.tensor}].push_back(i);
      } else if (buffer.kind != BufferKind::kLine) {  // no operator reads a line
        holders_[{buffer.subgraph, buffer.tensor}].push_back(i);
      }
    }
  }

  problem::Rule Resolve(const hw_profiles::Rule& rule) const {
    problem::Rule resolved{rule.name, rule.require, {}, {}, rule.select.sizes};
    if (!rule.IsOnPairs()) {
      resolved.buffers = BuffersOf(rule.select);
    } else if (rule.select.ping_pong) {
      resolved.pairs = PingPongs(rule.select);
    } else {
      resolved.pairs = OperandPairs(rule.select);
    }
    return resolved;
  }

 private:
  const BufferUse& Meaning(int i) const { return program_.buffers[static_cast<size_t>(i)]; }

  // Whether the buffer alone matches the selector.
  bool Matches(const Selector& select, int i) const {
    if (!MatchesText(select, program_.problem.buffers[static_cast<size_t>(i)])) return false;
    if (select.types.empty()) return true;
    const int tensor = Meaning(i).tensor;
    return tensor >= 0 &&
           std::find(select.types.begin(), select.types.end(),
                     graph_.tensors[static_cast<size_t>(tensor)].type) != select.types.end();
  }

  std::vector<int> BuffersOf(const Selector& select) const {
    std::vector<int> buffers;
    if (select.operators.empty() && select.operands.empty()) {
      for (int i = 0; i < static_cast<int>(program_.buffers.size()); ++i) buffers.push_back(i);
    } else {
      ForEachOperator(select, [&](int subgraph, int op) {
        for (const Operand& operand : select.operands.empty() ? AllOperands(op) : select.operands) {
          const std::vector<int> held = HoldersOf(subgraph, op, operand);
          buffers.insert(buffers.end(), held.begin(), held.end());
        }
      });
    }
    std::erase_if(buffers, [&](int i) { return !Matches(select, i); });
    std::sort(buffers.begin(), buffers.end());
    buffers.erase(std::unique(buffers.begin(), buffers.end()), buffers.end());
    return buffers;
  }

  std::vector<std::pair<int, int>> PingPongs(const Selector& select) const {
    const auto key = [&](int i) {
      const BufferUse& buffer = Meaning(i);
      return std::tuple(buffer.kind, buffer.subgraph, buffer.tensor, buffer.op, buffer.slot);
    };
    const std::vector<int> buffers = BuffersOf(select);
    std::map<std::tuple<BufferKind, int, int, int, int>, int> pongs;
    for (const int i : buffers) {
      if (Meaning(i).phase == 1) pongs.emplace(key(i), i);
    }
    std::vector<std::pair<int, int>> pairs;
    for (const int i : buffers) {
      if (Meaning(i).phase != 0) continue;
      if (const auto pong = pongs.find(key(i)); pong != pongs.end())
        pairs.emplace_back(i, pong->second);
    }
    return pairs;
  }

  std::vector<std::pair<int, int>> OperandPairs(const Selector& select) const {
    std::vector<std::pair<int, int>> pairs;
    ForEachOperator(select, [&](int subgraph, int op) {
      for (const int a : HoldersOf(subgraph, op, select.operands[0])) {
        for (const int b : HoldersOf(subgraph, op, select.operands[1])) {
          const bool phase = !HasPhase(a) || !HasPhase(b) || Meaning(a).phase == Meaning(b).phase;
          if (a != b && phase && Matches(select, a) && Matches(select, b)) pairs.emplace_back(a, b);
        }
      }
    });
    std::sort(pairs.begin(), pairs.end());
    pairs.erase(std::unique(pairs.begin(), pairs.end()), pairs.end());
    return pairs;
  }

  bool HasPhase(int i) const {
    const BufferKind kind = Meaning(i).kind;
    return kind != BufferKind::kWhole && kind != BufferKind::kResident &&
           kind != BufferKind::kRollingBuffer && kind != BufferKind::kLine;
  }

  template <typename Visit>
  void ForEachOperator(const Selector& select, Visit visit) const {
    for (size_t s = 0; s < intervals_.size(); ++s) {
      for (int op = intervals_[s].first; op <= intervals_[s].last; ++op) {
        const base::OperatorKind kind = graph_.operators[static_cast<size_t>(op)].kind;
        const bool named = std::find(select.operators.begin(), select.operators.end(), kind) !=
                           select.operators.end();
        if (select.operators.empty() || named) visit(static_cast<int>(s), op);
      }
    }
  }

  std::vector<Operand> AllOperands(int index) const {
    const graph::Operator& op = graph_.operators[static_cast<size_t>(index)];
    std::vector<Operand> operands = {{OperandKind::kScratch, 0}};
    const auto add = [&](OperandKind kind, const std::vector<int>& tensors) {
      for (int k = 0; k < static_cast<int>(tensors.size()); ++k) operands.push_back({kind, k});
    };
    add(OperandKind::kInput, op.inputs);
    add(OperandKind::kConstant, op.weights);
    add(OperandKind::kOutput, op.outputs);
    return operands;
  }

  // Returns the buffers that hold the operand while the operator runs; none if the operator has no
  // such operand, or if the operand is not in the tile memory.
  std::vector<int> HoldersOf(int subgraph, int index, const Operand& operand) const {
    if (operand.kind == OperandKind::kScratch) return Find(scratch_, std::pair(subgraph, index));
    const graph::Operator& op = graph_.operators[static_cast<size_t>(index)];
    const std::vector<int>& tensors = operand.kind == OperandKind::kInput      ? op.inputs
                                      : operand.kind == OperandKind::kConstant ? op.weights
                                                                               : op.outputs;
    if (static_cast<size_t>(operand.index) >= tensors.size()) return {};
    const int tensor = tensors[static_cast<size_t>(operand.index)];
    std::vector<int> holders = Find(holders_, std::pair(subgraph, tensor));
    for (const int i : Find(holders_, std::pair(-1, tensor))) holders.push_back(i);
    for (const int i : Find(slices_, std::tuple(subgraph, index, tensor))) holders.push_back(i);
    return holders;
  }

  template <typename Map, typename Key>
  static std::vector<int> Find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    return found == map.end() ? std::vector<int>() : found->second;
  }

  const graph::Graph& graph_;
  const Program& program_;
  std::span<const graph::Interval> intervals_;
  std::map<std::pair<int, int>, std::vector<int>> scratch_;  // by subgraph and operator
  std::map<std::pair<int, int>, std::vector<int>> holders_;  // by subgraph (-1: whole) and tensor
  std::map<std::tuple<int, int, int>, std::vector<int>> slices_;  // by subgraph, operator, tensor
};

}  // namespace

std::vector<problem::Rule> ResolveRules(const graph::Graph& graph,
                                        const hw_profiles::Profile& profile, const Program& program,
                                        std::span<const graph::Interval> intervals) {
  std::vector<problem::Rule> rules;
  const Resolver resolver(graph, program, intervals);
  for (const hw_profiles::Rule& rule : profile.rules) {
    problem::Rule resolved = resolver.Resolve(rule);
    if (!resolved.buffers.empty() || !resolved.pairs.empty()) rules.push_back(std::move(resolved));
  }
  return rules;
}

}  // namespace tessera::encoder::program
