// SPDX-License-Identifier: Apache-2.0

#include "tessera/problem/rule_definition.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "tessera/problem/explanation.h"
#include "tessera/problem/structure.h"

// The definitions of rules: of single offsets, of distances between buffers, and of the banks that
// buffers touch.
//
//     kind                 restrictions on one item
//     offset m, r          Remainder m, r..r
//     natural_alignment    Remainder 2^k, 0..0
//     no_crossing m        Remainder m, 0..m - size
//     window               Inside
//     guard                Margins
//     banks                BankClause: not this bank; one for each bank that is not listed
//     same_bank, different_bank   the relation of that name
//     difference           ModularDistance
//     distance             FixedDistance
//     xor_distance         FlippedBits
//     common_delta         CommonDistance
//     same_bank_group      BankClause; OneBankSet for what concerns both buffers of a pair
//     different_bank_group BankClause: not both of two banks of one group, one by each buffer
namespace tessera::problem {
namespace {

std::vector<Restriction> Between(const RuleSubject& subject, RelationKind kind) {
  return {Relation{kind, subject.item.first, subject.item.second, 0}};
}

// Forbids a buffer to touch a bank, or two buffers to touch one bank each at once.
void Forbid(std::span<const BankLiteral> touches, std::vector<Restriction>& restrictions) {
  BankClause clause;
  clause.any.assign(touches.begin(), touches.end());
  restrictions.emplace_back(std::move(clause));
}

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
// concern both buffers. There are as many restrictions as banks. Cost: banks times banks.

// The group of each bank; -1: none.
std::vector<int> GroupsOf(const Memory& memory) {
  std::vector<int> groups(memory.banks.size(), -1);
  const BankSets& sets = BankSetsOf(memory, TraitsOf(RequirementKind::kSameBankGroup).bank_sets);
  for (size_t group = 0; group < sets.size(); ++group) {
    for (const int bank : sets[group]) groups[static_cast<size_t>(bank)] = static_cast<int>(group);
  }
  return groups;
}

// Returns the first grouped bank that begins behind this one; -1: none.
int NextGrouped(const Memory& memory, const std::vector<int>& groups, int bank) {
  const auto begin = [&memory](int each) {
    return memory.banks[static_cast<size_t>(each)].range.begin;
  };
  int next = -1;
  for (int other = 0; other < static_cast<int>(groups.size()); ++other) {
    if (groups[static_cast<size_t>(other)] < 0 || begin(other) <= begin(bank)) continue;
    if (next < 0 || begin(other) < begin(next)) next = other;
  }
  return next;
}

std::vector<Restriction> InOneGroup(const RuleSubject& subject) {
  const std::vector<int> groups = GroupsOf(subject.Home());
  std::vector<Restriction> restrictions;
  const auto restrict_buffer = [&](int buffer) {
    for (int bank = 0; bank < static_cast<int>(groups.size()); ++bank) {
      const int group = groups[static_cast<size_t>(bank)];
      if (group < 0) Forbid(std::array{BankLiteral{buffer, bank}}, restrictions);
      const int next = group < 0 ? -1 : NextGrouped(subject.Home(), groups, bank);
      if (next >= 0 && groups[static_cast<size_t>(next)] != group)
        Forbid(std::array{BankLiteral{buffer, bank}, BankLiteral{buffer, next}}, restrictions);
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

// No bank group has banks of both buffers. There is a clause for each two banks of one group.
std::vector<Restriction> InDifferentGroups(const RuleSubject& subject) {
  std::vector<Restriction> restrictions;
  if (!subject.item.IsPair()) return restrictions;
  const std::string_view key = TraitsOf(subject.Wanted().kind).bank_sets;
  for (const std::vector<int>& group : BankSetsOf(subject.Home(), key)) {
    for (const int a : group) {
      for (const int b : group)
        Forbid(std::array{BankLiteral{subject.item.first, a}, BankLiteral{subject.item.second, b}},
               restrictions);
    }
  }
  return restrictions;
}

// "('bank0', 'bank1') and ('bank2', 'bank3')"
std::string BankGroups(const Problem& problem, const Rule& rule) {
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
  return Enumerate(groups);
}

}  // namespace

#define TESSERA_DECLARE(code, ...) extern const RuleDefinition k##code##Rule;
TESSERA_RULE_KINDS(TESSERA_DECLARE)
#undef TESSERA_DECLARE

const RuleDefinition& DefinitionOf(RequirementKind kind) {
  static const std::array<const RuleDefinition*, kRequirementKinds> kDefinitions = {
#define TESSERA_ADDRESS(code, ...) &k##code##Rule,
      TESSERA_RULE_KINDS(TESSERA_ADDRESS)
#undef TESSERA_ADDRESS
  };
  return *kDefinitions[static_cast<size_t>(kind)];
}

std::vector<Restriction> RestrictionsOn(const Problem& problem, const Rule& rule,
                                        const RuleItem& item, Bytes size) {
  return DefinitionOf(rule.requirement.kind).restrictions({problem, rule, item, size});
}

std::optional<std::vector<Restriction>> CommonRestrictionsOn(const Problem& problem,
                                                             const Rule& rule, const RuleItem& item,
                                                             std::vector<Bytes> sizes) {
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  std::optional<std::vector<Restriction>> common;
  for (const Bytes size : sizes) {
    std::vector<Restriction> here = RestrictionsOn(problem, rule, item, size);
    if (common && *common != here) return std::nullopt;
    common = std::move(here);
  }
  return common;
}

bool MayBreakByShrinking(const Restriction& restriction) {
  if (const auto* relation = std::get_if<Relation>(&restriction))
    return relation->kind == RelationKind::kSameBank;
  const auto* clause = std::get_if<BankClause>(&restriction);
  return clause != nullptr && std::any_of(clause->any.begin(), clause->any.end(),
                                          [](const BankLiteral& one) { return one.touches; });
}

// Rules about the offsets of single buffers.

extern const RuleDefinition kOffsetRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("at {} modulo {}", rule.requirement.residue,
                             rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{
              Remainder{subject.item.first, wanted.multiple, wanted.residue, wanted.residue}};
        },
};

extern const RuleDefinition kWindowRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          const AddressRange& window = rule.requirement.window;
          return fmt::format("inside [{}, {})", window.begin, window.end);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{Inside{subject.item.first, subject.Wanted().window}};
        },
};

extern const RuleDefinition kNoCrossingRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("across no multiple of {}", rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Bytes boundary = subject.Wanted().multiple;
          return std::vector<Restriction>{
              Remainder{subject.item.first, boundary, 0, boundary - subject.size, true}};
        },
};

