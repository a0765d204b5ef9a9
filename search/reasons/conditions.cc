// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>

#include "tessera/base/arithmetic.h"
#include "tessera/problem/rule_definition.h"
#include "tessera/problem/structure.h"
#include "tessera/search/reasons/query.h"

namespace tessera::search::reasons {

using base::SaturatingAdd;
using base::SaturatingMul;
using problem::Bank;
using problem::Buffer;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Memory;
using problem::Problem;
using problem::Relation;
using problem::RelationKind;

namespace {

bool CountsAccesses(const Memory& memory) {
  return !memory.modes.empty() || problem::HasPorts(memory);
}

// Whether the loop can be dropped. A loop without an exit at its end also states that the next step
// does not follow its last one. Without it there would be an additional constraint, so it stays.
bool CanGo(const problem::Loop& loop) { return loop.exits.back() == loop.end; }

void ListBuffer(const Problem& problem, size_t i, std::vector<Condition>& list) {
  const Buffer& buffer = problem.buffers[i];
  const Memory& home = problem.memories[static_cast<size_t>(buffer.memory)];
  const auto add = [&](ConditionKind kind, size_t item = 0) {
    list.push_back({kind, static_cast<int>(i), static_cast<int>(item)});
  };
  add(ConditionKind::kBuffer);
  if (buffer.alignment > 1) add(ConditionKind::kAlignment);
  if (buffer.offset) add(ConditionKind::kFixedOffset);
  const bool restricted = buffer.span != problem::Span::kAny || !buffer.allowed_banks.empty();
  if (restricted && !home.banks.empty()) add(ConditionKind::kBanks);
  if (!CountsAccesses(home)) return;
  for (size_t access = 0; access < buffer.accesses.size(); ++access)
    add(ConditionKind::kAccess, access);
}

void ListMemory(const Query& query, size_t m, std::vector<Condition>& list) {
  const Memory& memory = query.problem.memories[m];
  const auto add = [&](ConditionKind kind, size_t item = 0) {
    list.push_back({kind, static_cast<int>(m), static_cast<int>(item)});
  };
  if (CapacityOf(query, static_cast<int>(m)) < Roomy(query, static_cast<int>(m)))
    add(ConditionKind::kCapacity);
  if (memory.alignment > 1) add(ConditionKind::kMemoryAlignment);
  for (size_t i = 0; i < memory.reserved.size(); ++i) add(ConditionKind::kReserved, i);
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    if (problem::HasPorts(memory.banks[i])) add(ConditionKind::kPorts, i);
  }
  if (!memory.modes.empty()) add(ConditionKind::kModes);
  if (!memory.modes.empty() && memory.transitions) add(ConditionKind::kTransitions);
}

// Whether a condition is kept.
class Kept {
 public:
  explicit Kept(std::span<const Condition> conditions) : conditions_(conditions) {}
  bool operator()(ConditionKind kind, size_t owner, size_t item = 0) const {
    const Condition wanted{kind, static_cast<int>(owner), static_cast<int>(item)};
    return std::binary_search(conditions_.begin(), conditions_.end(), wanted);
  }

