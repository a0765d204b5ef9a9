#include "tessera/encoder/reasons/conditions.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include "tessera/base/checked.h"

namespace tessera::encoder::reasons {

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

bool HasPorts(const Bank& bank) { return bank.ports.total || bank.ports.reads || bank.ports.writes; }

bool CountsAccesses(const Memory& memory) {
  return !memory.modes.empty() || std::any_of(memory.banks.begin(), memory.banks.end(), HasPorts);
}

// Buffers whose alignment says where a neighbour ends up, and their memories.
class Adjacency {
 public:
  explicit Adjacency(const Problem& problem)
      : buffers_(problem.buffers.size()), memories_(problem.memories.size()) {
    for (const Relation& relation : problem.relations) {
      if (relation.kind != RelationKind::kAdjacent) continue;
      const auto second = static_cast<size_t>(relation.second);
      buffers_[second] = true;
      memories_[static_cast<size_t>(problem.buffers[second].memory)] = true;
    }
  }
  bool OfBuffer(size_t buffer) const { return buffers_[buffer]; }
  bool OfMemory(size_t memory) const { return memories_[memory]; }

 private:
  std::vector<bool> buffers_;
  std::vector<bool> memories_;
};

void ListBuffer(const Problem& problem, size_t i, const Adjacency& adjacency, std::vector<Condition>& list) {
  const Buffer& buffer = problem.buffers[i];
  const Memory& home = problem.memories[static_cast<size_t>(buffer.memory)];
  const auto add = [&](ConditionKind kind, size_t item = 0) {
    list.push_back({kind, static_cast<int>(i), static_cast<int>(item)});
  };
  add(ConditionKind::kBuffer);
  if (buffer.alignment > 1 && !adjacency.OfBuffer(i)) add(ConditionKind::kAlignment);
  if (buffer.offset) add(ConditionKind::kFixedOffset);
  const bool restricted = buffer.span != problem::Span::kAny || !buffer.allowed_banks.empty();
  if (restricted && !home.banks.empty()) add(ConditionKind::kBanks);
  if (!CountsAccesses(home)) return;
  for (size_t access = 0; access < buffer.accesses.size(); ++access) add(ConditionKind::kAccess, access);
}

void ListMemory(const Query& query, size_t m, const Adjacency& adjacency, std::vector<Condition>& list) {
  const Memory& memory = query.problem.memories[m];
  const auto add = [&](ConditionKind kind, size_t item = 0) {
    list.push_back({kind, static_cast<int>(m), static_cast<int>(item)});
  };
  if (CapacityOf(query, static_cast<int>(m)) < Roomy(query, static_cast<int>(m)))
    add(ConditionKind::kCapacity);
  if (memory.alignment > 1 && !adjacency.OfMemory(m)) add(ConditionKind::kMemoryAlignment);
  for (size_t i = 0; i < memory.reserved.size(); ++i) add(ConditionKind::kReserved, i);
  for (size_t i = 0; i < memory.banks.size(); ++i) {
    if (HasPorts(memory.banks[i])) add(ConditionKind::kPorts, i);
  }
  if (!memory.modes.empty()) add(ConditionKind::kModes);
  if (!memory.modes.empty() && memory.transitions) add(ConditionKind::kTransitions);
}

// Answers which conditions stay.
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

Buffer KeepBuffer(const Query& query, size_t i, const Adjacency& adjacency, const Kept& kept) {
  Buffer buffer = query.problem.buffers[i];
  if (!adjacency.OfBuffer(i) && !kept(ConditionKind::kAlignment, i)) buffer.alignment = 1;
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

Memory KeepMemory(const Query& query, size_t m, const Adjacency& adjacency, const Kept& kept) {
  Memory memory = query.problem.memories[m];
  if (!kept(ConditionKind::kCapacity, m))
    memory.capacity = std::max(memory.capacity, Roomy(query, static_cast<int>(m)));
  if (!adjacency.OfMemory(m) && !kept(ConditionKind::kMemoryAlignment, m)) memory.alignment = 1;
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

Bytes AddOrMost(Bytes a, Bytes b) { return base::CheckedAdd(a, b).value_or(base::kMaxTotal); }

// What a rule may ask of one buffer, or pair, beside its size.
Bytes SlackOf(const problem::Rule& rule) {
  const problem::Requirement& asked = rule.requirement;
  Bytes slack = asked.multiple;
  for (const Bytes bytes : {std::abs(asked.distance), std::abs(asked.distance), asked.before, asked.after})
    slack = AddOrMost(slack, bytes);
  return slack;
}

// The rule among the buffers that stay, by their new indices; nullopt when it is about none of them.
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
  const Adjacency adjacency(problem);
  std::vector<Condition> list;
  for (size_t i = 0; i < problem.buffers.size(); ++i) ListBuffer(problem, i, adjacency, list);
  for (size_t m = 0; m < problem.memories.size(); ++m) ListMemory(query, m, adjacency, list);
  for (size_t i = 0; i < problem.relations.size(); ++i) {
    if (problem.relations[i].kind == RelationKind::kExclusive) continue;
    list.push_back({ConditionKind::kRelation, 0, static_cast<int>(i)});
  }
  for (size_t i = 0; i < problem.rules.size(); ++i)
    list.push_back({ConditionKind::kRule, 0, static_cast<int>(i)});
  std::sort(list.begin(), list.end());
  return list;
}

Query Keep(const Query& query, std::span<const Condition> conditions) {
  const Problem& from = query.problem;
  const Adjacency adjacency(from);
  const Kept kept(conditions);
  Query to;
  to.problem.name = from.name;
  to.problem.loops = from.loops;
  for (size_t m = 0; m < from.memories.size(); ++m)
    to.problem.memories.push_back(KeepMemory(query, m, adjacency, kept));
  to.capacity =
      kept(ConditionKind::kCapacity, 0) ? query.capacity : std::max(query.capacity, Roomy(query, 0));

  std::vector<int> indices(from.buffers.size(), -1);
  for (size_t i = 0; i < from.buffers.size(); ++i) {
    if (!kept(ConditionKind::kBuffer, i)) continue;
    indices[i] = static_cast<int>(to.problem.buffers.size());
    to.problem.buffers.push_back(KeepBuffer(query, i, adjacency, kept));
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

Query Strike(const Query& query, const Condition& condition) {
  Query to = query;
  if (condition.kind == ConditionKind::kRelation) {
    EraseAt(to.problem.relations, condition.item);
  } else if (condition.kind == ConditionKind::kRule) {
    EraseAt(to.problem.rules, condition.item);
  } else if (condition.kind < ConditionKind::kRelation) {
    StrikeFromBuffer(to.problem.buffers[static_cast<size_t>(condition.owner)], condition);
  } else {
    StrikeFromMemory(to.problem.memories[static_cast<size_t>(condition.owner)], condition);
  }
  return to;
}

Bytes Roomy(const Query& query, int memory) {
  const Problem& problem = query.problem;
  const Memory& home = problem.memories[static_cast<size_t>(memory)];
  Bytes room = 0;
  for (const problem::Reserved& reserved : home.reserved) room = std::max(room, reserved.range.end);
  for (const Bank& bank : home.banks) room = std::max(room, bank.range.end);
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory == memory && buffer.offset) room = std::max(room, *buffer.offset + buffer.size);
  }
  for (const Buffer& buffer : problem.buffers) {
    if (buffer.memory != memory) continue;
    // Naturally aligned buffers need up to twice their size again.
    const Bytes size =
        problem.rules.empty() ? buffer.size : AddOrMost(buffer.size, AddOrMost(buffer.size, buffer.size));
    room = AddOrMost(room, AddOrMost(size, problem::AlignmentOf(problem, buffer)));
  }
  for (const Relation& relation : problem.relations) {
    const Buffer& first = problem.buffers[static_cast<size_t>(relation.first)];
    if (first.memory == memory) room = AddOrMost(room, std::abs(relation.delta));
  }
  for (const problem::Rule& rule : problem.rules) {
    room = std::max(room, rule.requirement.window.end);
    const size_t times = rule.buffers.size() + rule.pairs.size();
    for (size_t i = 0; i < times; ++i) room = AddOrMost(room, SlackOf(rule));
  }
  return room;
}

Query WithCapacity(Query query, int memory, Bytes capacity) {
  Memory& home = query.problem.memories[static_cast<size_t>(memory)];
  home.capacity = std::max(home.capacity, capacity);
  if (memory == 0) query.capacity = capacity;
  return query;
}

Bytes CapacityOf(const Query& query, int memory) {
  return memory == 0 ? query.capacity : query.problem.memories[static_cast<size_t>(memory)].capacity;
}

}  // namespace tessera::encoder::reasons