extern const RuleDefinition kNaturalAlignmentRule = {
    .words =
        [](const Problem&, const Rule&) {
          return std::string("at a multiple of their own sizes, rounded up to powers of two");
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              Remainder{subject.item.first, NaturalAlignmentOf(subject.size), 0, 0, true}};
        },
};

extern const RuleDefinition kGuardRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("with {} free before and {} after",
                             Count(rule.requirement.before, "byte"),
                             Count(rule.requirement.after, "byte"));
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{
              Margins{subject.item.first, {wanted.before, wanted.after}}};
        },
};

// Rules about the distance from one buffer to another.

extern const RuleDefinition kDifferenceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("apart by {} modulo {}", rule.requirement.residue,
                             rule.requirement.multiple);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          const Requirement& wanted = subject.Wanted();
          return std::vector<Restriction>{ModularDistance{subject.item.first, subject.item.second,
                                                          wanted.multiple, wanted.residue}};
        },
};

extern const RuleDefinition kDistanceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("apart by {}", Count(rule.requirement.distance, "byte"));
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              FixedDistance{subject.item.first, subject.item.second, subject.Wanted().distance}};
        },
};

extern const RuleDefinition kXorDistanceRule = {
    .words =
        [](const Problem&, const Rule& rule) {
          return fmt::format("at offsets that differ in the bits of {}", rule.requirement.distance);
        },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{
              FlippedBits{subject.item.first, subject.item.second, subject.Wanted().distance}};
        },
};

extern const RuleDefinition kCommonDeltaRule = {
    .words = [](const Problem&,
                const Rule&) { return std::string("all apart by the same distance"); },
    .restrictions =
        [](const RuleSubject& subject) {
          return std::vector<Restriction>{CommonDistance{subject.item.first, subject.item.second}};
        },
};

// Rules about the banks that buffers touch.

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
            Forbid(std::array{BankLiteral{subject.item.first, bank}}, restrictions);
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

extern const RuleDefinition kSameBankGroupRule = {
    .words =
        [](const Problem& problem, const Rule& rule) {
          return "in one of the bank groups " + BankGroups(problem, rule);
        },
    .restrictions = InOneGroup,
};

extern const RuleDefinition kDifferentBankGroupRule = {
    .words =
        [](const Problem& problem, const Rule& rule) {
          return "in different ones of the bank groups " + BankGroups(problem, rule);
        },
    .restrictions = InDifferentGroups,
};

}  // namespace tessera::problem