 private:
  std::span<const Condition> conditions_;
};

// Returns for each buffer the rounding of a kept kAdjacent relation that places it; 1 for others.
std::vector<Bytes> FindRoundings(const Problem& problem, const Kept& kept, Rounding rounding) {
  std::vector<Bytes> roundings(problem.buffers.size(), 1);
  for (size_t i = 0; i < problem.relations.size(); ++i) {
    const Relation& relation = problem.relations[i];
    const auto first = static_cast<size_t>(relation.first);
    const auto second = static_cast<size_t>(relation.second);
    if (relation.kind != RelationKind::kAdjacent || !kept(ConditionKind::kRelation, 0, i) ||
        !kept(ConditionKind::kBuffer, first) || !kept(ConditionKind::kBuffer, second))
      continue;
    const Buffer& buffer = problem.buffers[second];
    const auto memory = static_cast<size_t>(buffer.memory);
    roundings[second] =
        rounding == Rounding::kAsAsked
            ? AlignmentOf(problem, buffer)
            : std::lcm(kept(ConditionKind::kAlignment, second) ? buffer.alignment : 1,
                       kept(ConditionKind::kMemoryAlignment, memory)
                           ? problem.memories[memory].alignment
                           : 1);
  }
  return roundings;
}

Buffer KeepBuffer(const Query& query, size_t i, Bytes rounding, const Kept& kept) {
  Buffer buffer = query.problem.buffers[i];
  if (!kept(ConditionKind::kAlignment, i)) buffer.alignment = 1;
  buffer.alignment = std::lcm(buffer.alignment, rounding);
  if (!kept(ConditionKind::kFixedOffset, i)) buffer.offset.reset();
  if (!kept(ConditionKind::kBanks, i)) {
    buffer.span = problem::Span::kAny;
    buffer.allowed_banks.clear();
  }
  std::vector<problem::Access> accesses;
  for (size_t item = 0; item < buffer.accesses.size(); ++item) {
    if (kept(ConditionKind::kAccess, i, item)) accesses.push_back(buffer.accesses[item]);
  }
  buffer.accesses = std::move(accesses);
  return buffer;
}

Memory KeepMemory(const Query& query, size_t m, const Kept& kept) {
  Memory memory = query.problem.memories[m];
  if (!kept(ConditionKind::kCapacity, m))
    memory.capacity = std::max(memory.capacity, Roomy(query, static_cast<int>(m)));
  if (!kept(ConditionKind::kMemoryAlignment, m)) memory.alignment = 1;
  std::vector<problem::Reserved> reserved;
  for (size_t item = 0; item < memory.reserved.size(); ++item) {
    if (kept(ConditionKind::kReserved, m, item)) reserved.push_back(memory.reserved[item]);
  }
  memory.reserved = std::move(reserved);
  for (size_t item = 0; item < memory.banks.size(); ++item) {
    if (!kept(ConditionKind::kPorts, m, item)) memory.banks[item].ports = {};
  }
  const bool modes = kept(ConditionKind::kModes, m);
  if (!modes) memory.modes.clear();
  if (!modes || !kept(ConditionKind::kTransitions, m)) memory.transitions.reset();
  return memory;
}

Bytes LcmOrMost(Bytes a, Bytes b) { return SaturatingMul(a / std::gcd(a, b), b); }

template <typename Visit>
void ForEachRestriction(const Problem& problem, Visit visit) {
  for (const problem::Rule& rule : problem.rules) {
    for (const problem::RuleItem& item : ItemsOf(rule)) {
      const Bytes size = problem.buffers[static_cast<size_t>(item.first)].size;
      for (const problem::Restriction& restriction : RestrictionsOn(problem, rule, item, size))
        std::visit(visit, restriction);
    }
  }
}

// The periods, distances and addresses of all restrictions, combined.
struct RestrictionBytes {
  Bytes period = 1;
  Bytes slack = 0;  // distances and margins
  Bytes end = 0;    // of windows

  void operator()(const problem::Remainder& remainder) {
    period = LcmOrMost(period, remainder.modulus);
  }
  void operator()(const problem::Inside& inside) { end = std::max(end, inside.window.end); }
  void operator()(const problem::Margins& margins) {
    slack = SaturatingAdd(SaturatingAdd(slack, margins.guard.before), margins.guard.after);
  }
  void operator()(const problem::ModularDistance& difference) {
    period = LcmOrMost(period, difference.modulus);
  }
  void operator()(const problem::FixedDistance& fixed) {
    slack = SaturatingAdd(slack, std::abs(fixed.distance));
  }
  void operator()(const problem::FlippedBits& flipped) {
    period = LcmOrMost(period, problem::NaturalAlignmentOf(SaturatingAdd(flipped.bits, 1)));
    slack = SaturatingAdd(slack, flipped.bits);
  }
  void operator()(const problem::BankClause& /*clause*/) {}
  void operator()(const problem::OneBankSet& /*one*/) {}
  void operator()(const Relation& /*relation*/) {}
  void operator()(const problem::CommonDistance& /*common*/) {}
};

RestrictionBytes BytesOfRestrictions(const Problem& problem) {
  RestrictionBytes bytes;
  ForEachRestriction(problem, [&](const auto& form) { bytes(form); });
  return bytes;
}

// Returns a period: a shift of a buffer and all buffers at fixed distances by a multiple of it
// violates no alignment and no restriction on remainders of addresses.
Bytes PeriodOf(const Problem& problem, int memory, Bytes period) {
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory == memory) period = LcmOrMost(period, problem::AlignmentOf(problem, buffer));
  }
  return period;
}

