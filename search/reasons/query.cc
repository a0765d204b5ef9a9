// SPDX-License-Identifier: Apache-2.0

#include "tessera/search/reasons/query.h"

#include <algorithm>
#include <optional>

#include "tessera/problem/validator.h"

namespace tessera::search::reasons {

using problem::Bank;
using problem::BankMode;
using problem::Buffer;
using problem::Bytes;
using problem::Condition;
using problem::ConditionKind;
using problem::Memory;

namespace {

bool Contains(const std::vector<int>& banks, int bank) {
  return std::find(banks.begin(), banks.end(), bank) != banks.end();
}

// Visits each list of banks of this memory that a rule states.
template <typename SomeProblem, typename Visit>
void ForEachList(SomeProblem& problem, int memory, Visit visit) {
  for (auto& rule : problem.rules) {
    const auto head = static_cast<size_t>(ItemAt(rule, 0).first);
    if (problem.buffers[head].memory != memory) continue;
    for (const problem::RequirementField& field : TraitsOf(rule.requirement.kind).fields) {
      const auto* banks = std::get_if<std::vector<int> problem::Requirement::*>(&field.member);
      if (banks != nullptr) visit(rule.requirement.**banks);
    }
  }
}

// Returns for each key of the memory's sets of banks the number of the set that contains the bank;
// -1: none.
std::vector<int> SetsWith(const Memory& memory, int bank) {
  std::vector<int> numbers;
  for (const auto& [key, sets] : memory.bank_sets) {
    const auto found = std::find_if(sets.begin(), sets.end(),
                                    [&](const auto& set) { return Contains(set, bank); });
    numbers.push_back(found == sets.end() ? -1 : static_cast<int>(found - sets.begin()));
  }
  return numbers;
}

// Adds a bank at EndOf and returns its index. The caller must add it to the modes.
int AddBank(Query& query, int memory, Bytes length) {
  const Bytes begin = EndOf(query, memory);
  query = WithCapacity(std::move(query), memory, begin + length);
  Memory& home = query.problem.memories[static_cast<size_t>(memory)];
  home.banks.push_back(Bank{"", {begin, begin + length}, {}});
  return static_cast<int>(home.banks.size()) - 1;
}

bool Equal(const problem::Ports& a, const problem::Ports& b) {
  return a.total == b.total && a.reads == b.reads && a.writes == b.writes;
}

}  // namespace

Query WithAlignment(const Query& query, const Condition& condition, Bytes alignment) {
  Query to = query;
  const auto owner = static_cast<size_t>(condition.owner);
  if (condition.kind == ConditionKind::kAlignment) {
    to.problem.buffers[owner].alignment = alignment;
  } else {
    to.problem.memories[owner].alignment = alignment;
  }
  return to;
}

Query WithoutAlignments(const Query& query) {
  Query to = query;
  for (Buffer& buffer : to.problem.buffers) buffer.alignment = 1;
  return to;
}

Query WithPorts(const Query& query, const Condition& condition, int ports) {
  Query to = query;
  Memory& memory = to.problem.memories[static_cast<size_t>(condition.owner)];
  problem::Ports& limits = memory.banks[static_cast<size_t>(condition.item)].ports;
  for (std::optional<int>* limit : {&limits.total, &limits.reads, &limits.writes}) {
    if (*limit) **limit += ports;
  }
  return to;
}

Query WithCopyOfBank(const Query& query, int memory, int item) {
  Query to = query;
  const Bank original =
      to.problem.memories[static_cast<size_t>(memory)].banks[static_cast<size_t>(item)];
  const int copy = AddBank(to, memory, original.range.end - original.range.begin);
  Memory& home = to.problem.memories[static_cast<size_t>(memory)];
  home.banks.back().ports = original.ports;
  for (problem::Mode& mode : home.modes) {
    const BankMode same = mode.banks[static_cast<size_t>(item)];
    mode.banks.push_back(same);
  }
  for (Buffer& buffer : to.problem.buffers) {
    if (buffer.memory == memory && Contains(buffer.allowed_banks, item))
      buffer.allowed_banks.push_back(copy);
  }
  ForEachList(to.problem, memory, [&](std::vector<int>& banks) {
    if (Contains(banks, item)) banks.push_back(copy);
  });
  for (auto& [key, sets] : home.bank_sets) {
    for (std::vector<int>& set : sets) {
      if (Contains(set, item)) set.push_back(copy);
    }
  }
  return to;
}

Query WithFreeBank(const Query& query, int memory, Bytes length) {
  Query to = query;
  const int bank = AddBank(to, memory, length);
  const BankMode free = {false,
                         {{"", problem::AccessKind::kRead}, {"", problem::AccessKind::kWrite}}};
  for (problem::Mode& mode : to.problem.memories[static_cast<size_t>(memory)].modes)
    mode.banks.push_back(free);
  for (Buffer& buffer : to.problem.buffers) {
    if (buffer.memory == memory && !buffer.allowed_banks.empty())
      buffer.allowed_banks.push_back(bank);
  }
  ForEachList(to.problem, memory, [bank](std::vector<int>& banks) { banks.push_back(bank); });
  for (auto& [key, sets] : to.problem.memories[static_cast<size_t>(memory)].bank_sets)
    sets.push_back({bank});
  return to;
}

Bytes EndOf(const Query& query, int memory) {
  return std::max(CapacityOf(query, memory),
                  query.problem.memories[static_cast<size_t>(memory)].capacity);
}

bool AreAlike(const Query& query, int memory, int bank, int other) {
  const Memory& home = query.problem.memories[static_cast<size_t>(memory)];
  const Bank& a = home.banks[static_cast<size_t>(bank)];
  const Bank& b = home.banks[static_cast<size_t>(other)];
  const bool same_modes =
      std::all_of(home.modes.begin(), home.modes.end(), [&](const problem::Mode& mode) {
        return mode.banks[static_cast<size_t>(bank)] == mode.banks[static_cast<size_t>(other)];
      });
  const bool same_buffers = std::all_of(
      query.problem.buffers.begin(), query.problem.buffers.end(), [&](const Buffer& buffer) {
        return buffer.memory != memory ||
               Contains(buffer.allowed_banks, bank) == Contains(buffer.allowed_banks, other);
      });
  bool same_rules = SetsWith(home, bank) == SetsWith(home, other);
  ForEachList(query.problem, memory, [&](const std::vector<int>& banks) {
    same_rules = same_rules && Contains(banks, bank) == Contains(banks, other);
  });
  return a.range.end - a.range.begin == b.range.end - b.range.begin && Equal(a.ports, b.ports) &&
         same_modes && same_buffers && same_rules;
}

using problem::Result;
using problem::Status;

Result Oracle::Solve(const Query& query) {
  if (HasEnded()) return {};
  Result result = decide_(query.problem, query.capacity, base::Budget{std::min(each_, left_)});
  left_ -= result.statistics.nodes + result.statistics.conflicts +
           static_cast<int64_t>(query.problem.buffers.size()) + 1;
  if (result.allocation) {
    const bool sound =
        problem::Validate(query.problem, *result.allocation, query.capacity, 1).empty();
    result.status = sound ? Status::kFeasible : Status::kUnknown;
  } else if (result.status != Status::kInfeasible) {
    result.status = Status::kUnknown;
  }
  return result;
}

}  // namespace tessera::search::reasons
