// SPDX-License-Identifier: Apache-2.0

#include <algorithm>

#include "tessera/problem/explanation.h"
#include "tessera/problem/rule_definition.h"

// Rules about the banks that buffers touch.
namespace tessera::problem {
namespace {

std::vector<Restriction> Between(const RuleSubject& subject, RelationKind kind) {
  return {Relation{kind, subject.item.first, subject.item.second, 0}};
}

}  // namespace

extern const RuleDefinition kBanksRule = {
    .words =
        [](const Problem& problem, const Rule& rule) {
          const int first = rule.buffers.front();
          const int memory = problem.buffers[static_cast<size_t>(first)].memory;
          std::vector<std::string> banks;
          for (const int bank : rule.requirement.banks)
            banks.push_back(NameOfBank(problem, memory, bank));
          return "in no bank but " + Enumerate(banks);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const std::vector<int>& listed = subject.Wanted().banks;
          std::vector<Restriction> restrictions;
          for (int bank = 0; bank < static_cast<int>(subject.Home().banks.size()); ++bank) {
            if (std::binary_search(listed.begin(), listed.end(), bank)) continue;
            restrictions.emplace_back(BankClause{{{subject.item.first, bank, false}}});
          }
          return restrictions;
        },
};

extern const RuleDefinition kSameBankRule = {
    .words = [](const Problem&, const Rule&) { return std::string("in the same banks"); },
    .restrictions =
        [](const RuleSubject& subject) { return Between(subject, RelationKind::kSameBank); },
};

extern const RuleDefinition kDifferentBankRule = {
    .words = [](const Problem&, const Rule&) { return std::string("in different banks"); },
    .restrictions =
        [](const RuleSubject& subject) { return Between(subject, RelationKind::kDifferentBank); },
};

}  // namespace tessera::problem
