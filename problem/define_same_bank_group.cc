// SPDX-License-Identifier: Apache-2.0

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tessera/problem/explanation.h"
#include "tessera/problem/rule_definition.h"

// All banks that a pair of buffers touches lie in one of their memory's bank groups. If each two
// buffers of a set keep the rule, all banks that the set touches lie in one group too.
//
// A bank in no group must not be touched. Two banks of different groups must not both be touched,
// neither by one of the buffers nor one by each (OneBankSet):
//
//     | bank0 | bank1 | bank2 | bank3 |      a buffer without gaps that touches banks of two groups
//     '---- 0 ----'   '---- 1 ----'          touches two neighbours of different groups, or a bank
//             [=== a ===]                    between them in no group: single buffers need a clause
//                                            for each pair of neighbours only
//
// The items of a set are its buffers and its pairs, so a pair only needs the restrictions that
// concern both buffers. Cost: linear in the number of banks.
namespace tessera::problem {
namespace {

// The group of each bank; -1: none.
std::vector<int> GroupsOf(const Memory& memory) {
  std::vector<int> groups(memory.banks.size(), -1);
  const BankSets& sets = BankSetsOf(memory, TraitsOf(RequirementKind::kSameBankGroup).bank_sets);
  for (size_t group = 0; group < sets.size(); ++group) {
    for (const int bank : sets[group]) groups[static_cast<size_t>(bank)] = static_cast<int>(group);
  }
  return groups;
}

// Banks that are in a group, by address.
std::vector<int> GroupedBanks(const Memory& memory, const std::vector<int>& groups) {
  std::vector<int> banks(memory.banks.size());
  std::iota(banks.begin(), banks.end(), 0);
  std::erase_if(banks, [&](int bank) { return groups[static_cast<size_t>(bank)] < 0; });
  std::sort(banks.begin(), banks.end(), [&](int a, int b) {
    return memory.banks[static_cast<size_t>(a)].range.begin <
           memory.banks[static_cast<size_t>(b)].range.begin;
  });
  return banks;
}

std::vector<Restriction> InOneGroup(const RuleSubject& subject) {
  const std::vector<int> groups = GroupsOf(subject.Home());
  const std::vector<int> banks = GroupedBanks(subject.Home(), groups);
  const auto differ = [&](int a, int b) {
    return groups[static_cast<size_t>(a)] != groups[static_cast<size_t>(b)];
  };
  std::vector<Restriction> restrictions;
  const auto restrict_buffer = [&](int buffer) {
    for (int bank = 0; bank < static_cast<int>(groups.size()); ++bank) {
      if (groups[static_cast<size_t>(bank)] < 0)
        restrictions.emplace_back(BankClause{{{buffer, bank, false}}});
    }
    for (size_t k = 1; k < banks.size(); ++k) {
      if (differ(banks[k - 1], banks[k]))
        restrictions.emplace_back(
            BankClause{{{buffer, banks[k - 1], false}, {buffer, banks[k], false}}});
    }
  };
  const bool pair = subject.item.IsPair();
  if (!pair || !IsOnSet(subject.rule)) restrict_buffer(subject.item.first);
  if (!pair) return restrictions;
  if (!IsOnSet(subject.rule)) restrict_buffer(subject.item.second);
  const BankSets& sets =
      BankSetsOf(subject.Home(), TraitsOf(RequirementKind::kSameBankGroup).bank_sets);
  if (sets.size() > 1)
    restrictions.emplace_back(OneBankSet{subject.item.first, subject.item.second, sets});
  return restrictions;
}

// "in one of the bank groups ('bank0', 'bank1') and ('bank2', 'bank3')"
std::string Words(const Problem& problem, const Rule& rule) {
  const int memory = problem.buffers[static_cast<size_t>(ItemAt(rule, 0).first)].memory;
  const Memory& home = problem.memories[static_cast<size_t>(memory)];
  const BankSets& sets = BankSetsOf(home, TraitsOf(rule.requirement.kind).bank_sets);
  std::vector<std::string> groups;
  groups.reserve(sets.size());
  for (const std::vector<int>& set : sets) {
    std::vector<std::string> names;
    names.reserve(set.size());
    for (const int bank : set) names.push_back(NameOfBank(problem, memory, bank));
    groups.push_back(fmt::format("({})", fmt::join(names, ", ")));
  }
  return fmt::format("in one of the bank groups {}", Enumerate(groups));
}

}  // namespace

extern const RuleDefinition kSameBankGroupRule = {.words = Words, .restrictions = InOneGroup};

}  // namespace tessera::problem