// Returns the bytes that relations and rules may need in addition to the sizes: distances and
// guards.
Bytes SlackOf(const Problem& problem, int memory, Bytes slack) {
  for (const Relation& relation : problem.relations) {
    const Buffer& first = problem.buffers[static_cast<size_t>(relation.first)];
    if (first.memory == memory) slack = SaturatingAdd(slack, std::abs(relation.delta));
  }
  return slack;
}

// Returns the rule for the kept buffers, with their new indices; nullopt if it concerns none of
// them.
std::optional<problem::Rule> KeepRule(problem::Rule rule, const std::vector<int>& indices) {
  const auto index = [&](int buffer) { return indices[static_cast<size_t>(buffer)]; };
  std::vector<int> buffers;
  for (const int buffer : rule.buffers) {
    if (index(buffer) >= 0) buffers.push_back(index(buffer));
  }
  std::vector<std::pair<int, int>> pairs;
  for (const auto& [first, second] : rule.pairs) {
    if (index(first) >= 0 && index(second) >= 0) pairs.emplace_back(index(first), index(second));
  }
  if (buffers.empty() && pairs.empty()) return std::nullopt;
  rule.buffers = std::move(buffers);
  rule.pairs = std::move(pairs);
  return rule;
}

template <typename T>
void EraseAt(std::vector<T>& items, int index) {
  items.erase(items.begin() + index);
}

void StrikeFromBuffer(Buffer& buffer, const Condition& condition) {
  switch (condition.kind) {
    case ConditionKind::kAlignment:
      buffer.alignment = 1;
      return;
    case ConditionKind::kFixedOffset:
      buffer.offset.reset();
      return;
    case ConditionKind::kBanks:
      buffer.span = problem::Span::kAny;
      buffer.allowed_banks.clear();
      return;
    default:
      EraseAt(buffer.accesses, condition.item);
      return;
  }
}

void StrikeFromMemory(Memory& memory, const Condition& condition) {
  switch (condition.kind) {
    case ConditionKind::kMemoryAlignment:
      memory.alignment = 1;
      return;
    case ConditionKind::kReserved:
      EraseAt(memory.reserved, condition.item);
      return;
    case ConditionKind::kPorts:
      memory.banks[static_cast<size_t>(condition.item)].ports = {};
      return;
    case ConditionKind::kTransitions:
      memory.transitions.reset();
      return;
    default:
      memory.modes.clear();
      memory.transitions.reset();
      return;
  }
}

}  // namespace

std::vector<Condition> ListConditions(const Query& query) {
  const Problem& problem = query.problem;
  std::vector<Condition> list;
  for (size_t i = 0; i < problem.buffers.size(); ++i) ListBuffer(problem, i, list);
  for (size_t m = 0; m < problem.memories.size(); ++m) ListMemory(query, m, list);
  for (size_t i = 0; i < problem.relations.size(); ++i) {
    if (problem.relations[i].kind == RelationKind::kExclusive) continue;
    list.push_back({ConditionKind::kRelation, 0, static_cast<int>(i)});
  }
  for (size_t i = 0; i < problem.rules.size(); ++i)
    list.push_back({ConditionKind::kRule, 0, static_cast<int>(i)});
  const bool limits_transitions = std::any_of(
      problem.memories.begin(), problem.memories.end(),
      [](const Memory& memory) { return !memory.modes.empty() && memory.transitions.has_value(); });
  for (size_t i = 0; limits_transitions && i < problem.loops.size(); ++i) {
    if (CanGo(problem.loops[i])) list.push_back({ConditionKind::kLoop, 0, static_cast<int>(i)});
  }
  std::sort(list.begin(), list.end());
  return list;
}

