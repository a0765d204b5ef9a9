// SPDX-License-Identifier: Apache-2.0

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/problem/rule_check.h"

// Checks of rules about the banks that buffers touch. Rounding an offset down can only leave a
// bank, as the bounds of banks are multiples too.
namespace tessera::problem {
namespace {

template <typename IsBad>
bool NoBank(size_t banks, IsBad is_bad) {
  for (size_t bank = 0; bank < banks; ++bank) {
    if (is_bad(bank)) return false;
  }
  return true;
}

bool CanStayIn(const KnownItem& item) {
  std::vector<bool> listed(item.memory.banks.size(), false);
  for (const int bank : item.wanted.banks) listed[static_cast<size_t>(bank)] = true;
  return NoBank(listed.size(),
                [&](size_t bank) { return item.first.touched[bank] && !listed[bank]; });
}

bool CanBeTheSame(const KnownItem& item) {
  const KnownPlace& a = item.first;
  const KnownPlace& b = item.second;
  return NoBank(item.memory.banks.size(), [&](size_t bank) {
    return (a.touched[bank] && b.untouched[bank]) || (a.untouched[bank] && b.touched[bank]);
  });
}

bool CanBeDifferent(const KnownItem& item) {
  return NoBank(item.memory.banks.size(),
                [&](size_t bank) { return item.first.touched[bank] && item.second.touched[bank]; });
}

Bytes Any(const Problem&, const Rule&) { return 0; }

// Checks that all banks that a buffer, or a pair of them, touches lie in one group.

const BankSets& GroupsOf(const KnownItem& item) {
  return BankSetsOf(item.memory, TraitsOf(item.wanted.kind).bank_sets);
}

// The banks that the item touches for certain.
std::vector<int> Touched(const KnownItem& item) {
  std::vector<int> touched;
  const std::vector<bool>& second = item.second.touched;
  for (size_t bank = 0; bank < item.memory.banks.size(); ++bank) {
    if (item.first.touched[bank] || (!second.empty() && second[bank]))
      touched.push_back(static_cast<int>(bank));
  }
  return touched;
}

bool Has(const std::vector<int>& group, int bank) {
  return std::find(group.begin(), group.end(), bank) != group.end();
}

bool CanShareAGroup(const KnownItem& item) {
  const std::vector<int> touched = Touched(item);
  const BankSets& groups = GroupsOf(item);
  return touched.empty() || std::any_of(groups.begin(), groups.end(), [&](const auto& group) {
           return std::all_of(touched.begin(), touched.end(),
                              [&](int bank) { return Has(group, bank); });
         });
}

std::string NameOf(const KnownItem& item, int bank) {
  const std::string& name = item.memory.banks[static_cast<size_t>(bank)].name;
  return name.empty() ? fmt::format("bank {}", bank) : "'" + name + "'";
}

// Names a bank that is in no group, otherwise two banks of different groups.
std::string FaultOfGroups(const KnownItem& item) {
  const std::vector<int> touched = Touched(item);
  const std::string_view touch = item.second.touched.empty() ? "touches" : "touch";
  const std::vector<int>* home = nullptr;
  for (const int bank : touched) {
    const BankSets& groups = GroupsOf(item);
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const auto& each) { return Has(each, bank); });
    if (group == groups.end())
      return fmt::format("{} {}, which is in no bank group", touch, NameOf(item, bank));
    if (home == nullptr) home = &*group;
    if (home != &*group)
      return fmt::format("{} {} and {}, which are in different bank groups", touch,
                         NameOf(item, touched.front()), NameOf(item, bank));
  }
  return "";
}

// A bank of each buffer of the pair, for certain, in one group; nullopt: no such banks.
std::optional<std::pair<int, int>> BanksOfOneGroup(const KnownItem& item) {
  if (item.second.touched.empty()) return std::nullopt;
  const auto among = [](const std::vector<int>& group, const KnownPlace& place) {
    return std::find_if(group.begin(), group.end(),
                        [&](int bank) { return place.touched[static_cast<size_t>(bank)]; });
  };
  for (const std::vector<int>& group : GroupsOf(item)) {
    const auto first = among(group, item.first);
    const auto second = among(group, item.second);
    if (first != group.end() && second != group.end()) return std::pair(*first, *second);
  }
  return std::nullopt;
}

}  // namespace

extern const RuleCheck kBanksCheck = {
    .can_hold = CanStayIn,
    .fault =
        [](const KnownItem&) {
          return std::string("touches a bank that is not among those allowed");
        },
    .divisor = Any,
};

// A buffer may leave a bank that the other keeps.
extern const RuleCheck kSameBankCheck = {
    .can_hold = CanBeTheSame,
    .fault = [](const KnownItem&) { return std::string("do not touch the same banks"); },
    .divisor = CommonAlignment,
};

extern const RuleCheck kDifferentBankCheck = {
    .can_hold = CanBeDifferent,
    .fault = [](const KnownItem&) { return std::string("touch the same bank"); },
    .divisor = Any,
};

extern const RuleCheck kSameBankGroupCheck = {
    .can_hold = CanShareAGroup,
    .fault = FaultOfGroups,
    .divisor = Any,
};

extern const RuleCheck kDifferentBankGroupCheck = {
    .can_hold = [](const KnownItem& item) { return !BanksOfOneGroup(item).has_value(); },
    .fault =
        [](const KnownItem& item) {
          const auto [first, second] = BanksOfOneGroup(item).value_or(std::pair(0, 0));
          return fmt::format("touch {} and {}, which are in one bank group", NameOf(item, first),
                             NameOf(item, second));
        },
    .divisor = Any,
};

}  // namespace tessera::problem
