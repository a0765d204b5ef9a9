// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <vector>

#include "tessera/problem/well_formed_faults.h"

namespace tessera::problem {
namespace {

using base::kMaxTotal;

Fault CheckNumber(const Requirement& wanted, const RequirementField& field,
                  Bytes Requirement::*member, const std::string& pointer) {
  const Bytes most = field.below == nullptr ? kMaxTotal : wanted.*field.below - 1;
  return FaultIfOutside(wanted.*member, field.least, most, pointer,
                        field.called.empty() ? field.key : field.called);
}

Fault CheckWindow(const AddressRange& window, const RequirementField& field,
                  const std::string& pointer) {
  if (0 <= window.begin && window.begin < window.end && window.end <= kMaxTotal)
    return std::nullopt;
  return FaultAt(pointer,
                 fmt::format("{} [{}, {}) is empty or no range of addresses", field.key,
                             window.begin, window.end),
                 "0 <= begin < end <= 2^62");
}

// Checks numbers and windows. CheckBanks checks banks later, when the memory is known.
Fault CheckRequirement(const Requirement& wanted, const std::string& pointer) {
  for (const RequirementField& field : TraitsOf(wanted.kind).fields) {
    const std::string at = fmt::format("{}/{}", pointer, field.key);
    Fault fault;
    if (const auto* number = std::get_if<Bytes Requirement::*>(&field.member)) {
      fault = CheckNumber(wanted, field, *number, at);
    } else if (const auto* window = std::get_if<AddressRange Requirement::*>(&field.member)) {
      fault = CheckWindow(wanted.**window, field, at);
    }
    if (fault) return fault;
  }
  return std::nullopt;
}

// The indices that a rule names, each with its pointer, in the order of the document.
std::vector<std::pair<std::string, int>> NamedBuffers(const Rule& rule,
                                                      const std::string& pointer) {
  std::vector<std::pair<std::string, int>> named;
  for (size_t i = 0; i < rule.buffers.size(); ++i) {
    named.emplace_back(fmt::format("{}/buffers/{}", pointer, i), rule.buffers[i]);
  }
  for (size_t i = 0; i < rule.pairs.size(); ++i) {
    named.emplace_back(fmt::format("{}/pairs/{}/0", pointer, i), rule.pairs[i].first);
    named.emplace_back(fmt::format("{}/pairs/{}/1", pointer, i), rule.pairs[i].second);
  }
  return named;
}

Fault CheckSelection(const Problem& problem, const Rule& rule, const std::string& pointer) {
  const bool pairwise = IsPairwise(rule.requirement.kind) && !IsOnSet(rule);
  const bool empty = pairwise ? rule.pairs.empty() : rule.buffers.empty();
  if (empty || (pairwise ? !rule.buffers.empty() : !rule.pairs.empty())) {
    return FaultAt(pointer, Describe(rule) + " does not list what it applies to",
                   pairwise && TraitsOf(rule.requirement.kind).sets
                       ? "either pairs or buffers, at least one"
                   : pairwise ? "pairs, at least one, and no buffers"
                              : "buffers, at least one, and no pairs");
  }
  const std::vector<std::pair<std::string, int>> named = NamedBuffers(rule, pointer);
  for (const auto& [at, index] : named) {
    if (Fault fault = FaultIfNoIndex(index, problem.buffers.size(), at, "buffer")) return fault;
  }
  const Buffer& head = problem.buffers[static_cast<size_t>(named.front().second)];
  for (const auto& [at, index] : named) {
    const Buffer& buffer = problem.buffers[static_cast<size_t>(index)];
    if (buffer.memory == head.memory) continue;
    return FaultAt(
        at, fmt::format("buffers '{}' and '{}' are in different memories", head.id, buffer.id),
        "one memory for each rule");
  }
  for (size_t i = 1; i < rule.buffers.size(); ++i) {
    if (rule.buffers[i - 1] < rule.buffers[i]) continue;
    return FaultAt(fmt::format("{}/buffers/{}", pointer, i), "the rule's buffers are not in order",
                   "the problem's order, each buffer once");
  }
  for (size_t i = 0; i < rule.pairs.size(); ++i) {
    if (rule.pairs[i].first != rule.pairs[i].second) continue;
    return FaultAt(fmt::format("{}/pairs/{}", pointer, i), "a pair of a buffer with itself");
  }
  return std::nullopt;
}

Fault CheckListedBanks(const std::vector<int>& banks, const Memory& memory,
                       const std::string& pointer) {
  if (banks.empty()) return FaultAt(pointer, "the rule allows no bank", "at least one bank");
  for (size_t i = 0; i < banks.size(); ++i) {
    const std::string at = fmt::format("{}/{}", pointer, i);
    if (Fault fault = FaultIfNoIndex(banks[i], memory.banks.size(), at, "bank")) return fault;
    if (i > 0 && banks[i - 1] >= banks[i])
      return FaultAt(at, "banks are not in order", "ascending, each once");
  }
  return std::nullopt;
}

Fault CheckBanks(const Problem& problem, const Rule& rule, const std::string& pointer) {
  const Requirement& wanted = rule.requirement;
  const RuleTraits& traits = TraitsOf(wanted.kind);
  const Buffer& head = problem.buffers[static_cast<size_t>(ItemAt(rule, 0).first)];
  const Memory& memory = problem.memories[static_cast<size_t>(head.memory)];
  for (const RequirementField& field : traits.fields) {
    const auto* banks = std::get_if<std::vector<int> Requirement::*>(&field.member);
    if (banks == nullptr) continue;
    const std::string at = fmt::format("{}/{}", pointer, field.key);
    if (Fault fault = CheckListedBanks(wanted.**banks, memory, at)) return fault;
  }
  if (traits.bank_sets.empty() || !BankSetsOf(memory, traits.bank_sets).empty())
    return std::nullopt;
  return FaultAt(pointer + "/kind",
                 fmt::format("the memory of the rule's buffers lists no {}", traits.bank_sets),
                 fmt::format("{} in /memories/{}", traits.bank_sets, head.memory));
}

Fault CheckRule(const Problem& problem, const Rule& rule, const std::string& pointer) {
  if (Fault fault = CheckRequirement(rule.requirement, pointer + "/require")) return fault;
  if (Fault fault = CheckSelection(problem, rule, pointer)) return fault;
  if (Fault fault = CheckBanks(problem, rule, pointer + "/require")) return fault;
  if (rule.sizes.least < 1 || rule.sizes.most > kMaxTotal || rule.sizes.least > rule.sizes.most) {
    return FaultAt(
        pointer + "/sizes",
        fmt::format("no buffer has a size from {} to {}", rule.sizes.least, rule.sizes.most),
        "1 <= least <= most <= 2^62");
  }
  return std::nullopt;
}

Fault CheckCost(const Problem& problem, const Cost& cost, const std::string& pointer) {
  if (Fault fault = FaultIfOutside(cost.weight, 0, kMaxTotal, pointer + "/weight", "weight"))
    return fault;
  if (cost.kind == CostKind::kModeSwitch) {
    if (Fault fault =
            FaultIfNoIndex(cost.memory, problem.memories.size(), pointer + "/memory", "memory"))
      return fault;
    if (!problem.memories[static_cast<size_t>(cost.memory)].modes.empty()) return std::nullopt;
    return FaultAt(pointer + "/memory", "this memory has no modes to switch",
                   "a memory with modes");
  }
  if (Fault fault =
          FaultIfNoIndex(cost.first, problem.buffers.size(), pointer + "/first", "buffer"))
    return fault;
  if (Fault fault =
          FaultIfNoIndex(cost.second, problem.buffers.size(), pointer + "/second", "buffer"))
    return fault;
  const Buffer& first = problem.buffers[static_cast<size_t>(cost.first)];
  const Buffer& second = problem.buffers[static_cast<size_t>(cost.second)];
  if (cost.first == cost.second) return FaultAt(pointer, "a cost of a buffer with itself");
  if (first.memory == second.memory) return std::nullopt;
  return FaultAt(
      pointer, fmt::format("buffers '{}' and '{}' are in different memories", first.id, second.id));
}

// Checks that every loop has steps and exits, and that two loops are disjoint or one lies inside
// the other.

using base::kMaxTotal;

Fault CheckLoop(const Loop& loop, const std::string& pointer) {
  if (loop.begin >= loop.end) {
    return FaultAt(pointer, fmt::format("the loop [{}, {}) is empty", loop.begin, loop.end),
                   "begin < end");
  }
  if (loop.begin < -kMaxTotal || loop.end > kMaxTotal)
    return FaultAt(pointer, "a step is beyond 2^62");
  if (loop.exits.empty())
    return FaultAt(pointer + "/exits", "the loop never ends", "at least one exit");
  for (size_t i = 0; i < loop.exits.size(); ++i) {
    const std::string at = fmt::format("{}/exits/{}", pointer, i);
    if (loop.exits[i] <= loop.begin || loop.exits[i] > loop.end) {
      return FaultAt(at, fmt::format("exit {} is outside the loop", loop.exits[i]),
                     "begin < exit <= end");
    }
    if (i > 0 && loop.exits[i - 1] >= loop.exits[i])
      return FaultAt(at, "exits are not in order", "ascending exits");
  }
  return std::nullopt;
}

// Checks two loops. `first` begins earlier or, if both begin together, ends later.
Fault CheckLoopPair(const Loop& first, const Loop& second, const std::string& pointer) {
  if (second.begin >= first.end) return std::nullopt;
  if (second.end > first.end)
    return FaultAt(pointer, "two loops cross", "loops that are disjoint or nested");
  if (second.begin == first.begin && second.end == first.end)
    return FaultAt(pointer, "the same loop is given twice");
  if (second.end == first.end && second.exits != std::vector<Step>{second.end}) {
    return FaultAt(pointer + "/exits",
                   "an inner loop that ends with its outer loop exits elsewhere",
                   fmt::format("{} as its only exit", second.end));
  }
  return std::nullopt;
}

}  // namespace

Fault CheckWellFormedRules(const Problem& problem) {
  for (size_t i = 0; i < problem.rules.size(); ++i) {
    if (Fault fault = CheckRule(problem, problem.rules[i], fmt::format("/rules/{}", i)))
      return fault;
  }
  return std::nullopt;
}

Fault CheckWellFormedCosts(const Problem& problem) {
  std::optional<int64_t> total = 0;
  for (size_t i = 0; i < problem.costs.size(); ++i) {
    const Cost& cost = problem.costs[i];
    if (Fault fault = CheckCost(problem, cost, fmt::format("/costs/{}", i))) return fault;
    const auto times = cost.kind == CostKind::kModeSwitch
                           ? static_cast<int64_t>(Successions(problem).size())
                           : int64_t{1};
    const std::optional<int64_t> most = base::CheckedMul(cost.weight, times);
    total = total && most ? base::CheckedAdd(*total, *most) : std::nullopt;
    if (!total) return FaultAt("/costs", "the costs can add up to more than 2^62");
  }
  return std::nullopt;
}

std::optional<base::Diagnostic> CheckWellFormedLoops(const Problem& problem) {
  std::vector<size_t> order(problem.loops.size());
  for (size_t i = 0; i < problem.loops.size(); ++i) {
    if (Fault fault = CheckLoop(problem.loops[i], fmt::format("/loops/{}", i))) return fault;
    order[i] = i;
  }
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const Loop& x = problem.loops[a];
    const Loop& y = problem.loops[b];
    return x.begin != y.begin ? x.begin < y.begin : x.end > y.end;
  });
  std::vector<size_t> enclosing;
  for (const size_t current : order) {
    const Loop& loop = problem.loops[current];
    while (!enclosing.empty() && problem.loops[enclosing.back()].end <= loop.begin)
      enclosing.pop_back();
    for (const size_t outer : enclosing) {
      if (Fault fault =
              CheckLoopPair(problem.loops[outer], loop, fmt::format("/loops/{}", current)))
        return fault;
    }
    enclosing.push_back(current);
  }
  return std::nullopt;
}

}  // namespace tessera::problem