Query Keep(const Query& query, std::span<const Condition> conditions, Rounding rounding) {
  const Problem& from = query.problem;
  const Kept kept(conditions);
  const std::vector<Bytes> roundings = FindRoundings(from, kept, rounding);
  Query to;
  to.problem.name = from.name;
  for (size_t i = 0; i < from.loops.size(); ++i) {
    if (!CanGo(from.loops[i]) || kept(ConditionKind::kLoop, 0, i))
      to.problem.loops.push_back(from.loops[i]);
  }
  for (size_t m = 0; m < from.memories.size(); ++m)
    to.problem.memories.push_back(KeepMemory(query, m, kept));
  to.capacity = kept(ConditionKind::kCapacity, 0) ? query.capacity
                                                  : std::max(query.capacity, Roomy(query, 0));

  std::vector<int> indices(from.buffers.size(), -1);
  for (size_t i = 0; i < from.buffers.size(); ++i) {
    if (!kept(ConditionKind::kBuffer, i)) continue;
    indices[i] = static_cast<int>(to.problem.buffers.size());
    to.problem.buffers.push_back(KeepBuffer(query, i, roundings[i], kept));
  }
  for (size_t i = 0; i < from.relations.size(); ++i) {
    Relation relation = from.relations[i];
    relation.first = indices[static_cast<size_t>(relation.first)];
    relation.second = indices[static_cast<size_t>(relation.second)];
    if (relation.first < 0 || relation.second < 0) continue;
    if (relation.kind != RelationKind::kExclusive && !kept(ConditionKind::kRelation, 0, i)) {
      if (relation.kind != RelationKind::kColocate) continue;
      relation.kind = RelationKind::kExclusive;
      relation.delta = 0;
    }
    to.problem.relations.push_back(relation);
  }
  for (size_t i = 0; i < from.rules.size(); ++i) {
    if (!kept(ConditionKind::kRule, 0, i)) continue;
    if (std::optional<problem::Rule> rule = KeepRule(from.rules[i], indices))
      to.problem.rules.push_back(*std::move(rule));
  }
  return to;
}

std::vector<Query> Readings(const Query& query, std::span<const Condition> conditions) {
  const Kept kept(conditions);
  std::vector<Query> readings = {Keep(query, conditions, Rounding::kAsAsked)};
  if (FindRoundings(query.problem, kept, Rounding::kAsAsked) !=
      FindRoundings(query.problem, kept, Rounding::kAsKept))
    readings.push_back(Keep(query, conditions, Rounding::kAsKept));
  return readings;
}

Query Strike(const Query& query, const Condition& condition) {
  Query to = query;
  if (condition.kind == ConditionKind::kRelation) {
    EraseAt(to.problem.relations, condition.item);
  } else if (condition.kind == ConditionKind::kRule) {
    EraseAt(to.problem.rules, condition.item);
  } else if (condition.kind == ConditionKind::kLoop) {
    EraseAt(to.problem.loops, condition.item);
  } else if (condition.kind < ConditionKind::kRelation) {
    StrikeFromBuffer(to.problem.buffers[static_cast<size_t>(condition.owner)], condition);
  } else {
    StrikeFromMemory(to.problem.memories[static_cast<size_t>(condition.owner)], condition);
  }
  return to;
}

// Why this capacity suffices for everything that fits in unbounded memory: Above all fixed,
// reserved, banked or windowed addresses, buffers are tied only to each other, by fixed distances,
// and to addresses by remainders. Take a placement, and reduce every gap that no distance spans to
// less than a period, by shifting the part above it by multiples of the period. The result has at
// most the sizes, the distances, and a period for each buffer. It is doubled if there are rules,
// because rules of a common distance may keep two copies apart.
Bytes Roomy(const Query& query, int memory) {
  const Problem& problem = query.problem;
  const Memory& home = problem.memories[static_cast<size_t>(memory)];
  Bytes room = 0;
  for (const problem::Reserved& reserved : home.reserved) room = std::max(room, reserved.range.end);
  for (const Bank& bank : home.banks) room = std::max(room, bank.range.end);
  const RestrictionBytes bytes = BytesOfRestrictions(problem);
  room = std::max(room, bytes.end);
  Bytes stack = SlackOf(problem, memory, bytes.slack);
  Bytes buffers = 0;
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    if (buffer.offset) room = std::max(room, SaturatingAdd(*buffer.offset, buffer.size));
    stack = SaturatingAdd(stack, buffer.size);
    ++buffers;
  }
  stack = SaturatingAdd(stack, SaturatingMul(buffers + 1, PeriodOf(problem, memory, bytes.period)));
  return SaturatingAdd(room, problem.rules.empty() ? stack : SaturatingMul(2, stack));
}

Query WithCapacity(Query query, int memory, Bytes capacity) {
  Memory& home = query.problem.memories[static_cast<size_t>(memory)];
  home.capacity = std::max(home.capacity, capacity);
  if (memory == 0) query.capacity = capacity;
  return query;
}

Bytes CapacityOf(const Query& query, int memory) {
  return memory == 0 ? query.capacity
                     : query.problem.memories[static_cast<size_t>(memory)].capacity;
}

}  // namespace tessera::search::reasons
