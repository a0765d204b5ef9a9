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

// The banks that a rule speaks of, where it speaks of banks of this memory; else null.
std::vector<int>* BanksOf(problem::Rule& rule, const problem::Problem& problem, int memory) {
  const bool about_banks = rule.requirement.kind == problem::RequirementKind::kBanks;
  if (!about_banks || problem.buffers[static_cast<size_t>(rule.buffers.front())].memory != memory)
    return nullptr;
  return &rule.requirement.banks;
}

bool Contains(const std::vector<int>& banks, int bank) {
  return std::binary_search(banks.begin(), banks.end(), bank);
}

// Adds an empty bank and returns its index; it stands in no mode yet.
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
  for (problem::Rule& rule : to.problem.rules) {
    std::vector<int>* banks = BanksOf(rule, query.problem, memory);
    if (banks != nullptr && Contains(*banks, item)) banks->push_back(copy);
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
  for (problem::Rule& rule : to.problem.rules) {
    if (std::vector<int>* banks = BanksOf(rule, query.problem, memory)) banks->push_back(bank);
  }
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
  const bool same_rules = std::all_of(query.problem.rules.begin(), query.problem.rules.end(),
                                      [&](const problem::Rule& rule) {
                                        const std::vector<int>& banks = rule.requirement.banks;
                                        return Contains(banks, bank) == Contains(banks, other);
                                      });
  return a.range.end - a.range.begin == b.range.end - b.range.begin && Equal(a.ports, b.ports) &&
         same_modes && same_buffers && same_rules;
}

using problem::Result;
using problem::Status;

Result Oracle::Solve(const Query& query) {
  if (left_ <= 0 || stop_.Requested()) return {};
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
